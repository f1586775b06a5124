// What every answer has in common, whatever the route: ids, headers, envelopes, methods, bodies, health.
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { createPool } from '@svc/core/db/index.ts';
import { signInSettings } from '@svc/core/identity/index.ts';
import { builtIn } from '@svc/core/inference/index.ts';
import { isRequestId, readConfig, ServiceError, silentLog } from '@svc/core/kernel/index.ts';
import { openKeyRing } from '@svc/core/keys/index.ts';
import { operations } from '@svc/core/operations/index.ts';
import { openChanges } from '@svc/core/runtime/index.ts';
import type { FastifyInstance } from 'fastify';
import { expect, test } from 'vitest';
import { codeOf, type Method, startHarness } from '../test/registry/harness.ts';
import { createApp, rewriteModelPath } from './app.ts';
import { bindOperations } from './bind.ts';
import { errorBody } from './errors.ts';
import { bindHealth } from './health.ts';
import type { HttpParts } from './parts.ts';

const harness = await startHarness();
const { a } = harness;

test('every answer carries the three request ids, equal to the one in its body', async () => {
  const calls: [Method, string, number][] = [
    ['GET', '/v1/credits', 200],
    ['GET', '/v1/credits/nothing', 404],
    ['DELETE', '/v1/credits', 405],
    ['GET', '/healthz', 200],
    ['OPTIONS', '/v1/keys', 204],
    ['HEAD', '/v1/credits', 200],
    ['GET', '/v1/%E0%A4%A', 400],
    ['GET', '/', 404],
  ];
  for (const [method, path, status] of calls) {
    const { headers, statusCode, body } = await harness.call(method, path, { key: a.key });
    const id = headers['x-svc-request-id'] as string;
    expect([path, statusCode, isRequestId(id)]).toEqual([path, status, true]);
    expect([headers['x-request-id'], headers['request-id']]).toEqual([id, id]);
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['referrer-policy']).toBe('no-referrer');
    expect(headers['strict-transport-security']).toBeUndefined();
    if (body.startsWith('{"error"')) {
      expect(JSON.parse(body).error.request_id).toBe(id);
      expect(headers['x-should-retry']).toBe('false');
    }
  }
});

test('a wrong method is answered with the right ones, an unknown path with 404, whatever the body', async () => {
  const wrong = await harness.call('PUT', '/v1/keys', { key: a.key, body: '{' });
  expect([wrong.statusCode, codeOf(wrong), wrong.headers.allow]).toEqual([
    405,
    'method_not_allowed',
    'GET, HEAD, OPTIONS, POST',
  ]);
  const inference = await harness.call('GET', '/v1/chat/completions');
  expect([inference.statusCode, inference.headers.allow]).toEqual([405, 'OPTIONS, POST']);
  for (const path of ['/V1/keys', '//v1/keys', '/v1/keys;x', '/v1', '/v1/keys%2Fx']) {
    const response = await harness.call('GET', path, { key: a.key });
    expect([path, response.statusCode, codeOf(response)]).toEqual([path, 404, 'route_not_found']);
  }
  const sent = await harness.call('POST', '/v1/nowhere', {
    body: '{',
    headers: { 'content-type': 'text/plain' },
  });
  expect([sent.statusCode, codeOf(sent)]).toEqual([404, 'route_not_found']);
});

test('the messages routes speak the envelope of their clients', async () => {
  const response = await harness.call('GET', '/v1/messages');
  expect(response.json()).toMatchObject({
    type: 'error',
    error: {
      type: 'invalid_request_error',
      code: 'method_not_allowed',
      details: { error_code: 'method_not_allowed' },
    },
    request_id: response.headers['request-id'],
  });
});

