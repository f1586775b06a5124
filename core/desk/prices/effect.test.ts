// What a proposed price would have cost, over several ledgers and over more calls than can be counted in time.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@svc/cli/tools/postgres.ts';
import { afterAll, expect, test } from 'vitest';
import { staffContext } from '../../../test/support/provision.ts';
import { createTestShards } from '../../../test/support/shards.ts';
import { loadCatalog } from '../../catalog/index.ts';
import { createPool, isDatabaseFault } from '../../db/index.ts';
import { builtIn } from '../../inference/index.ts';
import { now } from '../../kernel/index.ts';
import { effectOf } from './effect.ts';

const { database_url, shards } = await createTestShards();
const pool = createPool(database_url, { shards });
const dir = mkdtempSync(join(tmpdir(), 'svc-effect-'));
afterAll(async () => {
  await pool.end();
  rmSync(dir, { recursive: true });
});
const path = join(dir, 'providers.yaml');
writeFileSync(
  path,
  `version: 1
providers: [{ id: acme, name: Acme, kind: openai, base_url: "http://127.0.0.1:9001/v1/", api_key_env: NONE }]
models:
  - { id: acme/m, name: M, context_length: 1000000, endpoints: [{ provider: acme, upstream_model: m, price: { input: "2", output: "4" } }] }
  - { id: acme/o, name: O, context_length: 1000000, endpoints: [{ provider: acme, upstream_model: o, price: { input: "2", output: "4" } }] }
  - { id: acme/n, name: N, context_length: 1000000, endpoints: [{ provider: acme, upstream_model: n, price: { input: "1", output: "1" } }] }
`,
);
const catalog = await loadCatalog(pool, [path], { formats: builtIn.catalog });
const endpointOf = (id: string) => catalog.models.get(id)?.endpoints[0] as never as { endpoint_no: number };
const context = staffContext(pool);
const DAY_MS = 86_400_000;
const row = (input: string, output: string) => ({ price: { input, output }, bands: [], tiers: {} });
const planned = (id: string) =>
  ({
    endpoint: endpointOf(id),
    filed: { markup_bps: 0 },
    before: row('2', '4'),
    after: row('3', '4'),
  }) as unknown as Parameters<typeof effectOf>[1];

/** Meters `calls` calls at `shard` over the last `days`, evenly, each with another count of tokens, as the ledger keeps them. */
async function meter(
  shard: string,
  of: { id: string; calls: number; days: number; ago_ms?: number },
): Promise<void> {
  const { endpoint_no, price } = endpointOf(of.id) as unknown as {
    endpoint_no: number;
    price: { price_no: number };
  };
  await pool.shards.at(shard).query({
    name: '',
    text: `
      insert into ledger.meter (request_id, book_id, block_no, seq, cost, key_no, project_no, model_no, endpoint_no, price_no,
        input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cache_write_5m_tokens,
        cache_write_1h_tokens, reasoning_tokens, outcome, estimated)
      select (lpad(to_hex(floor($1::bigint - n::float8 * $2 / $3)::bigint), 12, '0') || lpad(to_hex($4::int * 100 + 7), 4, '0')
               || lpad(to_hex(n), 16, '0'))::uuid,
             1, 1, n, 2 * n, 1, 1, 1, $4, $5, n, 0, 0, 0, 0, 0, 0, 0, false
        from generate_series(1, $3::int) as n`,
    values: [now().getTime() - (of.ago_ms ?? 0), of.days * DAY_MS, of.calls, endpoint_no, price.price_no],
  });
}
const sumTo = (n: number) => (n * (n + 1)) / 2;

test('the calls of every ledger are counted, and those of other endpoints and of before thirty days are not', async () => {
  const counts = { main: 700, a: 300, b: 50 };
  for (const [shard, calls] of Object.entries(counts)) {
    await meter(shard, { id: 'acme/m', calls, days: 29 });
    await meter(shard, { id: 'acme/n', calls: 400, days: 29 });
  }
  const tokens = Object.values(counts).reduce((sum, n) => sum + sumTo(n), 0);
  expect(await effectOf(context, planned('acme/m'))).toMatchObject({
    ...{ complete: true, calls: 1_050, cost_micro_usd: 2 * tokens },
    ...{ before_micro_usd: 2 * tokens, after_micro_usd: 3 * tokens },
  });
});

test('more calls than one statement reads are counted once each, those of one millisecond together, and of what time allows the newest', async () => {
  const calls = 24_000;
  await meter('main', { id: 'acme/o', calls, days: 0.01 });
  await meter('a', { id: 'acme/o', calls: 11_000, days: 0, ago_ms: 200_000 });
  const all = { before_micro_usd: 2 * (sumTo(calls) + sumTo(11_000)), calls: calls + 11_000 };
  const whole = await effectOf(context, planned('acme/o'), 60_000);
  expect(whole).toMatchObject({ ...all, complete: true });
  const cut = await effectOf(context, planned('acme/o'), 0);
  expect(cut.complete).toBe(false);
  expect(cut.calls).toBeGreaterThan(0);
  expect(cut.calls).toBeLessThan(whole.calls);
  // What it counts is all since the moment that it says.
  const since = async (shard: string) => {
    const { rows } = await pool.shards.at(shard).query<{ calls: number; tokens: number }>({
      name: '',
      text: `select count(*)::int as calls, coalesce(sum(input_tokens), 0)::bigint as tokens from ledger.meter
              where endpoint_no = $1 and request_id >= (lpad(to_hex($2::bigint), 12, '0') || repeat('0', 20))::uuid`,
      values: [endpointOf('acme/o').endpoint_no, cut.from.getTime()],
    });
    return rows[0] ?? { calls: 0, tokens: 0 };
  };
  const [main, a] = await Promise.all([since('main'), since('a')]);
  expect(cut).toMatchObject({
    calls: main.calls + a.calls,
    before_micro_usd: 2 * (main.tokens + a.tokens),
  });
});

test('while one ledger is away nothing is shown in place of its calls, and it is said at once', async () => {
  const gone = `postgres://svc@127.0.0.1:${await freePort()}/gone`;
  const partly = createPool(database_url, {
    shards: shards.map((shard) => (shard.name === 'b' ? { ...shard, url: gone } : shard)),
  });
  await expect(effectOf(staffContext(partly), planned('acme/m'))).rejects.toSatisfy(isDatabaseFault);
  await partly.end();
});
