// Rail-a when it misbehaves while a top-up is made or followed.
import { readBalance } from '@svc/core/ledger/index.ts';
import {
  cancelTopup,
  createTopup,
  expireTopup,
  pollTopup,
  RailError,
  runRailTasks,
} from '@svc/core/topups/index.ts';
import { afterEach, expect, test } from 'vitest';
import { eventsA, later, startWorld } from './world.ts';

const world = await startWorld();
const { sim_a: sim, context, read, rows } = world;
let serial = 0;
const freshOrg = () => world.indian(`org-${++serial}`);
const fresh = async () => world.topup(await freshOrg());
const CREDITS = 11_107_346;

afterEach(() => world.expectRight());

test('a payment whose callbacks are all lost is found by the poll, booked once, with the fee and its tax', async () => {
  const topup = await fresh();
  expect(await pollTopup(context, { topup_id: topup.id })).toMatchObject({ status: 'pending' });
  sim.act(topup.gateway_ref as string, 'card');
  const polls = await Promise.all(
    Array.from({ length: 5 }, () => pollTopup(context, { topup_id: topup.id })),
  );
  expect(polls.every(({ status, fee_known }) => status === 'paid' && fee_known)).toBe(true);
  expect(await read(topup.id)).toMatchObject({ method: 'card', fee_minor: 2_785 });
  const payment = [...sim.store.payments.keys()].at(-1) as string;
  expect(await world.deliverA(eventsA.captured(topup, { payment }))).toMatchObject({ replay: true });
});

test('the poll sees an attempt that failed, and says nothing of one that the bank has not answered', async () => {
  const [slow, lost] = [await fresh(), await fresh()];
  sim.act(slow.gateway_ref as string, 'wait');
  expect(await pollTopup(context, { topup_id: slow.id })).toMatchObject({ status: 'pending' });
  expect((await read(slow.id)).failure_code).toBeNull();
  sim.act(lost.gateway_ref as string, 'fail');
  expect(await pollTopup(context, { topup_id: lost.id })).toMatchObject({ status: 'pending' });
  expect(await read(lost.id)).toMatchObject({ failure_code: 'payment_failed' });
  sim.act(slow.gateway_ref as string, 'arrive');
  expect(await pollTopup(context, { topup_id: slow.id })).toMatchObject({ status: 'paid', fee_known: true });
});

test('two payments on one order, both untold: the poll books the first and gives the second back', async () => {
  const topup = await fresh();
  const first = sim.act(topup.gateway_ref as string, 'upi');
  const second = sim.act(topup.gateway_ref as string, 'again');
  expect(await pollTopup(context, { topup_id: topup.id })).toMatchObject({ status: 'paid' });
  expect((await read(topup.id)).payment_ref).toBe(first.id);
  await runRailTasks(context);
  const back = [...sim.store.refunds.values()].filter(({ payment_id }) => payment_id === second.id);
  expect(back.map(({ amount }) => amount)).toEqual([118_000]);
  expect(await readBalance(world.pool, topup.book_id)).toMatchObject({ available_micro_usd: CREDITS });
});

test('a refund whose answer is lost is asked for again under its key, and is made once', async () => {
  const topup = await fresh();
  await world.deliverA(eventsA.captured(topup));
  const second = sim.act(topup.gateway_ref as string, 'upi');
  await world.deliverA(eventsA.captured(topup, { payment: second.id }));
  sim.turn({ api: [{ match: `POST /v1/payments/${second.id}/refund`, mode: 'lost_answer' }] });
  expect(await runRailTasks(context)).toBe(0);
  await rows('update rail_task set next_at = created_at where ref = $1', [second.id]);
  expect(await runRailTasks(context)).toBe(1);
  const back = [...sim.store.refunds.values()].filter(({ payment_id }) => payment_id === second.id);
  expect(back).toHaveLength(1);
  // Made by a person in the rail's own dashboard meanwhile: there is nothing left to do.
  await expect(world.rail_a.refundPayment(second.id)).resolves.toBeUndefined();
  sim.store.refund_keys.clear();
  await expect(world.rail_a.refundPayment(second.id)).resolves.toBeUndefined();
});

