// The comparison with the rails' own books: a day at a simulated rail on which events were lost, money moved in its
// dashboard and settlements differ, and what we make of it.
import { trialBalance } from '@svc/core/accounting/index.ts';
import { now, shiftClock } from '@svc/core/kernel/index.ts';
import { adoptRailRefunds } from '@svc/core/refunds/index.ts';
import { askForDay, compareDay, compareRails, findComparison, isDue } from '@svc/core/settlements/index.ts';
import { disputesOf, listStaffItems, pollTopup, type Topup } from '@svc/core/topups/index.ts';
import { afterEach, expect, test } from 'vitest';
import { startWorld } from '../refunds/world.ts';
import { later } from '../topups/world.ts';

const world = await startWorld();
const { context, sim, sim_a, rail, rail_a, rows } = world;
afterEach(async () => {
  shiftClock(0);
  sim.turn({ payout: {}, api: [] });
  sim_a.turn({ settlement: {}, api: [] });
  for (const name of fresh) seen.add(name);
  await world.expectRight();
});

const today = () => new Date().toISOString().slice(0, 10);
/** What was found that no earlier test had found: all look at the same day of the same rails. */
const seen = new Set<string>();
const fresh = new Set<string>();
function kinds({ findings }: { findings: readonly { kind: string; subject: string }[] }): string[] {
  const found = findings.filter(({ kind, subject }) => !seen.has(`${kind} ${subject}`));
  for (const { kind, subject } of found) fresh.add(`${kind} ${subject}`);
  return found.map(({ kind }) => kind).sort();
}
const items = async (kind: string) =>
  (await listStaffItems(world.pool, 500)).filter((item) => item.kind === kind);
let made = 0;
const unpaid = async (): Promise<Topup> => world.topup(await world.indian(`in-${++made}`));
/** Paid at rail-a, and the poll has booked it. */
async function paidInIndia(): Promise<Topup> {
  const topup = await unpaid();
  sim_a.act(topup.gateway_ref as string, 'upi');
  await pollTopup(context, { topup_id: topup.id });
  return world.read(topup.id);
}
/** The events of both rails up to now are lost. */
const compareBoth = async (as = context, day = today()) => [
  await compareDay(as, rail, day),
  await compareDay(as, rail_a, day),
];

test('what no event reported is booked as its event would have: payments, refunds, disputes, over both rails', async () => {
  const lost_a = await unpaid();
  sim_a.act(lost_a.gateway_ref as string, 'card');
  const lost_b = await world.topup(await world.org('lost-b'));
  sim.act(lost_b.gateway_ref as string, 'pay');
  const back_a = await paidInIndia();
  sim_a.store.refund(back_a.payment_ref as string, { amount: 50_000 }, null);
  const back_b = await world.paid();
  sim.store.refunding.create({ payment_intent: back_b.payment_ref as string, amount: '500' });
  const disputed_a = await paidInIndia();
  sim_a.disputes.open(disputed_a.payment_ref as string);
  const disputed_b = await world.paid();
  sim.store.disputing.open(disputed_b.payment_ref as string);

  const [b, a] = await compareBoth();
  expect(kinds(a!)).toEqual(['dispute_taken', 'payment_booked', 'refund_taken']);
  expect(kinds(b!)).toEqual(['dispute_taken', 'payment_booked', 'refund_taken']);
  for (const topup of [lost_a, lost_b])
    expect(await world.read(topup.id)).toMatchObject({ status: 'paid', invoice_number: expect.any(String) });
  for (const topup of [disputed_a, disputed_b])
    expect(await disputesOf(world.pool, topup.id)).toMatchObject([{ status: 'open' }]);
  // Nobody here asked for these refunds: after ten minutes they count as made at the rail.
  shiftClock(11 * 60_000);
  await adoptRailRefunds(context);
  expect(await world.read(back_a.id)).toMatchObject({ refunded_minor: 50_000 });
  expect(await world.read(back_b.id)).toMatchObject({ refunded_minor: 500 });
  expect((await compareBoth()).map(kinds)).toEqual([[], []]);
  await world.expectBooksRight();
  // What was booked stays to be seen.
  expect((await findComparison(context, { rail: 'rail-a', day: today() }))?.findings).toHaveLength(3);
});

