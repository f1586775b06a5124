// A rail whose answers and events are broken: pages of a proxy, nothing, half of it, texts for numbers, somebody else's
// payments. Nothing is booked from what cannot be read, nothing is lost, and what is said of it names no secret.
import { createTopup, listStaffItems, pollTopup, RailError, type Topup } from '@svc/core/topups/index.ts';
import { afterEach, describe, expect, test } from 'vitest';
import { events, eventsA, type RailAEvent, startWorld } from './world.ts';

const world = await startWorld();
const { context, sim, sim_a, read, rows } = world;
let serial = 0;
afterEach(async () => {
  for (const one of [sim, sim_a]) one.turn({ api: [] });
  await world.expectRight();
});

const PAGE = '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>';
/** What comes back instead of an answer. */
const GARBAGE = [
  { what: 'a page of a proxy with status 200', body: PAGE, content_type: 'text/html' },
  { what: 'nothing with status 200', body: '' },
  { what: 'half an answer', body: '{"id": "order_1", "amount": 118' },
  { what: 'a list where an object belongs', body: '[]' },
  { what: 'an object without anything', body: '{}' },
  { what: 'a page of 300,000 letters with status 503', body: 'x'.repeat(300_000), status: 503 },
] as const;

const rails = [
  {
    rail: 'rail-a',
    sim: sim_a,
    make: 'POST /v1/orders',
    find: 'GET /v1/orders',
    fresh: async () => world.topup(await world.indian(`night-${++serial}`)),
    org: () => world.indian(`night-${++serial}`),
    amount_minor: 100_000,
    pay: (topup: Topup) => void sim_a.act(topup.gateway_ref as string, 'card'),
  },
  {
    rail: 'rail-b',
    sim,
    make: 'POST /v1/checkout/sessions',
    find: 'GET /v1/checkout/sessions',
    fresh: async () => world.topup(await world.org(`night-${++serial}`)),
    org: () => world.org(`night-${++serial}`),
    amount_minor: 2_500,
    pay: (topup: Topup) => void sim.act(topup.gateway_ref as string, 'pay'),
  },
] as const;

/** What is said of a broken answer is short, and has neither a key nor the answer itself. */
function expectHarmless(error: unknown): void {
  const { message } = error as Error;
  expect(message.length).toBeLessThanOrEqual(500);
  expect(message).not.toMatch(/secret-of-rail-a|sk_test|rzp_test|nginx|xxxx/);
}

describe.each(rails)('over $rail', ({ sim: rail, make, find, fresh, org, amount_minor, pay }) => {
  test.each(GARBAGE)(
    '$what to a poll books nothing, and the next poll books',
    async ({ what: _, ...fault }) => {
      const topup = await fresh();
      pay(topup);
      rail.turn({ api: [{ match: find, mode: 'garbled', times: 3, ...fault }] });
      const error: unknown = await pollTopup(context, { topup_id: topup.id }).catch((error) => error);
      expect(error).toBeInstanceOf(RailError);
      expect(error).toMatchObject({ declined: false });
      expectHarmless(error);
      expect(await read(topup.id)).toMatchObject({ status: 'pending' });
      rail.turn({ api: [] });
      expect(await pollTopup(context, { topup_id: topup.id })).toMatchObject({ status: 'paid' });
    },
  );

  test.each(GARBAGE)(
    '$what to a new order leaves a name that can be paid, or nothing to pay',
    async ({ what: _, ...fault }) => {
      const buyer = await org();
      rail.turn({ api: [{ match: make, mode: 'garbled', times: 3, ...fault }] });
      const made: unknown = await createTopup(context, { org_id: buyer.id, amount_minor }).catch((e) => e);
      const [row] = await rows<{ status: string; gateway_ref: string | null }>(
        'select status, gateway_ref from topup where org_id = $1',
        [buyer.id],
      );
      if (made instanceof Error) {
        expectHarmless(made);
        expect(made).toMatchObject({ code: 'rail_unavailable' });
        expect(row).toEqual({ status: 'failed', gateway_ref: null });
      } else expect(row).toEqual({ status: 'pending', gateway_ref: expect.stringMatching(/^(order|cs)_/) });
    },
  );

  test('the payment of another top-up in an answer is not booked, nor given back', async () => {
    const [mine, others] = [await fresh(), await fresh()];
    pay(others);
    const list = [...sim_a.store.payments.values()].filter(({ order_id }) => order_id === others.gateway_ref);
    const session = sim.store.sessions.get(others.gateway_ref as string);
    const body = JSON.stringify(session ?? { entity: 'collection', count: list.length, items: list });
    rail.turn({ api: [{ match: find, mode: 'garbled', body }] });
    await expect(pollTopup(context, { topup_id: mine.id })).rejects.toMatchObject({
      code: 'UNREADABLE_ANSWER',
    });
    expect(await read(mine.id)).toMatchObject({ status: 'pending', payment_ref: null });
    expect(await rows(`select 1 from rail_task where kind = 'refund_payment'`)).toEqual([]);
    expect(await pollTopup(context, { topup_id: others.id })).toMatchObject({ status: 'paid' });
  });
});

