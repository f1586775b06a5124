// A month that a finance person closes: every way credit moves, calls that are settled late, and a comparison of each day
// that is exact to the micro-dollar. `make month` lives the same month with 100,000 calls.
import { type ReconciliationView, reconcileDaily } from '@svc/core/credits/index.ts';
import { ENTRY_KINDS } from '@svc/core/ledger/index.ts';
import { listStaffItems } from '@svc/core/topups/index.ts';
import type { Static } from 'typebox';
import { expect, test } from 'vitest';
import { FIRST, liveMonth, midnight } from './month.ts';
import { clockAt, startWorld } from './world.ts';

type Report = Static<typeof ReconciliationView>;
const CALLS = Number(process.env['MONTH_CALLS'] ?? 900);
const SEED = Number(process.env['MONTH_SEED'] ?? 20_261);
const DAYS = 30;

const world = await startWorld();
const { harness } = world;
const day = (n: number) => new Date(midnight(FIRST, n)).toISOString().slice(0, 10);

test('a month of every movement and of late settles has variance 0 each day, and a micro-dollar changed by hand is found', {
  timeout: 60_000 + CALLS * 20,
}, async () => {
  const tenant = await harness.makeTenant('month');
  const items = async () =>
    (await listStaffItems(harness.pool)).filter(({ subject }) => subject.startsWith(tenant.org.id));
  const looks: number[] = [];
  const started = performance.now();
  const lived = await liveMonth(world, tenant, {
    ...{ days: DAYS, calls: CALLS, seed: SEED },
    morning: async () => {
      looks.push(await reconcileDaily(world.context));
      expect(await items()).toEqual([]);
    },
  });
  const lived_s = (performance.now() - started) / 1_000;
  expect(looks.filter((organizations) => organizations > 0).length).toBeGreaterThanOrEqual(DAYS - 1);
  expect([lived.over, lived.settled_late].every((calls) => calls > 0)).toBe(true);

  const last = lived.days.length - 1;
  const asked = performance.now();
  const path = `/v1/credits/reconciliation?from=${day(0)}&to=${day(last)}`;
  const report = await world.get<Report>(path, tenant.key);
  const asked_s = (performance.now() - asked) / 1_000;
  let balance = 0;
  report.days.forEach((one, n) => {
    const { added_micro, charged_micro, other_debits_micro, requests } = lived.days[n]!;
    const opening_micro = balance;
    balance += added_micro - charged_micro - other_debits_micro;
    expect(one).toEqual({
      ...{ day: day(n), opening_micro, added_micro, charged_micro, other_debits_micro, requests },
      ...{ closing_micro: balance, usage_micro: charged_micro, variance_micro: 0 },
    });
  });
  expect(report.totals).toMatchObject({ requests: CALLS, variance_micro: 0, closing_micro: balance });
  const shown = await world.get<{ available_micro_usd: number; held_micro_usd: number }>(
    '/v1/credits',
    tenant.key,
  );
  expect(shown).toMatchObject({ available_micro_usd: balance, held_micro_usd: 0 });
  // No way in which credit moves is missing from the month.
  const kinds = await world.rows<{ kind: number }>(
    'select distinct kind from ledger.entry where book_id = $1 order by kind',
    [tenant.org.live_book_id],
  );
  expect(kinds.map(({ kind }) => ENTRY_KINDS[kind - 1])).toEqual([...ENTRY_KINDS]);
  await world.expectRight();

  // Somebody changes a row of the next day by one.
  const next = day(last + 1);
  clockAt(`${next}T10:00:00Z`);
  await world.call(tenant, 500);
  await world.rows('update request_row set cost_micro = 501 where org_id = $1 and ts >= $2', [
    ...[tenant.org.id, new Date(midnight(FIRST, last + 1))],
  ]);
  clockAt(`${day(last + 2)}T03:01:00Z`);
  await reconcileDaily(world.context);
  expect(await items()).toMatchObject([
    {
      kind: 'reconciliation_variance',
      subject: `${tenant.org.id} ${next}`,
      details: { charged_micro: 500, usage_micro: 501, variance_micro: -1, requests: 1 },
    },
  ]);
  if (process.env['MONTH_CALLS'] !== undefined) {
    process.stdout.write(
      `${CALLS} calls lived in ${lived_s.toFixed(1)} s, ${lived.settled_late} settled on a later day; ` +
        `the report took ${asked_s.toFixed(2)} s: variance 0 on each day, seed ${SEED}\n`,
    );
  }
});
