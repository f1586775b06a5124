// Calls over three ledgers in two databases: each organization's money moves in its own ledger and nowhere else, and one
// ledger that is away takes none of the others with it.
import { createPool } from '@svc/core/db/index.ts';
import { silentLog } from '@svc/core/kernel/index.ts';
import { readBalance, verifyLedger } from '@svc/core/ledger/index.ts';
import { startProxy } from '@svc/core/ledger/testing/proxy.ts';
import { relayParts } from '@svc/core/operations/index.ts';
import { relayOutbox } from '@svc/core/webhooks/index.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aCall, EXACT_MICRO } from '../concurrency/money.ts';
import { openCallers } from '../crash/caller.ts';
import { crashProviders, startCrashProvider } from '../crash/provider.ts';
import { shardsVariable } from '../support/books.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway.ts';
import { type Provisioned, provision } from '../support/provision.ts';
import { createTestShards } from '../support/shards.ts';

const CREDIT = 1_000_000;
const NAMES = ['main', 'a', 'b'] as const;
type Name = (typeof NAMES)[number];

const { database_url, shards } = await createTestShards();
const [a, b] = shards;
/** The gateway reaches `b` through it. */
const proxy = await startProxy(b.url);
const pool = createPool(database_url, { shards });
const provider = await startCrashProvider();
const callers = openCallers();
const orgs = {} as Record<Name, Provisioned>;
let gateway: GatewayProcess;

const startGateway = () =>
  startGatewayProcess({
    database_url,
    providers: crashProviders(provider),
    env: {
      CRASH_API_KEY: 'sk-crash',
      SVC_LEDGER_SHARDS: shardsVariable([a, { name: 'b', url: proxy.url }]),
    },
  });

beforeAll(async () => {
  for (const shard of NAMES)
    orgs[shard] = await provision({ database_url, shards, shard, slug: shard, live_micro_usd: CREDIT });
  gateway = await startGateway();
});

afterAll(async () => {
  proxy.thaw();
  await callers.close();
  await gateway?.stop();
  proxy.close();
  await provider.close();
  await pool.end();
});

const balanceOf = (shard: Name) => readBalance(pool.shards.at(shard), orgs[shard].live_book_id);
const call = (shard: Name, options = {}) =>
  callers.send(gateway.base_url, aCall(orgs[shard].live_key, options));

