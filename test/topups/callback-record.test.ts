// What is kept of an event of a rail, who takes which, and what the staff are told. All of it is compared whole: people look
// here when money is missing.
import { type Log, newRequestId, silentLog } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { type CallbackAnswer, listStaffItems, type Topup, takeCallback } from '@svc/core/topups/index.ts';
import { expect, test } from 'vitest';
import { countWaiting, holding } from './holding.ts';
import { events, startWorld } from './world.ts';

const world = await startWorld();
const { read, rows, sim, sim_a } = world;
let serial = 0;
const fresh = async () => world.topup(await world.org(`record-${++serial}`));

const warned: unknown[] = [];
const log: Log = { ...silentLog, warn: (fields) => void warned.push(fields) };
const context = createContext({
  ...{ request_id: newRequestId(), caller: { kind: 'public' }, pool: world.pool, log },
  services: world.context.services,
});

const NOBODY = { invoice: null, replay: false, topup: null };
/** What the takers were given since the last test, and what they answer. */
let given: unknown[] = [];
let answer: CallbackAnswer = NOBODY;
const by = (name: string) => async (_: unknown, rail: string, fact: unknown) => {
  given.push([name, rail, fact]);
  return answer;
};
const takers = {
  ...{ moneyBack: by('moneyBack'), dispute: by('dispute'), mandate: by('mandate'), notice: by('notice') },
  booked: async (_: unknown, topup_id: string) => void given.push(['booked', topup_id]),
};

/** Sends an event of rail-b; the answer, and what is kept of it. */
async function take(event: { readonly id: string; readonly [name: string]: unknown }) {
  given = [];
  warned.length = 0;
  const raw = Buffer.from(JSON.stringify(event));
  const signature = sim.webhooks.sign(raw.toString(), Math.floor(Date.now() / 1_000));
  const answered = await takeCallback(context, world.rail, { raw, signature }, takers);
  return { answered, kept: await keptOf(event.id) };
}
const keptOf = async (event_id: string) =>
  (
    await rows(
      'select rail, type, facts, answer, topup_id, payment_ref from rail_event where event_id = $1',
      [event_id],
    )
  )[0];
const itemOf = async (event_id: string) => {
  const items = await listStaffItems(world.pool);
  return items
    .filter(({ subject }) => subject === `rail-b ${event_id}`)
    .map(({ kind, details }) => ({ kind, details }));
};
const eventOf = (type: string, object: object) => ({
  ...{ id: `evt_${newRequestId()}`, livemode: false, type, data: { object } },
});

test('of a payment its names and its money are kept, and whoever waits for it is told once', async () => {
  const topup = await fresh();
  const event = events.completed(topup);
  const payment_ref = `pi_${topup.id}`;
  const { answered, kept } = await take(event);
  expect(answered).toEqual({ invoice: expect.any(String), replay: false, topup: topup.id });
  expect(kept).toEqual({
    ...{ rail: 'rail-b', type: 'checkout.session.completed', topup_id: topup.id, payment_ref },
    facts: {
      ...{ fact: 'captured', order_ref: topup.gateway_ref, topup_id: topup.id },
      ...{ payment_ref, amount_minor: 2_500, currency: 'USD' },
    },
    answer: answered,
  });
  expect(given).toEqual([['booked', topup.id]]);
  expect((await take(event)).answered).toEqual({ ...answered, replay: true });
  expect(given).toEqual([]);
  // Another event about the same payment.
  expect((await take(events.succeeded(topup))).answered).toEqual({ ...answered, replay: true });
  expect(given).toEqual([]);
});

test('of an attempt that failed its names are kept, without a payment, and nobody is told of one', async () => {
  const topup = await fresh();
  const event = events.attemptFailed(topup);
  const { answered, kept } = await take(event);
  expect(kept).toEqual({
    ...{ rail: 'rail-b', type: 'payment_intent.payment_failed', topup_id: topup.id, payment_ref: null },
    facts: { fact: 'failed', order_ref: null, topup_id: topup.id },
    answer: answered,
  });
  expect([answered, given]).toEqual([{ ...NOBODY, topup: topup.id }, []]);
});

