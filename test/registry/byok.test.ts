// Provider keys of an organization: brought once, sealed, and never read back.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type OrgKeys, openByokCache } from '@svc/core/byok/index.ts';
import type { Provider } from '@svc/core/catalog/index.ts';
import { builtIn, createProviderKeys } from '@svc/core/inference/index.ts';
import { silentLog } from '@svc/core/kernel/index.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { codeOf, type Method, startHarness, type Tenant } from './harness.ts';

const providerKeys = createProviderKeys(builtIn.kinds);

const harness = await startHarness();
const { a, b } = harness;
const SECRET = 'sk-planted-0123456789-TAIL';

const call = (method: Method, path: string, tenant: Tenant | string, body?: object) =>
  harness.call(method, `/v1/byok${path}`, {
    key: typeof tenant === 'string' ? tenant : tenant.key,
    ...(body === undefined ? {} : { body }),
  });

async function bring(tenant: Tenant, more: object = {}) {
  const answer = await call('POST', '', tenant, { provider_id: 'openai', secret: SECRET, ...more });
  expect(answer.statusCode).toBe(201);
  return answer.json().key;
}

test('a key is shown by its hint and never by its secret, in answers, audit, lists and the database', async () => {
  const made = await bring(a, { label: 'research', fallback_to_pool: true });
  expect(made).toEqual({
    id: expect.stringMatching(/^byok_[0-9A-HJKMNP-TV-Z]{26}$/),
    provider_id: 'openai',
    label: 'research',
    hint: '...TAIL',
    status: 'active',
    fee_bps: 500,
    fallback_to_pool: true,
    created_at: expect.any(String),
    updated_at: expect.any(String),
    last_used_at: null,
    validated_at: null,
  });
  const patched = await call('PATCH', `/${made.id}`, a, { label: 'other', secret: `${SECRET}2` });
  expect(patched.json().key).toMatchObject({ label: 'other', hint: '...AIL2', fallback_to_pool: true });
  const list = await call('GET', '', a);
  expect(list.json()).toMatchObject({ object: 'list', fee_bps: 500, data: [{ id: made.id }] });
  expect(list.json().providers).toContainEqual({
    ...{ id: 'openai', name: 'OpenAI' },
    ...{ byok_capable: true, byok_required: false },
  });
  const removed = await call('DELETE', `/${made.id}`, a);
  expect([removed.statusCode, removed.body]).toEqual([204, '']);
  const text = async (sql: string) =>
    JSON.stringify((await harness.pool.query({ name: 'test.read', text: sql })).rows);
  const audit = await text(
    `select action, before, after, target_id from audit_entry where action like 'byok.%'`,
  );
  for (const action of ['byok.create', 'byok.update', 'byok.delete']) expect(audit).toContain(action);
  expect(audit).toContain('[redacted]');
  const kept = `${list.body}${patched.body}${audit}`;
  expect(kept).not.toContain('planted');
});

test('what is stored is sealed to its row: moved to another, it opens no more', async () => {
  const [one, two] = [
    await bring(a, { label: 'one' }),
    await bring(b, { label: 'two', secret: `${SECRET}B` }),
  ];
  const { rows } = await harness.pool.query<{ plain: boolean }>({
    name: 'test.plain',
    text: `select position('planted'::bytea in secret_sealed) > 0 as plain from byok_key`,
  });
  expect(rows.map(({ plain }) => plain)).not.toContain(true);
  const cache = openByokCache({
    changes: harness.changes,
    log: silentLog,
    root_key: harness.root_key,
  });
  const secrets = async (tenant: Tenant) => {
    const keys: OrgKeys = await cache.keysOf(tenant.org.id);
    return (keys.get('openai') ?? []).map((key) => key.secret());
  };
  try {
    expect(await secrets(a)).toEqual([SECRET]);
    expect(await secrets(b)).toEqual([`${SECRET}B`]);
    await harness.pool.query({
      name: 'test.swap',
      text: `update byok_key set secret_sealed = (select secret_sealed from byok_key where id = $1) where id = $2`,
      values: [one.id, two.id],
    });
    cache.forget(b.org.id);
    expect(await secrets(b)).toEqual([null]);
  } finally {
    await cache.close();
  }
  await call('DELETE', `/${one.id}`, a);
  await call('DELETE', `/${two.id}`, b);
});

