// Refunds over the real ledger and the simulated rail, which answers late, twice, not at all, or with no.
import { microUsd, shiftClock } from '@svc/core/kernel/index.ts';
import { orderCredit, orderDebit } from '@svc/core/ledger/index.ts';
import { adoptRailRefunds, pollRefund, requestRefund, sendRefund } from '@svc/core/refunds/index.ts';
import { listStaffItems, RailError } from '@svc/core/topups/index.ts';
import { afterEach, expect, test } from 'vitest';
import { eventsA } from '../topups/world.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const { context, sim, ask, paid, refund, refundOf } = world;
const MINUTE = 60_000;
const DAY = 86_400_000;
/** Does `work` when `ms` more have passed. */
async function later<T>(ms: number, work: () => Promise<T>): Promise<T> {
  shiftClock(ms);
  try {
    return await work();
  } finally {
    shiftClock(0);
  }
}
const refused = (code: string, details: object = {}) =>
  expect.objectContaining({ code, details: expect.objectContaining(details) });
const calls = (path: string) => sim.calls.filter((call) => call === path).length;
const send = (id: `rfd_${string}`) => sendRefund(context, { refund_id: id });
const staffItems = async (kind: string) =>
  (await listStaffItems(world.pool)).filter((item) => item.kind === kind);

afterEach(async () => {
  sim.turn({ api: [], refunds: 'succeeded' });
  await world.expectBooksRight();
});

test('a refund takes the credits first, then asks the rail, and issues a credit note in its own series', async () => {
  const topup = await paid();
  const asked = await ask(topup, 1_000);
  expect(asked).toMatchObject({
    status: 'pending',
    gateway_ref: null,
    total_minor: 1_000,
    credits_micro: 10_000_000,
  });
  expect(await world.available(topup)).toBe(15_000_000);
  await send(asked.id);
  const done = await refundOf(asked.id);
  expect(done).toMatchObject({ status: 'refunded', gateway_ref: expect.stringMatching(/^re_/) });
  expect(await world.read(topup.id)).toMatchObject({
    status: 'paid',
    refunded_minor: 1_000,
    refunded_credits_micro: 10_000_000,
  });
  const [note] = await world.rows<{ number: string; total_minor: number; original_invoice_id: string }>(
    'select number, total_minor, original_invoice_id from invoice where refund_id = $1',
    [done.id],
  );
  expect(note).toMatchObject({ total_minor: 1_000, original_invoice_id: topup.invoice_id });
});

test('parts of a top-up add up to the whole, and then nothing is left', async () => {
  const topup = await paid();
  for (const amount of [833, 833, 834]) expect((await refund(topup, amount)).status).toBe('refunded');
  expect(await world.read(topup.id)).toMatchObject({
    refunded_minor: 2_500,
    refunded_credits_micro: 25_000_000,
  });
  expect(await world.available(topup)).toBe(0);
  await expect(ask(topup)).rejects.toEqual(refused('refund_exceeds_unused', { refundable_minor: 0 }));
});

test('only the unused credits of the top-up itself go back', async () => {
  const topup = await paid();
  const other = await paid(2_500, { id: topup.org_id } as never);
  await orderCredit(context, 'main', {
    book_id: topup.book_id,
    kind: 'grant',
    amount_micro_usd: microUsd(50_000_000),
    granted: true,
    expires_at: null,
    ref_type: 'staff',
    ref_id: topup.id,
  });
  // Grants burn first, then the older top-up.
  expect(await world.spend(topup, 60_000_000)).toBe(true);
  await expect(ask(topup, 1_501)).rejects.toEqual(
    refused('refund_exceeds_unused', { refundable_minor: 1_500 }),
  );
  expect((await refund(topup)).amount_minor).toBe(1_500);
  expect((await refund(other)).amount_minor).toBe(2_500);
  expect(await world.available(topup)).toBe(0);
});