test('a body is JSON of at most 1 MiB and 64 levels', async () => {
  const post = (body: string, headers = {}) =>
    harness.call('POST', '/v1/keys', { key: a.key, body, headers });
  const broken = await post('{"name": "x",}');
  expect([broken.statusCode, codeOf(broken), broken.json().error.details.offset]).toEqual([
    400,
    'invalid_json',
    13,
  ]);
  const cut = await post('{"name": ');
  expect([codeOf(cut), cut.json().error.details.offset]).toEqual(['invalid_json', 9]);
  const deep = await post(`${'['.repeat(65)}${']'.repeat(65)}`);
  expect([deep.statusCode, codeOf(deep)]).toEqual([400, 'invalid_json']);
  const abyss = await post('['.repeat(500_000) + ']'.repeat(500_000));
  expect([abyss.statusCode, codeOf(abyss)]).toEqual([400, 'invalid_json']);
  for (const body of ['[]', '5', '"x"', 'null']) {
    expect([body, codeOf(await post(body))]).toEqual([body, 'invalid_request']);
  }
  const large = await post(`{"name":"${'x'.repeat(1_048_576)}"}`);
  expect([large.statusCode, codeOf(large)]).toEqual([413, 'request_too_large']);
  const form = await post('name=x', { 'content-type': 'application/x-www-form-urlencoded' });
  expect([form.statusCode, codeOf(form)]).toEqual([415, 'unsupported_media_type']);
  const charset = await post('{}', { 'content-type': 'application/json; charset=utf-8' });
  expect(codeOf(charset)).toBe('invalid_request');
  const empty = await harness.call('POST', '/v1/credits/sandbox/refill', { key: a.test_key });
  expect(empty.statusCode).toBe(200);
});

test('text with control characters, NUL or too many characters is refused by field', async () => {
  const options = { project_id: a.live.id, scopes: ['inference'] };
  const names: [string, string][] = [
    ['a\u0000b', 'format'],
    ['a\nb', 'format'],
    ['', 'length'],
    ['x'.repeat(121), 'length'],
  ];
  for (const [name, reason] of names) {
    const response = await harness.call('POST', '/v1/keys', { key: a.key, body: { ...options, name } });
    expect(response.json().error.details.faults).toMatchObject([{ param: 'name', reason }]);
  }
  const emoji = '\u{1F600}'.repeat(120);
  const made = await harness.call('POST', '/v1/keys', { key: a.key, body: { ...options, name: emoji } });
  expect([made.statusCode, made.json().name]).toEqual([201, emoji]);
});

test('query parameters are read by their type, unknown ones ignored, doubled ones refused', async () => {
  const get = (query: string) => harness.call('GET', `/v1/requests?${query}`, { key: a.key });
  for (const query of [
    'errors_only=1&fallbacks_only=false',
    'unknown=1&limit=1',
    'min_cost_micro=0',
    'since=2026-01-01',
    'since=2026-01-01T00:00:00%2B05:30',
  ]) {
    expect([query, (await get(query)).statusCode]).toEqual([query, 200]);
  }
  const faults: [string, string][] = [
    ['errors_only=yes', 'errors_only'],
    ['limit=1&limit=2', 'limit'],
    ['min_cost_micro=-1', 'min_cost_micro'],
    ['min_cost_micro=9007199254740993', 'min_cost_micro'],
    ['since=yesterday', 'since'],
    ['since=2026-13-01', 'since'],
    ['status=fine', 'status'],
    ['since=2026-02-01&until=2026-01-01', 'since'],
  ];
  for (const [query, param] of faults) {
    const response = await get(query);
    expect([query, response.statusCode, response.json().error.param]).toEqual([query, 400, param]);
  }
});