// A busy machine only makes what is measured longer, so one good run of three is proof.
test('a cache hears of every change, also of one in a transaction that commits late', {
  retry: 2,
}, async () => {
  await harness.pool.query({
    name: 'test.clear',
    text: 'delete from byok_key where org_id = any ($1)',
    values: [[a.org.id, b.org.id]],
  });
  const cache = openByokCache({
    changes: harness.changes,
    log: silentLog,
    root_key: harness.root_key,
  });
  try {
    const count = async (tenant: Tenant) => (await cache.keysOf(tenant.org.id)).size;
    expect([await count(a), await count(b)]).toEqual([0, 0]);
    const heard_ms = async (tenant: Tenant, wanted: number) => {
      const began = performance.now();
      while ((await count(tenant)) !== wanted) {
        if (performance.now() - began > 5_000) throw new Error('never heard');
        await new Promise((done) => setTimeout(done, 10));
      }
      return performance.now() - began;
    };
    const made = await bring(a);
    expect(await heard_ms(a, 1)).toBeLessThan(1_000);
    await harness.pool.transaction(async (db) => {
      await db.query({ name: 'test.delete', text: 'delete from byok_key where id = $1', values: [made.id] });
      // Another transaction begins, commits and is heard of while this one is open.
      await bring(b);
      await heard_ms(b, 1);
      expect(await count(a)).toBe(1);
    });
    const late_ms = await heard_ms(a, 0);
    expect(late_ms).toBeLessThan(1_000);
  } finally {
    await cache.close();
  }
});

test('one label of a provider is one key, of twenty that are brought at once as well', async () => {
  const tries = await Promise.all(
    Array.from({ length: 20 }, () =>
      call('POST', '', a, { provider_id: 'anthropic', secret: SECRET, label: 'the one' }),
    ),
  );
  expect(tries.filter(({ statusCode }) => statusCode === 201)).toHaveLength(1);
  for (const refused of tries.filter(({ statusCode }) => statusCode !== 201)) {
    expect([refused.statusCode, codeOf(refused)]).toEqual([409, 'conflict']);
  }
  const other = await call('POST', '', a, { provider_id: 'anthropic', secret: SECRET, label: 'second' });
  const renamed = await call('PATCH', `/${other.json().key.id}`, a, { label: 'the one' });
  expect([renamed.statusCode, codeOf(renamed)]).toEqual([409, 'conflict']);
});

test.each([
  ['a provider that there is none of', { provider_id: 'nobody' }, 404],
  ['the sandbox, which takes no keys', { provider_id: 'sandbox' }, 404],
  ['a secret with a line break, which would be a header of its own', { secret: 'sk-0123456789\nx: y' }, 400],
  ['a secret with a blank', { secret: 'sk-0123 456789' }, 400],
  ['a secret beyond ASCII', { secret: 'sk-0123456789é' }, 400],
  ['an empty secret', { secret: '' }, 400],
  ['a secret beyond any', { secret: 'k'.repeat(8_193) }, 400],
  ['a label with a line break', { label: 'a\nb' }, 400],
  ['a field that is unknown', { base_url: 'http://169.254.169.254' }, 400],
])('%s is refused, and the secret is not repeated', async (_what, more, status) => {
  const body = { provider_id: 'openai', secret: SECRET, label: 'refused', ...more };
  const answer = await call('POST', '', a, body);
  expect(answer.statusCode).toBe(status);
  expect(answer.body).not.toContain(String(body.secret).slice(0, 12) || SECRET);
});

test('a test key reads provider keys and changes none', async () => {
  const made = await bring(a, { label: 'of live' });
  expect((await call('GET', '', a.test_key)).statusCode).toBe(200);
  for (const [method, path, body] of [
    ['POST', '', { provider_id: 'openai', secret: SECRET }],
    ['PATCH', `/${made.id}`, { fallback_to_pool: true }],
    ['DELETE', `/${made.id}`, undefined],
    ['POST', `/${made.id}/validate`, {}],
  ] as const) {
    const answer = await call(method, path, a.test_key, body);
    expect([method, answer.statusCode, codeOf(answer)]).toEqual([method, 403, 'sandbox_key_not_allowed']);
  }
});

