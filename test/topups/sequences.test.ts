// What rails report, in every order that they are known to use: the same sequences over both rails.

import { createHmac } from 'node:crypto';
import { readBalance } from '@svc/core/ledger/index.ts';
import { takeRailCallback } from '@svc/core/refunds/index.ts';
import { cancelTopup, listStaffItems, runRailTasks, type Topup } from '@svc/core/topups/index.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { events, eventsA, type RailAEvent, SECRET_A, startWorld } from './world.ts';

const world = await startWorld();
const { read, rows } = world;
let serial = 0;
afterEach(() => world.expectRight());

interface Payment {
  readonly id?: string;
  readonly payment?: string;
  readonly amount?: number;
  readonly currency?: string;
}

/** A rail as the sequences need it; its events are opaque. */
interface Case {
  readonly rail: 'rail-a' | 'rail-b';
  readonly credits_micro: number;
  fresh(): Promise<Topup>;
  captured(topup: Topup, more?: Payment): object;
  /** Another event about the same payment. */
  capturedToo(topup: Topup): object;
  failed(topup: Topup): object;
  deliver(event: object): ReturnType<typeof takeRailCallback>;
  idOf(event: object): string;
  /** Amounts that went back of a payment. */
  refundsOf(payment: string): number[];
  /** Makes the payer pay, at the simulator. */
  pay(topup: Topup, how: 'pay' | 'again'): void;
  /** The payment of the event that the simulator last reported about a capture. */
  lastPayment(): string;
}

const cases: readonly Case[] = [
  {
    rail: 'rail-a',
    credits_micro: 11_107_346,
    fresh: async () => world.topup(await world.indian(`in-${++serial}`)),
    captured: eventsA.captured,
    capturedToo: (topup) => eventsA.orderPaid(topup),
    failed: (topup) => eventsA.failed(topup, { payment: `pay_lost_${topup.id}` }),
    deliver: (event) => world.deliverA(event as RailAEvent),
    idOf: (event) => (event as RailAEvent).id,
    refundsOf: (payment) =>
      [...world.sim_a.store.refunds.values()].flatMap((one) =>
        one.payment_id === payment ? [one.amount] : [],
      ),
    pay: (topup, how) => void world.sim_a.act(topup.gateway_ref as string, how === 'pay' ? 'card' : 'again'),
    lastPayment: () => [...world.sim_a.store.payments.keys()].at(-1) as string,
  },
  {
    rail: 'rail-b',
    credits_micro: 25_000_000,
    fresh: async () => world.topup(await world.org(`us-${++serial}`)),
    captured: events.completed,
    capturedToo: (topup) => events.succeeded(topup),
    failed: (topup) => events.attemptFailed(topup),
    deliver: (event) => world.deliver(event),
    idOf: (event) => (event as { id: string }).id,
    refundsOf: (payment) =>
      [...world.sim.store.refunds.values()].flatMap((one) =>
        one.payment_intent === payment ? [one.amount] : [],
      ),
    pay: (topup, how) => void world.sim.act(topup.gateway_ref as string, how),
    lastPayment: () => [...world.sim.store.intents.keys()].at(-1) as string,
  },
];

