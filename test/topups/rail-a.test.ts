// Rail-a as an organization in India meets it: a gateway process, the page to pay on, the simulator's checkout.
import { freePort } from '@svc/cli/tools/postgres.ts';
import { createPool } from '@svc/core/db/index.ts';
import { verifyLedger } from '@svc/core/ledger/index.ts';
import type { TopupView } from '@svc/core/topups/index.ts';
import { afterAll, expect, test } from 'vitest';
import { startRailASim } from '../sim/rails/index.ts';
import { createTestDatabase } from '../support/database.ts';
import { freshDataDir, startGatewayProcess } from '../support/gateway.ts';
import { provision } from '../support/provision.ts';

const SECRET = 'rail-a-rest';
const KEY = { SVC_RAIL_A_KEY_ID: 'rzp_test_rest', SVC_RAIL_A_KEY_SECRET: 'secret' };
const database_url = await createTestDatabase();
const sim = await startRailASim({ webhook_secrets: [SECRET], keys: ['rzp_test_rest:secret'] });
const pool = createPool(database_url, { max: 2 });
const org = await provision({ database_url, slug: 'bharat', live_micro_usd: 0 });
await pool.query({
  name: '',
  text: `update org set billing_country = 'IN', billing_currency = 'INR', billing_email = 'pay@bharat.example',
                        billing_address = '{"state_code":"27"}' where id = $1`,
  values: [org.org_id],
});
const port = await freePort();
const gateway = await startGatewayProcess({
  database_url,
  port,
  data_dir: freshDataDir(),
  env: { SVC_RAIL_A_BASE_URL: sim.url, ...KEY, SVC_RAIL_A_WEBHOOK_SECRET: SECRET },
});
sim.turn({ webhook_url: `${gateway.base_url}/webhooks/rail-a` });
afterAll(async () => {
  await gateway.stop();
  await pool.end();
  await sim.close();
});

