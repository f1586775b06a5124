import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { atFileEnd } from '../support/ends.ts';
import { startTestGateway } from '../support/shared-gateway.ts';
import { AnswerCheck } from './check.ts';
import { type Recorded, readRecorded, VARIABLE } from './record.ts';

const check = new AnswerCheck();
const path = '/v1/chat/completions';
const answer = (more: Partial<Recorded>): Recorded => ({
  ...{ method: 'POST', path, status: 200, type: 'application/json', text: '{}', whole: true },
  ...more,
});
const refusal = {
  ...{ message: 'No.', type: 'invalid_request_error', code: 'invalid_request', param: null, details: {} },
  ...{
    request_id: '01KACZ3V8S6T5R4Q3P2N1M0K9J',
    doc_url: 'http://127.0.0.1:8080/docs/errors#invalid_request',
  },
};

/** A folder in which this file's answers are kept from now on. */
function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-own-answers-'));
  process.env[VARIABLE] = folder;
  atFileEnd(async () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('an answer is at fault for its status, its type, a missing member or an event of a stream', () => {
  const text = JSON.stringify({ error: refusal });
  expect(check.faults(answer({ status: 400, text }))).toEqual([]);
  const { code: _, ...codeless } = refusal;
  const type = 'text/event-stream';
  for (const [more, said] of [
    [{ status: 400, text: JSON.stringify({ error: codeless }) }, /^chat.completions.create 400 .*code/],
    [{ status: 418, text }, /418: no such status/],
    [{ type: 'text/plain', text }, /no such type/],
    [{ text: '{"id":' }, /no JSON/],
    [{ type, text: 'data: {"choices":1}\n\ndata: [DONE]\n\n' }, /200 text\/event-stream: /],
    [{ path: '/v1/keys/key_1', method: 'GET', text: '{"id":1}' }, /^keys.get 200/],
  ] as const) {
    expect(check.faults(answer(more))).toEqual([expect.stringMatching(said)]);
  }
});

test('what was cut off, and what the document does not describe, is not at fault', () => {
  expect(check.faults(answer({ text: '{"id":', whole: false }))).toEqual([]);
  expect(check.faults(answer({ type: 'text/event-stream', text: 'data: {"choi', whole: false }))).toEqual([]);
  expect(check.faults(answer({ path: '/v1/nowhere', text: 'no' }))).toEqual([]);
});

test('what a gateway process answers is recorded, whole and as a stream', async () => {
  const folder = ownFolder();
  const { base_url, sandbox_key, stop } = await startTestGateway({
    database_url: await createTestDatabase(),
  });
  for (const stream of [false, true]) {
    const body = JSON.stringify({
      model: 'sandbox/echo',
      messages: [{ role: 'user', content: 'rain' }],
      stream,
    });
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${sandbox_key}` };
    await (await fetch(`${base_url}${path}`, { method: 'POST', headers, body })).text();
  }
  await stop();
  const [whole, streamed] = readRecorded(folder).filter((one) => one.path === path);
  expect(whole).toMatchObject({ status: 200, whole: true, text: expect.stringMatching(/^\{.*rain.*\}$/s) });
  expect(streamed).toMatchObject({ type: 'text/event-stream; charset=utf-8', whole: true });
  expect(streamed?.text).toMatch(/^data: \{.*rain.*data: \[DONE\]\n\n$/s);
  expect(check.faultsIn(folder)).toEqual([]);
});

test('answers of simulators are left out, as they bear no request id of ours', async () => {
  const folder = ownFolder();
  for (const headers of [{}, { 'x-svc-request-id': '01KACZ3V8S6T5R4Q3P2N1M0K9J' }]) {
    const server = createServer((_request, reply) => reply.writeHead(418, headers).end('{}'));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    await (await fetch(`http://127.0.0.1:${port}/v1/credits`)).text();
    await new Promise((done) => server.close(done));
  }
  expect(check.faultsIn(folder)).toEqual([expect.stringMatching(/^credits.get 418/)]);
});
