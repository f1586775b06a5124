// Refunds over rail-a as they really go: pending for days, failed after they were processed, reported before the payment
// that they give back, and changed in speed.
import { shiftClock } from '@svc/core/kernel/index.ts';
import { adoptRailRefunds, pollRefund, sendRefund } from '@svc/core/refunds/index.ts';
import { listStaffItems, pollTopup, type Topup } from '@svc/core/topups/index.ts';
import { afterEach, expect, test } from 'vitest';
import { startWorld } from './world.ts';

const world = await startWorld();
const { context, sim_a, ask, refundOf } = world;
const DAY = 86_400_000;
afterEach(async () => {
  shiftClock(0);
  sim_a.turn({ refunds: 'processed' });
  await world.expectBooksRight();
});

/** A top-up of 1,000 rupees and 180 of tax that was paid at the rail, booked by a poll. */
async function paidInIndia(slug: string): Promise<Topup> {
  const topup = await world.topup(await world.indian(slug));
  sim_a.act(topup.gateway_ref as string, 'upi');
  await pollTopup(context, { topup_id: topup.id });
  return world.read(topup.id);
}
const newest = (type: string) => sim_a.webhooks.events.findLast((event) => event.type === type)!;
const deliver = (type: string) => world.deliverA(newest(type));
const late = async () =>
  (await listStaffItems(world.pool)).filter(({ kind }) => kind === 'refund_failed_later');

test('a refund that the bank takes a week for stays pending, and is booked once by its event and by polls', async () => {
  sim_a.turn({ refunds: 'pending' });
  const topup = await paidInIndia('slow');
  const { id } = await ask(topup, 50_000);
  await sendRefund(context, { refund_id: id });
  expect(await refundOf(id)).toMatchObject({ status: 'pending', total_minor: 59_000 });
  shiftClock(6 * DAY);
  expect(await pollRefund(context, { refund_id: id })).toMatchObject({ status: 'pending' });
  sim_a.store.finishRefund((await refundOf(id)).gateway_ref as string, 'processed');
  await Promise.all([deliver('refund.processed'), pollRefund(context, { refund_id: id })]);
  expect(await deliver('refund.processed')).toMatchObject({ replay: true });
  expect(await refundOf(id)).toMatchObject({ status: 'refunded' });
  expect(await world.read(topup.id)).toMatchObject({ refunded_minor: 59_000 });
});

test('a refund that fails gives the credits back; one that fails after it was processed is for a person', async () => {
  sim_a.turn({ refunds: 'pending' });
  const topup = await paidInIndia('fails');
  const before = await world.available(topup);
  const first = await ask(topup);
  await sendRefund(context, { refund_id: first.id });
  expect(await world.available(topup)).toBe(0);
  sim_a.store.finishRefund((await refundOf(first.id)).gateway_ref as string, 'failed');
  await deliver('refund.failed');
  expect(await refundOf(first.id)).toMatchObject({ status: 'failed', failure_code: 'failed_at_rail' });
  expect(await world.available(topup)).toBe(before);
  // The money is at the rail again, so it can be asked for again.
  sim_a.turn({ refunds: 'processed' });
  const second = await ask(topup);
  await sendRefund(context, { refund_id: second.id });
  const { gateway_ref } = await refundOf(second.id);
  sim_a.store.finishRefund(gateway_ref as string, 'failed');
  await deliver('refund.failed');
  expect(await refundOf(second.id)).toMatchObject({ status: 'refunded' });
  expect(await late()).toMatchObject([{ subject: second.id }]);
  // A person pays it out by hand; here, in the rail's dashboard, whose event is not ours.
  sim_a.store.refund(topup.payment_ref as string, {}, null);
});

test('a refund that the rail reports before the payment is kept, and takes the credits when the payment is booked', async () => {
  const topup = await world.topup(await world.indian('early'));
  const { id: payment_ref } = sim_a.act(topup.gateway_ref as string, 'card');
  sim_a.store.refund(payment_ref, { amount: 59_000 }, null);
  expect(await deliver('refund.processed')).toMatchObject({ topup: null });
  shiftClock(11 * 60_000);
  expect(await adoptRailRefunds(context)).toBe(0);
  await deliver('payment.captured');
  expect(await world.read(topup.id)).toMatchObject({ status: 'paid', refunded_minor: 0 });
  expect(await adoptRailRefunds(context)).toBe(1);
  expect(await adoptRailRefunds(context)).toBe(0);
  const after = await world.read(topup.id);
  expect(after).toMatchObject({ refunded_minor: 59_000 });
  expect(await world.available(topup)).toBe(after.credits_micro - after.refunded_credits_micro);
  expect(await deliver('refund.processed')).toMatchObject({ replay: true });
});

test('a change of speed changes nothing here, and its event is answered', async () => {
  const topup = await paidInIndia('speed');
  const { id } = sim_a.store.refund(topup.payment_ref as string, { speed: 'optimum' }, null);
  sim_a.store.slowRefund(id);
  expect(await deliver('refund.speed_changed')).toMatchObject({ ignored: true });
  await deliver('refund.processed');
  shiftClock(11 * 60_000);
  expect(await adoptRailRefunds(context)).toBe(1);
  expect(await world.read(topup.id)).toMatchObject({ refunded_minor: 118_000 });
});
