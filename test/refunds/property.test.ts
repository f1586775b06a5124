// Whatever is paid, spent, given, refunded, declined, disputed, lost, made at the rail, expired and reported twice, in
// whatever order: money kept at the rail is what was sold and not given back, and no credit comes from nowhere. Over the
// real ledger.
import { writeSetting } from '@svc/core/db/index.ts';
import { microUsd, shiftClock } from '@svc/core/kernel/index.ts';
import { expireLots, orderCredit, orderDebit, orderRestore, readEntries } from '@svc/core/ledger/index.ts';
import { adoptRailRefunds, pollRefund, type Refund, sendRefund } from '@svc/core/refunds/index.ts';
import { RailError, type Topup } from '@svc/core/topups/index.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startWorld } from './world.ts';

const world = await startWorld();
const { context, sim } = world;
const DAY_MS = 86_400_000;
// Paid credit ends after a day, so that what goes back and what ends meet.
await writeSetting(world.pool, { name: 'topups', value: { paid_credit_days: 1 }, at: new Date() });
const share = fc.double({ min: 0, max: 1, noNaN: true });
const pick = fc.nat({ max: 50 });

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ op: fc.constant('spend' as const), share }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('grant' as const), share }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('gift' as const), share, back: fc.boolean() }) },
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant('refund' as const),
      which: pick,
      share,
      fate: fc.constantFrom('done', 'declined', 'lost', 'late', 'unsent'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('finish' as const), fails: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('news' as const), times: fc.constantFrom(1, 2) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('dashboard' as const), which: pick, share }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('dispute' as const), which: pick, share }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('decide' as const), won: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('expire' as const) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('again' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Refusals and rails that do not answer are part of the play; everything else is a defect. */
async function played<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof RailError || (error as { code?: string }).code !== undefined) return null;
    throw error;
  }
}

const FAULTS = {
  done: {},
  declined: { api: [{ match: 'POST /v1/refunds', mode: 'error', status: 400 }] },
  lost: { api: [{ match: 'POST /v1/refunds', mode: 'lost_answer', times: 3 }] },
  late: { refunds: 'pending' },
  unsent: {},
} as const;

async function take(action: Step, topups: readonly Topup[], serial: number): Promise<void> {
  const [first] = topups as [Topup];
  const { book_id } = first;
  const reference = `${book_id}-${serial}`;
  const part = async (of: number) => microUsd(Math.max(1, Math.floor((await world.available(first)) * of)));
  switch (action.op) {
    case 'spend':
      await world.spend(first, await part(action.share));
      return;
    case 'grant': {
      const terms = { book_id, kind: 'grant', granted: true, expires_at: null, ref_type: 'staff' } as const;
      const amount_micro_usd = microUsd(1 + Math.floor(action.share * 5_000_000));
      await orderCredit(context, 'main', { ...terms, amount_micro_usd, ref_id: reference });
      return;
    }
    case 'gift': {
      const gift = { book_id, ref_type: 'gift', ref_id: reference } as const;
      const amount_micro_usd = await part(action.share);
      await orderDebit(context, 'main', { ...gift, kind: 'gift', amount_micro_usd, paid_only: true });
      if (action.back) await orderRestore(context, 'main', { ...gift, debit_kind: 'gift' });
      return;
    }
    case 'refund': {
      const topup = topups[action.which % topups.length] as Topup;
      const amount = action.share > 0.8 ? null : 1 + Math.floor(topup.amount_minor * action.share);
      const asked = await played(world.ask(topup, amount));
      if (asked === null || action.fate === 'unsent') return;
      sim.turn(FAULTS[action.fate]);
      await played(sendRefund(context, { refund_id: asked.id }));
      sim.turn({ api: [], refunds: 'succeeded', forget_keys: true });
      return;
    }
    case 'finish': {
      const late = [...sim.store.refunds.values()].find(({ status }) => status === 'pending');
      if (late !== undefined) sim.store.refunding.finish(late.id, action.fails ? 'failed' : 'succeeded');
      return;
    }
    case 'news':
      return world.deliverNews(action.times);
    case 'dashboard': {
      const topup = topups[action.which % topups.length] as Topup;
      const amount = String(1 + Math.floor(topup.amount_minor * action.share * 0.5));
      try {
        sim.store.refunding.create({ payment_intent: topup.payment_ref as string, amount });
      } catch {
        // Nothing is left of the payment.
      }
      return;
    }
    case 'dispute': {
      const { payment_ref } = topups[action.which % topups.length] as Topup;
      const charge = [...sim.store.charges.values()].find((one) => one.payment_intent === payment_ref);
      const left = (charge?.amount ?? 0) - (charge?.amount_refunded ?? 0);
      const amount = action.share > 0.6 ? left : Math.max(1, Math.floor(left * action.share));
      if (left > 0 && !sim.store.disputing.bars(charge?.id ?? ''))
        sim.store.disputing.open(payment_ref as string, { amount });
      return;
    }
    case 'decide': {
      const [dispute] = openDisputes();
      if (dispute !== undefined) sim.store.disputing.move(dispute.id, action.won ? 'won' : 'lost');
      return;
    }
    case 'expire':
      shiftClock(2 * DAY_MS);
      try {
        await expireLots(world.pool.shards.at('main'));
      } finally {
        shiftClock(0);
      }
      return;
    case 'again':
      for (const { id } of await pending()) await played(sendRefund(context, { refund_id: id }));
  }
}

