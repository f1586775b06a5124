// Money in as a user meets it: a gateway process, the rail's simulator with its page, PostgreSQL.

import { freePort } from '@svc/cli/tools/postgres.ts';
import { createPool } from '@svc/core/db/index.ts';
import { verifyLedger } from '@svc/core/ledger/index.ts';
import type { TopupView } from '@svc/core/topups/index.ts';
import { afterAll, expect, test } from 'vitest';
import { startRailSim } from '../sim/rails/index.ts';
import { createTestDatabase } from '../support/database.ts';
import { freshDataDir, type GatewayProcess, startGatewayProcess } from '../support/gateway.ts';
import { provision } from '../support/provision.ts';
import { startSharedGateway } from '../support/shared-gateway.ts';

const SECRET = 'whsec_rest';
const database_url = await createTestDatabase();
const sim = await startRailSim({ webhook_secrets: [SECRET] });
const pool = createPool(database_url, { max: 2 });
const org = await provision({ database_url, live_micro_usd: 0 });
const [port, metrics_port] = [await freePort(), await freePort()];
const data_dir = freshDataDir();
const start = (env: Record<string, string> = {}) =>
  startGatewayProcess({
    database_url,
    port,
    data_dir,
    env: {
      SVC_RAIL_B_BASE_URL: sim.url,
      SVC_RAIL_B_KEY_SECRET: 'sk_test_rest',
      SVC_RAIL_B_WEBHOOK_SECRET: SECRET,
      SVC_METRICS_PORT: String(metrics_port),
      ...env,
    },
  });
let gateway: GatewayProcess = await start();
sim.turn({ webhook_url: `${gateway.base_url}/webhooks/rail-b` });
afterAll(async () => {
  await gateway.stop();
  await pool.end();
  await sim.close();
});

interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