describe.each(cases)('over $rail', (rail) => {
  const { fresh, deliver, captured, credits_micro } = rail;
  const balance = async (topup: Topup) => (await readBalance(world.pool, topup.book_id)).available_micro_usd;
  const itemsOf = async (subject: string) =>
    (await listStaffItems(world.pool, 1_000)).filter((item) => item.subject === subject);

  test('captured twice under one event id: booked, then a replay with the same document', async () => {
    const topup = await fresh();
    const event = captured(topup);
    const first = await deliver(event);
    expect(first).toEqual({ invoice: expect.stringMatching(/^INV\//), replay: false, topup: topup.id });
    expect(await deliver(event)).toEqual({ ...first, replay: true });
    expect(await balance(topup)).toBe(credits_micro);
    expect(await read(topup.id)).toMatchObject({ status: 'paid', gateway: rail.rail });
  });

  test('captured, then reported again by another event: a replay, whichever comes first', async () => {
    for (const turned of [false, true]) {
      const topup = await fresh();
      const both = [captured(topup), rail.capturedToo(topup)];
      if (turned) both.reverse();
      const first = await deliver(both[0] as object);
      expect([first.replay, await deliver(both[1] as object)]).toEqual([false, { ...first, replay: true }]);
      expect(await balance(topup)).toBe(credits_micro);
    }
  });

  test('an attempt that failed leaves it pending with its reason; another payment pays it', async () => {
    const topup = await fresh();
    await deliver(rail.failed(topup));
    const pending = await read(topup.id);
    expect([pending.status, pending.failure_code]).toEqual(['pending', expect.any(String)]);
    await deliver(captured(topup));
    expect(await read(topup.id)).toMatchObject({ status: 'paid', failure_code: null });
  });

  test('cancelled, then captured all the same: paid', async () => {
    const topup = await fresh();
    await cancelTopup(world.context, { org_id: topup.org_id, id: topup.id });
    expect((await read(topup.id)).status).toBe('expired');
    expect((await deliver(captured(topup))).replay).toBe(false);
    expect((await read(topup.id)).status).toBe('paid');
  });

  test('a smallest unit less, more, or another currency: review, no credit, a staff item', async () => {
    for (const other of [{ amount: -1 }, { amount: 1 }, { currency: 'usd' }, { currency: 'EUR' }]) {
      const topup = await fresh();
      if (other.currency?.toUpperCase() === topup.currency) continue;
      const payment = 'amount' in other ? { amount: topup.total_minor + (other.amount ?? 0) } : other;
      const event = captured(topup, payment);
      expect(await deliver(event)).toEqual({ invoice: null, replay: false, topup: topup.id });
      expect(await deliver(event)).toEqual({ invoice: null, replay: true, topup: topup.id });
      expect((await read(topup.id)).status).toBe('review');
      expect(await balance(topup)).toBe(0);
      expect(await itemsOf(topup.id)).toMatchObject([{ kind: 'amount_mismatch' }]);
    }
  });

  test('a second payment on one order is booked by nobody and goes back whole, once', async () => {
    const topup = await fresh();
    rail.pay(topup, 'pay');
    await deliver(captured(topup, { payment: rail.lastPayment() }));
    rail.pay(topup, 'again');
    const second = rail.lastPayment();
    const reported = captured(topup, { payment: second });
    expect(await deliver(reported)).toEqual({ invoice: null, replay: false, topup: topup.id });
    await runRailTasks(world.context);
    await runRailTasks(world.context);
    expect(rail.refundsOf(second)).toEqual([topup.total_minor]);
    expect(await balance(topup)).toBe(credits_micro);
    expect(await itemsOf(`${rail.rail} ${second}`)).toMatchObject([{ kind: 'second_payment' }]);
  });

  test('of fifty deliveries at once of one event exactly one is no replay, and one document is named', async () => {
    const topup = await fresh();
    const event = captured(topup);
    const answers = await Promise.all(Array.from({ length: 50 }, () => deliver(event)));
    expect(answers.filter(({ replay }) => !replay)).toHaveLength(1);
    expect(new Set(answers.map(({ invoice }) => invoice)).size).toBe(1);
  });

  test('an event about a top-up of the other rail touches nothing: nulls, and a staff item', async () => {
    const other = cases.find((one) => one.rail !== rail.rail) as Case;
    const topup = await other.fresh();
    const own = { ...topup, gateway_ref: `foreign-${++serial}`, currency: 'INR' };
    // Named by the order's notes, or by the session's reference.
    const event = rail.rail === 'rail-a' ? eventsA.orderPaid(own) : captured(own);
    expect(await deliver(event)).toEqual({ invoice: null, replay: false, topup: null });
    expect((await read(topup.id)).status).toBe('pending');
    expect(await itemsOf(`${rail.rail} ${rail.idOf(event)}`)).toMatchObject([{ kind: 'names_disagree' }]);
  });
});

test('rail-a: bytes that were re-serialised, forged or signed with a secret of nobody are refused and leave no row', async () => {
  const topup = await world.topup(await world.indian(`in-${++serial}`));
  const [before] = await rows('select count(*)::int as n from rail_event');
  const { id, body } = eventsA.captured(topup);
  const text = JSON.stringify(body);
  const sign = (secret: string) => createHmac('sha256', secret).update(text).digest('hex');
  const right = sign(SECRET_A);
  const tried: [string, string | null][] = [
    [JSON.stringify(body, null, 2), right],
    [text.replace('118000', '118001'), right],
    [`${text} `, right],
    ['', right],
    [text, sign('nobody')],
    [text, null],
  ];
  for (const [bytes, signature] of tried) {
    const taken = takeRailCallback(world.context, world.rail_a, {
      raw: Buffer.from(bytes),
      signature,
      event_id: id,
    });
    await expect(taken).rejects.toMatchObject({ code: 'signature_invalid' });
  }
  expect(await rows('select count(*)::int as n from rail_event')).toEqual([before]);
  const by_old = sign('old-secret-of-rail-a');
  const taken = await takeRailCallback(world.context, world.rail_a, {
    raw: Buffer.from(text),
    signature: by_old,
    event_id: id,
  });
  expect(taken).toMatchObject({ replay: false, topup: topup.id });
});

test('rail-a: a payment whose notes name another top-up than its order books nothing', async () => {
  const [a, b] = [await cases[0]!.fresh(), await cases[0]!.fresh()];
  const lie = eventsA.captured(a, { notes: { topup_id: b.id } });
  expect(await world.deliverA(lie)).toEqual({ invoice: null, replay: false, topup: null });
  for (const { id } of [a, b]) expect((await read(id)).status).toBe('pending');
});
