// Thirteen months on the development clock, with the jobs of the worker as they run: fees of the plan, notices and expiry of
// the included credit, daily budgets, and the webhooks of all of it, in order, in under a minute.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { trialBalance } from '@svc/core/accounting/index.ts';
import { openEgress } from '@svc/core/egress/index.ts';
import { machineMs, nowMs, readConfig, shiftClock, silentLog } from '@svc/core/kernel/index.ts';
import { openMailTransport } from '@svc/core/mail/index.ts';
import { startJobs } from '@svc/core/operations/index.ts';
import { putOnPlan } from '@svc/core/plans/index.ts';
import { openMoneyIn } from '@svc/core/topups/index.ts';
import { expect, test } from 'vitest';
import { startWorld } from '../credits/world.ts';
import { atFileEnd } from '../support/ends.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { LOCAL, startWorld as startHooks } from '../webhooks/world.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MONTHS = 13;
const SPENT = 30_000_000;

const world = await startWorld();
const { harness } = world;
const hooks = await startHooks({ url: harness.url });
const data_dir = mkdtempSync(join(tmpdir(), 'svc-year-'));
atFileEnd(async () => rmSync(data_dir, { recursive: true, force: true }));
const config = readConfig({ ...LOCAL, SVC_DATA_DIR: data_dir });

const clockTo = (at_ms: number) => shiftClock(at_ms - machineMs());

/** The jobs of a worker, and what waits until all of them have had a turn since the clock was moved. */
async function startWorker() {
  const mail = await openMailTransport(config);
  const jobs = startJobs({
    ...{
      pool: harness.pool,
      direct_url: harness.url,
      log: silentLog,
      request_log: harness.request_log,
      mail,
    },
    ...{
      money_in: openMoneyIn(config),
      cell: 'local',
      root_key: harness.root_key,
      egress: openEgress(config),
    },
  });
  atFileEnd(async () => {
    await jobs.stop();
    await mail.close();
  });
  await expect.poll(() => jobs.leading, { timeout: 10_000 }).toBe(true);
  return {
    /** Moves the clock to `at_ms`, and waits for the jobs. */
    async until(at_ms: number): Promise<void> {
      clockTo(at_ms);
      const late = () =>
        [...jobs.counts]
          .filter(([, { succeeded_at_ms }]) => (succeeded_at_ms ?? 0) < at_ms)
          .map(([name]) => name);
      await expect.poll(late, { interval: 10, timeout: 20_000 }).toEqual([]);
      expect([...jobs.counts].filter(([, { failures }]) => failures > 0)).toEqual([]);
    },
  };
}

const monthAfter = (month: number) => Date.UTC(2026, 11 + month, 1);

test('thirteen months of a plan pass in under a minute, with all that happens in them, in order', {
  timeout: 90_000,
}, async () => {
  clockTo(Date.parse('2026-11-21T10:00:00Z'));
  const tenant = await harness.makeTenant('yearly');
  const { org, key } = tenant;
  await putOnPlan(harness.context, org.id, {
    plan_id: 'payg',
    applies: 'now',
    free_months: 0,
    reason: 'by agreement',
  });
  await world.paid(tenant, 1_000_000_000);
  const budget = { daily_micro: 40_000_000 };
  const patched = await harness.call('PATCH', `/v1/keys/${tenant.key_id}`, { key, body: { budget } });
  expect(patched.statusCode, patched.body).toBe(200);
  const owner = await hooks.tenant('yearly', org.id);
  const receiver = await startReceiver();
  const hook = await owner.hook(receiver.url);
  const worker = await startWorker();
  const began = performance.now();

  const upgraded = await harness.call('PUT', `/v1/orgs/${org.id}/plan`, { key, body: { plan_id: 'team' } });
  expect(upgraded.statusCode, upgraded.body).toBe(200);
  for (let month = 0; month < MONTHS; month++) {
    const [start, end] = [monthAfter(month), monthAfter(month + 1)];
    await worker.until(start + 60_000);
    await world.call(tenant, SPENT / 2 + 6_000_000);
    await worker.until(start + DAY_MS);
    await world.call(tenant, SPENT / 2 - 6_000_000);
    await worker.until(end - 14 * DAY_MS + HOUR_MS);
    await worker.until(end - 3 * DAY_MS + HOUR_MS);
  }
  await worker.until(monthAfter(MONTHS) + 60_000);
  await expect
    .poll(() => receiver.received.length, { timeout: 10_000 })
    .toBeGreaterThanOrEqual(1 + 3 * MONTHS);
  expect(performance.now() - began).toBeLessThan(60_000);

  const entries = await world.rows<{ kind: string; amount: number; day: string }>(
    `select k.name as kind, e.amount, (e.created_at at time zone 'UTC')::date::text as day
       from ledger.entry e join ledger.entry_kind k on k.kind = e.kind where e.book_id = $1 order by e.seq`,
    [org.live_book_id],
  );
  const first = (month: number) => new Date(monthAfter(month)).toISOString().slice(0, 10);
  expect(entries.slice(0, 3)).toEqual([
    { kind: 'topup', amount: 1_000_000_000, day: '2026-11-21' },
    { kind: 'plan_fee', amount: -16_333_333, day: '2026-11-21' },
    { kind: 'plan_credit', amount: 15_000_000, day: '2026-11-21' },
  ]);
  const left = (month: number) => (month === 0 ? 15_000_000 : 45_000_000 - SPENT);
  const expected = Array.from({ length: MONTHS + 1 }, (_, month) => [
    { kind: 'expire', amount: -left(month), day: first(month) },
    { kind: 'plan_fee', amount: -49_000_000, day: first(month) },
    { kind: 'plan_credit', amount: 45_000_000, day: first(month) },
  ]);
  expect(entries.slice(3).filter(({ kind }) => kind !== 'settle')).toEqual(expected.flat());

  const events = receiver.verified(hook.secret).map(({ type }) => type);
  const monthly = ['budget.threshold', 'credits.expiring', 'credits.expiring'];
  expect(events).toEqual(['plan.changed', ...Array.from({ length: MONTHS }, () => monthly).flat()]);
  const books = await trialBalance(harness.pool, { from: null, to: new Date(nowMs()), current: true });
  const closing = (account: string) => books.lines.find((line) => line.account === account)?.closing;
  expect(closing('plan_revenue')).toBe(-BigInt(16_333_333 + (MONTHS + 1) * 49_000_000));
  expect(closing('promotions')).toBe(45_000_000n + BigInt(MONTHS * SPENT));
  expect(
    books.controls
      .filter(({ name }) => name === 'balances of the books')
      .every((one) => one.expected === one.found),
  ).toBe(true);
  await world.expectRight();
});