async function call<T>(
  method: string,
  path: string,
  options: { key?: string; body?: object; headers?: Record<string, string> } = {},
): Promise<Answer<T>> {
  const reply = await fetch(gateway.base_url + path, {
    method,
    headers: {
      authorization: `Bearer ${options.key ?? org.live_key}`,
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
  });
  return { status: reply.status, headers: reply.headers, body: (await reply.json()) as T };
}

interface Created {
  readonly topup: TopupView;
  readonly checkout_url: string;
  readonly quote: Record<string, unknown>;
}
interface Refused {
  readonly error: { code: string; param: string | null; details: Record<string, unknown> };
}

async function available(): Promise<number> {
  return (await call<{ available_micro_usd: number }>('GET', '/v1/credits')).body.available_micro_usd;
}
async function paid(id: string): Promise<TopupView> {
  await expect
    .poll(async () => (await call<TopupView>('GET', `/v1/credits/topups/${id}`)).body.status, {
      timeout: 20_000,
    })
    .toBe('paid');
  return (await call<TopupView>('GET', `/v1/credits/topups/${id}`)).body;
}
const click = (url: string, action: string) =>
  fetch(`${url}/${action}`, { method: 'POST', redirect: 'manual' });
const create = (amount_minor: number, headers: Record<string, string> = {}) =>
  call<Created>('POST', '/v1/credits/topups', { body: { amount_minor }, headers });

test('quote, top-up, pay on the page: the balance is up, the ledger has the entry, the document is there', async () => {
  const quote = await call<Record<string, unknown>>('GET', '/v1/credits/topups/quote?amount_minor=2500');
  expect(quote.body).toEqual({
    rail: 'rail-b',
    currency: 'USD',
    amount_minor: 2_500,
    tax_minor: 0,
    total_minor: 2_500,
    credits_micro: 25_000_000,
    fx_rate: '1.00000000',
    fx_day: '2026-11-20',
    fees: { rail: 'rail-b', items: [{ method: 'card', bps: 290, fixed_minor: 30 }] },
    min_amount_minor: 500,
    display: '$25.00 for $25.00 of credits',
  });
  const made = await create(2_500);
  expect(made.status).toBe(201);
  expect(made.body.quote).toEqual(quote.body);
  expect(made.body.topup).toMatchObject({
    status: 'pending',
    gateway: 'rail-b',
    source: 'checkout',
    paid_at: null,
  });
  expect(made.body.topup.checkout_url).toBe(made.body.checkout_url);
  // Who has closed the page finds it again, until it is paid.
  const read = await call<TopupView>('GET', `/v1/credits/topups/${made.body.topup.id}`);
  expect(read.body.checkout_url).toBe(made.body.checkout_url);
  const back = await click(made.body.checkout_url, 'pay');
  expect(back.headers.get('location')).toContain(`topup=${made.body.topup.id}`);
  const topup = await paid(made.body.topup.id);
  expect(topup).not.toHaveProperty('checkout_url');
  await expect.poll(available).toBe(25_000_000);
  const ledger = await call<{ data: object[] }>('GET', '/v1/credits/ledger?kind=topup');
  expect(ledger.body.data).toMatchObject([
    { kind: 'topup', amount_micro_usd: 25_000_000, ref_type: 'topup', ref_id: topup.id },
  ]);
  const invoice = await call<Record<string, unknown>>('GET', `/v1/invoices/${topup.invoice_id}`);
  expect(invoice.body).toMatchObject({
    kind: 'export_invoice',
    number: expect.stringMatching(/^INV\/\d\d-\d\d\/00001$/),
    place_of_supply: '96-Other country',
    currency: 'USD',
    taxable_minor: 2_500,
    total_minor: 2_500,
    credits_micro: 25_000_000,
    topup_id: topup.id,
    reverse_charge: false,
    recipient: { org_id: org.org_id, country: 'US' },
    lines: [{ description: 'Prepaid API credits', sac: '998315', unit_minor: 2_500 }],
  });
  const listed = await call<{ data: object[] }>('GET', '/v1/invoices?kind=export_invoice');
  expect(listed.body.data).toEqual([invoice.body]);
  expect((await call<{ data: object[] }>('GET', '/v1/credits/topups')).body.data).toEqual([topup]);
});

test('the gateway killed between payment and callback: the rail sends again, and it is booked once', async () => {
  const before = await available();
  const made = await create(1_000);
  sim.turn({ webhooks: { duplicates: 3 } });
  await gateway.kill();
  await click(made.body.checkout_url, 'pay');
  await expect
    .poll(() => sim.webhooks.deliveries.filter(({ codes }) => codes.includes(0)).length)
    .toBeGreaterThan(0);
  gateway = await start();
  await paid(made.body.topup.id);
  sim.turn({ webhooks: { duplicates: 0 } });
  await expect
    .poll(() => sim.webhooks.deliveries.every(({ delivered }) => delivered), { timeout: 20_000 })
    .toBe(true);
  expect(await available()).toBe(before + 10_000_000);
});

test('the gateway killed while it takes fifty deliveries: each is answered in the end, and it is booked once', async () => {
  const before = await available();
  const made = await create(1_200);
  sim.turn({ webhooks: { duplicates: 49 } });
  await click(made.body.checkout_url, 'pay');
  await gateway.kill();
  gateway = await start();
  sim.turn({ webhooks: { duplicates: 0 } });
  await paid(made.body.topup.id);
  await expect
    .poll(() => sim.webhooks.deliveries.every(({ delivered }) => delivered), { timeout: 20_000 })
    .toBe(true);
  expect(await available()).toBe(before + 12_000_000);
  const completed = sim.webhooks.deliveries.filter(({ type, answers }) => {
    return type === 'checkout.session.completed' && answers.at(-1)?.includes(made.body.topup.id);
  });
  expect(completed).toHaveLength(50);
});

test('one Idempotency-Key makes one top-up, and its answer comes back with the same address', async () => {
  const headers = { 'idempotency-key': 'top-up-1' };
  const [a, b] = [await create(700, headers), await create(700, headers)];
  expect(b.body).toEqual(a.body);
  expect([a.status, b.status, b.headers.get('x-svc-idempotent-replay')]).toEqual([201, 201, 'true']);
  const other = await call<Refused>('POST', '/v1/credits/topups', { body: { amount_minor: 701 }, headers });
  expect([other.status, other.body.error.code]).toEqual([422, 'idempotency_conflict']);
  const at_once = await Promise.all(
    Array.from({ length: 6 }, () => create(710, { 'idempotency-key': 'top-up-2' })),
  );
  const made = at_once.filter(({ status }) => status === 201).map(({ body }) => body.topup.id);
  expect(new Set(made).size).toBe(1);
});

test('a rail that fails leaves the failed row to be read, and the key free for another try', async () => {
  const headers = { 'idempotency-key': 'top-up-3' };
  sim.turn({ api: [{ match: 'POST /v1/checkout/sessions', mode: 'error', status: 500, times: 3 }] });
  const failed = await call<Refused>('POST', '/v1/credits/topups', { body: { amount_minor: 800 }, headers });
  sim.turn({ api: [] });
  expect([failed.status, failed.body.error.code]).toEqual([503, 'rail_unavailable']);
  const id = failed.body.error.details['topup_id'] as string;
  expect((await call<TopupView>('GET', `/v1/credits/topups/${id}`)).body).toMatchObject({
    status: 'failed',
    failure_code: 'rail_unavailable',
  });
  expect((await create(800, headers)).status).toBe(201);
});

test('too little and too much are refused with what would do; a bad amount with its fault', async () => {
  const refused = async (amount_minor: unknown) => {
    const { status, body } = await call<Refused>('POST', '/v1/credits/topups', { body: { amount_minor } });
    return [
      status,
      body.error.code,
      body.error.param,
      body.error.details['min_amount_minor'] ?? body.error.details['max_amount_minor'],
    ];
  };
  expect(await refused(499)).toEqual([400, 'amount_too_small', 'amount_minor', 500]);
  expect(await refused(1_000_001)).toEqual([400, 'amount_too_large', 'amount_minor', 1_000_000]);
  for (const amount of [0, -5, 1.5, '2500', null, Number.MAX_SAFE_INTEGER]) {
    expect((await refused(amount))[0]).toBe(400);
  }
});

test('a test key can quote, but neither pay nor see what was paid', async () => {
  const key = org.sandbox_key;
  expect((await call('GET', '/v1/credits/topups/quote?amount_minor=500', { key })).status).toBe(200);
  const made = await call<Refused>('POST', '/v1/credits/topups', { key, body: { amount_minor: 500 } });
  expect([made.status, made.body.error.code]).toEqual([403, 'sandbox_key_not_allowed']);
  for (const path of ['/v1/credits/topups', '/v1/invoices']) {
    expect((await call<{ data: object[] }>('GET', path, { key })).body.data).toEqual([]);
  }
});

test('cancelled: the top-up is expired, and its session is closed at the rail by the job', async () => {
  const made = await create(900);
  const { id, gateway_ref } = made.body.topup;
  const cancelled = await call<TopupView>('POST', `/v1/credits/topups/${id}/cancel`);
  expect([cancelled.status, cancelled.body.status]).toEqual([200, 'expired']);
  const again = await call<Refused>('POST', `/v1/credits/topups/${id}/cancel`);
  expect([again.status, again.body.error.details['state']]).toEqual([409, 'expired']);
  await expect
    .poll(() => sim.store.sessions.get(gateway_ref as string)?.status, { timeout: 20_000 })
    .toBe('expired');
});

test('an Indian organization is quoted in rupees with tax, and the refusal names the missing rail', async () => {
  const indian = await provision({ database_url, slug: 'bharat', live_micro_usd: 11_107_346 });
  await pool.query({
    name: '',
    text: `update org set billing_country = 'IN', billing_currency = 'INR', billing_address = '{"state_code":"29"}' where id = $1`,
    values: [indian.org_id],
  });
  const key = indian.live_key;
  const quote = await call<object>('GET', '/v1/credits/topups/quote?amount_minor=100000', { key });
  expect(quote.body).toMatchObject({
    rail: 'rail-a',
    currency: 'INR',
    tax_minor: 18_000,
    display: '₹1,180.00 for $11.10 of credits',
    fees: {
      rail: 'rail-a',
      items: [
        { method: 'upi', bps: 0 },
        { method: 'card', bps: 200 },
        { method: 'netbanking', bps: 200 },
        { method: 'emandate', bps: 100 },
      ],
    },
  });
  const made = await call<Refused>('POST', '/v1/credits/topups', { key, body: { amount_minor: 100_000 } });
  expect([made.status, made.body.error.code, made.body.error.details['rail']]).toEqual([
    503,
    'rail_unavailable',
    'rail-a',
  ]);
  const balance = await call<object>('GET', '/v1/credits', { key });
  expect(balance.body).toMatchObject({
    display: { currency: 'INR', amount: '985.22' },
    fx_rate: '88.70000000',
  });
  await pool.query({
    name: '',
    text: 'update org set billing_address = null where id = $1',
    values: [indian.org_id],
  });
  const stateless = await call<Refused>('POST', '/v1/credits/topups', {
    key,
    body: { amount_minor: 100_000 },
  });
  expect([stateless.status, stateless.body.error.param]).toEqual([400, 'billing_address.state_code']);
});

test('the callback over HTTP: raw bytes of any content type, 400 for a bad signature, 413 for too much', async () => {
  const made = await create(600);
  const raw = JSON.stringify({
    id: 'evt_http',
    type: 'charge.succeeded',
    livemode: false,
    data: { object: {} },
  });
  const post = (body: string, headers: Record<string, string>) =>
    fetch(`${gateway.base_url}/webhooks/rail-b`, { method: 'POST', body, headers });
  const signed = { 'stripe-signature': sim.webhooks.sign(raw) };
  for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
    const reply = await post(raw, { ...signed, 'content-type': type });
    expect([reply.status, await reply.json()]).toEqual([
      200,
      { invoice: null, replay: false, topup: null, ignored: true },
    ]);
  }
  const unsigned = await post(raw, {});
  expect([unsigned.status, ((await unsigned.json()) as Refused).error.code]).toEqual([
    400,
    'signature_invalid',
  ]);
  const counted = await (await fetch(`http://127.0.0.1:${metrics_port}/metrics`)).text();
  expect(counted).toMatch(
    /^svc_callbacks_refused_total\{rail="rail-b",code="signature_invalid",program="gateway"\} 1$/m,
  );
  // A fault of ours asks the rail to send it again; then it is taken.
  const object = { id: 'cs_nobody', mode: 'payment', client_reference_id: 'tup_nobody', metadata: {} };
  const named = { type: 'checkout.session.expired', id: 'evt_later', data: { object } };
  const unknown = JSON.stringify({ ...JSON.parse(raw), ...named });
  const sent = () => post(unknown, { 'stripe-signature': sim.webhooks.sign(unknown) });
  await pool.query({ name: '', text: 'alter table rail_event rename to rail_event_away' });
  const failed = await sent();
  await pool.query({ name: '', text: 'alter table rail_event_away rename to rail_event' });
  expect([failed.status, ((await failed.json()) as Refused).error.code]).toEqual([
    503,
    'service_unavailable',
  ]);
  expect((await sent()).status).toBe(200);
  const large = await post('x'.repeat(1_048_577), signed);
  expect(large.status).toBe(413);
  const wrong = await fetch(`${gateway.base_url}/webhooks/rail-b`);
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'OPTIONS, POST']);
  expect((await call('GET', `/v1/credits/topups/${made.body.topup.id}`)).status).toBe(200);
});

