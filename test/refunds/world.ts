// The world of money in, with refunds: paid top-ups at the simulated rail, whose events are delivered by hand.
import { trialBalance } from '@svc/core/accounting/index.ts';
import { type Id, microUsd, newRequestId, now } from '@svc/core/kernel/index.ts';
import { readBalance, setBudget, verifyLedger } from '@svc/core/ledger/index.ts';
import {
  holdOf,
  journalDirectory,
  openTestLedger,
  PATIENT,
  settleOf,
} from '@svc/core/ledger/testing/testing.ts';
import type { Org } from '@svc/core/orgs/index.ts';
import { findRefund, type Refund, requestRefund, sendRefund } from '@svc/core/refunds/index.ts';
import type { Topup } from '@svc/core/topups/index.ts';
import { expect } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { events, type World as MoneyWorld, startWorld as startMoneyIn } from '../topups/world.ts';

export interface World extends MoneyWorld {
  /** A top-up that was paid at the rail and booked, of a new organization where none is given. */
  paid(amount_minor?: number, org?: Org): Promise<Topup>;
  /** Asks for a refund; all that can go back when no amount is given. */
  ask(topup: Topup, amount_minor?: number | null, key?: string): Promise<Refund>;
  /** Asks and sends; the refund as it then is. */
  refund(topup: Topup, amount_minor?: number | null): Promise<Refund>;
  refundOf(id: Id<'refund'>): Promise<Refund>;
  /** A call of `micro_usd` on the book of a top-up; false where its credit does not cover it. */
  spend(topup: Topup, micro_usd: number): Promise<boolean>;
  available(topup: Topup): Promise<number>;
  /** Delivers all that the rail has reported since the last time, `times` each. */
  deliverNews(times?: number): Promise<void>;
  /**
   * Money kept at the rail is what was sold and not given back, with its tax, and the ledger took what the refunds say;
   * documents are without a gap, one for each refund that went back.
   */
  expectBooksRight(): Promise<void>;
}

async function expectBooksRight(world: MoneyWorld): Promise<void> {
  await world.expectRight();
  const [sums] = await world.rows<
    Record<'sold' | 'back' | 'from_topups' | 'notes' | 'lost' | 'open', number>
  >(`
    select (select coalesce(sum(total_minor), 0)::bigint from topup where status = 'paid') as sold,
           (select coalesce(sum(total_minor), 0)::bigint from refund where status = 'refunded') as back,
           (select coalesce(sum(refunded_minor), 0)::bigint from topup) as from_topups,
           (select coalesce(sum(total_minor), 0)::bigint from invoice where kind = 'credit_note') as notes,
           (select coalesce(sum(amount_minor), 0)::bigint from dispute where status = 'lost') as lost,
           (select coalesce(sum(amount_minor), 0)::bigint from dispute
             where status = 'open' and gateway = 'rail-b') as open`);
  const { sold, back, from_topups, notes, lost, open } = sums!;
  expect([from_topups, notes]).toEqual([back, back]);
  const at_rail_a = [...world.sim_a.store.payments.values()].reduce(
    (sum, { captured, amount, amount_refunded }) => (captured ? sum + amount - amount_refunded : sum),
    0,
  );
  const withdrawn = world.sim.store.disputing.withdrawn() + world.sim_a.disputes.withdrawn();
  // Rail-b takes the money when a dispute is opened, rail-a when it is lost.
  expect(world.sim.store.refunding.kept() + at_rail_a - withdrawn).toBe(sold - back - lost - open);
  const wrong = await world.rows(`
    select r.id, r.status, r.credits_micro, coalesce(sum(e.amount), 0)::bigint as moved, coalesce(sum(w.amount), 0)::bigint as off
      from refund r left join ledger.entry e on e.ref_type = 'refund' and e.ref_id = r.id
      left join ledger.writeoff w on w.book_id = e.book_id and w.seq = e.seq
     group by r.id
    having coalesce(sum(e.amount), 0) - coalesce(sum(w.amount), 0)
           <> case r.status when 'failed' then 0 else -r.credits_micro end`);
  expect(wrong).toEqual([]);
  // A dispute moved what it says: all that is open is held, nothing of a won one, and of a lost one what was not written off.
  const disputes = await world.rows(`
    select d.id, d.status, coalesce(sum(e.amount), 0)::bigint as moved from dispute d
      left join ledger.entry e on e.ref_type = 'dispute' and e.ref_id = d.id
     group by d.id
    having case d.status when 'open' then coalesce(sum(e.amount), 0) not between -d.credits_micro and 0
                         when 'won' then coalesce(sum(e.amount), 0) <> 0
                         else d.written_off_micro is null
                              or coalesce(sum(e.amount), 0) <> d.written_off_micro - d.credits_micro end`);
  expect(disputes).toEqual([]);
  const gaps = await world.rows(`
    select c.series, c.fy, c.last_no, count(i.id)::int as documents
      from invoice_counter c join invoice i on i.number like c.series || '/' || c.fy || '/%'
     group by c.supplier, c.series, c.fy having count(i.id) <> c.last_no`);
  expect(gaps).toEqual([]);
  expect((await verifyLedger({ url: world.url })).findings).toEqual([]);
  const accounts = await trialBalance(world.pool, {
    from: null,
    // Tests move the clock forth and back.
    to: new Date(now().getTime() + 1_000 * 86_400_000),
    current: true,
  });
  expect(accounts.controls.filter(({ expected, found }) => expected !== found)).toEqual([]);
}