test('a dispute and a refund that ended without an event end here', async () => {
  const disputed = await paidInIndia();
  const { id } = sim_a.disputes.open(disputed.payment_ref as string);
  await compareDay(context, rail_a, today());
  sim_a.disputes.move(id, 'won');
  expect(kinds(await compareDay(context, rail_a, today()))).toEqual(['dispute_taken']);
  expect(await disputesOf(world.pool, disputed.id)).toMatchObject([{ status: 'won' }]);
  sim.turn({ refunds: 'pending' });
  const topup = await world.paid();
  const refund = await world.refund(topup);
  expect(refund.status).toBe('pending');
  sim.store.refunding.finish(refund.gateway_ref as string, 'succeeded');
  sim.turn({ refunds: 'succeeded' });
  expect(kinds(await compareDay(context, rail, today()))).toEqual(['refund_taken']);
  expect((await world.refundOf(refund.id)).status).toBe('refunded');
});

test('a settlement that is as it should be finds nothing; its lines and its payout are kept once', async () => {
  const topup = await paidInIndia();
  const other = await world.paid();
  await world.refund(other, 500);
  const settled_a = sim_a.settlements.settle()!;
  const settled_b = sim.store.paying.settle()!;
  for (let i = 0; i < 2; i++) expect((await compareBoth(later(context, 25))).map(kinds)).toEqual([[], []]);
  const kept = await rows<{ rail: string; n: number; net: number; paid: number }>(`
    select rail, count(*)::int as n, sum(amount_minor - fee_minor)::bigint as net,
           (select amount_minor from rail_payout p where p.rail = l.rail and p.ref = max(l.payout_ref)) as paid
      from settlement_line l group by rail order by rail`);
  expect(kept).toMatchObject([
    { rail: 'rail-a', net: settled_a.amount, paid: settled_a.amount },
    { rail: 'rail-b', net: settled_b.amount, paid: settled_b.amount },
  ]);
  // The fee that nobody had said is said now.
  expect(await world.read(other.id)).toMatchObject({ fee_minor: 103 });
  expect((await world.read(topup.id)).fee_minor).toBe(0);
});

test('another amount, another fee, a line of nothing and a payout that is not its lines are put before a person, once', async () => {
  const fees = async () => {
    const time = { from: null, to: new Date(now().getTime() + 1), current: false };
    const { lines } = await trialBalance(world.pool, time);
    const of = (currency: string) =>
      lines.find((line) => line.account === 'rail_fees' && line.currency === currency)?.closing ?? 0n;
    return [of('INR'), of('USD')] as const;
  };
  const topup = await paidInIndia();
  sim_a.turn({ settlement: { amount_delta: -7, extra_fee: 5, stray: -900, payout_delta: 1 } });
  const { id } = sim_a.settlements.settle()!;
  const other = await world.paid();
  await pollTopup(context, { topup_id: other.id });
  sim.turn({ payout: { extra_fee: 11, stray: 40, amount_delta: -2 } });
  sim.store.paying.settle();
  const before = await fees();
  const expected = ['payout_differs', 'settlement_differs', 'settlement_unknown'];
  // The lines may follow their payout by a day.
  expect((await compareBoth()).map(kinds)).toEqual([expected.slice(1), expected.slice(1)]);
  for (let i = 0; i < 2; i++)
    expect((await compareBoth(later(context, 25))).map(kinds)).toEqual([expected, expected]);
  expect(await items('settlement_differs')).toMatchObject([
    { details: { topup_id: other.id, expected_fee_minor: 103, settled_fee_minor: 114 } },
    { details: { topup_id: topup.id, expected_minor: 118_000, settled_minor: 117_993, payout_ref: id } },
  ]);
  expect((await items('settlement_unknown')).map(({ details }) => details['amount_minor'])).toEqual([
    40, -900,
  ]);
  // The fees that were taken stand in the accounts.
  const after = await fees();
  expect([after[0] - before[0], after[1] - before[1]]).toEqual([50_000n, 110_000n]);
  const wrong = (await items('payout_differs')).map(({ details }) => details);
  expect(wrong.map((one) => (one['lines_minor'] as number) - (one['amount_minor'] as number))).toEqual([
    2, -1,
  ]);
});

