// Rail-a's simulator as the official client and a browser without scripts see it.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Razorpay from 'razorpay';
import { expect, test } from 'vitest';
import { atFileEnd } from '../../../support/ends.ts';
import { startRailASim } from './index.ts';

const SECRET = 'rail-a-sim';
interface Received {
  readonly raw: string;
  readonly signature: string;
  readonly event_id: string;
}
const received: Received[] = [];
let refuse = 0;
const receiver = createServer(async (request, response) => {
  let raw = '';
  for await (const piece of request) raw += piece;
  if (refuse-- > 0) {
    response.writeHead(503).end();
    return;
  }
  const { headers } = request;
  const [signature, event_id] = [headers['x-razorpay-signature'], headers['x-razorpay-event-id']].map(String);
  received.push({ raw, signature: signature as string, event_id: event_id as string });
  response.writeHead(200).end('{}');
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');
const sim = await startRailASim({
  webhook_url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
  webhook_secrets: [SECRET],
});
atFileEnd(async () => {
  await sim.close();
  receiver.close();
});

/** The part of the client that has no types: its HTTP library. */
interface Inner {
  readonly api: {
    readonly rq: {
      readonly defaults: { baseURL?: string };
      post(path: string, body: object, more: object): Promise<{ data: { id: string } }>;
    };
  };
}
function clientAt(url: string, key_id = 'rzp_test_1'): Razorpay & Inner {
  const client = new Razorpay({ key_id, key_secret: 's' }) as Razorpay & Inner;
  client.api.rq.defaults.baseURL = url;
  return client;
}
const client = clientAt(sim.url);
const create = (more: object = {}) =>
  client.orders.create({
    amount: 118_000,
    currency: 'INR',
    receipt: 'tup_1',
    notes: { topup_id: 'tup_1' },
    payment_capture: true,
    ...more,
  });
/** Events are under way at the same time and may overtake one another. */
const types = () => received.map(({ raw }) => (JSON.parse(raw) as { event: string }).event).sort();
const refused = (description: RegExp, statusCode = 400) =>
  expect.objectContaining({
    statusCode,
    error: expect.objectContaining({ description: expect.stringMatching(description) }),
  });

test('an order is made, paid, read back with the fee, and reported in signed events that the client verifies', async () => {
  received.length = 0;
  const order = await create();
  expect(order).toMatchObject({ status: 'created', amount_due: 118_000, attempts: 0, receipt: 'tup_1' });
  sim.act(order.id, 'card');
  expect(await client.orders.fetch(order.id)).toMatchObject({ status: 'paid', amount_paid: 118_000 });
  const { items } = await client.orders.fetchPayments(order.id);
  // 2 % and 18 % of that.
  expect(items).toMatchObject([{ status: 'captured', captured: true, method: 'card', fee: 2_785, tax: 425 }]);
  await expect.poll(types).toEqual(['order.paid', 'payment.authorized', 'payment.captured']);
  for (const { raw, signature } of received)
    expect(Razorpay.validateWebhookSignature(raw, signature, SECRET)).toBe(true);
  expect(new Set(received.map(({ event_id }) => event_id)).size).toBe(3);
  expect(await client.orders.all({ receipt: 'tup_1' })).toMatchObject({ items: [{ id: order.id }] });
});

test('refused as the rail words it: wrong key, small amount, other currency, long receipt, unknown field and id', async () => {
  await expect(
    clientAt(sim.url, 'rzp_live_1').orders.create({ amount: 100, currency: 'INR' }),
  ).rejects.toEqual(refused(/Authentication failed/, 401));
  await expect(create({ amount: 99 })).rejects.toEqual(refused(/less than minimum/));
  await expect(create({ amount: 10.5 })).rejects.toEqual(refused(/must be an integer/));
  await expect(create({ currency: 'USD' })).rejects.toEqual(refused(/not supported/));
  await expect(create({ receipt: 'x'.repeat(41) })).rejects.toEqual(refused(/greater than 40/));
  await expect(create({ transfers: [] })).rejects.toEqual(refused(/should not be sent/));
  await expect(client.orders.fetchPayments('order_none')).rejects.toEqual(refused(/does not exist/));
});

test('a refund under its key is made once; another body under it, too much, or a second whole one is refused', async () => {
  const order = await create();
  const payment = sim.act(order.id, 'upi');
  const refund = (body: object, key: string) =>
    client.api.rq
      .post(`/v1/payments/${payment.id}/refund`, body, { headers: { 'X-Refund-Idempotency': key } })
      .then(({ data }) => data.id)
      .catch((error: { response: { data: { error: { description: string } } } }) => {
        return error.response.data.error.description;
      });
  const first = await refund({ amount: 18_000 }, 'rfd_000001');
  expect(first).toMatch(/^rfnd_/);
  expect(await refund({ amount: 18_000 }, 'rfd_000001')).toBe(first);
  expect(await refund({ amount: 18_001 }, 'rfd_000001')).toMatch(/Different request/);
  expect(await refund({ amount: 100_001 }, 'rfd_000002')).toMatch(/greater than amount captured/);
  expect(await refund({}, 'short')).toMatch(/10 characters/);
  expect(await refund({}, 'rfd_000003')).toMatch(/^rfnd_/);
  expect(await refund({}, 'rfd_000004')).toMatch(/fully refunded/);
  expect(await client.payments.fetch(payment.id)).toMatchObject({
    status: 'refunded',
    amount_refunded: 118_000,
  });
  expect(await client.payments.fetchMultipleRefund(payment.id)).toMatchObject({ count: 2 });
});

test('a bank that answers after the rail gave it up: failed first, captured then, late_authorized', async () => {
  received.length = 0;
  const order = await create();
  sim.act(order.id, 'late');
  expect((await client.orders.fetch(order.id)).status).toBe('attempted');
  const payment = sim.act(order.id, 'arrive');
  expect(payment).toMatchObject({ status: 'captured', late_authorized: true, error_reason: null });
  await expect
    .poll(types)
    .toEqual(['order.paid', 'payment.authorized', 'payment.captured', 'payment.failed']);
});

test('settled: what was captured less the fee, refunds taken off, each line in the report of the day, once', async () => {
  const own = await startRailASim();
  atFileEnd(() => own.close());
  const api = clientAt(own.url);
  const order = await api.orders.create({ amount: 50_000, currency: 'INR', receipt: 'tup_2' });
  const payment = own.act(order.id, 'netbanking');
  own.store.refund(payment.id, { amount: 10_000 }, null);
  const made = own.settlements.settle();
  expect([made?.amount, made?.fees]).toEqual([50_000 - 1_180 - 10_000, 1_180]);
  expect(own.settlements.settle()).toBeNull();
  expect(await api.settlements.all()).toMatchObject({ items: [{ id: made?.id, status: 'processed' }] });
  // The days of the report are those of India.
  const day = new Date((made?.created_at ?? 0) * 1_000 + 5.5 * 3_600_000);
  const query = { year: day.getUTCFullYear(), month: day.getUTCMonth() + 1, day: day.getUTCDate() };
  const report = (await api.settlements.reports(query)) as unknown as { items: object[] };
  expect(report.items).toMatchObject([
    { entity_id: payment.id, type: 'payment', credit: 48_820, order_receipt: 'tup_2' },
    { type: 'refund', debit: 10_000, payment_id: payment.id },
  ]);
});

/** What a browser without scripts does with a form of the page: sends its fields to where a button points. */
async function press(url: string, action: string, fields: Record<string, string> = {}) {
  return fetch(new URL(action, url), {
    method: 'POST',
    body: new URLSearchParams(fields),
    redirect: 'manual',
  });
}
const opening = (order_id: string, amount = 118_000) => ({
  key_id: 'rzp_test_1',
  order_id,
  amount: String(amount),
  currency: 'INR',
  name: 'Acme <b>',
  description: 'Credits',
  'notes[topup_id]': 'tup_1',
  callback_url: 'http://shop.test/return',
  cancel_url: 'http://shop.test/back',
});

test('a clock that was moved is of its own simulator alone, in whichever file the next one starts', async () => {
  const [moved, other] = [await startRailASim(), await startRailASim()];
  moved.turn({ clock_shift_ms: 5 * 86_400_000 });
  const made = (store: typeof moved.store) =>
    store.createOrder({ amount: 100, currency: 'INR', receipt: 'r' }).created_at;
  expect(made(moved.store) - made(other.store)).toBeGreaterThan(4 * 86_400);
  await Promise.all([moved.close(), other.close()]);
});

test('its page: a decline leaves it open, closing leads back, paying posts signed fields to the merchant', async () => {
  const order = await create();
  const opened = await press(sim.url, '/v1/checkout/embedded', opening(order.id));
  const at = `${sim.url}${opened.headers.get('location')}`;
  const page = await (await fetch(at)).text();
  for (const label of [
    'Simulator',
    '₹1,180.00',
    'Acme &lt;b>',
    'Pay by UPI',
    'Pay by card',
    'Pay by netbanking',
  ])
    expect(page).toContain(label);
  expect((await press(at, `${at}/close`)).headers.get('location')).toBe('http://shop.test/back');
  expect(await (await press(at, `${at}/fail`)).text()).toContain('declined by the bank');
  expect(await (await press(at, `${at}/late`)).text()).toContain('did not answer in time');
  const paid = await (await press(at, `${at}/upi`)).text();
  expect(paid).toContain('action="http://shop.test/return"');
  const fields = Object.fromEntries(
    [...paid.matchAll(/name="(razorpay_\w+)" value="([^"]+)"/g)].map(([, name, value]) => [name, value]),
  );
  expect(fields['razorpay_order_id']).toBe(order.id);
  const { items } = await client.orders.fetchPayments(order.id);
  const captured = items.find((payment) => payment.status === 'captured');
  expect(captured).toMatchObject({ id: fields['razorpay_payment_id'], notes: { topup_id: 'tup_1' } });
  expect(await (await fetch(at)).text()).toContain('This order is paid.');
  expect((await press(sim.url, '/v1/checkout/embedded', opening(order.id, 1))).status).toBe(400);
  expect(await (await fetch(`${sim.url}/v1/checkout.js`)).text()).toContain('window.Razorpay');
});

test('it misbehaves on request: late and lost answers, forged and lost events, another amount and currency', async () => {
  sim.turn({ api: [{ match: 'POST /v1/orders', mode: 'lost_answer' }] });
  const before = sim.store.orders.size;
  await expect(create()).rejects.toThrow();
  expect(sim.store.orders.size).toBe(before + 1);
  sim.turn({ api: [{ match: 'POST /v1/orders', mode: 'error', status: 502 }] });
  await expect(create()).rejects.toMatchObject({ statusCode: 502 });
  expect(sim.store.orders.size).toBe(before + 1);
  received.length = 0;
  sim.turn({ webhooks: { forge: true } });
  sim.act((await create()).id, 'fail');
  await expect.poll(types).toEqual(['payment.failed']);
  const [forged] = received as [Received];
  expect(Razorpay.validateWebhookSignature(forged.raw, forged.signature, SECRET)).toBe(false);
  received.length = 0;
  sim.turn({ webhooks: { forge: false, drop: ['*'] }, amount_delta: -1, currency: 'USD' });
  const odd = sim.act((await create()).id, 'upi');
  expect(odd).toMatchObject({ amount: 117_999, currency: 'USD' });
  sim.turn({ webhooks: { drop: [] }, amount_delta: 0, currency: null });
  refuse = 2;
  sim.act((await create()).id, 'fail');
  await expect.poll(types).toEqual(['payment.failed']);
});

test('started again with its file it still has orders, payments and open pages', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-rail-a-'));
  atFileEnd(async () => rmSync(dir, { recursive: true }));
  const state_file = join(dir, 'rail-a.json');
  const first = await startRailASim({ state_file });
  const order = await clientAt(first.url).orders.create({ amount: 118_000, currency: 'INR' });
  const opened = await press(first.url, '/v1/checkout/embedded', opening(order.id));
  await first.close();
  const second = await startRailASim({ state_file });
  atFileEnd(() => second.close());
  const at = `${second.url}${opened.headers.get('location')}`;
  expect((await press(at, `${at}/card`)).status).toBe(200);
  expect((await clientAt(second.url).orders.fetch(order.id)).status).toBe('paid');
});
