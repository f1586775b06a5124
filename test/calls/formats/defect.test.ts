// A defect of ours in a decoder, through a gateway: it does not count against the
// endpoint's health, no other endpoint is tried, nothing is charged, and the log has the error without any content
// (docs/outcomes.md#gateway-defect).
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { buildFormats, formats } from '@svc/core/inference/index.ts';
import { type Log, silentLog } from '@svc/core/kernel/index.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StreamDecoder } from '../../../core/inference/canonical/contract.ts';
import { guarded } from '../../../core/inference/canonical/guarded.ts';
import type { CanonicalEvent } from '../../../core/inference/canonical/types.ts';
import type { Format } from '../../../core/inference/formats/format.ts';
import { ProtocolFault } from '../../../core/inference/wire/fault.ts';
import { type Ended, idOf, type Org, useWorld } from '../world.ts';
import { acmeFormat } from './acme-lines/index.ts';

const SECRET = 'the-words-of-the-caller';
const { upstream: lines } = acmeFormat;
if (lines === null) throw new Error('the made-up format has no upstream side');

/** A decoder that meets a defect at a line `oops`, and bytes of no format at a line `garbage`. */
function flawed(decoder: StreamDecoder): StreamDecoder {
  return {
    push(bytes) {
      const events: CanonicalEvent[] = [];
      const step = () => {
        const text = bytes.toString();
        if (text.includes('garbage')) throw new ProtocolFault('no line of the format');
        if (text.includes('oops')) (undefined as unknown as { length: number }).length;
        events.push(...decoder.push(bytes));
      };
      guarded(step, (fault) => events.push({ type: 'error', fault }));
      return events;
    },
    end: () => decoder.end(),
  };
}

const format: Format = {
  ...acmeFormat,
  upstream: { ...lines, decoder: (request, target) => flawed(lines.decoder(request, target)) },
};

/** Pieces of the provider's answer, each sent on its own. */
let pieces: readonly string[] = [];
/** Endpoints asked, by the first segment of their path. */
const asked: string[] = [];
const logged: { readonly fields: Readonly<Record<string, unknown>>; readonly message: string }[] = [];
const log: Log = {
  ...silentLog,
  error(fields: object | string, message?: string) {
    logged.push({ fields: { ...(fields as object) }, message: message ?? String(fields) });
  },
  child: () => log,
};

let url = '';
const provider = createServer((request, response) => {
  asked.push(request.url?.split('/')[1] ?? '');
  request.resume();
  response.setHeader('content-type', 'text/event-stream');
  const rest = [...pieces];
  // Each piece in a read of its own: the gateway shows the first before it meets the second.
  const next = () => {
    const piece = rest.shift();
    if (piece === undefined) response.end();
    else response.write(piece, () => setImmediate(next));
  };
  request.on('end', next);
});

beforeAll(async () => {
  await new Promise<void>((done) => provider.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
});
afterAll(() => void provider.close());

const world = useWorld({
  ...{ gateway: 'here', log, formats: buildFormats([...formats, format]) },
  extras: () => ({
    providers: ['first', 'second']
      .map(
        (id) => `
  - id: ${id}
    name: ${id}
    kind: acme
    base_url: ${url}/${id}
    api_key_env: [CALLS_KEY]`,
      )
      .join(''),
    models: `
  - id: calls/lines
    name: Lines
    context_length: 8000
    max_output: 500
    endpoints:
      - { provider: first, upstream_model: lines, price: { input: "1.00", output: "1.00" } }
      - { provider: second, upstream_model: lines, price: { input: "2.00", output: "2.00" } }`,
  }),
});

/** What becomes of a call that the provider answers with `answer`. */
async function called(org: Org, stream: boolean, answer: readonly string[]) {
  pieces = answer;
  asked.length = 0;
  logged.length = 0;
  const messages = [{ role: 'user', content: SECRET }];
  const body = { model: 'calls/lines', stream, messages };
  const reply = await world().chat(org.live_key, body).reply;
  return { reply, ended: await world().ended(org, idOf(reply)) };
}

const GOOD = ['say Hello\n', 'used 3 5\nend\n'];

test.each([
  { when: 'before the first byte of a stream', stream: true, answer: ['oops\n'] },
  { when: 'in an answer that is wanted whole', stream: false, answer: ['say Hello\n', 'oops\n'] },
])('a defect $when is a 500 of ours', async ({ stream, answer }) => {
  const org = await world().org();
  const { reply, ended } = await called(org, stream, answer);
  expect(reply.status).toBe(500);
  expect(JSON.parse(reply.text).error).toMatchObject({ code: 'internal', request_id: idOf(reply) });
  expectOurs(ended, idOf(reply));
});

test('a defect in mid-stream is the error event of the stream', async () => {
  const org = await world().org();
  const { reply, ended } = await called(org, true, ['say Hello\n', 'oops\n']);
  expect(reply.status).toBe(200);
  expect(reply.text).toContain('Hello');
  expect(reply.text).toContain('"code":"internal"');
  expectOurs(ended, idOf(reply));
});

/** Nothing is charged, no other endpoint is tried, and one line of the log has the error without any content. */
function expectOurs({ row, attempts, charged, meter }: Ended, request_id: string): void {
  expect(row).toMatchObject({ status: 'error', error_code: 'internal' });
  expect({ attempts, charged, meter }).toEqual({
    ...{ attempts: ['error gateway_defect'], charged: 0, meter: null },
  });
  expect(asked).toEqual(['first']);
  const [line, ...more] = logged;
  expect(more).toEqual([]);
  expect(line?.fields).toMatchObject({ request_id, error: expect.any(TypeError) });
  expect(inspect(line)).not.toContain(SECRET);
}

test('no number of defects counts against the endpoint, as bytes of no format do', async () => {
  const org = await world().org();
  const often = async (answer: readonly string[]) => {
    for (let n = 0; n < 12; n++) await called(org, n % 2 === 0, answer);
    await called(org, false, GOOD);
    return asked[0];
  };
  expect(await often(['say Hello\n', 'oops\n'])).toBe('first');
  expect(await often(['garbage\n'])).not.toBe('first');
});