test('without a rail its callback path does not exist and top-ups are refused; half a rail stops the start', async () => {
  const bare = await startSharedGateway({ database_url });
  const reply = await fetch(`${bare.base_url}/webhooks/rail-b`, { method: 'POST', body: '{}' });
  expect(reply.status).toBe(404);
  const made = await fetch(`${bare.base_url}/v1/credits/topups`, {
    method: 'POST',
    headers: { authorization: `Bearer ${org.live_key}`, 'content-type': 'application/json' },
    body: '{"amount_minor":500}',
  });
  expect([made.status, ((await made.json()) as Refused).error.details['rail']]).toEqual([503, 'rail-b']);
  await bare.stop();
  const half = startGatewayProcess({ database_url, env: { SVC_RAIL_B_KEY_SECRET: 'sk_test_1' } });
  await expect(half).rejects.toThrow('SVC_RAIL_B_WEBHOOK_SECRET: missing');
  const unknown = startGatewayProcess({ database_url, env: { SVC_FX_SOURCE: 'the bank' } });
  await expect(unknown).rejects.toThrow('SVC_FX_SOURCE: expected static, ecb');
});

test('money that arrives days later is booked, with its events turned round and each sent twice', async () => {
  const before = await available();
  const made = await create(1_500);
  const { id } = made.body.topup;
  sim.turn({ webhooks: { hold: true, reverse: true, duplicates: 1 } });
  await click(made.body.checkout_url, 'later');
  await click(made.body.checkout_url, 'arrive');
  sim.webhooks.release();
  sim.turn({ webhooks: { hold: false, reverse: false, duplicates: 0 } });
  await paid(id);
  await expect
    .poll(() => sim.webhooks.deliveries.every(({ delivered }) => delivered), { timeout: 20_000 })
    .toBe(true);
  expect(await available()).toBe(before + 15_000_000);
});

test('a payer who pays another amount is not credited, and the answer to the rail says so', async () => {
  const before = await available();
  const made = await create(1_600);
  const { id } = made.body.topup;
  sim.turn({ amount_delta: -1 });
  await click(made.body.checkout_url, 'pay');
  sim.turn({ amount_delta: 0 });
  const status = async () => (await call<TopupView>('GET', `/v1/credits/topups/${id}`)).body.status;
  await expect.poll(status).toBe('review');
  expect(await available()).toBe(before);
});

test('the rail is asked in one version of its API, whatever the client of the release would take', () => {
  expect([...sim.versions]).toEqual(['2026-10-28.endive']);
});

test('after all of it the ledger is right', async () => {
  const report = await verifyLedger({ url: database_url });
  expect(report.findings).toEqual([]);
});
