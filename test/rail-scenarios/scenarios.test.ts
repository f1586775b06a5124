// Scenarios of the catalogue and words of trouble that no test of a concept plays.

import { shiftClock } from '@svc/core/kernel/index.ts';
import {
  announceAttempt,
  beginAttempt,
  chargeAttempt,
  createMandate,
  findMandate,
  lastAttempt,
  setAutoTopup,
} from '@svc/core/mandates/index.ts';
import type { Org } from '@svc/core/orgs/index.ts';
import { adoptRailRefunds } from '@svc/core/refunds/index.ts';
import { createTopup, type Topup } from '@svc/core/topups/index.ts';
import { afterEach, expect, test } from 'vitest';
import { startWorld } from '../refunds/world.ts';
import { countWaiting, holding } from '../topups/holding.ts';
import { events, eventsA, type RailAEvent } from '../topups/world.ts';

const HOUR = 3_600_000;
const world = await startWorld();
const { context, sim, sim_a, rows } = world;
const { mandates } = sim_a.store;
let shift_ms = 0;
let serial = 0;
afterEach(async () => {
  sim_a.turn({ api: [] });
  await world.expectRight();
});

function pass(ms: number): void {
  shift_ms += ms;
  shiftClock(shift_ms);
  sim_a.turn({ clock_shift_ms: shift_ms });
}

const freshOrg = () => world.indian(`scenario-${++serial}`);
const report = (type: string) => sim_a.webhooks.events.findLast((event) => event.type === type) as RailAEvent;

test('an address of ours that hangs until the rail gives up and sends again books once, and answers both', async () => {
  const [of_a, of_b] = [await world.topup(await freshOrg()), await world.topup(await world.org('hangs'))];
  for (const [topup, deliver] of [
    [of_a, () => world.deliverA(captured_a(of_a))],
    [of_b, () => world.deliver(captured_b(of_b))],
  ] as const) {
    // Every delivery waits inside our endpoint, and the rail, hearing nothing, sends again.
    const deliveries = await holding(world.url, topup.id, async () => {
      const sent = [deliver(), deliver(), deliver()];
      await expect.poll(() => countWaiting(world.url)).toBe(3);
      return sent;
    });
    const answers = await Promise.all(deliveries);
    expect(answers.filter(({ replay }) => !replay)).toHaveLength(1);
    expect(new Set(answers.map(({ invoice }) => invoice)).size).toBe(1);
    expect(await world.read(topup.id)).toMatchObject({ status: 'paid' });
  }
});

const kept = new Map<string, object>();
/** One event of a top-up: the rail sends the same one again. */
function once<T extends object>(topup: Topup, make: () => T): T {
  if (!kept.has(topup.id)) kept.set(topup.id, make());
  return kept.get(topup.id) as T;
}
const captured_a = (topup: Topup) => once(topup, () => eventsA.captured(topup));
const captured_b = (topup: Topup) => once(topup, () => events.completed(topup));

// What the rail's index of errors names for orders, in its words.
// @see https://razorpay.com/docs/payments/payment-gateway/s2s-integration/test-s2s/error-index
test.each([
  { reason: 'amount_less_than_minimum_amount', description: 'Order amount less than minimum amount allowed' },
  { reason: 'extra_field_sent', description: 'transfers is/are not required and should not be sent' },
  { reason: 'input_validation_failed', description: 'Order receipt should be unique.' },
  { reason: 'input_validation_failed', description: 'The amount must be an integer.' },
  { reason: 'input_validation_failed', description: 'expected string but provided 1' },
  { reason: 'input_validation_failed', description: 'amount: is required.' },
])(
  'an order that the rail refuses, as its index of errors says: $description',
  async ({ reason, description }) => {
    const org = await freshOrg();
    sim_a.turn({ api: [{ match: 'POST /v1/orders', mode: 'error', status: 400, reason, description }] });
    const made = createTopup(context, { org_id: org.id, amount_minor: 100_000 });
    await expect(made).rejects.toMatchObject({
      code: 'conflict',
      details: { rail: 'rail-a', reason: 'declined' },
    });
    expect(await rows('select status, gateway_ref from topup where org_id = $1', [org.id])).toEqual([
      { status: 'failed', gateway_ref: null },
    ]);
  },
);

test('a registration that the rail refuses is rejected with its words, and can be tried again', async () => {
  const org = await freshOrg();
  const description = 'The max amount of the token is more than allowed.';
  sim_a.turn({ api: [{ match: 'POST /v1/orders', mode: 'error', status: 400, description }] });
  const asked = createMandate(context, { org_id: org.id, method: 'upi' });
  await expect(asked).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining(description),
  });
  expect(await rows('select status from mandate where org_id = $1', [org.id])).toEqual([
    { status: 'rejected' },
  ]);
  expect(await createMandate(context, { org_id: org.id, method: 'upi' })).toMatchObject({
    mandate: { status: 'pending' },
  });
});