test('the same key returns the same refund, for ever; with another amount or reason it is refused', async () => {
  const topup = await paid();
  const first = await ask(topup, 500, 'k');
  const again = { org_id: topup.org_id, topup_id: topup.id, reason: 'too much', idempotency_key: 'k' };
  expect(await requestRefund(context, { ...again, amount_minor: 500 })).toMatchObject({
    replay: true,
    refund: { id: first.id, status: 'pending' },
  });
  await send(first.id);
  expect(await later(400 * DAY, () => requestRefund(context, { ...again, amount_minor: 500 }))).toMatchObject(
    {
      replay: true,
      refund: { id: first.id, status: 'refunded' },
    },
  );
  for (const other of [{ amount_minor: 501 }, { amount_minor: null }, { amount_minor: 500, reason: 'x' }]) {
    await expect(requestRefund(context, { ...again, ...other })).rejects.toEqual(
      refused('idempotency_conflict'),
    );
  }
});

test('of twenty requests at once one is taken, and the others hear that it is under way', async () => {
  const topup = await paid();
  const answers = await Promise.allSettled(Array.from({ length: 20 }, () => ask(topup, 100)));
  const won = answers.filter(({ status }) => status === 'fulfilled');
  expect(won).toHaveLength(1);
  for (const answer of answers) {
    if (answer.status === 'rejected') expect(answer.reason).toEqual(refused('refund_in_progress'));
  }
  const [row] = await world.rows<{ id: `rfd_${string}` }>('select id from refund where topup_id = $1', [
    topup.id,
  ]);
  await send(row!.id);
});

test('refused: what is not paid, another organization’s, and too late', async () => {
  const pending = await world.topup(await world.org('not-paid'));
  await expect(ask(pending)).rejects.toEqual(refused('state_conflict', { state: 'pending' }));
  const topup = await paid();
  await expect(ask({ ...topup, org_id: pending.org_id })).rejects.toEqual(refused('not_found'));
  await expect(later(180 * DAY, () => ask(topup))).rejects.toEqual(refused('refund_window_closed'));
});

test('credits that are spent between the decision and the debit are not given back, and nobody is asked', async () => {
  const topup = await paid();
  const before = calls('POST /v1/refunds');
  // The order stands behind one that takes the credit away first.
  const [taken, asked] = await Promise.allSettled([world.spend(topup, 25_000_000), ask(topup, 2_500)]);
  expect(taken.status).toBe('fulfilled');
  if (asked.status === 'rejected') {
    expect(asked.reason).toEqual(refused('refund_exceeds_unused'));
    expect(calls('POST /v1/refunds')).toBe(before);
  } else expect((await send(asked.value.id)).status).toBe('refunded');
});

test('a refusal of the rail gives the credits back to where they came from, so that they can be refunded again', async () => {
  const topup = await paid();
  sim.turn({ api: [{ match: 'POST /v1/refunds', mode: 'error', status: 400 }] });
  const failed = await refund(topup, 2_000);
  expect(failed).toMatchObject({ status: 'failed', credit_note_id: null });
  expect(await world.available(topup)).toBe(25_000_000);
  expect(await world.read(topup.id)).toMatchObject({ refunded_minor: 0 });
  expect((await refund(topup)).status).toBe('refunded');
  expect(await world.available(topup)).toBe(0);
});

test('a refund whose answer was lost is asked for, found and never sent again, also when the rail forgot its keys', async () => {
  const topup = await paid();
  const asked = await ask(topup, 700);
  sim.turn({ api: [{ match: 'POST /v1/refunds', mode: 'lost_answer', times: 9 }] });
  await expect(send(asked.id)).rejects.toBeInstanceOf(RailError);
  expect(await refundOf(asked.id)).toMatchObject({ status: 'pending', gateway_ref: null });
  expect(sim.store.refunds.size).toBeGreaterThan(0);
  const made = [...sim.store.refunds.values()].filter(({ metadata }) => metadata['refund_id'] === asked.id);
  expect(made).toHaveLength(1);
  sim.turn({ api: [], forget_keys: true });
  const before = calls('POST /v1/refunds');
  expect((await send(asked.id)).status).toBe('refunded');
  expect(calls('POST /v1/refunds')).toBe(before);
  expect((await refundOf(asked.id)).gateway_ref).toBe(made[0]?.id);
});

