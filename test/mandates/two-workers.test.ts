// Temporal may have an activity done by two workers at once: one that is slow, and the next that it takes for its successor. Rail-a
// has no idempotency key for orders and debits, so both may reach it.
import type { Id } from '@svc/core/kernel/index.ts';
import { shiftClock } from '@svc/core/kernel/index.ts';
import {
  type Attempt,
  announceAttempt,
  beginAttempt,
  chargeAttempt,
  createMandate,
  endAttempt,
  lastAttempt,
  setAutoTopup,
} from '@svc/core/mandates/index.ts';
import type { Org } from '@svc/core/orgs/index.ts';
import { pollTopup } from '@svc/core/topups/index.ts';
import { afterEach, expect, test } from 'vitest';
import type { Bank } from '../sim/rails/rail-a/mandates.ts';
import { atFileEnd } from '../support/ends.ts';
import { type RailAEvent, startWorld } from '../topups/world.ts';

const HOUR_MS = 3_600_000;
const world = await startWorld();
const { context, sim_a } = world;
const { mandates } = sim_a.store;
let delivered = 0;
let shift_ms = 0;
atFileEnd(async () => shiftClock(0));

/** Moves the clocks of the service and of the rail. */
function pass(ms: number): void {
  shift_ms += ms;
  shiftClock(shift_ms);
  sim_a.turn({ clock_shift_ms: shift_ms });
}

/** Delivers what the rail has reported since the last time. */
async function news(): Promise<void> {
  for (const event of sim_a.webhooks.events.slice(delivered)) {
    delivered++;
    await world.deliverA(event as unknown as RailAEvent);
  }
}

afterEach(async () => {
  sim_a.turn({ notices: 'deliver', api: [] });
  await news();
  await world.expectRight();
});

/** An organization that UPI is debited of, with an attempt of which no notice was given yet. */
async function begun(slug: string, bank: Bank = 'ok'): Promise<{ org: Org; attempt: Attempt }> {
  const org = await world.indian(slug);
  const { mandate } = await createMandate(context, { org_id: org.id, method: 'upi' });
  mandates.register(sim_a.store.order(mandate.setup_ref as string), bank);
  await news();
  const rule = { enabled: true, threshold_micro: 1_000_000, amount_minor: 100_000 };
  await setAutoTopup(context, { org_id: org.id, ...rule });
  sim_a.turn({ notices: 'hold' });
  const attempt = await beginAttempt(context, { org_id: org.id, book_id: org.live_book_id });
  if (attempt === null) throw new Error('no attempt began');
  return { org, attempt };
}

const last = async ({ id }: Org) => (await lastAttempt(world.pool, id)) as Attempt;
const orderOf = async (topup_id: Id<'topup'>) => (await world.read(topup_id)).gateway_ref as string;

/** Another order of a debit with its notice, as a second worker lets the rail make one. */
async function secondOrder({ topup_id }: Attempt, like: string): Promise<string> {
  const { amount, currency, notes } = sim_a.store.order(like);
  const { token_id, payment_after } = mandates.notices.get(like)!;
  const notification = { token_id, payment_after };
  return sim_a.store.createOrder({ amount, currency, notes, receipt: topup_id, notification }).id;
}

test.each([true, false])(
  'of two orders that a rail made at once for one debit, only the notice of the one to be debited counts, be the other delivered: %s',
  async (arrives) => {
    const { org, attempt } = await begun(`orders-${arrives}`);
    await announceAttempt(context, attempt);
    const order = await orderOf(attempt.topup_id);
    mandates.report(await secondOrder(attempt, order), arrives);
    await news();
    expect(await last(org)).toMatchObject({ status: 'waiting', due_at: null, notice_failed: false });
    pass(25 * HOUR_MS);
    await chargeAttempt(context, attempt);
    expect(await last(org)).toMatchObject({ status: 'waiting', sent_at: null });
    mandates.report(order, true);
    await news();
    pass(25 * HOUR_MS);
    await chargeAttempt(context, attempt);
    expect(await last(org)).toMatchObject({ status: 'succeeded' });
    expect(mandates.refused).toEqual([]);
  },
);

test('a notice that arrives before its order was noted names the order, and a later one changes nothing', async () => {
  const { org, attempt } = await begun('early');
  const dies: typeof context = Object.create(context, {
    transaction: { value: () => Promise.reject(new Error('killed')) },
  });
  await expect(announceAttempt(dies, attempt)).rejects.toThrow('killed');
  const [first] = sim_a.store.ordersOf(attempt.topup_id);
  const second = await secondOrder(attempt, first?.id as string);
  mandates.report(second, true);
  await news();
  expect(await orderOf(attempt.topup_id)).toBe(second);
  await announceAttempt(context, attempt);
  mandates.report(first?.id as string, false);
  await news();
  expect(await orderOf(attempt.topup_id)).toBe(second);
  pass(25 * HOUR_MS);
  await chargeAttempt(context, attempt);
  expect(await last(org)).toMatchObject({ status: 'succeeded' });
  expect(sim_a.store.paymentsOf(second)).toHaveLength(1);
  expect(mandates.refused).toEqual([]);
});

test('a debit that is refused since another worker has just asked for it is not taken for a failure', async () => {
  const { org, attempt } = await begun('debits', 'pending');
  await announceAttempt(context, attempt);
  const order = await orderOf(attempt.topup_id);
  mandates.report(order, true);
  await news();
  pass(25 * HOUR_MS);
  // One waits at the rail; the other finds no payment yet, and asks too.
  sim_a.turn({ api: [{ match: 'POST /v1/payments/create/recurring', mode: 'delay', delay_ms: 500 }] });
  await Promise.all([chargeAttempt(context, attempt), chargeAttempt(context, attempt)]);
  expect(mandates.refused).toEqual(['previous_debit_pending']);
  expect(await last(org)).toMatchObject({ status: 'charging', ended_at: null });
  const [debit, ...more] = sim_a.store.paymentsOf(order);
  expect(more).toEqual([]);
  sim_a.store.capture(debit?.id as string);
  await pollTopup(context, { topup_id: attempt.topup_id });
  await endAttempt(context, attempt);
  expect(await last(org)).toMatchObject({ status: 'succeeded' });
});
