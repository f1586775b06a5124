// The reconciliation over the real ledger and real request rows: exact to the micro-USD, day by day.
import { type ReconciliationView, reconcileDaily } from '@svc/core/credits/index.ts';
import { debit, expireLots } from '@svc/core/ledger/index.ts';
import { listStaffItems } from '@svc/core/topups/index.ts';
import fc from 'fast-check';
import type { Static } from 'typebox';
import { expect, test } from 'vitest';
import { codeOf } from '../registry/harness.ts';
import { rowOf } from '../registry/rows.ts';
import { clockAt, startWorld } from './world.ts';

type Report = Static<typeof ReconciliationView>;
const world = await startWorld();
const { harness } = world;
const path = (from: string, to: string) => `/v1/credits/reconciliation?from=${from}&to=${to}`;
const itemsOf = async (org_id: string) =>
  (await listStaffItems(harness.pool)).filter(({ subject }) => subject.startsWith(org_id));

test('a day of a top-up, calls, a refund and an expiry closes to the micro-dollar', async () => {
  const tenant = await harness.makeTenant('vector');
  clockAt('2026-11-19T12:00:00Z');
  const lot_id = await world.paid(tenant, 9_900_000);
  await world.grant(tenant, 100_000, '2026-11-20T01:00:00Z');
  clockAt('2026-11-20T02:00:00Z');
  expect(await expireLots(harness.pool)).toBe(1);
  await world.paid(tenant, 11_107_346);
  await world.call(tenant, 1_250_000);
  await world.call(tenant, 40);
  await debit(harness.pool, {
    ...{ book_id: tenant.org.live_book_id, kind: 'refund', amount_micro_usd: 3_702_412 as never },
    ...{ lot_id, ref_type: 'refund', ref_id: 'rfd_1' },
  });
  clockAt('2026-11-21T12:00:00Z');
  const report = await world.get<Report>(path('2026-11-20', '2026-11-20'), tenant.key);
  const figures = {
    opening_micro: 10_000_000,
    added_micro: 11_107_346,
    charged_micro: 1_250_040,
    other_debits_micro: 3_802_412,
    closing_micro: 16_054_894,
    usage_micro: 1_250_040,
    requests: 2,
    variance_micro: 0,
  };
  expect(report).toEqual({
    object: 'reconciliation',
    ...{ from: '2026-11-20', to: '2026-11-20', timezone: 'UTC', analytics: true },
    days: [{ day: '2026-11-20', ...figures }],
    totals: figures,
  });
  await world.expectRight();
});

test('a call that is settled after midnight counts on the day of its settle, in both columns', async () => {
  const tenant = await harness.makeTenant('midnight');
  clockAt('2026-11-10T08:00:00Z');
  await world.paid(tenant, 5_000_000);
  clockAt('2026-11-10T23:59:59.900Z');
  const over = await world.begin(tenant, 700);
  clockAt('2026-11-11T00:00:02Z');
  await over.settle();
  await world.call(tenant, 11);
  const both = await world.get<Report>(path('2026-11-10', '2026-11-11'), tenant.key);
  expect(
    both.days.map((day) => [day.charged_micro, day.usage_micro, day.requests, day.variance_micro]),
  ).toEqual([
    [0, 0, 0, 0],
    [711, 711, 2, 0],
  ]);
  // Also where only one of the two days is asked for.
  for (const [day, charged] of [
    ['2026-11-10', 0],
    ['2026-11-11', 711],
  ] as const) {
    const { totals } = await world.get<Report>(path(day, day), tenant.key);
    expect(totals).toMatchObject({ charged_micro: charged, usage_micro: charged, variance_micro: 0 });
  }
});

test('what the balance did not cover is written off, and no variance', async () => {
  const tenant = await harness.makeTenant('written-off');
  clockAt('2026-11-10T08:00:00Z');
  await world.paid(tenant, 1_000);
  const first = await world.begin(tenant, 600);
  // A call that outgrew its hold: of its 900 only the 400 that were left could be charged, and its row says so.
  const second = await world.begin(tenant, 400);
  await second.settle({ cost_micro: 900, row_micro: 400 });
  await first.settle();
  const { totals } = await world.get<Report>(path('2026-11-10', '2026-11-10'), tenant.key);
  expect(totals).toMatchObject({
    charged_micro: 1_000,
    usage_micro: 1_000,
    variance_micro: 0,
    closing_micro: 0,
  });
});