const money = { payment_intent: 'pi_back', amount: 700, currency: 'usd' };
test.each([
  [
    'moneyBack',
    eventOf('refund.updated', { id: 're_1', ...money, status: 'succeeded' }),
    { fact: 'refund', ref: 're_1', status: 'refunded' },
  ],
  [
    'dispute',
    eventOf('charge.dispute.created', { id: 'dp_1', ...money, status: 'needs_response' }),
    { fact: 'dispute', ref: 'dp_1', status: 'open' },
  ],
] as const)(
  '%s: reference, payment, amount and state are kept; the payment is ours when it led to a top-up',
  async (taker, event, facts) => {
    const topup = await fresh();
    answer = NOBODY;
    const stranger = await take(event);
    expect(given).toEqual([
      [taker, 'rail-b', expect.objectContaining({ ref: facts.ref, amount_minor: 700 })],
    ]);
    const all = { ...facts, payment_ref: 'pi_back', amount_minor: 700, currency: 'USD' };
    expect(stranger.kept).toMatchObject({ facts: all, answer: NOBODY, topup_id: null, payment_ref: null });
    expect(stranger.kept).toHaveProperty('facts', all);
    answer = { invoice: 'INV/1', replay: false, topup: topup.id };
    const { answered, kept } = await take({ ...event, id: `evt_${newRequestId()}` });
    expect(answered).toEqual(answer);
    expect(kept).toMatchObject({ facts: all, answer, topup_id: topup.id, payment_ref: 'pi_back' });
    // Its taker has done what there is to do.
    expect(given).toHaveLength(1);
  },
);

test('of a mandate its change and its names are kept, but not whose card it is', async () => {
  answer = NOBODY;
  const { kept } = await take(
    eventOf('setup_intent.succeeded', {
      ...{ id: 'seti_1', payment_method: 'pm_1', customer: 'cus_1', metadata: { mandate_id: 'mnd_1' } },
    }),
  );
  const names = { mandate_id: 'mnd_1', setup_ref: null, token_ref: 'pm_1' };
  expect(given).toEqual([
    ['mandate', 'rail-b', expect.objectContaining({ change: 'confirmed', customer_ref: 'cus_1', ...names })],
  ]);
  expect(kept).toMatchObject({ payment_ref: null });
  expect(kept).toHaveProperty('facts', { fact: 'mandate', change: 'confirmed', ...names });
});

test('of a notice before a debit its order is kept, and whether it arrived', async () => {
  given = [];
  answer = NOBODY;
  const order = { id: 'order_9', notes: { topup_id: 'tup_9' } };
  const body = { event: 'order.notification.delivered', payload: { order: { entity: order } } };
  const raw = Buffer.from(JSON.stringify(body));
  const callback = { raw, signature: sim_a.webhooks.sign(raw.toString()), event_id: 'evt_notice' };
  expect(await takeCallback(context, world.rail_a, callback, takers)).toEqual(NOBODY);
  expect(given).toEqual([
    ['notice', 'rail-a', { kind: 'notice', order_ref: 'order_9', topup_id: 'tup_9', delivered: true }],
  ]);
  expect(await keptOf('evt_notice')).toEqual({
    ...{ rail: 'rail-a', type: 'order.notification.delivered', topup_id: null, payment_ref: null },
    facts: { fact: 'notice', order_ref: 'order_9', delivered: true },
    answer: NOBODY,
  });
});

test('an event that means nothing is answered as ignored, and nothing is kept of it', async () => {
  const { answered, kept } = await take(eventOf('customer.created', { id: 'cus_1' }));
  expect([answered, kept, given]).toEqual([{ ...NOBODY, ignored: true }, undefined, []]);
});

test('an event that lacks what a booking needs is for the staff, with all that it named, and in the log', async () => {
  const topup = await fresh();
  const whole = events.completed(topup);
  const event = { ...whole, data: { object: { ...whole.data.object, currency: null } } };
  const { answered, kept } = await take(event);
  const facts = { fact: null, order_ref: topup.gateway_ref, topup_id: topup.id };
  expect([answered, given]).toEqual([NOBODY, []]);
  expect(kept).toMatchObject({ facts, answer: NOBODY, topup_id: null, payment_ref: null });
  const { type } = event;
  expect(await itemOf(event.id)).toEqual([{ kind: 'unreadable_event', details: { type, ...facts } }]);
  expect(warned).toEqual([{ rail: 'rail-b', event_id: event.id, type, kind: 'unreadable_event' }]);
});