// ---- validation: what providers answer ----

interface Account {
  readonly status: number;
  readonly body: string;
}
const accounts = new Map<string, Account>();
const asked: { method: string; url: string; headers: Record<string, unknown> }[] = [];
const server = createServer((request, response) => {
  asked.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers });
  const { headers } = request;
  const key = String(headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers.authorization ?? '');
  const account = accounts.get(key.replace('Bearer ', ''));
  request.resume();
  if (account === undefined) {
    response.writeHead(401, { 'content-type': 'application/json' });
    return response.end('{"error":{"message":"bad key"}}');
  }
  if (account.status === 0) return request.socket.destroy();
  response.writeHead(account.status, {
    'content-type': 'application/json',
    location: 'http://169.254.169.254/',
  });
  return response.end(account.body);
});
let base_url = '';
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
afterAll(() => server.close());

const provider = (kind: Provider['kind']): Provider => ({
  ...{ id: 'host', name: 'Host', kind, base_url, api_key_env: [], api_key_file: [], regions: [] },
  data_policy: { trains: false, retention_days: 0, zdr: true },
  ...{ terms_url: null, verified_at: null, byok: 'capable' },
});

test.each([
  ['openai', 'GET', '/v1/models', 200, '{"data":[{},{}]}', { ok: true, rejected: false, models: 2 }],
  ['anthropic', 'GET', '/v1/models', 200, '{"data":[{}]}', { ok: true, rejected: false, models: 1 }],
  ['gemini', 'GET', '/v1/models', 200, '{"models":[{},{},{}]}', { ok: true, rejected: false, models: 3 }],
  [
    'gemini',
    'GET',
    '/v1/models',
    400,
    '{"e":"API_KEY_INVALID"}',
    { ok: false, rejected: true, models: null },
  ],
  ['openai', 'GET', '/v1/models', 403, '{}', { ok: false, rejected: true, models: null }],
  ['openai', 'GET', '/v1/models', 500, 'broken', { ok: false, rejected: false, models: null }],
  ['openai', 'GET', '/v1/models', 302, '', { ok: false, rejected: false, models: null }],
  ['openai', 'GET', '/v1/models', 200, '{"data":', { ok: true, rejected: false, models: null }],
  ['voyage', 'POST', '/v1/embeddings', 400, '{}', { ok: true, rejected: false, models: null }],
  [
    'bedrock',
    'POST',
    '/v1/model/amazon.nova-micro-v1%3A0/converse',
    400,
    '{}',
    { ok: true, rejected: false, models: null },
  ],
] as const)(
  'a %s key is tried by %s %s; %i says what it is',
  async (kind, method, path, status, body, want) => {
    const secret = `sk-probe-${accounts.size}`;
    accounts.set(secret, { status, body });
    asked.length = 0;
    expect(await providerKeys.probe(provider(kind), secret)).toEqual({ status, message: null, ...want });
    expect(asked.map(({ method, url }) => [method, url])).toEqual([[method, path]]);
  },
);

test('an AWS key is tested with a signed request, and what is no key is refused before', async () => {
  asked.length = 0;
  const secret = 'AKIA0123456789ABCDEF:secret0123456789';
  expect(await providerKeys.probe(provider('bedrock'), secret)).toMatchObject({
    status: 401,
    rejected: true,
    message: 'bad key',
  });
  expect(asked[0]?.headers['authorization']).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIA0123456789ABCDEF\//);
  expect(providerKeys.faultOf(provider('bedrock'), 'AKIA:')).toBe(
    'is not ACCESS_KEY_ID:SECRET[:SESSION_TOKEN]',
  );
  expect(providerKeys.faultOf(provider('bedrock'), secret)).toBeNull();
});

test('a provider that does not answer says nothing of the key', async () => {
  accounts.set('sk-gone', { status: 0, body: '' });
  const nothing = { status: 0, ok: false, rejected: false, models: null, message: null };
  expect(await providerKeys.probe(provider('openai'), 'sk-gone')).toEqual(nothing);
});
