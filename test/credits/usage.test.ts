// Usage against the ledger: however calls are grouped, filtered and put into days, the sums are what was charged.
import { dropOldDays, type RequestRow, rollUpUsage, sumMissing } from '@svc/core/analytics/index.ts';
import { ulidMs } from '@svc/core/kernel/index.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clockAt, startWorld } from './world.ts';

const world = await startWorld();
const { harness } = world;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
// Clocks change within these days in Berlin and Cairo; hours of Kolkata, Chatham and St John's are not those of UTC.
const start = Date.parse('2026-10-24T00:00:00Z');
const until = Date.parse('2026-10-31T00:00:00Z');
const zones = ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Africa/Cairo', 'Pacific/Chatham', 'America/St_Johns'];

interface Sum {
  readonly requests: number;
  readonly cost_micro: number;
}
interface Usage {
  readonly totals: Sum;
  readonly series: readonly (Sum & { bucket: string })[];
  readonly groups: readonly (Sum & { key: string })[];
  readonly group_series: readonly (Sum & { bucket: string; key: string })[];
}
interface Call {
  readonly at: number;
  readonly micro: number;
  readonly row: Partial<RequestRow>;
}

const groupings: readonly { by: string; filter: string; of: (row: Partial<RequestRow>) => string }[] = [
  { by: 'model', filter: 'model', of: (row) => row.model as string },
  { by: 'provider', filter: 'provider', of: (row) => row.provider as string },
  { by: 'app', filter: 'app', of: (row) => row.app_id as string },
  { by: 'user', filter: 'user', of: (row) => row.user_hash as string },
  { by: 'session', filter: 'session', of: (row) => row.session_id as string },
  { by: 'tag&tag=team', filter: 'tag=team&tag_value', of: (row) => row.tags?.['team'] ?? '' },
];
const drawn = fc.sample(
  fc.record({
    at: fc.integer({ min: start, max: until - 1 }),
    /** How long after the call its row is written; beyond 45 minutes its hour may be sealed. */
    late_h: fc.constantFrom(0, 0, 0, 3, 40),
    micro: fc.integer({ min: 1, max: 5_000_000 }),
    row: fc.record({
      model: fc.constantFrom('acme/fast-1', 'acme/slow-1'),
      provider: fc.constantFrom('acme', 'other'),
      app_id: fc.constantFrom('', 'notes'),
      user_hash: fc.constantFrom('', 'a'.repeat(64), 'b'.repeat(64)),
      session_id: fc.constantFrom('', 'run-1', 'Gespräch „zwei“', "o'clock\\"),
      tags: fc.constantFrom({}, { team: 'red' }, { team: '' }, { other: 'x' }),
    }),
  }),
  { numRuns: 150, seed: 47 },
);

/** Calls as the ledger charges them, each with its row; hours are sealed meanwhile. */
async function make() {
  const calls: Call[] = [];
  const tenant = await harness.makeTenant('sums');
  clockAt(new Date(start).toISOString());
  await world.paid(tenant, 2_000_000_000);
  const open = drawn.map((call) => ({ ...call, written: call.at + call.late_h * HOUR_MS }));
  const steps = open.flatMap((call) => [
    { at: call.at, call, ends: false },
    { at: call.written + 1, call, ends: true },
  ]);
  steps.sort((a, b) => a.at - b.at);
  const begun = new Map<object, Awaited<ReturnType<typeof world.begin>>>();
  for (const [n, { at, call, ends }] of steps.entries()) {
    clockAt(new Date(at).toISOString());
    if (ends) await begun.get(call)?.settle({ row: call.row });
    else {
      const one = await world.begin(tenant, call.micro);
      begun.set(call, one);
      // Its time is that of its id: the clock has gone on since it was set.
      calls.push({ at: ulidMs(one.request_id), micro: call.micro, row: call.row });
    }
    if (n % 12 === 0) await rollUpUsage(harness.pool, new Date(at));
    if (n % 24 === 0) await sumMissing(harness.pool);
  }
  return { tenant, calls };
}

const add = (rows: readonly Sum[]): Sum => ({
  requests: rows.reduce((sum, { requests }) => sum + requests, 0),
  cost_micro: rows.reduce((sum, { cost_micro }) => sum + cost_micro, 0),
});
const only = ({ requests, cost_micro }: Sum): Sum => ({ requests, cost_micro });
const sumOf = (of: readonly Call[]): Sum => add(of.map(({ micro }) => ({ requests: 1, cost_micro: micro })));
const range = `range=custom&from=${new Date(start - DAY_MS).toISOString()}&to=${new Date(until + DAY_MS).toISOString()}`;

