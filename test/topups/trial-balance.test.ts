// The books of an accountant: every account of a small month, and that sums from elsewhere agree with them.
import { trialBalance } from '@svc/core/accounting/index.ts';
import { writeSetting } from '@svc/core/db/index.ts';
import { microUsd, now, shiftClock } from '@svc/core/kernel/index.ts';
import { expireLots, orderCredit, readBalance, setBudget } from '@svc/core/ledger/index.ts';
import type { Org } from '@svc/core/orgs/index.ts';
import { expect, test } from 'vitest';
import {
  holdOf,
  journalDirectory,
  openOwner,
  openTestLedger,
  PATIENT,
  settleOf,
  subjectOf,
} from '../../core/ledger/testing/testing.ts';
import { atFileEnd } from '../support/ends.ts';
import { events, startWorld } from './world.ts';

const world = await startWorld();
const journal = journalDirectory();
const ledger = await openTestLedger(world.url, journal.dir, PATIENT);
atFileEnd(async () => {
  await ledger.close();
  journal.remove();
});

const DAY_MS = 86_400_000;
const balance = (more: { from?: Date; to?: Date } = {}) =>
  trialBalance(world.pool, {
    from: more.from ?? null,
    to: more.to ?? new Date(now().getTime() + 1),
    current: more.to === undefined,
  });

/** A call on the organization's live book, by a key of its own. */
async function callOn({ live_book_id: book_id }: Org, held: number, cost: number): Promise<void> {
  const subject = subjectOf(book_id);
  const budget = { book_id, cap_micro_usd: null };
  await setBudget(world.pool, { ...budget, subject: { key_no: subject.key_no } });
  await setBudget(world.pool, { ...budget, subject: { project_no: subject.project_no } });
  const call = holdOf(subject, held);
  await ledger.hold(call);
  await ledger.settle(settleOf(subject, call.request_id, cost));
}

/** Closing figures by account, in millionths. */
async function closing(): Promise<Record<string, bigint>> {
  const { lines } = await balance();
  return Object.fromEntries(lines.map((line) => [`${line.currency} ${line.account}`, line.closing]));
}

test('a month of payments, calls, grants and an expiry stands on the right accounts, and every control agrees', async () => {
  expect(await balance()).toMatchObject({ lines: [], ok: true });
  const org = await world.org('acme');
  const book_id = org.live_book_id;
  const topup = await world.topup(org, 2_500);
  await world.deliver(events.completed(topup));
  const grant = (ref_id: string, amount: number, expires_at: Date) =>
    orderCredit(world.context, org.shard, {
      ...{ book_id, kind: 'grant', amount_micro_usd: microUsd(amount), granted: true, expires_at },
      ...{ ref_type: 'staff', ref_id },
    });
  await grant('gone', 300, new Date(now().getTime() - 1));
  await expireLots(world.pool);
  await grant('stays', 200, new Date(now().getTime() + DAY_MS));
  await callOn(org, 1_000, 1_000);

  expect(await closing()).toEqual({
    'USD rail_receivable': 25_000_000n,
    'USD tax_payable': 0n,
    'USD rail_fees': 0n,
    'USD exchange': 0n,
    'USD customer_credit': -25_000_200n + 1_000n,
    'USD promotions': 200n,
    'USD usage_revenue': -1_000n,
    'USD write_offs': 0n,
  });
  expect(await balance()).toMatchObject({ ok: true });
});

test('a cost that the balance did not cover is revenue and a write-off', async () => {
  const org = await world.org('poor');
  await orderCredit(world.context, org.shard, {
    ...{ book_id: org.live_book_id, kind: 'grant', amount_micro_usd: microUsd(50), granted: true },
    ...{ expires_at: null, ref_type: 'staff', ref_id: 'little' },
  });
  const before = await closing();
  await callOn(org, 40, 70);
  const after = await closing();
  const moved = (account: string) => after[account]! - before[account]!;
  expect(['USD usage_revenue', 'USD customer_credit', 'USD write_offs'].map(moved)).toEqual([-70n, 50n, 20n]);
  expect(await balance()).toMatchObject({ ok: true });
});

test('a time has its opening, and what moved in it', async () => {
  const middle = new Date(now().getTime() + 1);
  const org = await world.org('later');
  const topup = await world.topup(org, 500);
  await world.deliver(events.completed(topup));
  const whole = await balance();
  const later = await balance({ from: middle });
  for (const line of later.lines) {
    const same = whole.lines.find(
      ({ account, currency }) => account === line.account && currency === line.currency,
    );
    expect(line.closing).toBe(same?.closing);
    expect(line.opening + line.debit - line.credit).toBe(line.closing);
  }
  expect(later.lines.find(({ account }) => account === 'rail_receivable')).toMatchObject({
    opening: 25_000_000n,
    debit: 5_000_000n,
  });
});

test('paid credit ends after the days that staff set, and is then revenue, where granted credit is not', async () => {
  const org = await world.org('forgotten');
  // Bought so long ago that it ended a minute ago.
  const ago_ms = 30 * DAY_MS + 60_000;
  await writeSetting(world.pool, { name: 'topups', value: { paid_credit_days: 30 }, at: now() });
  shiftClock(-ago_ms);
  const topup = await world.topup(org, 1_200);
  await world.deliver(events.completed(topup));
  await world.rows(`delete from settings where name = 'topups'`);
  const { paid_at } = await world.read(topup.id);
  const [lot] = await world.rows<{ expires_at: Date }>(
    'select expires_at from ledger.lot where book_id = $1',
    [org.live_book_id],
  );
  expect(lot?.expires_at.getTime()).toBe((paid_at as Date).getTime() + 30 * DAY_MS);
  const available = async () => (await readBalance(world.pool, org.live_book_id)).available_micro_usd;
  shiftClock(-120_000);
  await expireLots(world.pool);
  expect(await available()).toBe(12_000_000);
  shiftClock(0);
  const before = await closing();
  await expireLots(world.pool);
  const after = await closing();
  const moved = (account: string) => (after[`USD ${account}`] ?? 0n) - (before[`USD ${account}`] ?? 0n);
  expect(['breakage', 'customer_credit', 'promotions'].map(moved)).toEqual([-12_000_000n, 12_000_000n, 0n]);
  expect(await available()).toBe(0);
});

test('a payment whose credit is not in the ledger is found', async () => {
  const org = await world.org('short');
  const topup = await world.topup(org, 700);
  await world.deliver(events.completed(topup));
  const owner = await openOwner(world.url);
  await owner.query('update topup set credits_micro = credits_micro + 1 where id = $1', [topup.id]);
  await owner.end();
  const { ok, controls } = await balance();
  expect(ok).toBe(false);
  const wrong = controls.filter(({ expected, found }) => expected !== found);
  expect(wrong.map(({ name }) => name)).toEqual(['credit of paid top-ups']);
});