test('browsers may call model and public routes from anywhere, and no other', async () => {
  const origin = 'https://app.example';
  const preflight = await harness.call('OPTIONS', '/v1/models', {
    headers: {
      origin,
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'authorization, x-stainless-os',
    },
  });
  expect(preflight.statusCode).toBe(204);
  expect(preflight.headers['access-control-allow-origin']).toBe('*');
  expect(preflight.headers['access-control-allow-headers']).toBe('authorization, x-stainless-os');
  const inference = await harness.call('OPTIONS', '/v1/chat/completions', { headers: { origin } });
  expect(inference.headers['access-control-allow-methods']).toContain('POST');
  const called = await harness.call('GET', '/v1/models', { key: a.key, headers: { origin } });
  expect(called.headers['access-control-allow-origin']).toBe('*');
  expect(called.headers['access-control-expose-headers']).toContain('x-request-id');
  expect(called.headers['access-control-allow-credentials']).toBeUndefined();
  const refused = await harness.call('GET', '/v1/models', { headers: { origin } });
  expect([refused.statusCode, refused.headers['access-control-allow-origin']]).toEqual([401, '*']);
  for (const method of ['GET', 'OPTIONS'] as const) {
    const closed = await harness.call(method, '/v1/keys', { key: a.key, headers: { origin } });
    expect(closed.headers['access-control-allow-origin']).toBeUndefined();
  }
});

test('console pages may call what people may, with their cookie, and no other page may', async () => {
  const console_page = 'http://127.0.0.1:8081';
  const preflight = await harness.call('OPTIONS', '/v1/keys', { headers: { origin: console_page } });
  expect(preflight.headers).toMatchObject({
    'access-control-allow-origin': console_page,
    'access-control-allow-credentials': 'true',
    'access-control-allow-headers': expect.stringContaining('x-svc-csrf'),
    vary: 'origin',
  });
  const called = await harness.call('GET', '/v1/keys', { key: a.key, headers: { origin: console_page } });
  expect(called.headers['access-control-allow-origin']).toBe(console_page);
  const login = await harness.call('OPTIONS', '/v1/auth/login', {
    headers: { origin: 'https://evil.example' },
  });
  expect(login.headers['access-control-allow-origin']).toBeUndefined();
});

test('a slash in a model id may be encoded, once, and nowhere else', () => {
  expect(rewriteModelPath('/v1/models/acme%2Ffast-1?x=%2F')).toBe('/v1/models/acme/fast-1?x=%2F');
  expect(rewriteModelPath('/v1/models/acme%2ffast-1/endpoints')).toBe('/v1/models/acme/fast-1/endpoints');
  expect(rewriteModelPath('/v1/keys/a%2Fb')).toBe('/v1/keys/a%2Fb');
});

/** The bytes that come back for `text`, until the connection ends. */
async function talkTo(app: FastifyInstance, text: string): Promise<string> {
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  socket.write(text);
  let answer = '';
  socket.on('data', (bytes) => {
    answer += bytes;
  });
  await once(socket, 'close');
  return answer;
}

