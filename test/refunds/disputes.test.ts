// Disputes over the real ledger and both simulated rails, whose events come in any order, twice, and before the payment.
import { makeGift } from '@svc/core/gifts/give.ts';
import { type Id, microUsd, shiftClock } from '@svc/core/kernel/index.ts';
import { orderDebit } from '@svc/core/ledger/index.ts';
import { findOrg, type Org } from '@svc/core/orgs/index.ts';
import {
  adoptEarlyDisputes,
  adoptRailRefunds,
  endLossBy,
  pollDispute,
  sendRefund,
  settleLosses,
} from '@svc/core/refunds/index.ts';
import {
  disputesOf,
  hasOpenDispute,
  hasPaymentHold,
  listStaffItems,
  type Topup,
} from '@svc/core/topups/index.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { events, eventsA } from '../topups/world.ts';
import { disputesIn } from './disputes.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const { context, sim, sim_a, paid, ask } = world;
const refused = (code: string) => expect.objectContaining({ code });
const { payment, items, disputeOf, dispute, end, entries, mails } = disputesIn(world);

afterEach(async () => {
  sim.turn({ api: [], refunds: 'succeeded' });
  await world.expectBooksRight();
});

describe('opened', () => {
  test('its credits are held, the payment is marked, and no money leaves the organization meanwhile', async () => {
    const topup = await paid();
    const other = await paid(2_500, { id: topup.org_id } as never);
    await world.spend(topup, 5_000_000);
    const { id } = await dispute(topup);
    expect(await disputeOf(topup)).toMatchObject({
      status: 'open',
      amount_minor: 2_500,
      price_minor: 2_500,
      excess_minor: 0,
      credits_micro: 25_000_000,
      reason: 'fraudulent',
      phase: 'chargeback',
    });
    expect(await entries(topup)).toEqual([['dispute_hold', -20_000_000]]);
    expect(await world.available(topup)).toBe(25_000_000);
    expect(await world.read(topup.id)).toMatchObject({ disputed: true, status: 'paid' });
    expect(await hasPaymentHold(world.pool, topup.org_id)).toBe(true);
    expect(await hasOpenDispute(world.pool, topup.org_id)).toBe(true);
    await expect(ask(topup)).rejects.toEqual(refused('payment_hold'));
    await expect(ask(other)).rejects.toEqual(refused('payment_hold'));
    // Calls go on: a dispute is no proof of anything.
    expect(await world.spend(topup, 1_000_000)).toBe(true);
    expect(await items('dispute_opened', id)).toHaveLength(1);
    const { invoice_number } = (await world.read(topup.id)) as Topup;
    expect(invoice_number).toMatch(/^INV\//);
    expect(await mails(id)).toMatchObject([
      ['dispute_opened', { amount: '$25.00', topup_id: topup.id, invoice_number }],
    ]);
  });

  test('a part of a payment holds its part of the credits', async () => {
    const topup = await paid();
    await dispute(topup, 833);
    expect(await disputeOf(topup)).toMatchObject({ price_minor: 833, credits_micro: 8_330_000 });
    expect(await world.available(topup)).toBe(16_670_000);
  });

  test('what was refunded before is not held again', async () => {
    const topup = await paid();
    await world.refund(topup, 1_000);
    await dispute(topup);
    expect(await disputeOf(topup)).toMatchObject({ amount_minor: 1_500, credits_micro: 15_000_000 });
    expect(await world.available(topup)).toBe(0);
  });

  test('a refund that no rail was asked for fails first, so that its credits are held too', async () => {
    const topup = await paid();
    const asked = await ask(topup, 1_000);
    await dispute(topup);
    expect(await world.refundOf(asked.id)).toMatchObject({
      status: 'failed',
      failure_code: 'payment_disputed',
    });
    expect(await entries(topup)).toEqual([['dispute_hold', -25_000_000]]);
    const before = sim.calls.length;
    await sendRefund(context, { refund_id: asked.id });
    expect(sim.calls).toHaveLength(before);
  });

  test('a refund at the rail stays with the rail: one that it declines gives its credits back', async () => {
    const topup = await paid();
    const asked = await ask(topup, 1_000);
    sim.turn({ api: [{ match: 'POST /v1/refunds', mode: 'error', status: 503, times: 9 }] });
    await expect(sendRefund(context, { refund_id: asked.id })).rejects.toThrow();
    sim.turn({ api: [] });
    const { ref } = await dispute(topup);
    expect((await sendRefund(context, { refund_id: asked.id })).status).toBe('failed');
    // What came back late is not held, and is taken when the dispute is lost.
    expect(await world.available(topup)).toBe(10_000_000);
    await end(ref, 'lost');
    expect(await disputeOf(topup)).toMatchObject({ credits_micro: 25_000_000, written_off_micro: 0 });
    expect(await world.available(topup)).toBe(0);
  });
});

describe('won', () => {
  test('the credits are back where they were, and can be refunded', async () => {
    const topup = await paid();
    const { ref, id } = await dispute(topup);
    await end(ref, 'won', 2);
    expect(await disputeOf(topup)).toMatchObject({ status: 'won', written_off_micro: null });
    expect(await entries(topup)).toEqual([
      ['dispute_hold', -25_000_000],
      ['dispute_release', 25_000_000],
    ]);
    expect(await world.read(topup.id)).toMatchObject({ disputed: false });
    expect(await items('dispute_opened', id)).toEqual([]);
    expect((await mails(id)).map(([template]) => template)).toEqual(['dispute_opened', 'dispute_closed']);
    expect((await world.refund(topup)).status).toBe('refunded');
  });
});

describe('lost', () => {
  test('unused credits are taken, and nothing more happens to the organization', async () => {
    const topup = await paid();
    const { ref, id } = await dispute(topup);
    await end(ref, 'lost', 3);
    expect(await disputeOf(topup)).toMatchObject({ status: 'lost', written_off_micro: 0 });
    expect(await entries(topup)).toEqual([
      ['dispute_hold', -25_000_000],
      ['dispute_release', 25_000_000],
      ['chargeback', -25_000_000],
    ]);
    expect(await findOrg(world.pool, topup.org_id)).toMatchObject({ status: 'active' });
    expect(await hasPaymentHold(world.pool, topup.org_id)).toBe(false);
    expect(await mails(id)).toMatchObject([
      ['dispute_opened', {}],
      ['dispute_closed', { outcome: 'lost', loss: null }],
    ]);
    // The bank gave back what it gave back: nothing of this payment is refunded again.
    expect(await world.read(topup.id)).toMatchObject({ disputed: true });
    await expect(ask(topup)).rejects.toEqual(refused('refund_exceeds_unused'));
  });

  test('credits that were spent are a loss: calls stop until staff lift that, money stays until the loss is paid', async () => {
    const topup = await paid();
    await world.spend(topup, 10_000_000);
    const { ref, id } = await dispute(topup);
    await end(ref, 'lost');
    expect(await disputeOf(topup)).toMatchObject({
      credits_micro: 25_000_000,
      written_off_micro: 10_000_000,
    });
    expect(await world.available(topup)).toBe(0);
    const suspended = async () =>
      (await world.rows('select status, suspended_for from org where id = $1', [topup.org_id]))[0];
    expect(await suspended()).toEqual({ status: 'suspended', suspended_for: 'payment_hold' });
    expect(await items('dispute_loss', id)).toHaveLength(1);
    expect((await mails(id)).at(-1)).toMatchObject(['dispute_closed', { outcome: 'lost', loss: '$10.00' }]);

    await endLossBy(context, { id, by: 'lifted', reason: 'they will pay' });
    expect(await suspended()).toEqual({ status: 'active', suspended_for: null });
    expect(await hasPaymentHold(world.pool, topup.org_id)).toBe(true);
    await expect(endLossBy(context, { id, by: 'lifted', reason: 'again' })).rejects.toEqual(
      refused('state_conflict'),
    );
    await endLossBy(context, { id, by: 'paid', reason: 'by bank transfer' });
    expect(await hasPaymentHold(world.pool, topup.org_id)).toBe(false);
    expect(await items('dispute_loss', id)).toEqual([]);
  });

  test('of two losses each must be ended, and what a person suspended stays so', async () => {
    const topup = await paid();
    const other = await paid(1_000, { id: topup.org_id } as never);
    await world.spend(topup, 30_000_000);
    const ended = [];
    for (const one of [topup, other]) {
      const { ref, id } = await dispute(one);
      await end(ref, 'lost');
      ended.push(id);
    }
    const status = async () => (await findOrg(world.pool, topup.org_id))?.status;
    const [first, second] = ended as [Id<'dispute'>, Id<'dispute'>];
    await endLossBy(context, { id: first, by: 'paid', reason: 'paid' });
    expect(await status()).toBe('suspended');
    await world.rows(`update org set suspended_for = null where id = $1`, [topup.org_id]);
    await endLossBy(context, { id: second, by: 'paid', reason: 'paid' });
    expect(await status()).toBe('suspended');
  });

  test('a call cannot spend what was held between its release and the chargeback', async () => {
    for (let round = 0; round < 5; round++) {
      const topup = await paid();
      const { ref } = await dispute(topup);
      sim.store.disputing.move(ref, 'lost');
      const spending = Array.from({ length: 6 }, () => world.spend(topup, 5_000_000));
      const [, ...spent] = await Promise.all([world.deliverNews(), ...spending]);
      expect(spent).toEqual(Array(6).fill(false));
      expect(await disputeOf(topup)).toMatchObject({ written_off_micro: 0 });
    }
  });

  test('the rail may say another end later: the first counts, and a person is asked', async () => {
    const topup = await paid();
    const { ref, id } = await dispute(topup);
    await end(ref, 'won');
    const closed = sim.webhooks.events.findLast(({ type }) => type === 'charge.dispute.closed') as {
      data: { object: object };
    };
    const object = { ...closed.data.object, status: 'lost' };
    await world.deliver({ ...closed, id: `${ref}-lost`, data: { object } });
    expect(await disputeOf(topup)).toMatchObject({ status: 'won' });
    expect(await items('dispute_changed', id)).toHaveLength(1);
  });
});

describe('facts of rails', () => {
  test('in every order and twice they come to the same end', async () => {
    const orders = [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ];
    for (const order of orders) {
      const topup = await paid();
      await world.spend(topup, 1_000_000);
      const first = sim.webhooks.events.length;
      const { id: ref } = sim.store.disputing.open(payment(topup));
      sim.store.disputing.move(ref, 'lost');
      const reported = sim.webhooks.events.slice(first);
      for (const at of [...order, ...order]) await world.deliver(reported[at] as object);
      expect(await disputeOf(topup)).toMatchObject({ status: 'lost', written_off_micro: 1_000_000 });
      await world.deliverNews();
    }
  });

  test('a dispute may be reported before its payment is booked', async () => {
    const pending = await world.topup(await world.org('early'));
    const { payment_intent } = sim.act(pending.gateway_ref as string, 'pay');
    const first = sim.webhooks.events.length;
    sim.store.disputing.open(payment_intent as string);
    for (const event of sim.webhooks.events.slice(first))
      expect(await world.deliver(event)).toMatchObject({ topup: null });
    await world.deliver(events.completed(pending, { payment: payment_intent as string }));
    expect(await disputeOf(pending)).toMatchObject({ status: 'open', credits_micro: 25_000_000 });
    expect(await world.available(pending)).toBe(0);
  });

  test('where the payment was booked at the same moment the job finds the dispute', async () => {
    const topup = await paid();
    await world.rows(
      `insert into rail_dispute (rail, ref, payment_ref, amount_minor, currency, status, phase, reason, seen_at)
       values ('rail-b', 'dp_early', $1, 2500, 'USD', 'won', 'chargeback', 'general', now())`,
      [payment(topup)],
    );
    const jobs = await Promise.all([1, 2, 3].map(() => adoptEarlyDisputes(context)));
    expect(Math.max(...jobs)).toBe(1);
    expect(await disputesOf(world.pool, topup.id)).toMatchObject([{ status: 'won' }]);
    expect(await adoptEarlyDisputes(context)).toBe(0);
  });

  test('one of a payment that is none of ours leaves no dispute; one that cannot be read is for a person', async () => {
    const event = (object: object) => ({
      id: `evt_${Math.random()}`,
      type: 'charge.dispute.created',
      livemode: false,
      data: { object: { id: 'dp_x', amount: 5, currency: 'usd', status: 'needs_response', ...object } },
    });
    expect(await world.deliver(event({ payment_intent: 'pi_of_somebody' }))).toMatchObject({ topup: null });
    const before = await world.rows('select 1 from dispute');
    await world.deliver(event({ payment_intent: 'pi_1', status: 'a new word' }));
    await world.deliver(event({ payment_intent: 'pi_1', amount: -5 }));
    expect(await world.rows('select 1 from dispute')).toHaveLength(before.length);
    const unread = (await listStaffItems(world.pool, 500)).filter(({ kind }) => kind === 'unreadable_event');
    expect(unread).toHaveLength(2);
  });

  test('when no callback comes the rail is asked', async () => {
    const topup = await paid();
    const { ref, id } = await dispute(topup);
    sim.store.disputing.move(ref, 'under_review');
    expect(await pollDispute(context, { dispute_id: id })).toMatchObject({ status: 'open', settled: true });
    sim.store.disputing.move(ref, 'lost');
    expect(await pollDispute(context, { dispute_id: id })).toMatchObject({ status: 'lost', settled: true });
    await world.deliverNews();
  });

  test('of fifty deliveries at once each step is booked once', async () => {
    const topup = await paid();
    sim.store.disputing.open(payment(topup));
    const reported = sim.webhooks.events.slice(-2);
    const copies = Array.from({ length: 25 }, () => reported).flat();
    await Promise.all(copies.map((event, at) => world.deliver({ ...event, id: `evt_many_${at}` })));
    expect(await disputesOf(world.pool, topup.id)).toHaveLength(1);
    expect(await entries(topup)).toEqual([['dispute_hold', -25_000_000]]);
    await world.deliverNews();
  });
});

describe('rail-a', () => {
  async function rupees(slug: string): Promise<{ topup: Topup; payment_id: string }> {
    const pending = await world.topup(await world.indian(slug, '27'));
    const { id } = sim_a.act(pending.gateway_ref as string, 'upi');
    await world.deliverA(eventsA.captured(pending, { payment: id }));
    return { topup: await world.read(pending.id), payment_id: id };
  }
  const news = async (type: string) => {
    const reported = sim_a.webhooks.events.filter((event) => event.type === `payment.dispute.${type}`);
    return world.deliverA(reported.at(-1) as never);
  };

  test('the tax of the payment is lost with it, by its proportion', async () => {
    const { topup, payment_id } = await rupees('disputed-rupees');
    const { id: ref } = sim_a.disputes.open(payment_id);
    await news('created');
    expect(await disputeOf(topup)).toMatchObject({
      ...{ amount_minor: 118_000, price_minor: 100_000, igst_minor: 18_000, excess_minor: 0 },
      ...{ credits_micro: 11_107_346, reason: 'goods_or_services_not_provided' },
    });
    sim_a.disputes.move(ref, 'lost');
    await news('lost');
    await news('created');
    expect(await disputeOf(topup)).toMatchObject({ status: 'lost', written_off_micro: 0 });
  });

  test('`closed` ends a complaint that cost nothing as won; won is won', async () => {
    for (const as of ['closed', 'won'] as const) {
      const { topup, payment_id } = await rupees(`ended-${as}`);
      const { id: ref } = sim_a.disputes.open(payment_id, { phase: 'retrieval', amount: 59_000 });
      await news('created');
      expect(await world.available(topup)).toBe(11_107_346 - 5_553_673);
      sim_a.disputes.move(ref, as);
      await news(as);
      expect(await disputeOf(topup)).toMatchObject({ status: 'won' });
      expect(await world.available(topup)).toBe(11_107_346);
    }
  });
});

test('a refund made at the rail and a dispute of the rest take the credits once each', async () => {
  const topup = await paid();
  sim.store.refunding.create({ payment_intent: payment(topup), amount: '1000' });
  const { ref } = await dispute(topup);
  await end(ref, 'lost');
  shiftClock(11 * 60_000);
  try {
    expect(await adoptRailRefunds(context)).toBe(1);
  } finally {
    shiftClock(0);
  }
  expect(await world.available(topup)).toBe(0);
  expect(await disputeOf(topup)).toMatchObject({ credits_micro: 15_000_000, written_off_micro: 0 });
});

test('no gift is made while a payment is disputed, and one that was made before stays a gift', async () => {
  const topup = await paid();
  const gift = { book_id: topup.book_id, ref_type: 'gift', ref_id: `gift-${topup.id}` } as const;
  const amount_micro_usd = microUsd(5_000_000);
  await orderDebit(context, 'main', { ...gift, kind: 'gift', amount_micro_usd, paid_only: true });
  const { ref } = await dispute(topup);
  const org = (await findOrg(world.pool, topup.org_id)) as Org;
  const made = makeGift(context, org, { amount_micro_usd, note: '' });
  await expect(made).rejects.toEqual(refused('payment_hold'));
  await end(ref, 'lost');
  expect(await disputeOf(topup)).toMatchObject({ written_off_micro: 5_000_000 });
});

test('a loss that the ledger could not answer at once is noted by the job', async () => {
  const topup = await paid();
  const { ref, id } = await dispute(topup);
  await end(ref, 'lost');
  await world.rows('update dispute set written_off_micro = null where id = $1', [id]);
  expect(await hasPaymentHold(world.pool, topup.org_id)).toBe(true);
  expect((await Promise.all([settleLosses(context), settleLosses(context)])).some((n) => n >= 1)).toBe(true);
  expect(await disputeOf(topup)).toMatchObject({ written_off_micro: 0 });
  // The same mail about the same dispute is asked for once.
  expect((await mails(id)).filter(([template]) => template === 'dispute_closed')).toHaveLength(1);
});