test('names that do not lead to one top-up of the rail book nothing', async () => {
  const topup = await fresh();
  const other_rail = await world.topup(await world.indian(`record-${++serial}`));
  const liars = [
    events.completed({ ...topup, gateway_ref: 'cs_never_made' }),
    events.completed({ ...topup, id: 'tup_x' as Topup['id'] }),
    events.completed({ ...topup, id: other_rail.id, gateway_ref: null }),
    events.succeeded(other_rail),
  ];
  for (const event of liars) {
    expect((await take(event)).answered).toEqual(NOBODY);
    expect(await itemOf(event.id)).toMatchObject([{ kind: 'names_disagree' }]);
  }
  expect([await read(topup.id), await read(other_rail.id)]).toMatchObject(
    Array(2).fill({ status: 'pending' }),
  );
});

test('a session that has no name of ours is known by itself', async () => {
  const topup = await fresh();
  const { data, ...event } = events.completed(topup);
  const object = { ...data.object, client_reference_id: null, metadata: {} };
  expect((await take({ ...event, data: { object } })).answered).toMatchObject({ topup: topup.id });
  expect((await read(topup.id)).status).toBe('paid');
});

test('a payment that is told for a top-up and was booked on another one books nothing, whichever is older', async () => {
  const [a, b] = [await fresh(), await fresh()];
  await take(events.completed(a));
  await take(events.completed(b));
  for (const [one, other] of [
    [a, b],
    [b, a],
  ] as const) {
    const event = events.succeeded(one, { payment: `pi_${other.id}` });
    expect((await take(event)).answered).toEqual(NOBODY);
    expect(await itemOf(event.id)).toMatchObject([{ kind: 'names_disagree' }]);
  }
});

test('a payment without an order is booked on a top-up that has none yet, and gives it none', async () => {
  const topup = await fresh();
  await rows('update topup set gateway_ref = null where id = $1', [topup.id]);
  expect((await take(events.succeeded(topup))).answered).toMatchObject({ topup: topup.id, replay: false });
  expect(await read(topup.id)).toMatchObject({ status: 'paid', gateway_ref: null });
});

test('what expires before its order was noted has that order closed all the same', async () => {
  const topup = await fresh();
  await rows('update topup set gateway_ref = null, checkout_url = null where id = $1', [topup.id]);
  await take(events.completed(topup, { type: 'checkout.session.expired', status: 'unpaid' }));
  expect(await read(topup.id)).toMatchObject({ status: 'expired', gateway_ref: topup.gateway_ref });
  expect(await rows('select kind, ref from rail_task where topup_id = $1', [topup.id])).toEqual([
    { kind: 'close_order', ref: topup.gateway_ref },
  ]);
});

test('an order that is noted while an event of another one waits for its top-up is not taken for it', async () => {
  const topup = await fresh();
  await rows('update topup set gateway_ref = null where id = $1', [topup.id]);
  const event = events.completed({ ...topup, gateway_ref: 'cs_another' });
  const noted = `update topup set gateway_ref = 'cs_meanwhile' where id = $1`;
  const taking = await holding(
    world.url,
    topup.id,
    async () => {
      const taking = take(event);
      await expect.poll(() => countWaiting(world.url)).toBe(1);
      return [taking];
    },
    noted,
  );
  expect((await taking[0])?.answered).toEqual(NOBODY);
  expect(await itemOf(event.id)).toMatchObject([{ kind: 'names_disagree' }]);
  expect(await read(topup.id)).toMatchObject({ status: 'pending', gateway_ref: 'cs_meanwhile' });
});

test.each(['completed', 'attemptFailed'] as const)(
  '%s: of deliveries at the same moment the later one answers what the first got',
  async (what) => {
    const topup = await fresh();
    const event = events[what](topup);
    const sent = await holding(world.url, topup.id, async () => {
      const sent = [take(event), take(event)];
      await expect.poll(() => countWaiting(world.url)).toBe(2);
      return sent;
    });
    const answers = (await Promise.all(sent)).map(({ answered }) => answered);
    const first = answers.find(({ replay }) => !replay);
    expect(answers.filter((answered) => answered !== first)).toEqual([{ ...first, replay: true }]);
    expect(first).toMatchObject({ topup: topup.id, replay: false });
  },
);

test('an event of a top-up that nobody knows is for the staff', async () => {
  const unknown = events.attemptFailed({ ...(await fresh()), id: 'tup_of_nobody' as Topup['id'] });
  expect((await take(unknown)).answered).toEqual(NOBODY);
  expect(await itemOf(unknown.id)).toMatchObject([{ kind: 'unknown_topup' }]);
});