async function call<T>(method: string, path: string, body?: object): Promise<{ status: number; body: T }> {
  const reply = await fetch(gateway.base_url + path, {
    method,
    headers: { authorization: `Bearer ${org.live_key}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: reply.status, body: (await reply.json()) as T };
}
interface Created {
  readonly topup: TopupView;
  readonly checkout_url: string;
}
const create = async () =>
  (await call<Created>('POST', '/v1/credits/topups', { amount_minor: 100_000 })).body;
const read = async (id: string) => (await call<TopupView>('GET', `/v1/credits/topups/${id}`)).body;
const open = (url: string, headers: Record<string, string> = {}) =>
  fetch(url, { headers, redirect: 'manual' });
const press = (url: string, fields: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });

/** The hidden fields of a page's form. */
function fieldsOf(page: string): Record<string, string> {
  const found = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)];
  return Object.fromEntries(found.map(([, name, value]) => [name, value]));
}

test('quote, page, checkout by UPI, back in the console: paid with tax, credited and documented', async () => {
  const made = await create();
  expect(made.topup).toMatchObject({
    gateway: 'rail-a',
    currency: 'INR',
    tax_minor: 18_000,
    total_minor: 118_000,
  });
  const { id } = made.topup;
  expect(made.checkout_url).toMatch(new RegExp(`^${gateway.base_url}/pay/${id}\\?t=[\\w-]{43}$`));
  expect((await read(id)).checkout_url).toBe(made.checkout_url);
  const reply = await open(made.checkout_url);
  const page = await reply.text();
  expect(reply.status).toBe(200);
  for (const text of ['₹1,000.00', '₹180.00', 'Pay ₹1,180.00', '$11.10', 'Back without paying'])
    expect(page).toContain(text);
  const fields = fieldsOf(page);
  expect(fields).toMatchObject({
    key_id: 'rzp_test_rest',
    order_id: made.topup.gateway_ref,
    amount: '118000',
    'prefill[email]': 'pay@bharat.example',
    'notes[topup_id]': id,
  });
  const opened = await press(`${sim.url}/v1/checkout/embedded`, fields);
  const checkout = `${sim.url}${opened.headers.get('location')}`;
  const paid = fieldsOf(await (await press(`${checkout}/upi`)).text());
  const back = await press(fields['callback_url'] as string, paid);
  expect([back.status, back.headers.get('location')]).toEqual([
    303,
    expect.stringMatching(new RegExp(`/bharat/live/credits\\?topup=${id}&outcome=done$`)),
  ]);
  await expect.poll(async () => (await read(id)).status, { timeout: 20_000 }).toBe('paid');
  expect(await read(id)).toMatchObject({ method: 'upi', payment_ref: paid['razorpay_payment_id'] });
  const invoice = (await read(id)).invoice_id;
  expect((await call<object>('GET', `/v1/invoices/${invoice}`)).body).toMatchObject({
    kind: 'tax_invoice',
    place_of_supply: '27-Maharashtra',
    igst_minor: 18_000,
    total_minor: 118_000,
    currency: 'INR',
  });
  const balance = await call<{ available_micro_usd: number }>('GET', '/v1/credits');
  expect(balance.body.available_micro_usd).toBe(11_107_346);
});

test('the page loads scripts of the rail alone, keeps its token to itself and needs it', async () => {
  const { topup, checkout_url } = await create();
  const reply = await open(checkout_url);
  const policy = reply.headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(new RegExp(`default-src 'none'; .*script-src 'nonce-[^']+' ${sim.url};`));
  expect([reply.headers.get('referrer-policy'), reply.headers.get('cache-control')]).toEqual([
    'no-referrer',
    'no-store',
  ]);
  const token = new URL(checkout_url).searchParams.get('t') as string;
  const page = await reply.text();
  expect(page.includes(token)).toBe(false);
  // Loaded again without the token in its address.
  const cookie = (reply.headers.get('set-cookie') ?? '').split(';')[0] as string;
  expect(reply.headers.get('set-cookie')).toContain(`Path=/pay/${topup.id}; HttpOnly; SameSite=Lax`);
  const address = checkout_url.split('?')[0] as string;
  expect((await open(address, { cookie })).status).toBe(200);
  const other = (await create()).checkout_url;
  const wrong = [
    address,
    `${address}?t=`,
    `${address}?t=${token}x`,
    `${address}?t=${token}&t=${token}`,
    `${address}?t=${new URL(other).searchParams.get('t')}`,
    `${gateway.base_url}/pay/tup_00000000000000000000000000?t=${token}`,
    `${gateway.base_url}/pay/x?t=${token}`,
  ];
  const answers = await Promise.all(wrong.map(async (url) => (await open(url)).status));
  expect(new Set(answers)).toEqual(new Set([404]));
  const stored = await pool.query<{ checkout_url: string }>({
    name: '',
    text: 'select checkout_url from topup where id = $1',
    values: [topup.id],
  });
  expect(stored.rows[0]?.checkout_url).toBe(address);
});

test('a page whose top-up is over answers 410 and says what became of it', async () => {
  const { topup, checkout_url } = await create();
  await call('POST', `/v1/credits/topups/${topup.id}/cancel`);
  const cancelled = await open(checkout_url);
  expect([cancelled.status, (await cancelled.text()).includes('Nothing was charged.')]).toEqual([410, true]);
  // The payer had the rail's checkout open meanwhile: money that comes in is booked.
  sim.act(topup.gateway_ref as string, 'netbanking');
  await expect.poll(async () => (await read(topup.id)).status, { timeout: 20_000 }).toBe('paid');
  const paid = await open(checkout_url);
  expect([paid.status, (await paid.text()).includes('The credits are in your balance.')]).toEqual([
    410,
    true,
  ]);
});

test('a return that the rail did not sign leads to the page again, and books nothing', async () => {
  const { topup } = await create();
  const at = `${gateway.base_url}/pay/${topup.id}/return`;
  const signed = { razorpay_order_id: topup.gateway_ref as string, razorpay_payment_id: 'pay_x' };
  for (const fields of [
    {},
    signed,
    { ...signed, razorpay_signature: 'a'.repeat(64) },
    { 'error[code]': 'X' },
  ]) {
    const reply = await press(at, fields);
    expect([reply.status, reply.headers.get('location')]).toEqual([
      303,
      `${gateway.base_url}/pay/${topup.id}`,
    ]);
  }
  expect((await press(`${gateway.base_url}/pay/tup_00000000000000000000000000/return`)).status).toBe(404);
  expect((await read(topup.id)).status).toBe('pending');
});

test('an attempt that fails at the checkout is told, the page stays open, and the bank that says yes late pays', async () => {
  const { topup, checkout_url } = await create();
  sim.act(topup.gateway_ref as string, 'late');
  await expect
    .poll(async () => (await read(topup.id)).failure_code, { timeout: 20_000 })
    .toBe('payment_timed_out');
  expect((await open(checkout_url)).status).toBe(200);
  sim.act(topup.gateway_ref as string, 'arrive');
  await expect.poll(async () => (await read(topup.id)).status, { timeout: 20_000 }).toBe('paid');
  expect((await read(topup.id)).failure_code).toBe('');
});

test('events late, twice and turned round, each answered with what was booked once', async () => {
  sim.turn({ webhooks: { hold: true, reverse: true, duplicates: 2 } });
  const { topup } = await create();
  sim.act(topup.gateway_ref as string, 'card');
  sim.webhooks.release();
  sim.turn({ webhooks: { hold: false, reverse: false, duplicates: 0 } });
  await expect.poll(async () => (await read(topup.id)).status, { timeout: 20_000 }).toBe('paid');
  await expect
    .poll(() => sim.webhooks.deliveries.every(({ delivered }) => delivered), { timeout: 20_000 })
    .toBe(true);
  const payment_ref = (await read(topup.id)).payment_ref as string;
  const booked = sim.webhooks.deliveries
    .flatMap(({ answers }) => answers.map((text) => JSON.parse(text) as Record<string, unknown>))
    .filter((answer) => answer['topup'] === topup.id);
  expect(payment_ref).toMatch(/^pay_/);
  expect(booked.filter(({ replay }) => replay === false)).toHaveLength(1);
  expect(new Set(booked.map(({ invoice }) => invoice)).size).toBe(1);
});

test('over HTTP: a forged callback is 400, an event of something else is ignored, the other rail has no path', async () => {
  sim.turn({ webhooks: { forge: true } });
  const { topup } = await create();
  const seen = sim.webhooks.deliveries.length;
  sim.act(topup.gateway_ref as string, 'upi');
  const first = () => sim.webhooks.deliveries.slice(seen).map(({ codes }) => codes[0]);
  await expect.poll(first, { timeout: 20_000 }).toEqual([400, 400, 400]);
  expect((await read(topup.id)).status).toBe('pending');
  // The log says which rail and why, and nothing that was sent.
  const refused = () => gateway.output().match(/.*a callback was refused.*/g) ?? [];
  await expect.poll(() => refused().length).toBeGreaterThanOrEqual(3);
  expect(refused()[0]).toMatch(/rail-a.*signature_invalid/);
  expect(refused().join()).not.toMatch(new RegExp(`${SECRET}|${topup.id}|${topup.gateway_ref}`));
  sim.turn({ webhooks: { forge: false } });
  await expect.poll(async () => (await read(topup.id)).status, { timeout: 20_000 }).toBe('paid');
  const raw = '{"entity":"event","event":"settlement.processed","payload":{}}';
  const post = (path: string, signature: string) =>
    fetch(gateway.base_url + path, {
      method: 'POST',
      body: raw,
      headers: { 'x-razorpay-signature': signature },
    });
  const ignored = await post('/webhooks/rail-a', sim.webhooks.sign(raw));
  expect([ignored.status, await ignored.json()]).toEqual([
    200,
    { invoice: null, replay: false, topup: null, ignored: true },
  ]);
  expect((await post('/webhooks/rail-b', sim.webhooks.sign(raw))).status).toBe(404);
});

test('half of rail-a stops the start and names what is missing; after all of it the ledger is right', async () => {
  const half = startGatewayProcess({ database_url, env: KEY });
  await expect(half).rejects.toThrow('SVC_RAIL_A_WEBHOOK_SECRET: missing');
  const report = await verifyLedger({ url: database_url });
  expect(report.findings).toEqual([]);
});
