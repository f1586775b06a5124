// A wire format is one folder and one line in the list that a program is built from: here a made-up one is added to the
// product's, and a gateway serves calls in it and calls a provider in it.
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildFormats, formats } from '@svc/core/inference/index.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../support/database.ts';
import { freshDataDir, type GatewayProcess, startGatewayHere } from '../../support/gateway.ts';
import { type Provisioned, provision } from '../../support/provision.ts';
import { open, type Reply } from '../caller.ts';
import { acmeFormat } from './acme-lines/index.ts';

const asked: { headers: IncomingHttpHeaders; url: string | undefined; body: unknown }[] = [];
let provider: Server;
let gateway: GatewayProcess;
let org: Provisioned;

beforeAll(async () => {
  provider = createServer((request, response) => {
    let text = '';
    request.on('data', (piece) => {
      text += piece;
    });
    request.on('end', () => {
      asked.push({ headers: request.headers, url: request.url, body: JSON.parse(text) });
      response.setHeader('content-type', 'text/event-stream');
      response.end('say Hello\nsay , Ada\nused 3 5\nend\n');
    });
  });
  await new Promise<void>((done) => provider.listen(0, '127.0.0.1', done));
  const { port } = provider.address() as AddressInfo;
  const database_url = await createTestDatabase();
  gateway = await startGatewayHere({
    database_url,
    formats: buildFormats([...formats, acmeFormat]),
    env: { ACME_KEY: 'acme-secret' },
    data_dir: freshDataDir(),
    providers: `version: 1
providers:
  - id: acme
    name: Acme
    kind: acme
    base_url: http://127.0.0.1:${port}/v1
    api_key_env: ACME_KEY
models:
  - id: acme/lines-1
    name: Lines
    context_length: 8000
    max_output: 500
    endpoints:
      - provider: acme
        upstream_model: lines-1
        price: { input: "1.00", output: "2.00" }
`,
  });
  org = await provision({ database_url, slug: 'acme', live_micro_usd: 5_000_000 });
});
afterAll(async () => {
  await gateway?.kill();
  provider?.close();
});

function call(path: string, body: object, key = org.live_key): Promise<Reply> {
  const headers = { authorization: `Bearer ${key}` };
  return open(gateway.base_url, { path, body: JSON.stringify(body), headers }).reply;
}

const lines = { model: 'acme/lines-1', lines: ['Who are you?'] };

test('its provider is called in it, with its key and its cap', async () => {
  const messages = [{ role: 'user', content: 'Who are you?' }];
  const reply = await call('/v1/chat/completions', { model: 'acme/lines-1', messages });
  expect(reply.status).toBe(200);
  const answer = JSON.parse(reply.text);
  expect(answer.choices[0].message.content).toBe('Hello, Ada');
  expect(answer.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 5 });
  expect(asked.at(-1)).toMatchObject({
    url: '/v1/lines',
    headers: { 'acme-key': 'acme-secret', 'acme-version': '1' },
    body: { model: 'lines-1', lines: ['Who are you?'], most: 500 },
  });
});

test('its callers are answered in it, streamed and whole', async () => {
  const streamed = await call('/v1/acme/lines', { ...lines, stream: true });
  expect(streamed.status).toBe(200);
  expect(streamed.headers['acme-organization']).toBe(org.org_id);
  expect(streamed.text).toBe('say Hello\nsay , Ada\nused 3 5\nend\n');
  const whole = await call('/v1/acme/lines', lines);
  expect(JSON.parse(whole.text)).toMatchObject({ say: 'Hello, Ada', svc: { cost: { total_micro_usd: 13 } } });
});

test('its callers reach models of other formats', async () => {
  const reply = await call('/v1/acme/lines', { model: 'sandbox/echo', lines: ['Ada'] }, org.sandbox_key);
  expect(JSON.parse(reply.text)).toMatchObject({ say: 'Ada' });
});

test('two formats that claim one name are refused', () => {
  expect(() => buildFormats([...formats, acmeFormat, acmeFormat])).toThrow('two formats have');
});