test('a payment that the rail does not know, and one that it never settles, are put before a person', async () => {
  const day = (n: number) => new Date(Date.now() - n * 86_400_000).toISOString().slice(0, 10);
  const [stranger, kept, settled] = [await paidInIndia(), await paidInIndia(), await paidInIndia()];
  sim_a.store.payments.delete(stranger.payment_ref as string);
  expect(kinds(await compareDay(context, rail_a, today()))).toEqual(['payment_not_at_rail']);
  expect(await items('payment_not_at_rail')).toMatchObject([{ details: { topup_id: stranger.id } }]);
  await rows(`update topup set paid_at = paid_at - interval '11 days' where id = any ($1)`, [
    [kept.id, settled.id],
  ]);
  await rows(`update topup set paid_at = paid_at - interval '40 days' where id = $1`, [stranger.id]);
  await compareDay(context, rail_a, day(11));
  sim_a.turn({ settlement: { omit: [kept.payment_ref as string] } });
  sim_a.settlements.settle();
  await compareDay(context, rail_a, today());
  expect(kinds(await compareDay(context, rail_a, day(1)))).toEqual(['payment_unsettled']);
  expect(await items('payment_unsettled')).toMatchObject([{ details: { topup_id: kept.id } }]);
  // It is settled after all, and the matter is over.
  sim_a.turn({ settlement: {} });
  sim_a.settlements.settle();
  await compareDay(context, rail_a, today());
  expect(await items('payment_unsettled')).toEqual([]);
  expect(kinds(await compareDay(context, rail_a, day(1)))).toEqual([]);
});

test('a lost payment that is first seen in a settlement is booked from it, a lost dispute too', async () => {
  const [late, disputed] = [await unpaid(), await paidInIndia()];
  sim_a.act(late.gateway_ref as string, 'netbanking');
  const { id } = sim_a.disputes.open(disputed.payment_ref as string);
  sim_a.disputes.move(id, 'lost');
  sim_a.settlements.settle();
  const payments = sim_a.store.payments;
  // The lists of the day lack them: they began on another.
  const [late_payment] = sim_a.store.paymentsOf(late.gateway_ref as string);
  const shown = [...payments.values()].map((payment) => [payment, payment.created_at] as const);
  for (const [payment] of shown) Object.assign(payment, { created_at: payment.created_at - 5 * 86_400 });
  Object.assign(sim_a.disputes.dispute(id), { created_at: 1 });
  const found = await compareDay(context, rail_a, today());
  expect(kinds(found)).toEqual(['dispute_taken', 'payment_booked']);
  expect(await world.read(late.id)).toMatchObject({ status: 'paid', payment_ref: late_payment?.id });
  expect(await disputesOf(world.pool, disputed.id)).toMatchObject([{ status: 'lost' }]);
  for (const [payment, created_at] of shown) Object.assign(payment, { created_at });
});

test('a second payment goes back, the proof of a mandate and payments of others are left alone', async () => {
  const topup = await paidInIndia();
  sim_a.act(topup.gateway_ref as string, 'again');
  const order = sim_a.store.createOrder({ amount: 100, currency: 'INR', notes: { mandate_id: 'mnd_1' } });
  sim_a.act(order.id, 'card');
  const foreign = sim_a.store.createOrder({ amount: 5_000, currency: 'INR', receipt: 'shop-1' });
  sim_a.act(foreign.id, 'card');
  const found = await compareDay(context, rail_a, today());
  expect(kinds(found)).toEqual(['payment_taken', 'unknown_topup']);
  const tasks = await rows('select kind from rail_task where topup_id = $1', [topup.id]);
  expect(tasks).toEqual([{ kind: 'refund_payment' }]);
  await compareDay(context, rail_a, today());
  expect(await items('unknown_topup')).toHaveLength(1);
});

test('two at once, and one that was stopped after any of its calls, come to the same', async () => {
  const lost: Topup[] = [];
  for (let i = 0; i < 4; i++) {
    const topup = await unpaid();
    sim_a.act(topup.gateway_ref as string, 'upi');
    lost.push(topup);
  }
  sim_a.settlements.settle();
  const paths = ['payments', 'refunds', 'disputes', 'settlements', 'settlements/recon'];
  for (const path of paths) {
    sim_a.turn({ api: [{ match: `GET /v1/${path}`, mode: 'error', status: 503 }] });
    await expect(compareDay(context, rail_a, today())).rejects.toThrow('trouble');
  }
  const both = await Promise.all([
    compareDay(context, rail_a, today()),
    compareDay(context, rail_a, today()),
  ]);
  const booked = both.flatMap(({ findings }) => findings).filter(({ kind }) => kind === 'payment_booked');
  expect(booked).toHaveLength(4);
  for (const topup of lost) expect((await world.read(topup.id)).status).toBe('paid');
  const [lines] = await rows<{ n: number }>(
    'select count(*)::int as n from settlement_line where topup_id = any ($1)',
    [lost.map(({ id }) => id)],
  );
  expect(lines?.n).toBe(4);
});