/** An organization whose automatic top-up of 1,000 rupees is due, its mandate registered. */
async function payer(method: 'upi' | 'card'): Promise<Org> {
  const org = await freshOrg();
  const { mandate } = await createMandate(context, { org_id: org.id, method });
  mandates.register(sim_a.store.order(mandate.setup_ref as string));
  await world.deliverA(report('payment.captured'));
  await world.deliverA(report('token.confirmed'));
  expect(await findMandate(world.pool, { id: mandate.id, org_id: null })).toMatchObject({ status: 'active' });
  // Far more than it ever has: it is due again after each debit.
  const config = { enabled: true, threshold_micro: 1_000_000_000_000, amount_minor: 100_000 };
  await setAutoTopup(context, { org_id: org.id, ...config });
  return org;
}

async function announced(org: Org) {
  const attempt = await beginAttempt(context, { org_id: org.id, book_id: org.live_book_id });
  if (attempt === null) throw new Error('no attempt began');
  await announceAttempt(context, attempt);
  await world.deliverA(report('order.notification.delivered'));
  return attempt;
}

test('every debit has an order of its own, under its own receipt', async () => {
  const org = await payer('upi');
  const orders: string[] = [];
  for (let n = 0; n < 3; n++) {
    const attempt = await announced(org);
    pass(25 * HOUR);
    await chargeAttempt(context, attempt);
    expect(await lastAttempt(world.pool, org.id)).toMatchObject({ status: 'succeeded' });
    const order = sim_a.store.order((await world.read(attempt.topup_id)).gateway_ref as string);
    expect(order).toMatchObject({ receipt: attempt.topup_id, status: 'paid', attempts: 1 });
    orders.push(order.id);
    pass(25 * HOUR);
  }
  expect(new Set(orders).size).toBe(3);
});

test('a card is debited 37 hours after its notice, which the rail would refuse after 36', async () => {
  const org = await payer('card');
  const attempt = await announced(org);
  pass(36 * HOUR);
  await chargeAttempt(context, attempt);
  expect(await lastAttempt(world.pool, org.id)).toMatchObject({ status: 'waiting', sent_at: null });
  // And a minute, since clocks differ.
  pass(HOUR + 60_000);
  await chargeAttempt(context, attempt);
  expect(await lastAttempt(world.pool, org.id)).toMatchObject({ status: 'succeeded' });
  expect(mandates.refused).toEqual([]);
});

test('rail-b: a refund that is reported before its payment takes the credits once that is booked', async () => {
  const topup = await world.topup(await world.org('early-b'));
  const { payment_intent } = sim.act(topup.gateway_ref as string, 'pay');
  const from = sim.webhooks.events.length;
  sim.store.refunding.create({ payment_intent: payment_intent as string, amount: '1000' });
  for (const event of sim.webhooks.events.slice(from))
    expect(await world.deliver(event)).toMatchObject({ topup: null });
  pass(11 * 60_000);
  expect(await adoptRailRefunds(context)).toBe(0);
  await world.deliver(events.completed(topup, { payment: payment_intent as string }));
  expect(await world.read(topup.id)).toMatchObject({ status: 'paid', refunded_minor: 0 });
  expect(await adoptRailRefunds(context)).toBe(1);
  expect(await adoptRailRefunds(context)).toBe(0);
  const after = await world.read(topup.id);
  expect(after).toMatchObject({ refunded_minor: 1_000 });
  expect(await world.available(topup)).toBe(after.credits_micro - after.refunded_credits_micro);
});

test('rail-a: a refund made in the dashboard of the rail takes its credits once', async () => {
  const topup = await world.topup(await freshOrg());
  const { id: payment_ref } = sim_a.act(topup.gateway_ref as string, 'card');
  await world.deliverA(report('payment.captured'));
  const made = sim_a.store.refund(payment_ref, { amount: 59_000 }, null);
  for (let n = 0; n < 2; n++) await world.deliverA(report('refund.processed'));
  expect(await adoptRailRefunds(context)).toBe(0);
  pass(11 * 60_000);
  const jobs = [1, 2, 3].map(() => adoptRailRefunds(context));
  expect((await Promise.all(jobs)).toSorted()).toEqual([0, 0, 1]);
  const after = await world.read(topup.id);
  expect(after).toMatchObject({ refunded_minor: 59_000 });
  expect(await world.available(topup)).toBe(after.credits_micro - after.refunded_credits_micro);
  const [row] = await rows<{ source: string }>('select source from refund where gateway_ref = $1', [made.id]);
  expect(row).toEqual({ source: 'rail' });
});