test('a rail that is down is asked again, and one that never got the refund is sent it', async () => {
  const topup = await paid();
  const asked = await ask(topup);
  sim.turn({ api: [{ match: 'POST /v1/refunds', mode: 'error', status: 503, times: 9 }] });
  await expect(send(asked.id)).rejects.toBeInstanceOf(RailError);
  sim.turn({ api: [] });
  expect((await send(asked.id)).status).toBe('refunded');
});

test('a late refund waits at the rail; the callback books it once however often it comes', async () => {
  const topup = await paid();
  sim.turn({ refunds: 'pending' });
  const waiting = await refund(topup, 900);
  expect(waiting).toMatchObject({ status: 'pending', gateway_ref: expect.stringMatching(/^re_/) });
  await world.deliverNews();
  expect((await pollRefund(context, { refund_id: waiting.id })).status).toBe('pending');
  sim.store.refunding.finish(waiting.gateway_ref as string, 'succeeded');
  await world.deliverNews(3);
  expect(await refundOf(waiting.id)).toMatchObject({ status: 'refunded' });
  expect((await pollRefund(context, { refund_id: waiting.id })).status).toBe('refunded');
});

test('a late failure gives the credits back; one after the money went back is for a person', async () => {
  const topup = await paid();
  sim.turn({ refunds: 'pending' });
  const waiting = await refund(topup, 900);
  sim.store.refunding.finish(waiting.gateway_ref as string, 'failed');
  await world.deliverNews(2);
  expect(await refundOf(waiting.id)).toMatchObject({ status: 'failed', failure_code: 'lost_or_stolen_card' });
  expect(await world.available(topup)).toBe(25_000_000);
  sim.turn({ refunds: 'succeeded' });
  const done = await refund(topup, 400);
  sim.store.refunding.finish(done.gateway_ref as string, 'failed');
  await world.deliverNews();
  expect(await refundOf(done.id)).toMatchObject({ status: 'refunded' });
  expect(await staffItems('refund_failed_later')).toMatchObject([{ subject: done.id }]);
  // The person pays it out by hand: here the rail gives it back once more.
  sim.store.charges.forEach((charge) => {
    if (charge.payment_intent === topup.payment_ref) charge.amount_refunded += 400;
  });
});

test('the callback may come before our own note of the answer: it is the same refund', async () => {
  const topup = await paid();
  const asked = await ask(topup, 300);
  sim.turn({ api: [{ match: 'POST /v1/refunds', mode: 'lost_answer', times: 9 }] });
  await expect(send(asked.id)).rejects.toBeInstanceOf(RailError);
  await world.deliverNews(2);
  expect(await refundOf(asked.id)).toMatchObject({ status: 'refunded' });
  expect((await send(asked.id)).status).toBe('refunded');
});

test('a refund in the rail’s own dashboard is booked after ten minutes: what is spent is written off, and staff hear', async () => {
  const topup = await paid();
  await world.spend(topup, 20_000_000);
  const form = { payment_intent: topup.payment_ref as string, amount: '1000' };
  const made = sim.store.refunding.create(form);
  await world.deliverNews(2);
  expect(await later(9 * MINUTE, () => adoptRailRefunds(context))).toBe(0);
  const jobs = () => Promise.all([1, 2, 3].map(() => adoptRailRefunds(context)));
  expect((await later(11 * MINUTE, jobs)).sort()).toEqual([0, 0, 1]);
  const [row] = await world.rows<{ id: string; credits_micro: number }>(
    `select id, credits_micro from refund where topup_id = $1 and source = 'rail' and gateway_ref = $2`,
    [topup.id, made.id],
  );
  expect(row).toMatchObject({ credits_micro: 10_000_000 });
  expect(await world.available(topup)).toBe(0);
  expect(await staffItems('refund_at_rail')).toMatchObject([{ subject: `rail-b ${made.id}` }]);
  expect(await later(20 * MINUTE, () => adoptRailRefunds(context))).toBe(0);
});