/** Starts everything; it ends after the file. */
export async function startWorld(): Promise<World> {
  const money = await startMoneyIn();
  const { context, sim, pool } = money;
  const { dir, remove } = journalDirectory();
  const ledger = await openTestLedger(money.url, dir, PATIENT);
  atFileEnd(async () => {
    await ledger.close();
    remove();
  });
  let delivered = 0;
  let orgs = 0;
  const refundOf = async (id: Id<'refund'>) => (await findRefund(pool, { id, org_id: null })) as Refund;
  const ask: World['ask'] = async (topup, amount_minor = null, key) => {
    const { refund } = await requestRefund(context, {
      org_id: topup.org_id,
      topup_id: topup.id,
      amount_minor,
      reason: 'too much',
      idempotency_key: key ?? null,
    });
    return refund;
  };
  return {
    ...money,
    ask,
    refundOf,
    async paid(amount_minor = 2_500, org) {
      const topup = await money.topup(org ?? (await money.org(`buyer-${++orgs}`)), amount_minor);
      const { payment_intent } = sim.act(topup.gateway_ref as string, 'pay');
      await money.deliver(events.completed(topup, { payment: payment_intent as string }));
      delivered = sim.webhooks.events.length;
      return money.read(topup.id);
    },
    async refund(topup, amount_minor = null) {
      const { id } = await ask(topup, amount_minor);
      await sendRefund(context, { refund_id: id });
      return refundOf(id);
    },
    async spend(topup, micro_usd) {
      const { book_id } = topup;
      const subject = { book_id, key_no: book_id * 1_000, project_no: book_id * 1_000 };
      const { key_no, project_no } = subject;
      for (const of of [{ key_no }, { project_no }])
        await setBudget(pool.shards.at('main'), { book_id, subject: of, cap_micro_usd: null });
      const hold = holdOf(subject, micro_usd, newRequestId());
      if ((await ledger.hold(hold)).status !== 'ok') return false;
      await ledger.settle(settleOf(subject, hold.request_id, microUsd(micro_usd)));
      return true;
    },
    available: async (topup) =>
      (await readBalance(pool.shards.at('main'), topup.book_id)).available_micro_usd,
    async deliverNews(times = 1) {
      const news = sim.webhooks.events.slice(delivered);
      delivered = sim.webhooks.events.length;
      for (const event of news) for (let i = 0; i < times; i++) await money.deliver(event);
    },
    expectBooksRight: () => expectBooksRight(money),
  };
}
