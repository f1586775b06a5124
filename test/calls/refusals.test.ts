// Bad input (docs/errors.md): a clear error in the envelope of the dialect, no attempt, and no money moved.
import { readFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readBook } from '../support/books.ts';
import { type CallOptions, type Exchange, errorOf, type Json, open, type Reply } from './caller.ts';
import { bodyOf, type Dialect, eventually, idOf, type Org, useWorld } from './world.ts';

const LIMIT = 65_536;
const BALANCE = 1_000_000;
const world = useWorld({ gateway: 'alone', env: { SVC_MAX_BODY_BYTES: String(LIMIT) } });
let org: Org;
let model: string;

beforeAll(async () => {
  org = await world().org(BALANCE);
  model = world().model('chat').id;
});

const pathOf = (dialect: Dialect) => (dialect === 'chat' ? '/v1/chat/completions' : '/v1/messages');

function post(dialect: Dialect, body: string | Buffer, headers: CallOptions['headers'] = {}): Exchange {
  const options = {
    path: pathOf(dialect),
    body,
    headers: { authorization: `Bearer ${org.live_key}`, ...headers },
  };
  return open(world().gateway.base_url, options);
}

async function keyWith(options: Json, owner: Org = org): Promise<Json> {
  const reply = await fetch(`${world().gateway.base_url}/v1/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${owner.live_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ project_id: owner.project_id, environment: 'live', ...options }),
  });
  return (await reply.json()) as Json;
}

/** Envelope, status and headers of a refusal that no attempt preceded; returns the error. */
function expectError(dialect: Dialect, reply: Reply, status: number, code: string): Json {
  const error = errorOf(reply) as Json;
  expect({ status: reply.status, code: error['code'] }).toEqual({ status, code });
  const body = JSON.parse(reply.text) as Json;
  if (dialect === 'messages') {
    expect(body).toMatchObject({ type: 'error', request_id: idOf(reply) });
    expect(error['details']['error_code']).toBe(code);
  } else {
    expect(body['type']).toBeUndefined();
    expect(error['request_id']).toBe(idOf(reply));
  }
  expect(error['type']).toMatch(/_error$/);
  expect(error['message']).toMatch(/\S \S.*[.?!]$/);
  expect(reply.headers).toMatchObject({
    'content-type': 'application/json',
    'x-svc-attempts': '0',
    'x-svc-cost-micro': '0',
    'x-should-retry': 'false',
  });
  return error;
}

describe.concurrent.each(['chat', 'messages'] as const)('on %s', (dialect) => {
  const good = (more: object = {}) => JSON.stringify(bodyOf(model, 'Hi', more));

  test('what is refused unread of a known key is a row, of an unknown one none', async () => {
    const own = await world().org(BALANCE);
    const ask = (more: Json = {}) =>
      open(world().gateway.base_url, {
        path: pathOf(dialect),
        body: (more['body'] as string | undefined) ?? good(),
        headers: { authorization: `Bearer ${own.live_key}`, 'user-agent': 'rower/1', ...more['headers'] },
      }).reply;
    const narrow = await keyWith({ name: `narrow ${dialect}`, scopes: ['read:usage'] }, own);
    const cases: [Json, number, string][] = [
      [{ headers: { authorization: `Bearer ${narrow['secret']}` } }, 403, 'permission_denied'],
      [{ headers: { 'svc-version': '1999-01-01' } }, 400, 'unsupported_version'],
      [{ headers: { 'content-type': 'text/plain' } }, 415, 'unsupported_media_type'],
      [{ headers: { 'content-encoding': 'zstd' } }, 415, 'unsupported_media_type'],
      [{ body: 'x'.repeat(LIMIT + 1) }, 413, 'request_too_large'],
    ];
    for (const [more, status, code] of cases) {
      const reply = await ask(more);
      expectError(dialect, reply, status, code);
      const ended = await world().ended(own, idOf(reply));
      expect(ended).toMatchObject({ charged: 0, meter: null, attempts: [] });
      expect(ended.row).toMatchObject({ status: 'rejected', http_status: status, error_code: code });
      expect(ended.row).toMatchObject({ dialect_in: dialect, user_agent: 'rower/1', model: '', attempts: 0 });
    }
    const unknown = await ask({ headers: { authorization: `Bearer ${own.live_key}x` } });
    expect(unknown.status).toBe(401);
    const { rows } = await world().db.query<{ n: number }>(
      'select count(*)::int as n from request_row where org_id = $1 or request_id = $2',
      [own.org_id, idOf(unknown)],
    );
    expect(rows[0]?.n).toBe(cases.length);
  });

  test('malformed JSON is reported with the place of the fault', async () => {
    const error = expectError(dialect, await post(dialect, '{"model": "x",, }').reply, 400, 'invalid_json');
    expect(error['details'].offset).toBe(14);
    const cut = expectError(dialect, await post(dialect, '{"model": "x"').reply, 400, 'invalid_json');
    expect(cut['details'].offset).toBe(13);
  });

  test('an empty body and a body that is no object are refused', async () => {
    expectError(dialect, await post(dialect, '').reply, 400, 'invalid_json');
    for (const body of ['[]', '"text"', 'null', '7']) {
      const { status } = await post(dialect, body).reply;
      expect(status).toBe(400);
    }
  });

  test('an unknown model gets the nearest names', async () => {
    const body = JSON.stringify(bodyOf('calls/chta-1', 'Hi'));
    const error = expectError(dialect, await post(dialect, body).reply, 404, 'model_not_found');
    expect(error['param']).toBe('model');
    expect(error['details'].suggestions).toContain('calls/chat-1');
    expect(error['details'].suggestions.length).toBeLessThanOrEqual(3);
  });

  test.each([
    [{ messages: 'Hi' }, 'messages'],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'user', content: 7 }] }, 'messages[0].content'],
    [
      {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'user', content: [{ type: 'text', text: 1 }] },
        ],
      },
      'messages[1].content[0].text',
    ],
    [{ max_tokens: 'many' }, 'max_tokens'],
    [{ max_tokens: 1.5 }, 'max_tokens'],
    [{ temperature: 'hot' }, 'temperature'],
    [{ stream: 'yes' }, 'stream'],
    [{ model: 7 }, 'model'],
    [{ model: null }, 'model'],
    [{ svc: 'x' }, 'svc'],
    [{ svc: { rout: {} } }, 'svc.rout'],
    [{ svc: { route: { zdr: true } } }, 'svc.route.zdr'],
    [{ svc: { route: { require: { zdr: 'yes' } } } }, 'svc.route.require.zdr'],
    [{ svc: { data_policy: 'zrd' } }, 'svc.data_policy'],
    [{ svc: { compat: 'loose' } }, 'svc.compat'],
    [{ svc: { metadata: { a: 1 } } }, 'svc.metadata.a'],
  ])('%j is refused, naming %s', async (wrong, param) => {
    const reply = await post(dialect, good(wrong)).reply;
    const error = expectError(dialect, reply, 400, 'invalid_request');
    expect(error['param']).toBe(param);
  });

  test('a member given twice is refused, also where it is spelt otherwise', async () => {
    const own = dialect === 'chat' ? model : world().model('messages').id;
    const body = `{"model":"${own}","max_tokens":5,"max_tokens":60,"messages":[{"role":"user","content":"Hi"}]}`;
    expectError(dialect, await post(dialect, body).reply, 400, 'invalid_json');
    const escaped = `{"model":"${own}","max_tokens":5,"mo\\u0064el":"x","messages":[{"role":"user","content":"Hi"}]}`;
    const reply = await post(dialect, escaped).reply;
    const error = expectError(dialect, reply, 400, 'invalid_json');
    expect(error['param']).toBe('model');
    const row = await eventually('the row', async () => {
      const found = await world().db.query<{ status: string }>(
        'select status from request_row where request_id = $1',
        [error['request_id'] ?? reply.headers['x-svc-request-id']],
      );
      return found.rows[0] ?? null;
    });
    expect(row.status).toBe('rejected');
  });

  test('a prompt beyond the context is refused unasked', async () => {
    const body = JSON.stringify(bodyOf('sandbox/context', 'word '.repeat(2_000)));
    const error = expectError(dialect, await post(dialect, body).reply, 400, 'context_length_exceeded');
    expect(error['details'].context_length).toBe(1_000);
  });

  test('max_tokens above the largest answer is refused with the largest', async () => {
    const error = expectError(
      dialect,
      await post(dialect, good({ max_tokens: 9_000 })).reply,
      400,
      'invalid_request',
    );
    expect(error).toMatchObject({ param: 'max_tokens', details: { max_output: 8_192 } });
  });

  test('a body above the limit is refused, declared or not', async () => {
    const long = JSON.stringify(bodyOf(model, 'x'.repeat(LIMIT)));
    expectError(dialect, await post(dialect, long).reply, 413, 'request_too_large');
    const chunked = open(world().gateway.base_url, {
      path: pathOf(dialect),
      body: Buffer.alloc(0),
      headers: { authorization: `Bearer ${org.live_key}`, 'transfer-encoding': 'chunked' },
      declared: 0,
    });
    for (let i = 0; i < 20; i++) chunked.request.write(Buffer.alloc(8_192, 0x20));
    expectError(dialect, await chunked.reply, 413, 'request_too_large');
  });

  test('compressed bodies are read, broken and unknown ones refused', async () => {
    const text = good({ stream: false });
    for (const [encoding, bytes] of [
      ['gzip', gzipSync(text)],
      ['br', brotliCompressSync(text)],
    ] as const) {
      const reply = await post(dialect, bytes, { 'content-encoding': encoding }).reply;
      expect(reply.status).toBe(200);
    }
    expectError(
      dialect,
      await post(dialect, gzipSync(text).subarray(0, 40), { 'content-encoding': 'gzip' }).reply,
      400,
      'invalid_json',
    );
    expectError(
      dialect,
      await post(dialect, 'no gzip', { 'content-encoding': 'gzip' }).reply,
      400,
      'invalid_json',
    );
    expectError(
      dialect,
      await post(dialect, text, { 'content-encoding': 'zstd' }).reply,
      415,
      'unsupported_media_type',
    );
  });

  test('another content type is refused', async () => {
    const reply = await post(dialect, good(), { 'content-type': 'text/plain' }).reply;
    expectError(dialect, reply, 415, 'unsupported_media_type');
  });

  test('no key, two different keys, an unknown key and a test key as another are told apart', async () => {
    const { base_url } = world().gateway;
    const bare = (headers: CallOptions['headers'] = {}) =>
      open(base_url, { path: pathOf(dialect), body: good(), headers }).reply;
    expectError(dialect, await bare(), 401, 'authentication_required');
    const two = { authorization: `Bearer ${org.live_key}`, 'x-api-key': org.sandbox_key };
    expectError(dialect, await bare(two), 401, 'authentication_required');
    const unknown = org.live_key.slice(0, -1) + (org.live_key.endsWith('x') ? 'y' : 'x');
    expectError(dialect, await bare({ 'x-api-key': unknown }), 401, 'invalid_api_key');
    expectError(dialect, await bare({ authorization: 'Bearer sk-something' }), 401, 'invalid_api_key');
    const same = { authorization: `Bearer ${org.live_key}`, 'x-api-key': org.live_key };
    expect((await bare(same)).status).toBe(200);
  });

  test('a revoked key and a key without the scope are refused', async () => {
    const reader = await keyWith({ name: 'reader', scopes: ['read:usage'] });
    expect(reader).toHaveProperty('secret');
    const denied = await post(dialect, good(), { authorization: `Bearer ${reader['secret']}` }).reply;
    const error = expectError(dialect, denied, 403, 'permission_denied');
    expect(error['details'].scope).toBe('inference');
    const gone = await keyWith({ name: 'gone', scopes: ['inference'] });
    const authorization = `Bearer ${gone['secret']}`;
    expect((await post(dialect, good(), { authorization }).reply).status).toBe(200);
    await fetch(`${world().gateway.base_url}/v1/keys/${gone['id']}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${org.live_key}` },
    });
    const reply = await eventually('the key is refused', async () => {
      const answer = await post(dialect, good(), { authorization }).reply;
      return answer.status === 401 ? answer : null;
    });
    expectError(dialect, reply, 401, 'invalid_api_key');
  });

  test('a refusal for credit says what is needed, what is there and what that would pay for', async () => {
    const poor = await world().org(5_000);
    const authorization = `Bearer ${poor.live_key}`;
    const reply = await post(dialect, good({ max_tokens: 8_000 }), { authorization }).reply;
    const error = expectError(dialect, reply, 402, 'insufficient_credits');
    const { required_micro, available_micro, affordable_max_tokens } = error['details'];
    expect(available_micro).toBe(5_000);
    expect(required_micro).toBeGreaterThan(available_micro);
    expect(affordable_max_tokens).toBeGreaterThan(0);
    const ask = (max_tokens: number) => post(dialect, good({ max_tokens }), { authorization }).reply;
    expect((await ask(affordable_max_tokens + 1)).status).toBe(402);
    expect((await ask(affordable_max_tokens)).status).toBe(200);
  });

  test('an unknown svc-version is refused with the known ones', async () => {
    const reply = await post(dialect, good(), { 'svc-version': '1999-01-01' }).reply;
    const error = expectError(dialect, reply, 400, 'unsupported_version');
    expect(error['param']).toBe('svc-version');
  });
});

test('a bomb is not unpacked beyond the limit', async () => {
  // Three gigabytes of blanks in 150 members, which take three seconds or more to unpack.
  const member = gzipSync(Buffer.alloc(20_000_000, 0x20));
  const bomb = Buffer.concat(Array.from({ length: 150 }, () => member));
  const before = cpuSeconds();
  const { reply } = post('chat', bomb, { 'content-encoding': 'gzip' });
  expectError('chat', await reply, 413, 'request_too_large');
  for (let i = 0; i < 20; i++) await post('chat', '').reply;
  expect(cpuSeconds() - before).toBeLessThan(1.2);
});

function cpuSeconds(): number {
  const stat = readFileSync(`/proc/${world().gateway.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(stat[11]) + Number(stat[12])) / 100;
}

afterAll(async () => {
  // Whatever was refused above: the book knows of the answered calls alone, and each is a row.
  const book = await eventually('the book is at rest', async () => {
    const read = await readBook(world().database_url, org.live_book_id);
    return read.held === 0 ? read : null;
  });
  const { rows } = await world().db.query<{ n: string }>(
    `select count(*) as n from request_row where org_id = $1 and status = 'ok' and cost_micro > 0`,
    [org.org_id],
  );
  expect(book.charges).toHaveLength(Number(rows[0]?.n));
  expect(book.available).toBe(BALANCE + book.charges.reduce((sum, { amount }) => sum + amount, 0));
});