const AMOUNTS = [
  ['a text', (minor: number) => String(minor)],
  ['a fraction', (minor: number) => minor + 0.5],
  ['less than nothing', (minor: number) => -minor],
  ['nothing', () => 0],
  ['a name of a thousand letters', null],
] as const;

test.each(AMOUNTS)(
  'an event with %s is put before a person, answered, and books nothing',
  async (_, amount) => {
    const [of_a, of_b] = [await rails[0].fresh(), await rails[1].fresh()];
    const more = (topup: Topup, prefix: string) => ({
      id: `evt_${topup.id}`,
      ...(amount === null
        ? { payment: prefix + 'x'.repeat(1_000) }
        : { amount: amount(topup.total_minor) as unknown as number }),
    });
    const answers = [
      await world.deliverA(eventsA.captured(of_a, more(of_a, 'pay_'))),
      await world.deliver(events.completed(of_b, more(of_b, 'pi_'))),
    ];
    for (const answer of answers) expect(answer).toMatchObject({ invoice: null });
    for (const { id } of [of_a, of_b]) expect(await read(id)).toMatchObject({ status: 'pending' });
    const items = (await listStaffItems(world.pool, 500)).filter(({ kind }) => kind === 'unreadable_event');
    const subjects = items.map(({ subject }) => subject);
    expect(subjects).toEqual(expect.arrayContaining([`rail-a evt_${of_a.id}`, `rail-b evt_${of_b.id}`]));
    // The right event comes too, and books.
    await world.deliverA(eventsA.orderPaid(of_a));
    await world.deliver(events.succeeded(of_b));
    for (const { id } of [of_a, of_b]) expect(await read(id)).toMatchObject({ status: 'paid' });
  },
);

test('a refund whose amount cannot be read is put before a person, over both rails', async () => {
  const refund = {
    id: 'rfnd_night',
    payment_id: 'pay_night',
    amount: -5,
    currency: 'INR',
    status: 'processed',
  };
  const body = { entity: 'event', event: 'refund.processed', payload: { refund: { entity: refund } } };
  await world.deliverA({ id: 'evt_night', body } as RailAEvent);
  const object = {
    id: 're_night',
    payment_intent: 'pi_night',
    amount: '5',
    currency: 'usd',
    status: 'succeeded',
  };
  await world.deliver({ id: 'evt_night_b', livemode: false, type: 'refund.updated', data: { object } });
  const subjects = (await listStaffItems(world.pool, 500)).map(({ subject }) => subject);
  expect(subjects).toEqual(expect.arrayContaining(['rail-a evt_night', 'rail-b evt_night_b']));
});

test('names and words in any script, with letters that no database takes, are booked; a currency in any case', async () => {
  const [of_a, of_b] = [await rails[0].fresh(), await rails[1].fresh()];
  const failed = eventsA.failed(of_a, { payment: 'pay_ключ_鍵_🔑' });
  const payload = failed.body['payload'] as { payment: { entity: Record<string, unknown> } };
  payload.payment.entity['error_description'] = `Отказ\0 \ud800 of the bank`;
  await world.deliverA(failed);
  expect((await read(of_a.id)).failure_message).toMatch(/^Отказ .* of the bank$/);
  await world.deliverA(eventsA.captured(of_a, { payment: 'pay_ключ_鍵_🔑', currency: 'inr' }));
  await world.deliver(events.completed(of_b, { payment: 'pi_ключ_鍵_🔑', currency: 'USD' }));
  for (const { id } of [of_a, of_b])
    expect(await read(id)).toMatchObject({ status: 'paid', payment_ref: expect.stringContaining('鍵_🔑') });
});
