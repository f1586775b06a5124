// Hours that ClickHouse has summed answer as their rows do, whatever comes late, again or from elsewhere.
import { holdDay, releaseDay, sumHours } from '@svc/core/analytics/clickhouse/hours-store.ts';
import { dropDays } from '@svc/core/analytics/clickhouse/tables-store.ts';
import { countOrg, sumOrg } from '@svc/core/analytics/clickhouse/usage-store.ts';
import { eraseOrgRows, writeRows } from '@svc/core/analytics/clickhouse/write-store.ts';
import type { RequestRow } from '@svc/core/analytics/types.ts';
import { usageGroupings } from '@svc/core/analytics/usage.ts';
import { ANY_CALLER, type UsageBy, type UsageFilter } from '@svc/core/analytics/usage-store.ts';
import type { Id, RequestId } from '@svc/core/kernel/index.ts';
import fc from 'fast-check';
import { decodeTime, ulid } from 'ulid';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Tenant } from '../registry/harness.ts';
import { rowOf } from '../registry/rows.ts';
import { type Engine, type Engines, openEngines } from './engines.ts';
import { age, clear, storeSettled } from './summed.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const start = Math.floor((Date.now() - 5 * DAY_MS) / DAY_MS) * DAY_MS;
const org_id = 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J' as Id<'org'>;
const ALL = { project_id: null, key_id: null, model: null, provider: null, ...ANY_CALLER };

let engines: Engines;
let engine: Engine;
beforeAll(async () => {
  engines = await openEngines();
  engine = engines.both[1];
  await engine.sink.insert([]);
}, 120_000);
beforeEach(() => clear(engines.clickhouse));

function call(at_ms: number, other: Partial<RequestRow> = {}): RequestRow {
  const tenant = { org: { id: org_id }, live: { id: 'prj_x' }, key_id: 'key_x' } as unknown as Tenant;
  return rowOf(tenant, { request_id: ulid(start + at_ms) as RequestId, ...other });
}
async function ask(filter: Partial<UsageFilter>, by: Partial<UsageBy> = {}) {
  const from = filter.from ?? new Date(start);
  const sums = await engine.reader.sumUsage(
    { org_id, environment: 'live', ...ALL, from, to: new Date(start + 4 * DAY_MS), ...filter },
    { starts: [from.getTime()], group: 'model', tag: null, kept_from: 0, most: null, ...by },
  );
  return sums.map((sum) => [sum.bucket.getTime() - start, sum.key, sum.requests, sum.cost_micro]).sort();
}

function expected(rows: readonly RequestRow[], from: number, to: number) {
  const inside = rows.filter(({ request_id }) => {
    const at = decodeTime(request_id);
    return at >= from && at < to;
  });
  return [...Map.groupBy(inside, ({ model }) => model)]
    .map(([model, of]) => [from - start, model, of.length, of.reduce((sum, row) => sum + row.cost_micro, 0)])
    .sort();
}

const arrivals = fc.array(
  fc.record({ at_ms: fc.nat(2 * DAY_MS), model: fc.nat(2), cost: fc.nat(9_999_999) }),
  { maxLength: 6 },
);

test('usage is the same from summed hours as from rows, with late rows, copied days and clocks set back', async () => {
  const step = fc.record({
    advance_ms: fc.integer({ min: -3 * HOUR_MS, max: 20 * HOUR_MS }),
    copied: arrivals,
    late: arrivals,
    sums_between: fc.boolean(),
    from: fc.integer({ min: -48 * HOUR_MS, max: 24 * HOUR_MS }),
    // Shorter ones are read from rows.
    span: fc.integer({ min: 60 * HOUR_MS, max: 96 * HOUR_MS }),
  });
  await fc.assert(
    fc
      .asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async (steps) => {
        const there: RequestRow[] = [];
        const made = (of: (typeof steps)[number]['late']) =>
          of.map(({ at_ms, model, cost }) => call(at_ms, { model: `acme/m-${model}`, cost_micro: cost }));
        let now_ms = start + 12 * HOUR_MS;
        const sumAll = () => sumHours(engines.clickhouse, new Date(now_ms));
        for (const { advance_ms, copied, late, sums_between, from, span } of steps) {
          now_ms += advance_ms;
          const days = [0, 1, 2].map((day) => new Date(start + day * DAY_MS).toISOString().slice(0, 10));
          const [old, fresh] = [made(copied), made(late)];
          for (const day of days) await holdDay(engines.clickhouse, day);
          await storeSettled(engines.clickhouse, old.slice(0, 2));
          if (sums_between) await sumAll();
          await storeSettled(engines.clickhouse, old.slice(2));
          for (const day of days) await releaseDay(engines.clickhouse, day);
          await sumAll();
          await engine.sink.insert(fresh);
          there.push(...old, ...fresh);
          const [first, last] = [start + from, start + from + span];
          expect(await ask({ from: new Date(first), to: new Date(last) })).toEqual(
            expected(there, first, last),
          );
        }
      })
      .beforeEach(() => clear(engines.clickhouse)),
    { numRuns: 5 },
  );
}, 120_000);