test('a day is due once it is over, and again each morning until a week has passed', () => {
  const at = (text: string) => new Date(`2026-11-${text}Z`);
  const due = (last: string | null, now: string) =>
    isDue('2026-11-10', last === null ? null : at(last), at(now));
  expect(due(null, '10T23:00:00')).toBe(false);
  expect(due(null, '11T03:59:59')).toBe(false);
  expect(due(null, '11T04:00:00')).toBe(true);
  expect(due('11T04:00:01', '11T22:00:00')).toBe(false);
  expect(due('11T04:00:01', '12T03:00:00')).toBe(false);
  expect(due('11T04:00:01', '12T04:00:00')).toBe(true);
  expect(due('16T04:00:01', '17T04:00:00')).toBe(true);
  expect(due('17T04:00:01', '18T04:00:00')).toBe(false);
  // After days away it is looked at once more, however late.
  expect(due('12T04:00:01', '30T05:00:00')).toBe(true);
});

test('the job compares what is due and what was asked for, waits for a rail that is away, and says so after two days', async () => {
  const day_ms = 86_400_000;
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const morning = Date.parse(`${day(Date.now() + 2 * day_ms)}T04:30:00Z`);
  shiftClock(morning - Date.now());
  sim_a.turn({ api: [{ match: 'GET /v1/payments', times: 99, mode: 'error', status: 503 }] });
  expect(await compareRails(context)).toBeGreaterThan(0);
  const overdue = async () => (await items('comparison_overdue')).map(({ subject }) => subject);
  expect(await overdue()).toEqual([]);
  // Nothing more is due, and rail-a is left alone for a while.
  const asked = sim_a.calls.length;
  expect(await compareRails(context)).toBe(0);
  expect(sim_a.calls.length).toBe(asked);
  await askForDay(context.db, { rail: 'rail-a', day: today(), at: context.now() });
  expect(await compareRails(context)).toBe(0);
  expect(sim_a.calls.length).toBe(asked + 1);
  shiftClock(morning + 3 * day_ms - Date.now());
  await compareRails(context);
  expect(await overdue()).toEqual(['rail-a']);
  sim_a.turn({ api: [] });
  shiftClock(morning + 3 * day_ms + 11 * 60_000 - Date.now());
  expect(await compareRails(context)).toBeGreaterThanOrEqual(4);
  expect(await overdue()).toEqual([]);
  const compared = await rows<{ n: number }>(
    `select count(*)::int as n from rail_comparison where rail = 'rail-a' and day >= $1 and compared_at is not null`,
    [today()],
  );
  expect(compared).toEqual([{ n: 5 }]);
});

test('killed after any of its transactions and begun again, it has booked and kept everything once', async () => {
  const before = await rows<{ n: number }>('select count(*)::int as n from settlement_line');
  const lost = [await unpaid(), await unpaid()];
  for (const topup of lost) sim_a.act(topup.gateway_ref as string, 'card');
  sim_a.turn({ settlement: { extra_fee: 3 } });
  sim_a.settlements.settle();
  /** The same, until `left` transactions are committed. */
  const dying = (left: number): typeof context =>
    Object.create(context, {
      transaction: {
        async value<T>(work: Parameters<typeof context.transaction<T>>[0]) {
          if (left-- === 0) throw new Error('killed');
          return context.transaction(work);
        },
      },
    });
  let killed = 0;
  for (; ; killed++) {
    const ended = await compareDay(dying(killed), rail_a, today()).catch((error: Error) => error.message);
    if (ended !== 'killed') break;
  }
  expect(killed).toBeGreaterThanOrEqual(3);
  for (const topup of lost) expect((await world.read(topup.id)).status).toBe('paid');
  const differing = (await items('settlement_differs')).map(({ details }) => details['topup_id']);
  for (const topup of lost) expect(differing).toContain(topup.id);
  const after = await rows<{ n: number }>('select count(*)::int as n from settlement_line');
  expect(after[0]!.n - before[0]!.n).toBeGreaterThanOrEqual(2);
});
