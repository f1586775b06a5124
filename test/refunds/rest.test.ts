// Refunds as a caller meets them: the status and code of every answer, what a repeated request gets, and how long the
// answer waits for the end.
import { readConfig, shiftClock } from '@svc/core/kernel/index.ts';
import { sendRefund } from '@svc/core/refunds/index.ts';
import { type MoneyIn, openMoneyIn, type Topup } from '@svc/core/topups/index.ts';
import { afterEach, expect, test } from 'vitest';
import { startHarness, type Tenant } from '../registry/harness.ts';
import { disputesIn } from './disputes.ts';
import { startWorld } from './world.ts';

const DAY = 86_400_000;
const world = await startWorld();
const { context, sim } = world;
const money_in = { ...(context.services.money_in as MoneyIn) };
const harness = await startHarness({ url: world.url, services: { money_in } });
const { a, b } = harness;

interface Refund {
  readonly id: `rfd_${string}`;
  readonly [field: string]: unknown;
}
interface Answer {
  readonly status: number;
  readonly refund: Refund;
  readonly error: { readonly code: string; readonly param: string | null; readonly details: object };
}

async function post(topup: Topup, body: object, key?: string, tenant: Tenant = a): Promise<Answer> {
  const headers = key === undefined ? {} : { 'idempotency-key': key };
  const path = `/v1/credits/topups/${topup.id}/refund`;
  const reply = await harness.call('POST', path, { key: tenant.key, body, headers });
  return { status: reply.statusCode, ...reply.json() };
}

/** What a refused request says: status, code, field and details. */
async function refusal(answer: Promise<Answer>): Promise<unknown[]> {
  const { status, error } = await answer;
  return [status, error.code, error.param, error.details];
}

const paid = (tenant: Tenant = a) => world.paid(2_500, tenant.org);
const send = ({ id }: Refund) => sendRefund(context, { refund_id: id });

afterEach(async () => {
  shiftClock(0);
  money_in.refund_wait_ms = 0;
  sim.turn({ api: [] });
  await world.expectBooksRight();
});

test('a refund is answered 201 as it is now: pending, and not at the rail yet; its reads show the same', async () => {
  const topup = await paid();
  const made = await post(topup, { amount_minor: 1_000, reason: 'too much' }, 'first');
  expect(made).toEqual({
    status: 201,
    refund: {
      id: expect.stringMatching(/^rfd_/),
      org_id: a.org.id,
      topup_id: topup.id,
      gateway: 'rail-b',
      payment_ref: topup.payment_ref,
      gateway_ref: null,
      currency: 'USD',
      amount_minor: 1_000,
      tax_minor: 0,
      total_minor: 1_000,
      fx_rate: '1.00000000',
      credits_micro: 10_000_000,
      credit_note_id: null,
      status: 'pending',
      at_rail: false,
      reason: 'too much',
      failure_code: '',
      created_at: expect.stringMatching(/Z$/),
      settled_at: null,
      replay: false,
    },
  });
  const get = async (path: string, key = a.key) => {
    const reply = await harness.call('GET', `/v1/credits/refunds${path}`, { key });
    return [reply.statusCode, reply.json()];
  };
  expect(await get(`/${made.refund.id}`)).toEqual([200, { refund: made.refund }]);
  expect(await get(`?topup_id=${topup.id}`)).toMatchObject([200, { data: [made.refund] }]);
  // Refunds are of live money, and of one organization.
  expect(await get(`/${made.refund.id}`, a.test_key)).toMatchObject([404, { error: { code: 'not_found' } }]);
  expect(await get('', a.test_key)).toMatchObject([200, { data: [] }]);
  expect(await get(`/${made.refund.id}`, b.key)).toMatchObject([404, { error: { code: 'not_found' } }]);
  await send(made.refund);
  const second = (await post(topup, { amount_minor: 500 })).refund;
  await send(second);
  const invoices = async (query: string) => {
    const reply = await harness.call('GET', `/v1/invoices${query}`, { key: a.key });
    return (reply.json() as { data: { id: string; kind: string }[] }).data;
  };
  const notes = await invoices('?kind=credit_note');
  expect(notes.map(({ kind }) => kind)).toEqual(['credit_note', 'credit_note']);
  expect((await invoices('')).map(({ id }) => id)).toEqual([...notes.map(({ id }) => id), topup.invoice_id]);
  const [, list] = await get(`?topup_id=${topup.id}`);
  expect((list as { data: Refund[] }).data.map(({ id }) => id)).toEqual([second.id, made.refund.id]);
});