const openDisputes = () =>
  [...sim.store.disputes.values()].filter(({ status }) => status !== 'won' && status !== 'lost');
const pending = () => world.rows<Pick<Refund, 'id'>>(`select id from refund where status = 'pending'`);

/** All that is under way comes to its end: late refunds succeed, the rail is asked, what nobody claims is booked. */
async function settleAll(): Promise<void> {
  for (const { id, status } of sim.store.refunds.values())
    if (status === 'pending') sim.store.refunding.finish(id, 'succeeded');
  await world.deliverNews();
  for (const [at, { id }] of openDisputes().entries())
    sim.store.disputing.move(id, at % 2 === 0 ? 'lost' : 'won');
  await world.deliverNews(2);
  for (const { id } of await pending()) {
    await sendRefund(context, { refund_id: id });
    await pollRefund(context, { refund_id: id });
  }
  shiftClock(11 * 60_000);
  try {
    while ((await adoptRailRefunds(context)) > 0);
  } finally {
    shiftClock(0);
  }
  expect(await pending()).toEqual([]);
  expect(await world.rows(`select id from dispute where status = 'open'`)).toEqual([]);
}

test('in any order the books are right to the minor unit, and no credit comes from nowhere', async () => {
  let serial = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14, size: 'max' }), async (steps) => {
      const first = await world.paid(2_503);
      const second = await world.paid(777, { id: first.org_id, billing_country: 'US' } as never);
      for (const action of steps) await take(action, [first, second], ++serial);
      await settleAll();
      await world.expectBooksRight();
      const entries = await readEntries(world.pool.shards.at('main'), { book_id: first.book_id, limit: 500 });
      const sum = (kinds: readonly string[]) =>
        entries.reduce((all, entry) => all + (kinds.includes(entry.kind) ? entry.amount_micro_usd : 0), 0);
      expect(sum(['refund', 'refund_reversal'])).toBeLessThanOrEqual(0);
      expect(sum(['gift', 'gift_cancel'])).toBeLessThanOrEqual(0);
      expect(sum(['dispute_hold', 'dispute_release'])).toBe(0);
      expect(sum(['chargeback', 'expire'])).toBeLessThanOrEqual(0);
      expect(await world.available(first)).toBeLessThanOrEqual(sum(['topup', 'grant']) + sum(['settle']));
    }),
    { numRuns: 12, endOnFailure: true },
  );
}, 240_000);