test('an answer over the wire: doubled headers are refused, broken HTTP gets an envelope', async () => {
  const talk = (text: string) => talkTo(harness.app, text);
  const one = `authorization: Bearer ${a.key}\r\n`;
  const request = (headers: string) =>
    `GET /v1/credits HTTP/1.1\r\nhost: x\r\n${headers}connection: close\r\n\r\n`;
  expect(await talk(request(one))).toMatch(/^HTTP\/1\.1 200 /);
  expect(await talk(request(one + one))).toMatch(/^HTTP\/1\.1 401 [\s\S]*authentication_required/);
  expect(await talk('nonsense\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 [\s\S]*"invalid_request"/);
  const large = await talk(request(`x-large: ${'x'.repeat(20_000)}\r\n`));
  expect(large).toMatch(/^HTTP\/1\.1 431 [\s\S]*headers are larger than 16 KiB/);
});

test('a request that does not come whole within five minutes is given up, with an envelope', async () => {
  const app = createApp({ log: silentLog, base_url: 'https://gateway.example', formats: builtIn });
  expect(app.server.requestTimeout).toBe(300_000);
  // Nobody waits five minutes here: Node's word for it is said by hand.
  app.server.on('connection', (socket) => {
    const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    socket.once('readable', () => app.server.emit('clientError', late, socket));
  });
  const answer = await talkTo(app, 'POST /slow HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc');
  expect(answer).toMatch(/^HTTP\/1\.1 408 [\s\S]*did not arrive completely within 300 s/);
  await app.close();
});

test('healthz is about the process, readyz about what it needs', async () => {
  expect((await harness.call('GET', '/healthz')).json()).toEqual({ status: 'ok' });
  expect((await harness.call('GET', '/readyz')).json()).toEqual({
    status: 'ready',
    missing: [],
    parts: { postgres: { ok: true, critical: true } },
  });
});

test('without a database the service is unavailable: never 401, never 500', async () => {
  const nowhere = 'postgres://svc@127.0.0.1:1/none';
  const pool = createPool(nowhere, { max: 1 });
  const changes = await openChanges({ db: pool, url: nowhere, log: silentLog });
  const blind = openKeyRing({ changes, log: silentLog, root_key: harness.root_key });
  let draining = false;
  const bind = (keys: typeof blind) => {
    const app = createApp({ log: silentLog, base_url: 'https://gateway.example', formats: builtIn });
    const parts: HttpParts = {
      pool,
      services: {
        key_ring: keys,
        catalog: () => ({}) as never,
        request_log: harness.request_log,
        root_key: harness.root_key,
        sign_in: signInSettings(readConfig({}), 'http://127.0.0.1:8080'),
      },
      log: silentLog,
      base_url: 'https://gateway.example',
      checks: [{ name: 'redis', critical: false, run: async () => 'not configured' }],
      draining: () => draining,
    };
    bindOperations(app, parts, operations);
    bindHealth(app, parts);
    return app;
  };
  const headers = { authorization: `Bearer ${a.key}` };
  // With keys that cannot be checked, and with a key checked before the database went away.
  for (const keys of [blind, harness.keys]) {
    const app = bind(keys);
    const response = await app.inject({ url: '/v1/credits', headers });
    expect([response.statusCode, codeOf(response)]).toEqual([503, 'service_unavailable']);
    expect(response.headers['retry-after']).toBe('1');
    expect(response.headers['x-should-retry']).toBe('true');
    expect(response.headers['strict-transport-security']).toContain('max-age');
    // Nor is a session one that has ended, only because nobody can say.
    const authorization = `Bearer svc-sess-${'A'.repeat(43)}`;
    const by_session = await app.inject({ url: '/v1/credits', headers: { authorization } });
    expect([by_session.statusCode, codeOf(by_session)]).toEqual([503, 'service_unavailable']);
    const ready = await app.inject('/readyz');
    expect([ready.statusCode, ready.json().missing]).toEqual([503, ['postgres']]);
    expect(ready.json().parts.redis).toEqual({ ok: false, critical: false, detail: 'not configured' });
    draining = true;
    expect((await app.inject('/readyz')).json().missing).toEqual(['postgres', 'draining']);
    draining = false;
    await app.close();
  }
  await blind.close();
  await pool.end();
});

test('a refusal with retry advice reads the same in both envelopes', () => {
  const error = new ServiceError('rate_limit_exceeded', 'Slow down.', {
    details: { limit: 'rpm' },
    param: 'x',
  });
  const place = { request_id: 'id', base_url: 'https://llm.example' };
  const chat = JSON.parse(errorBody(error, place)).error;
  const messages = JSON.parse(errorBody(error, place, builtIn.envelopeAt('/v1/messages')));
  expect(messages.error).toEqual({
    type: chat.type,
    message: chat.message,
    code: chat.code,
    param: 'x',
    details: { error_code: 'rate_limit_exceeded', limit: 'rpm' },
    doc_url: 'https://llm.example/docs/errors#rate_limit_exceeded',
  });
  expect(chat.doc_url).toBe(messages.error.doc_url);
  expect(messages.request_id).toBe(chat.request_id);
});

test('no caller met a defect', () => {
  expect(harness.defects).toEqual([]);
});