test('any thirty days of movements and calls close without variance, and each day begins where the last ended', async () => {
  const tenant = await harness.makeTenant('any');
  const day = (n: number) => `2026-10-${String(n).padStart(2, '0')}`;
  clockAt(`${day(1)}T00:00:00Z`);
  await world.paid(tenant, 1_000_000_000);
  let total = 0;
  const drawn = fc.sample(
    fc.record({
      day: fc.integer({ min: 1, max: 30 }),
      second: fc.integer({ min: 0, max: 86_399 }),
      micro: fc.integer({ min: 1, max: 5_000_000 }),
      what: fc.constantFrom('call', 'call', 'call', 'grant', 'over midnight' as const),
    }),
    { numRuns: 120, seed: 20261 },
  );
  drawn.sort((a, b) => a.day - b.day || a.second - b.second);
  for (const each of drawn) {
    const start = Date.parse(`${day(each.day)}T00:00:00Z`) + each.second * 1_000;
    clockAt(new Date(start).toISOString());
    if (each.what === 'grant') {
      await world.grant(tenant, each.micro);
      continue;
    }
    total += each.micro;
    const call = await world.begin(tenant, each.micro);
    if (each.what === 'over midnight') clockAt(`${day(each.day)}T23:59:59.999Z`);
    await call.settle();
  }
  const report = await world.get<Report>(path(day(1), day(31)), tenant.key);
  expect(report.days).toHaveLength(31);
  report.days.forEach((one, at) => {
    expect(one.variance_micro, one.day).toBe(0);
    expect(one.closing_micro).toBe(
      one.opening_micro + one.added_micro - one.charged_micro - one.other_debits_micro,
    );
    if (at > 0) expect(one.opening_micro).toBe(report.days[at - 1]?.closing_micro);
  });
  expect(report.totals).toMatchObject({ opening_micro: 0, usage_micro: total, charged_micro: total });
  const balance = await world.get<{ available_micro_usd: number }>('/v1/credits', tenant.key);
  expect(report.totals.closing_micro).toBe(balance.available_micro_usd);
});

test('as CSV it has the same rows and a line of totals', async () => {
  const tenant = await harness.makeTenant('table');
  clockAt('2026-11-10T08:00:00Z');
  await world.paid(tenant, 2_000);
  await world.call(tenant, 500);
  const url = `${path('2026-11-09', '2026-11-10')}&format=csv`;
  const reply = await harness.call('GET', url, { key: tenant.key });
  expect(reply.headers['content-type']).toBe('text/csv; charset=utf-8');
  expect(reply.body.split('\r\n')).toEqual([
    'day,opening_micro,added_micro,charged_micro,other_debits_micro,closing_micro,usage_micro,requests,variance_micro',
    '2026-11-09,0,0,0,0,0,0,0,0',
    '2026-11-10,0,2000,500,0,1500,500,1,0',
    'total,0,2000,500,0,1500,500,1,0',
    '',
  ]);
});

test('92 days are given, 93 are too many, a day that does not exist and a range that runs backwards are refused', async () => {
  const { a } = harness;
  expect((await world.get<Report>(path('2026-08-01', '2026-10-31'), a.key)).days).toHaveLength(92);
  const refused = async (from: string, to: string) => {
    const reply = await harness.call('GET', path(from, to), { key: a.key });
    return [reply.statusCode, codeOf(reply), reply.json().error.param];
  };
  expect(await refused('2026-08-01', '2026-11-01')).toEqual([400, 'range_too_long', 'from']);
  expect(await refused('2026-11-02', '2026-11-01')).toEqual([400, 'invalid_request', 'from']);
  expect(await refused('2026-02-30', '2026-03-01')).toEqual([400, 'invalid_request', 'from']);
  clockAt('2026-11-21T23:59:59Z');
  const usual = await world.get<Report>('/v1/credits/reconciliation', a.key);
  expect([usual.from, usual.to, usual.days.length]).toEqual(['2026-10-23', '2026-11-21', 30]);
});

test('a test key reconciles the sandbox book', async () => {
  const { b } = harness;
  const report = await world.get<Report>('/v1/credits/reconciliation', b.test_key);
  expect(report.totals.closing_micro).toBe(100_000_000);
  expect((await world.get<Report>('/v1/credits/reconciliation', b.key)).totals.closing_micro).toBe(0);
});

test('a day that differs is before the staff the next morning, once, and goes when the missing call is found', async () => {
  const tenant = await harness.makeTenant('differs');
  clockAt('2026-12-05T10:00:00Z');
  await world.paid(tenant, 10_000);
  const call = await world.begin(tenant, 500);
  await call.settle({ row_micro: 499 });
  clockAt('2026-12-06T02:59:00Z');
  await reconcileDaily(world.context);
  expect(await itemsOf(tenant.org.id)).toEqual([]);
  clockAt('2026-12-06T03:01:00Z');
  expect(await reconcileDaily(world.context)).toBeGreaterThan(0);
  expect(await reconcileDaily(world.context)).toBe(0);
  expect(await itemsOf(tenant.org.id)).toMatchObject([
    {
      kind: 'reconciliation_variance',
      subject: `${tenant.org.id} 2026-12-05`,
      details: { charged_micro: 500, usage_micro: 499, variance_micro: 1, requests: 1 },
    },
  ]);
  await world.rows('update request_row set cost_micro = 500 where org_id = $1', [tenant.org.id]);
  clockAt('2026-12-07T03:01:00Z');
  await reconcileDaily(world.context);
  expect(await itemsOf(tenant.org.id)).toEqual([]);
});

test('a call whose settle never came is found, though the ledger has nothing of that day', async () => {
  const tenant = await harness.makeTenant('unsettled');
  clockAt('2026-12-20T10:00:00Z');
  harness.request_log.write(rowOf(tenant, { cost_micro: 77 }));
  await harness.request_log.flush();
  clockAt('2026-12-21T04:00:00Z');
  await reconcileDaily(world.context);
  expect(await itemsOf(tenant.org.id)).toMatchObject([
    { subject: `${tenant.org.id} 2026-12-20`, details: { charged_micro: 0, variance_micro: -77 } },
  ]);
});