test('an hour is summed three quarters of an hour after its end, and its sums stay when its rows are gone', async () => {
  const rows = [call(1, { user_hash: 'u1', tags: { a: 'b' } }), call(HOUR_MS + 1)];
  await storeSettled(engines.clickhouse, rows);
  const at = (ms: number) => sumHours(engines.clickhouse, new Date(start + ms));
  expect(await at(HOUR_MS + 44 * 60_000)).toBe(0);
  expect(await at(HOUR_MS + 45 * 60_000)).toBe(1);
  expect(await at(HOUR_MS + 46 * 60_000)).toBe(0);
  expect(await at(3 * HOUR_MS)).toBe(1);
  await dropDays(engines.clickhouse, new Date(start + 402 * DAY_MS));
  expect(await ask({})).toEqual([[0, 'acme/fast-1', 2, 2_506]]);
  for (const group of usageGroupings) {
    const [sum] = await ask({}, { group, kept_from: start + DAY_MS, tag: group === 'tag' ? 'a' : null });
    expect(sum?.[2], group).toBe(2);
    if (['user', 'session', 'tag'].includes(group)) expect(sum?.[1]).toBe('');
  }
  expect(await ask({ user: 'u1' }, { kept_from: start + DAY_MS })).toEqual([]);
  expect(await ask({ user: '' }, { kept_from: start + DAY_MS })).toHaveLength(1);
  expect(await ask({ tag: 'a' }, { kept_from: start + DAY_MS })).toEqual([]);
  expect(await countOrg(engines.clickhouse, org_id)).toBe(2);
  expect((await sumOrg(engines.clickhouse, org_id)).map(({ cost_micro }) => cost_micro)).toEqual([2_506]);
  await eraseOrgRows(engines.clickhouse, org_id);
  expect(await ask({})).toEqual([]);
  expect(await countOrg(engines.clickhouse, org_id)).toBe(0);
});

test('an hour that a row came to after it was summed is summed again, and the sums before are dropped', async () => {
  const row = call(1);
  await storeSettled(engines.clickhouse, [row]);
  await sumHours(engines.clickhouse, new Date(start + DAY_MS));
  // The call's row came two minutes ago.
  await age(engines.clickhouse);
  const second = call(2, { cost_micro: 5 });
  await writeRows(engines.clickhouse, [{ ...second, stored_at: new Date(Date.now() - 120_000) }]);
  expect(await ask({})).toEqual([[0, 'acme/fast-1', 2, 1_258]]);
  expect(await sumHours(engines.clickhouse, new Date(start + DAY_MS))).toBe(1);
  await engines.clickhouse.run({ name: 'test.lose', text: 'truncate table request_row' });
  expect(await ask({})).toEqual([[0, 'acme/fast-1', 2, 1_258]]);
  const generations = async () => {
    const [found] = await engines.clickhouse.query<{ n: number }>({
      name: 'test.generations',
      text: 'select count() as n from usage_hour',
    });
    return found?.n;
  };
  expect(await generations()).toBe(2);
  await age(engines.clickhouse);
  await sumHours(engines.clickhouse, new Date(start + DAY_MS));
  expect(await generations()).toBe(1);
  expect(await ask({})).toEqual([[0, 'acme/fast-1', 2, 1_258]]);
});

test('sums of a job that was killed before it had them all are not read, and jobs at once sum once', async () => {
  await storeSettled(engines.clickhouse, [call(1), call(2 * HOUR_MS)]);
  await engines.clickhouse.run({
    name: 'test.half',
    text: `
      insert into usage_hour (hour, made_at, org_id, environment, model, requests, cost_micro)
      select fromUnixTimestamp64Milli({hour:Int64}, 'UTC'), now64(6), {org_id:String}, 'live', 'acme/fast-1', 7, 7`,
    values: { hour: start, org_id },
  });
  const sums = [1, 2, 3].map(() => sumHours(engines.clickhouse, new Date(start + 4 * HOUR_MS)));
  await Promise.all(sums);
  expect(await ask({})).toEqual([[0, 'acme/fast-1', 2, 2_506]]);
});

test('an hour that a reader’s day begins in is divided between the two days', async () => {
  const half = 5.5 * HOUR_MS;
  await storeSettled(engines.clickhouse, [call(half - 1), call(half)]);
  await sumHours(engines.clickhouse, new Date(start + DAY_MS));
  const starts = [start, start + half];
  expect(await ask({}, { starts })).toEqual([
    [0, 'acme/fast-1', 1, 1_253],
    [half, 'acme/fast-1', 1, 1_253],
  ]);
});