test('a payment that is none of ours, and a second payment that went back by itself, leave no refund', async () => {
  const topup = await paid();
  // What a rail says of it is kept under its payment, and no top-up ever has that.
  const counts = () =>
    world.rows(`select (select count(*)::int from rail_refund where topup_id is not null) as known,
                       (select count(*)::int from refund) as refunds`);
  const before = await counts();
  const session = sim.act(topup.gateway_ref as string, 'again');
  const second = [...sim.store.intents.values()].at(-1);
  sim.store.refunding.create({ payment_intent: second?.id ?? session.id });
  await world.deliver(sim.webhooks.events.at(-1) as object);
  expect(await later(20 * MINUTE, () => adoptRailRefunds(context))).toBe(0);
  expect(await counts()).toEqual(before);
});

test('a debit and a refund of the same credit at once never take it twice', async () => {
  for (let round = 0; round < 5; round++) {
    const topup = await paid();
    const gift = {
      book_id: topup.book_id,
      kind: 'gift',
      amount_micro_usd: microUsd(20_000_000),
      paid_only: true,
      ref_type: 'gift',
      ref_id: `gift-${topup.id}`,
    } as const;
    const [, asked] = await Promise.allSettled([orderDebit(context, 'main', gift), ask(topup, 1_500)]);
    if (asked.status === 'fulfilled') await send(asked.value.id);
    expect(await world.available(topup)).toBeGreaterThanOrEqual(0);
  }
});

test('the outcome is mailed once, to the billing address', async () => {
  const done = await refund(await paid(), 1_234);
  sim.turn({ api: [{ match: 'POST /v1/refunds', mode: 'error', status: 400 }] });
  const failed = await refund(await paid(), 1_000);
  await send(done.id);
  const mails = await world.rows(
    'select template, reference, data from mail where reference = any ($1) order by created_at',
    [[done.id, failed.id]],
  );
  expect(mails).toMatchObject([
    {
      template: 'refund_completed',
      data: { total: '$12.34', credits: '$12.34', invoice_number: expect.stringMatching(/^INV\//) },
    },
    { template: 'refund_failed', data: { total: '$10.00' } },
  ]);
});

test('a refund over rail-a gives back its share of the tax, also when its answer was lost', async () => {
  const pending = await world.topup(await world.indian('rupees', '27'));
  const { id: payment } = world.sim_a.act(pending.gateway_ref as string, 'upi');
  await world.deliverA(eventsA.captured(pending, { payment }));
  const topup = await world.read(pending.id);
  const parts = [];
  for (const amount_minor of [33_333, 33_333]) parts.push(await refund(topup, amount_minor));
  const asked = await ask(topup);
  world.sim_a.turn({ api: [{ match: 'POST /v1/payments/', mode: 'lost_answer' }] });
  await expect(send(asked.id)).rejects.toBeInstanceOf(RailError);
  expect((await send(asked.id)).status).toBe('refunded');
  parts.push(await refundOf(asked.id));
  expect(parts.map((part) => [part.amount_minor, part.igst_minor, part.credits_micro])).toEqual([
    [33_333, 6_000, 3_702_412],
    [33_333, 6_000, 3_702_412],
    [33_334, 6_000, 3_702_522],
  ]);
  expect(world.sim_a.store.payment(payment)).toMatchObject({ amount_refunded: 118_000, status: 'refunded' });
  const reported = world.sim_a.webhooks.events.filter(({ type }) => type === 'refund.processed');
  for (const event of reported) expect(await world.deliverA(event)).toMatchObject({ topup: topup.id });
  expect((await world.read(topup.id)).refunded_minor).toBe(118_000);
});