test('when the answer to an order is lost, the order is found by its receipt and there is one', async () => {
  const org = await freshOrg();
  const before = sim.store.orders.size;
  sim.turn({ api: [{ match: 'POST /v1/orders', mode: 'lost_answer' }] });
  const { topup, checkout_url } = await createTopup(context, { org_id: org.id, amount_minor: 100_000 });
  expect(sim.store.orders.size).toBe(before + 1);
  expect(sim.store.orders.get(topup.gateway_ref as string)).toMatchObject({
    amount: 118_000,
    currency: 'INR',
    receipt: topup.id,
    notes: { topup_id: topup.id, org_id: org.id },
  });
  expect(checkout_url).toContain(`http://gateway.test/pay/${topup.id}?t=`);
});

test.each([
  [502, 'rail_unavailable', 'unreachable'],
  [429, 'rail_unavailable', 'unreachable'],
  [400, 'conflict', 'declined'],
] as const)(
  'a rail that answers %i to an order fails the top-up with %s and nothing to pay',
  async (status, code, reason) => {
    const org = await freshOrg();
    sim.turn({ api: [{ match: 'POST /v1/orders', mode: 'error', status }] });
    const made = createTopup(context, { org_id: org.id, amount_minor: 100_000 });
    await expect(made).rejects.toMatchObject({ code, details: { rail: 'rail-a', reason } });
    expect(await rows('select status, gateway_ref from topup where org_id = $1', [org.id])).toEqual([
      { status: 'failed', gateway_ref: null },
    ]);
  },
);

test('an order of which we never heard is booked on its failed row when it is paid after all', async () => {
  const org = await freshOrg();
  sim.turn({
    api: [
      { match: 'POST /v1/orders', mode: 'lost_answer' },
      { match: 'GET /v1/orders', mode: 'error', status: 503 },
    ],
  });
  const made = createTopup(context, { org_id: org.id, amount_minor: 100_000 });
  await expect(made).rejects.toMatchObject({ code: 'rail_unavailable' });
  const order = [...sim.store.orders.values()].at(-1);
  expect(order?.notes).toMatchObject({ org_id: org.id });
  sim.act(order?.id as string, 'upi');
  const reported = sim.webhooks.events.findLast(({ type }) => type === 'order.paid');
  expect(await world.deliverA(reported as NonNullable<typeof reported>)).toMatchObject({ replay: false });
  expect(await readBalance(world.pool, org.live_book_id)).toMatchObject({ available_micro_usd: CREDITS });
});

test('a rail that does not answer a poll is asked again later; a wrong key is no refusal of the payment', async () => {
  const topup = await fresh();
  for (const status of [500, 401]) {
    sim.turn({ api: [{ match: 'GET /v1/orders', mode: 'error', status }] });
    const polled = pollTopup(context, { topup_id: topup.id });
    await expect(polled).rejects.toSatisfy((error) => error instanceof RailError && !error.declined);
  }
  sim.turn({ api: [{ match: 'GET /v1/orders', mode: 'lost_answer' }] });
  await expect(pollTopup(context, { topup_id: topup.id })).rejects.toMatchObject({ code: 'NO_ANSWER' });
  expect(await pollTopup(context, { topup_id: topup.id })).toMatchObject({ status: 'pending' });
});

test('the bank says yes 71 hours after the rail gave it up: booked once, on a top-up that had expired', async () => {
  const topup = await fresh();
  sim.act(topup.gateway_ref as string, 'late');
  const failed = sim.webhooks.events.findLast(({ type }) => type === 'payment.failed');
  await world.deliverA(failed as NonNullable<typeof failed>);
  expect(await expireTopup(later(world.context, 23.1), { topup_id: topup.id })).toMatchObject({
    status: 'expired',
  });
  const seen = sim.webhooks.events.length;
  sim.act(topup.gateway_ref as string, 'arrive');
  const answers = [];
  for (const event of sim.webhooks.events.slice(seen)) answers.push(await world.deliverA(event));
  expect(answers.filter(({ invoice, replay }) => invoice !== null && !replay)).toHaveLength(1);
  expect(await read(topup.id)).toMatchObject({ status: 'paid', failure_code: null });
});

test('an order cannot be closed at this rail: the task is done at once, and a payment that comes is booked', async () => {
  const topup = await fresh();
  await cancelTopup(context, { org_id: topup.org_id, id: topup.id });
  const before = sim.calls.length;
  expect(await runRailTasks(context)).toBe(1);
  expect(sim.calls.length).toBe(before);
  await world.deliverA(eventsA.captured(topup));
  expect((await read(topup.id)).status).toBe('paid');
});
