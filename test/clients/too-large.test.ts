// A body beyond the limit: the usual HTTP libraries read why it was refused. A server that closed the connection at once
// would leave them with a broken pipe.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { ensurePythonClients } from '@svc/cli/tools/python.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import { freshDataDir } from '../support/gateway.ts';
import { useGateway } from './gateway.ts';
import { runPython } from './python.ts';

interface Body {
  readonly error?: { readonly code: string };
  readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
}

const gateway = useGateway({ SVC_MAX_BODY_BYTES: '65536' });
let python = '';
beforeAll(async () => {
  python = await ensurePythonClients(() => {}, 'langchain');
}, 300_000);

/** More than the buffers of both ends of a connection take. */
const body = `{"model":"sandbox/echo","x":"${'a'.repeat(12_000_000)}"}`;
const run = promisify(execFile);
/** The code that an answer of REST or of GraphQL has. */
const codeIn = ({ error, errors }: Body) => error?.code ?? errors?.[0]?.extensions.code;
const seen = (status: number, text: string) => [status, codeIn(JSON.parse(text) as Body)];
const refused = [413, 'request_too_large'];

function headers(): Record<string, string> {
  return { authorization: `Bearer ${gateway().sandbox_key}`, 'content-type': 'application/json' };
}

describe.each(['/v1/chat/completions', '/v1/messages', '/v1/keys', '/v1/graphql'])('%s', (path) => {
  const address = () => gateway().base_url + path;

  test.each(['declared', 'in chunks'])('curl reads the refusal: %s', async (how) => {
    const file = join(freshDataDir(), 'body.json');
    writeFileSync(file, body);
    const lines = Object.entries(headers()).flatMap((line) => ['-H', line.join(': ')]);
    const more = how === 'declared' ? [] : ['-H', 'transfer-encoding: chunked'];
    const { stdout } = await run('curl', [
      ...['-sS', '-w', '\n%{http_code}', '--data-binary', `@${file}`],
      ...[...lines, ...more, address()],
    ]);
    const [text = '', status] = stdout.split(/\n(?=\d+$)/);
    expect(seen(Number(status), text)).toEqual(refused);
  });

  test.each(['declared', 'in chunks'])('fetch reads the refusal: %s', async (how) => {
    const sent = how === 'declared' ? body : Readable.from([Buffer.from(body)]);
    const options = { method: 'POST', headers: headers(), body: sent, duplex: 'half' };
    const answer = await fetch(address(), options as RequestInit);
    expect(seen(answer.status, await answer.text())).toEqual(refused);
  });

  test("Node's http reads the refusal", async () => {
    const answer = await new Promise<[number, string]>((done, fail) => {
      const outgoing = request(address(), { method: 'POST', headers: headers() }, (response) => {
        let text = '';
        response.on('data', (bytes) => {
          text += bytes;
        });
        response.on('end', () => done([response.statusCode ?? 0, text]));
      });
      outgoing.on('error', fail);
      outgoing.end(body);
    });
    expect(seen(...answer)).toEqual(refused);
  });

  test('the libraries of Python read the refusal', async () => {
    const said = await runPython(python, 'too_large.py', [address(), gateway().sandbox_key]);
    expect(said).toEqual({
      'http.client': refused,
      requests: refused,
      'requests in chunks': refused,
      httpx: refused,
      'httpx in chunks': refused,
    });
  });
});