const { tenant, calls } = await make();
const total = sumOf(calls);
const read = async (query: string): Promise<Usage> => {
  const asked = `/v1/usage?${range}&${query}`;
  const { group_series, ...usage } = await world.get<Usage>(`${asked}&group_series=true`, tenant.key);
  // Asked without it, the same is summed apart.
  expect(usage).toEqual(await world.get<Omit<Usage, 'group_series'>>(asked, tenant.key));
  return { ...usage, group_series };
};

test('every grouping, series and zone adds up to what the ledger charged, with late rows and sealed hours', async () => {
  clockAt('2026-11-02T12:00:00Z');
  const charged = await world.get<{ totals: { charged_micro: number; variance_micro: number } }>(
    '/v1/credits/reconciliation?from=2026-10-23&to=2026-11-02',
    tenant.key,
  );
  expect(charged.totals).toMatchObject({ charged_micro: total.cost_micro, variance_micro: 0 });
  for (const zone of zones) {
    const date = new Intl.DateTimeFormat('en-CA', { timeZone: zone });
    for (const { by, of } of groupings) {
      const usage = await read(`granularity=day&timezone=${encodeURIComponent(zone)}&group_by=${by}`);
      const sums = [only(usage.totals), add(usage.series), add(usage.groups), add(usage.group_series)];
      expect([zone, by, sums]).toEqual([zone, by, [total, total, total, total]]);
      const of_keys = Map.groupBy(calls, ({ row }) => of(row));
      expect(Object.fromEntries(usage.groups.map((row) => [row.key, only(row)]))).toEqual(
        Object.fromEntries([...of_keys].map(([key, some]) => [key, sumOf(some)])),
      );
      // A day is a date of the reader's calendar, whatever its length.
      const of_days = Map.groupBy(calls, ({ at }) => date.format(at));
      for (const row of usage.series) {
        const day = date.format(new Date(row.bucket));
        expect([zone, day, only(row)]).toEqual([zone, day, sumOf(of_days.get(day) ?? [])]);
      }
    }
  }
});

test('a filter by a key of a grouping is that group, by hours and by days', async () => {
  clockAt('2026-11-02T12:00:00Z');
  for (const { by, filter, of } of groupings) {
    for (const [key, some] of Map.groupBy(calls, ({ row }) => of(row))) {
      for (const unit of ['hour', 'day&timezone=Asia/Kolkata']) {
        const usage = await read(`granularity=${unit}&${filter}=${encodeURIComponent(key)}`);
        const sums = [only(usage.totals), add(usage.series)];
        expect([by, key, sums]).toEqual([by, key, [sumOf(some), sumOf(some)]]);
      }
    }
  }
  const both = await read(`user=${'a'.repeat(64)}&session=run-1&app=notes`);
  const wanted = calls.filter(
    ({ row }) => row.user_hash === 'a'.repeat(64) && row.session_id === 'run-1' && row.app_id === 'notes',
  );
  expect(only(both.totals)).toEqual(sumOf(wanted));
  const tagged = calls.filter(({ row }) => row.tags !== undefined && 'team' in row.tags);
  expect(only((await read('tag=team')).totals)).toEqual(sumOf(tagged));
});

test('days whose rows are past their time keep their sums, and what only rows knew is under the empty key', async () => {
  const kept_from = Date.parse('2026-10-28T00:00:00Z');
  const now = new Date(kept_from + 400 * DAY_MS - 60_000);
  clockAt(new Date(until + 3 * DAY_MS).toISOString());
  await rollUpUsage(harness.pool, new Date(until + 3 * DAY_MS));
  await sumMissing(harness.pool);
  clockAt(now.toISOString());
  await dropOldDays(harness.pool, now);
  const left = await world.rows<{ n: number }>(
    'select count(*)::int as n from request_row where org_id = $1 and ts < $2',
    [tenant.org.id, new Date(kept_from - DAY_MS)],
  );
  expect(left).toEqual([{ n: 0 }]);
  for (const { by, of } of groupings) {
    const usage = await read(`timezone=Asia/Kolkata&granularity=day&group_by=${by}`);
    const sums = [only(usage.totals), add(usage.series), add(usage.groups), add(usage.group_series)];
    expect([by, sums]).toEqual([by, [total, total, total, total]]);
    const in_rows = ['user', 'session', 'tag&tag=team'].includes(by);
    const known = Map.groupBy(calls, ({ at, row }) => (in_rows && at < kept_from ? '' : of(row)));
    expect([by, Object.fromEntries(usage.groups.map((row) => [row.key, only(row)]))]).toEqual([
      by,
      Object.fromEntries([...known].map(([key, some]) => [key, sumOf(some)])),
    ]);
  }
});