async function api(shard: Name, method: string, path: string, body?: object, idempotency_key?: string) {
  const response = await fetch(gateway.base_url + path, {
    method,
    headers: {
      authorization: `Bearer ${orgs[shard].live_key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotency_key === undefined ? {} : { 'idempotency-key': idempotency_key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: bodies of many routes
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}

test('calls of three organizations at once are charged in the ledger of each, and read back from it', async () => {
  const sent = NAMES.flatMap((shard) =>
    Array.from({ length: 8 }, (_, i) => call(shard, { stream: i % 2 > 0 })),
  );
  for (const { seen } of await Promise.all(sent))
    expect(seen).toMatchObject({ kind: 'final', cost_micro_usd: EXACT_MICRO });
  for (const shard of NAMES) {
    const left = CREDIT - 8 * EXACT_MICRO;
    expect(await balanceOf(shard)).toMatchObject({ available_micro_usd: left, held_micro_usd: 0 });
    const shown = await api(shard, 'GET', '/v1/credits');
    expect(shown.body).toMatchObject({ available_micro_usd: left });
    const page = await api(shard, 'GET', '/v1/credits/ledger?kind=settle');
    expect(page.body.data).toHaveLength(8);
    const id = page.body.data[0].request_id as string;
    const generation = await api(shard, 'GET', `/v1/generation/${id}`);
    expect(generation.status).toBe(200);
    for (const { name, url } of pool.shards.addresses)
      expect(await verifyLedger({ url }, { org_id: orgs[shard].org_id })).toMatchObject({
        ok: true,
        meters: name === shard ? 8 : 0,
      });
  }
});

test('an Idempotency-Key is claimed in the ledger of its organization: again it is the same answer, charged once', async () => {
  const body = {
    model: 'crash/exact',
    max_tokens: 5,
    messages: [{ role: 'user', content: 'sim: tokens=5' }],
  };
  for (const shard of ['a', 'b'] as const) {
    const before = (await balanceOf(shard)).available_micro_usd;
    const first = await api(shard, 'POST', '/v1/chat/completions', body, 'same key');
    const again = await api(shard, 'POST', '/v1/chat/completions', body, 'same key');
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.body.choices[0].message.content).toBe(first.body.choices[0].message.content);
    expect(again.body.id).toBe(first.body.id);
    expect(before - (await balanceOf(shard)).available_micro_usd).toBe(first.body.svc.cost.total_micro_usd);
  }
});

test('a key made over REST has its budget in the ledger of its organization before its secret is shown', async () => {
  for (const shard of ['a', 'b'] as const) {
    const { project_id } = orgs[shard];
    const made = await api(shard, 'POST', '/v1/keys', {
      ...{ name: 'capped', project_id, scopes: ['inference'] },
      budget: { daily_micro: EXACT_MICRO, hard: true },
    });
    expect(made.status).toBe(201);
    const spend = async () => (await callers.send(gateway.base_url, aCall(made.body.secret))).seen;
    expect(await spend()).toMatchObject({ kind: 'final' });
    expect(await spend()).toMatchObject({ kind: 'refused', code: 'budget_exhausted' });
    const raised = await api(shard, 'PATCH', `/v1/keys/${made.body.id}`, {
      budget: { daily_micro: 2 * EXACT_MICRO },
    });
    expect(raised.body).toMatchObject({ paused: null });
    expect(await spend()).toMatchObject({ kind: 'final' });
    expect((await api(shard, 'GET', `/v1/keys/${made.body.id}`)).body.paused).toMatchObject({
      reason: 'budget',
    });
    expect((await api(shard, 'POST', `/v1/keys/${made.body.id}/resume`, {})).body.paused).toBeNull();
    expect(await spend()).toMatchObject({ kind: 'final' });
  }
});

test('a fact of another ledger becomes one event, also when it is read again', async () => {
  const { org_id } = orgs.b;
  await pool.query({
    name: 'test.hook',
    text: `insert into webhook (id, org_id, url, events, secret_sealed, secret_hint, created_at, updated_at)
           values ('wh_01KACZ3V8S6T5R4Q3P2N1M0K9J', $1, 'https://example.com', '{*}', '\\x00', 'hint', now(), now())`,
    values: [org_id],
  });
  // Its payload lacks what a mail about it would say: the event goes out all the same.
  // Its number is taken once: it is put back as if its relay had died before it was deleted.
  const put = () =>
    pool.shards.at('b').query({
      name: 'test.fact',
      text: `insert into ledger.outbox (outbox_id, org_id, topic, payload, created_at) overriding system value
             values (1000000, $1, 'credits.low', '{}', '2026-11-21T10:00:00Z')`,
      values: [org_id],
    });
  const events = async () => {
    const { rows } = await pool.query<{ id: string }>({
      name: 'test.events',
      text: `select id from webhook_event where org_id = $1 and type = 'credits.low'`,
      values: [org_id],
    });
    return rows;
  };
  await put();
  // The gateway's job relays too: whoever comes first, it is one.
  await relayOutbox(pool, relayParts(silentLog));
  await expect.poll(events).toHaveLength(1);
  const first = await events();
  await put();
  await relayOutbox(pool, relayParts(silentLog));
  expect(await events()).toEqual(first);
});

test('while one ledger is away the others serve, and /readyz names it; then it serves again', async () => {
  proxy.freeze();
  const { seen } = await call('b');
  expect(seen).toMatchObject({ kind: 'refused', status: 503, code: 'service_unavailable' });
  expect((await call('a')).seen).toMatchObject({ kind: 'final' });
  expect((await call('main')).seen).toMatchObject({ kind: 'final' });
  const ready = async () => {
    const response = await fetch(`${gateway.base_url}/readyz`);
    return `${response.status} ${await response.text()}`;
  };
  await expect.poll(ready, { timeout: 20_000 }).toMatch(/^200 .*no flush reaches b/s);
  proxy.thaw();
  await expect.poll(async () => (await call('b')).seen.kind, { timeout: 30_000 }).toBe('final');
  await expect.poll(async () => (await balanceOf('b')).held_micro_usd, { timeout: 30_000 }).toBe(0);
  for (const { url } of pool.shards.addresses) expect((await verifyLedger({ url })).findings).toEqual([]);
});

test('a gateway starts while a ledger is away, serves the others, and takes it in when it answers', async () => {
  proxy.freeze();
  await gateway.kill();
  gateway = await startGateway();
  expect((await call('main')).seen).toMatchObject({ kind: 'final' });
  expect((await call('b')).seen).toMatchObject({ kind: 'refused', status: 503, code: 'service_unavailable' });
  const { project_id } = orgs.b;
  const early = await api('b', 'POST', '/v1/keys', { name: 'early', project_id, scopes: ['inference'] });
  expect(early.status).toBe(503);
  proxy.thaw();
  await expect.poll(async () => (await call('b')).seen.kind, { timeout: 30_000 }).toBe('final');
  expect((await verifyLedger({ url: b.url })).findings).toEqual([]);
});

test('a call with a key that its ledger does not know yet is refused with a time to wait', async () => {
  const { project_id } = orgs.b;
  const made = await api('b', 'POST', '/v1/keys', { name: 'new', project_id, scopes: ['inference'] });
  const spend = async () => (await callers.send(gateway.base_url, aCall(made.body.secret))).seen;
  // As it is until the order of a new key is carried out.
  const { rows } = await pool.query<{ chain_no: number }>({
    name: 'test.chain_no',
    text: 'select chain_no from api_key where id = $1',
    values: [made.body.id],
  });
  const { rowCount } = await pool.shards.at('b').query({
    name: 'test.unknown_key',
    text: 'delete from ledger.budget where kind = 1 and subject = $1',
    values: [rows[0]!.chain_no],
  });
  expect(rowCount).toBe(1);
  expect(await spend()).toMatchObject({ kind: 'refused', status: 503, code: 'service_unavailable' });
  const ordered = await api('b', 'PATCH', `/v1/keys/${made.body.id}`, { budget: { daily_micro: 1_000_000 } });
  expect(ordered.status).toBe(200);
  expect(await spend()).toMatchObject({ kind: 'final' });
});