test('the same key again, in the header or in the body, is answered 200 with the refund as it is now', async () => {
  const topup = await paid();
  const before = await world.available(topup);
  const body = { amount_minor: 700, reason: 'too much' };
  const made = await post(topup, body, 'again');
  await send(made.refund);
  const again = await post(topup, body, 'again');
  expect(again).toMatchObject({
    status: 200,
    refund: { id: made.refund.id, status: 'refunded', at_rail: true, replay: true },
  });
  const named = { ...body, idempotency_key: 'again' };
  for (const each of [await post(topup, named), await post(topup, named, 'again')])
    expect(each).toEqual(again);
  expect(await world.available(topup)).toBe(before - 7_000_000);
  const other = refusal(post(topup, { ...body, amount_minor: 701 }, 'again'));
  expect(await other).toEqual([422, 'idempotency_conflict', 'idempotency_key', {}]);
  const unlike = await refusal(post(topup, named, 'another'));
  expect(unlike).toMatchObject([
    ...[400, 'invalid_request', 'idempotency_key'],
    { faults: [{ reason: 'mismatch' }] },
  ]);
});

test('the answer waits for the end, ten seconds at most where nobody configures tests', async () => {
  expect(openMoneyIn(readConfig({})).refund_wait_ms).toBe(10_000);
  const topup = await paid();
  money_in.refund_wait_ms = 60_000;
  const answer = post(topup, {}, 'waits');
  const rows = () => world.rows<Refund>('select id from refund where topup_id = $1', [topup.id]);
  await expect.poll(async () => (await rows()).length).toBe(1);
  await send((await rows())[0] as Refund);
  expect(await answer).toMatchObject({
    status: 201,
    refund: { amount_minor: 2_500, status: 'refunded', at_rail: true, replay: false },
  });
});

test('each refusal has its status, its code and what the caller needs to know', async () => {
  const org = await harness.makeTenant('refused');
  const unpaid = await world.topup(org.org);
  expect(await refusal(post(unpaid, {}, undefined, org))).toEqual([
    ...[409, 'state_conflict', null],
    { state: 'pending' },
  ]);
  const topup = await paid(org);
  expect(await refusal(post(topup, {}, undefined, b))).toEqual([404, 'not_found', null, {}]);
  await world.spend(topup, 15_000_000);
  expect(await refusal(post(topup, { amount_minor: 1_001 }, undefined, org))).toEqual([
    ...[409, 'refund_exceeds_unused', 'amount_minor'],
    { refundable_minor: 1_000 },
  ]);
  const { refund } = await post(topup, { amount_minor: 10 }, undefined, org);
  expect(await refusal(post(topup, { amount_minor: 10 }, undefined, org))).toEqual([
    ...[409, 'refund_in_progress', null],
    { refund_id: refund.id },
  ]);
  await send(refund);
  const key = { key: org.test_key, body: {} };
  const played = await harness.call('POST', `/v1/credits/topups/${topup.id}/refund`, key);
  expect([played.statusCode, played.json().error.code]).toEqual([403, 'sandbox_key_not_allowed']);
  for (const body of [{ amount_minor: 0 }, { amount_minor: 1.5 }, { amount_minor: '10' }, { reason: 'a\nb' }])
    expect((await post(topup, body, undefined, org)).status).toBe(400);
});

test('a top-up can be refunded to the end of the 180th day after it was paid, and not after it', async () => {
  const topup = await paid();
  const since = (topup.paid_at as Date).getTime() - Date.now();
  // A minute before and at the instant, since the clock goes on.
  shiftClock(since + 180 * DAY - 60_000);
  const last = await post(topup, { amount_minor: 100 });
  expect(last).toMatchObject({ status: 201, refund: { amount_minor: 100 } });
  await send(last.refund);
  shiftClock(since + 180 * DAY);
  expect(await refusal(post(topup, { amount_minor: 100 }))).toEqual([
    ...[409, 'refund_window_closed', null],
    { paid_at: topup.paid_at?.toISOString() },
  ]);
});

test('while a payment is disputed a refund and a gift are 402, whichever top-up they are of', async () => {
  const org = await harness.makeTenant('disputed');
  const [topup, other] = [await paid(org), await paid(org)];
  const { dispute, end } = disputesIn(world);
  const { ref } = await dispute(topup);
  for (const each of [topup, other])
    expect(await refusal(post(each, {}, undefined, org))).toEqual([402, 'payment_hold', null, {}]);
  const body = { amount_micro_usd: 1_000_000 };
  const gift = await harness.call('POST', '/v1/credits/gifts', { key: org.key, body });
  expect([gift.statusCode, gift.json().error.code]).toEqual([402, 'payment_hold']);
  await end(ref, 'won');
  const { status, refund } = await post(other, { amount_minor: 100 }, undefined, org);
  expect(status).toBe(201);
  await send(refund);
});

test('no caller met a defect', () => {
  expect(harness.defects).toEqual([]);
});
