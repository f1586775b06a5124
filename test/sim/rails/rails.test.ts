// The simulator as the official client and a browser without scripts see it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Stripe from 'stripe';
import { expect, test } from 'vitest';
import { atFileEnd } from '../../support/ends.ts';
import { endWithUs } from '../../support/watch.ts';
import { startRailSim } from './index.ts';

const SECRET = 'whsec_sim';
const received: { raw: string; signature: string }[] = [];
let refuse = 0;
const receiver = createServer(async (request, response) => {
  let raw = '';
  for await (const piece of request) raw += piece;
  if (refuse-- > 0) {
    response.writeHead(503).end();
    return;
  }
  received.push({ raw, signature: String(request.headers['stripe-signature']) });
  response.writeHead(200).end('{}');
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');
const sim = await startRailSim({
  webhook_url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
  webhook_secrets: [SECRET],
});
atFileEnd(async () => {
  await sim.close();
  receiver.close();
});
const client = (key = 'sk_test_1') =>
  new Stripe(key, {
    host: '127.0.0.1',
    port: sim.port,
    protocol: 'http',
    telemetry: false,
    maxNetworkRetries: 2,
  });
const stripe = client();
const wanted: Stripe.Checkout.SessionCreateParams = {
  mode: 'payment',
  client_reference_id: 'tup_1',
  metadata: { topup_id: 'tup_1' },
  payment_intent_data: { metadata: { topup_id: 'tup_1' } },
  line_items: [
    {
      quantity: 1,
      price_data: { currency: 'usd', unit_amount: 2_500, product_data: { name: 'Credits <b>' } },
    },
  ],
  success_url: 'http://shop.test/done?session={CHECKOUT_SESSION_ID}',
  cancel_url: 'http://shop.test/back',
};
const create = () => stripe.checkout.sessions.create(wanted);
const click = (url: string, action: string) =>
  fetch(`${url}/${action}`, { method: 'POST', redirect: 'manual' });

test('a session is made, paid on its page, read back with its fee, and reported in signed events', async () => {
  received.length = 0;
  const session = await create();
  expect(session).toMatchObject({
    status: 'open',
    payment_status: 'unpaid',
    payment_intent: null,
    amount_total: 2_500,
  });
  const page = await (await fetch(session.url as string)).text();
  expect(page).toContain('No real payment is made');
  expect(page).toContain('Credits &lt;b>');
  for (const label of [
    'Pay $25.00',
    'Pay later by bank transfer',
    'Fail: card declined',
    'Close without paying',
  ]) {
    expect(page).toContain(label);
  }
  const paid = await click(session.url as string, 'pay');
  expect([paid.status, paid.headers.get('location')]).toEqual([
    303,
    `http://shop.test/done?session=${session.id}`,
  ]);
  const read = await stripe.checkout.sessions.retrieve(session.id, {
    expand: ['payment_intent.latest_charge.balance_transaction'],
  });
  expect(read).toMatchObject({
    status: 'complete',
    payment_status: 'paid',
    payment_intent: { status: 'succeeded', latest_charge: { balance_transaction: { fee: 103, net: 2_397 } } },
  });
  await expect.poll(() => received.length).toBe(3);
  const events = received.map(({ raw, signature }) => stripe.webhooks.constructEvent(raw, signature, SECRET));
  expect(events.map(({ type }) => type).sort()).toEqual([
    'charge.succeeded',
    'checkout.session.completed',
    'payment_intent.succeeded',
  ]);
});

test('an idempotency key makes one session, and another body under it is refused', async () => {
  const options = { idempotencyKey: 'key-1' };
  const [a, b] = [
    await stripe.checkout.sessions.create(wanted, options),
    await stripe.checkout.sessions.create(wanted, options),
  ];
  expect(a.id).toBe(b.id);
  const other = stripe.checkout.sessions.create({ ...wanted, client_reference_id: 'x' }, options);
  await expect(other).rejects.toBeInstanceOf(Stripe.errors.StripeIdempotencyError);
});

test('a lost answer is made good by the retry of the client under the same key', async () => {
  const before = sim.store.sessions.size;
  sim.turn({ api: [{ match: 'POST /v1/checkout/sessions', mode: 'lost_answer' }] });
  await create();
  expect(sim.store.sessions.size).toBe(before + 1);
});

test('refused: a wrong key, an amount too small, an unknown session, closing what is paid, a second refund', async () => {
  await expect(client('pk_live').checkout.sessions.create(wanted)).rejects.toMatchObject({ statusCode: 401 });
  const cheap = { ...wanted, line_items: [{ quantity: 1, price_data: { currency: 'usd', unit_amount: 1 } }] };
  await expect(
    stripe.checkout.sessions.create(cheap as Stripe.Checkout.SessionCreateParams),
  ).rejects.toMatchObject({ statusCode: 400, code: 'amount_too_small' });
  await expect(stripe.checkout.sessions.retrieve('cs_none')).rejects.toMatchObject({ statusCode: 404 });
  const session = await create();
  sim.act(session.id, 'pay');
  await expect(stripe.checkout.sessions.expire(session.id)).rejects.toMatchObject({ statusCode: 400 });
  const { payment_intent } = await stripe.checkout.sessions.retrieve(session.id);
  const refund = await stripe.refunds.create({ payment_intent: payment_intent as string, amount: 1_000 });
  expect(refund).toMatchObject({ status: 'succeeded', amount: 1_000 });
  expect((await stripe.refunds.create({ payment_intent: payment_intent as string })).amount).toBe(1_500);
  await expect(stripe.refunds.create({ payment_intent: payment_intent as string })).rejects.toMatchObject({
    code: 'charge_already_refunded',
  });
});

test('a declined card leaves the page open; a transfer completes the session and pays it later or not at all', async () => {
  const session = await create();
  const declined = await click(session.url as string, 'fail');
  expect([declined.status, (await declined.text()).includes('role="alert"')]).toEqual([200, true]);
  expect((await click(session.url as string, 'close')).headers.get('location')).toBe('http://shop.test/back');
  await click(session.url as string, 'later');
  expect(await stripe.checkout.sessions.retrieve(session.id)).toMatchObject({
    status: 'complete',
    payment_status: 'unpaid',
  });
  expect(await (await fetch(session.url as string)).text()).toContain('Let the transfer arrive');
  await click(session.url as string, 'arrive');
  expect((await stripe.checkout.sessions.retrieve(session.id)).payment_status).toBe('paid');
  expect(await (await fetch(session.url as string)).text()).toContain('This checkout is paid.');
});

test('events are tried again until they are taken, doubled, held and turned round on request', async () => {
  const types = () => received.map(({ raw }) => (JSON.parse(raw) as { type: string }).type);
  received.length = 0;
  refuse = 3;
  sim.act((await create()).id, 'expire');
  await expect.poll(types).toEqual(['checkout.session.expired']);
  received.length = 0;
  sim.turn({ webhooks: { duplicates: 2 } });
  sim.act((await create()).id, 'expire');
  await expect.poll(types).toHaveLength(3);
  received.length = 0;
  sim.turn({ webhooks: { duplicates: 0, hold: true, reverse: true } });
  sim.act((await create()).id, 'pay');
  sim.act((await create()).id, 'expire');
  expect(received).toEqual([]);
  expect(sim.webhooks.release()).toBe(4);
  await expect.poll(types).toHaveLength(4);
  sim.turn({ webhooks: { hold: false, reverse: false } });
});

test('a rail that is started again with its file still has the sessions, and takes the payment', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-rails-'));
  atFileEnd(async () => rmSync(dir, { recursive: true }));
  const state_file = join(dir, 'rails.json');
  const clientOf = (port: number) =>
    new Stripe('sk_test_1', { host: '127.0.0.1', port, protocol: 'http', telemetry: false });
  const first = await startRailSim({ state_file });
  const wanted = {
    mode: 'payment' as const,
    success_url: 'http://127.0.0.1/done',
    line_items: [
      { quantity: 1, price_data: { unit_amount: 500, currency: 'usd', product_data: { name: 'x' } } },
    ],
  };
  const again = { idempotencyKey: 'same' };
  const made = await clientOf(first.port).checkout.sessions.create(wanted, again);
  await first.close();
  const second = await startRailSim({ state_file });
  atFileEnd(() => second.close());
  const stripe = clientOf(second.port);
  expect((await stripe.checkout.sessions.create(wanted, again)).id).toBe(made.id);
  const found = await stripe.checkout.sessions.retrieve(made.id);
  expect([found.status, found.url]).toEqual(['open', `${second.url}/c/pay/${made.id}`]);
  const paid = second.act(made.id, 'pay');
  const intent = await stripe.paymentIntents.retrieve(paid.payment_intent as string);
  expect(intent.amount_received).toBe(500);
});

test('it is a program: one line when it listens, controls over HTTP, an end on SIGTERM', async () => {
  const entry = new URL('./main.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [entry, '--key', 'sk_test_only'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  endWithUs(
    child.pid as number,
    ended.then(() => null),
  );
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { url, pid } = JSON.parse(line.toString()) as { url: string; pid: number };
  expect(pid).toBe(child.pid);
  const knobs = await fetch(`${url}/_sim/knobs`, {
    method: 'POST',
    body: JSON.stringify({ amount_delta: 1 }),
  });
  expect(knobs.status).toBe(200);
  const state = (await (await fetch(`${url}/_sim/state`)).json()) as { sessions: unknown[] };
  expect(state.sessions).toEqual([]);
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});
