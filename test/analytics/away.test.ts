// A gateway whose rows are kept in ClickHouse, and that server killed, stopped and started again while calls run.
import { openClickHouse } from '@svc/core/analytics/clickhouse/client.ts';
import { sumOfDay } from '@svc/core/analytics/clickhouse/days-store.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { svcOf } from '../calls/caller.ts';
import { bodyOf, eventually, idOf, openWorld, type World } from '../calls/world.ts';
import { startClickHouse, type TestClickHouse } from '../sim/clickhouse/start.ts';

let server: TestClickHouse;
let url: string;
let world: World;
let model: string;
beforeAll(async () => {
  server = await startClickHouse();
  url = await server.database('calls');
  world = await openWorld({ models: { chat: 1 }, gateway: 'alone', env: { SVC_ANALYTICS_URL: url } });
  model = world.model('chat').id;
}, 180_000);
afterAll(async () => {
  await world?.close();
  await server?.stop();
});

type Org = Awaited<ReturnType<World['org']>>;

async function get(org: Org, path: string) {
  const reply = await fetch(`${world.gateway.base_url}${path}`, {
    headers: { authorization: `Bearer ${org.live_key}` },
  });
  return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
}

/** Makes `count` calls one after another; returns what each cost by what its caller was told, and how long the slowest took. */
async function calls(org: Org, count: number) {
  let cost_micro = 0;
  let slowest_ms = 0;
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    const began = performance.now();
    const reply = await world.chat(org.live_key, bodyOf(model, `Hello ${i}`)).reply;
    expect(reply.status).toBe(200);
    slowest_ms = Math.max(slowest_ms, performance.now() - began);
    cost_micro += svcOf(reply)?.['cost'].total_micro_usd as number;
    ids.push(idOf(reply));
  }
  return { cost_micro, slowest_ms, ids };
}

async function ready(): Promise<{ status: number; ok: boolean | undefined; all: string }> {
  const reply = await fetch(`${world.gateway.base_url}/readyz`);
  const all = await reply.text();
  const { parts } = JSON.parse(all) as { parts: Record<string, { ok: boolean }> };
  return { status: reply.status, ok: parts['analytics']?.ok, all };
}

const usageOf = async (org: Org) =>
  (await get(org, '/v1/usage?range=24h&group_by=model')).body['totals'] as {
    requests: number;
    cost_micro: number;
  };

test('calls go on and keep their pace while the store is away, /readyz says so, and every row is there afterwards', async () => {
  const org = await world.org();
  const before = await calls(org, 8);
  await eventually('the rows can be read', async () => (await usageOf(org)).requests === 8);
  expect(await usageOf(org)).toMatchObject({ cost_micro: before.cost_micro });
  expect(await ready()).toMatchObject({ status: 200, ok: true });
  const { rows } = await world.db.query('select 1 from request_row where org_id = $1', [org.org_id]);
  expect(rows).toHaveLength(0);

  await server.kill();
  const during = await calls(org, 8);
  const said = await eventually('readyz names the store', async () => {
    const found = await ready();
    return found.ok === false ? found : null;
  });
  expect(said.status).toBe(200);
  expect(said.all).not.toContain('secret-of-clickhouse');
  expect((await get(org, '/v1/usage?range=24h')).status).toBe(503);
  const [first] = during.ids as [string];
  // What a call cost is the ledger's to say.
  const generation = await get(org, `/v1/generation/${first}`);
  expect(generation).toMatchObject({ status: 200, body: { source: { cost: 'ledger', timing: null } } });

  await server.restart();
  // A server that takes connections and answers nothing.
  server.pause();
  const hung = await calls(org, 8);
  server.resume();
  for (const { slowest_ms } of [during, hung]) expect(slowest_ms).toBeLessThan(before.slowest_ms + 1_000);
  await eventually('every row is there', async () => (await usageOf(org)).requests === 24);
  const cost_micro = before.cost_micro + during.cost_micro + hung.cost_micro;
  expect(await usageOf(org)).toMatchObject({ requests: 24, cost_micro });
  const ids = [...before.ids, ...during.ids, ...hung.ids].sort();
  const listed = (await get(org, '/v1/requests?limit=100')).body['data'] as { request_id: string }[];
  expect(listed.map(({ request_id }) => request_id).sort()).toEqual(ids);
  await eventually('readyz is content', async () => (await ready()).ok === true);
  expect(world.gateway.output()).not.toContain('secret-of-clickhouse');
}, 120_000);

test('rows of a gateway that ends while the store is away lie on disk, and are in the store when both are back, each once', async () => {
  const org = await world.org();
  await server.kill();
  const during = await calls(org, 5);
  expect(await world.gateway.stop()).toBe(0);
  await server.restart();
  await world.restart();
  await eventually('the rows are there', async () => (await usageOf(org)).requests === 5);
  expect(await usageOf(org)).toMatchObject({ cost_micro: during.cost_micro });
  const db = openClickHouse(url);
  const metered = await world.db.query<{ cost: string }>(`select sum(cost) as cost from ledger.meter`);
  const today = await sumOfDay(db, new Date().toISOString().slice(0, 10));
  await db.close();
  expect(today.cost_micro).toBe(Number(metered.rows[0]?.cost));
}, 120_000);
