// How a top-up is made: what is asked of it, what of the rail, and what is left where that fails. Times are to the millisecond.
import { writeSetting } from '@svc/core/db/index.ts';
import { DEMO_SUPPLIER, setSupplier } from '@svc/core/invoices/index.ts';
import { type Context, type Id, type Log, newId, newRequestId, silentLog } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { type Org, setBilling } from '@svc/core/orgs/index.ts';
import {
  cancelTopup,
  createTopup,
  displayBalance,
  quoteFor,
  type Rail,
  RailError,
  readTerms,
} from '@svc/core/topups/index.ts';
import { takeStarts } from '@svc/core/workflow-starts/index.ts';
import { describe, expect, test } from 'vitest';
import { atTime, startWorld } from './world.ts';

const world = await startWorld();
const { context, read, rows } = world;
const HOUR_MS = 3_600_000;
const T0 = new Date('2026-11-21T10:00:00.000Z');
const after = (ms: number) => atTime(context, new Date(T0.getTime() + ms));
let serial = 0;
const slug = () => `create-${++serial}`;
const create = (org: Org, amount_minor = 2_500, by: Context = context) =>
  createTopup(by, { org_id: org.id, amount_minor });

/** A context whose rail-b does some things in another way, and what was warned of in it. */
function withRail(change: Partial<Rail>) {
  const warned: unknown[] = [];
  const log: Log = { ...silentLog, warn: (fields) => void warned.push(fields) };
  const { money_in } = context.services;
  const rails = { 'rail-a': world.rail_a, 'rail-b': { ...world.rail, ...change } };
  const services = { ...context.services, money_in: { ...money_in, rails } };
  const parts = { request_id: newRequestId(), caller: { kind: 'public' }, pool: world.pool, log, services };
  return { by: createContext(parts as Parameters<typeof createContext>[0]), warned };
}

/** Copies a top-up as it is, `count` times. */
const copy = (id: Id<'topup'>, count: number) =>
  rows(
    `insert into topup
     select (jsonb_populate_record(t, jsonb_build_object('id', 'tup_' || lpad($3::int::text || i::text, 26, '0'),
                                                         'gateway_ref', null))).*
       from topup t, generate_series(100, 99 + $2::int) i where t.id = $1`,
    [id, count, ++serial],
  );

describe('a top-up', () => {
  test('is a pending row at the price of its quote, and a workflow that follows it', async () => {
    const org = await world.org(slug());
    const by = after(0);
    const { topup, checkout_url, quote } = await create(org, 2_500, by);
    expect(quote).toEqual(await quoteFor(by, { org_id: org.id, amount_minor: 2_500 }));
    expect(checkout_url).toBe(topup.checkout_url);
    expect(topup).toEqual(await read(topup.id));
    expect(topup).toMatchObject({
      ...{ org_id: org.id, book_id: org.live_book_id, gateway: 'rail-b', currency: 'USD', status: 'pending' },
      ...{ amount_minor: 2_500, tax_minor: 0, total_minor: 2_500, credits_micro: 25_000_000 },
      ...{ fx_day: quote.fx_day, fx_rate: quote.fx_rate, source: 'checkout', mandate_id: null },
      ...{ attempt_no: null, created_at: T0, expires_at: new Date(T0.getTime() + 23 * HOUR_MS) },
    });
    expect(topup.tax).toMatchObject({ decision: { split: 'none' }, supplier: DEMO_SUPPLIER });
    const workflow_id = `topup-${topup.id}`;
    const starts = await takeStarts(world.pool, 1_000);
    expect(starts.filter((start) => start.workflow_id === workflow_id)).toEqual([
      { workflow_id, type: 'topUp', args: { topup_id: topup.id }, org_id: org.id },
    ]);
    expect(await rows('select 1 from rail_task where topup_id = $1', [topup.id])).toEqual([]);
  });

  test('is told to the rail with what is bought, by whom, until when and where the payer comes back to', async () => {
    const org = await world.org(slug());
    const asked: unknown[] = [];
    const { by } = withRail({
      createCheckout(request) {
        asked.push(request);
        return world.rail.createCheckout(request);
      },
    });
    const { topup } = await create(org, 2_500, by);
    const back = `http://console.test/${org.slug}/live/credits?topup=${topup.id}&outcome`;
    expect(asked).toEqual([
      {
        ...{ topup_id: topup.id, org_id: org.id, total_minor: 2_500, currency: 'USD' },
        ...{ description: 'Prepaid API credits, $25.00', email: `${org.slug}@example.com` },
        ...{ expires_in_seconds: 82_800, pay_url: `http://gateway.test/pay/${topup.id}` },
        ...{ success_url: `${back}=done`, cancel_url: `${back}=back` },
      },
    ]);
  });

  test('is refused to whom nobody knows, and so is a quote', async () => {
    const args = { org_id: newId('org'), amount_minor: 2_500 };
    await expect(createTopup(context, args)).rejects.toMatchObject({ code: 'not_found' });
    await expect(quoteFor(context, args)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('below the least amount is refused with that amount', async () => {
    const org = await world.org(slug());
    await expect(create(org, 499)).rejects.toMatchObject({
      ...{ code: 'amount_too_small', param: 'amount_minor' },
      details: { min_amount_minor: 500, currency: 'USD' },
    });
    expect((await create(org, 500)).topup.amount_minor).toBe(500);
  });

  test('in India needs the state that decides the tax, and a GSTIN that can be one', async () => {
    const org = await world.indian(slug());
    const billing = (facts: object) => setBilling(world.pool, { org_id: org.id, at: new Date(), ...facts });
    await billing({ billing_address: {} });
    await expect(create(org, 100_000)).rejects.toMatchObject({
      ...{ code: 'invalid_request', param: 'billing_address.state_code' },
      details: { faults: [expect.objectContaining({ reason: 'missing' })] },
    });
    await billing({ billing_address: { state_code: '29' }, gstin: '29AABCU9603R1ZX' });
    await expect(create(org, 100_000)).rejects.toMatchObject({
      ...{ code: 'invalid_gstin', param: 'gstin', details: { reason: expect.any(String) } },
    });
    await billing({ gstin: '29AABCU9603R1ZJ' });
    expect((await create(org, 100_000)).topup.gateway).toBe('rail-a');
  });

  test('over a rail for real money needs a supplier who sells', async () => {
    const org = await world.org(slug());
    const { by } = withRail({ live: true });
    await expect(create(org, 2_500, by)).rejects.toMatchObject({
      ...{ code: 'service_unavailable', details: { component: 'supplier' } },
    });
    const caller = { kind: 'staff', name: 'tests', staff_id: null, roles: ['super'] } as const;
    const parts = { request_id: newRequestId(), pool: world.pool, log: silentLog };
    const staff = createContext({ ...parts, services: context.services, caller });
    const { legal_name, address, gstin } = DEMO_SUPPLIER;
    await setSupplier(staff, { legal_name, address, gstin, e_invoicing: false });
    expect((await create(org, 2_500, by)).topup.status).toBe('pending');
    await rows(`delete from settings where name = 'supplier'`);
  });
});

describe('the rate of a quote', () => {
  test('binds for fifteen minutes, to the millisecond', async () => {
    const org = await world.org(slug());
    await setBilling(world.pool, { org_id: org.id, at: new Date(), billing_currency: 'EUR' });
    const { fx_rate } = await quoteFor(after(0), { org_id: org.id, amount_minor: 5_000 });
    await writeSetting(world.pool, { name: 'topups', value: { spread_bps: 1_000 }, at: T0 });
    const rateAt = async (ms: number) => (await create(org, 5_000, after(ms))).topup.fx_rate;
    expect(await rateAt(900_000)).toBe(fx_rate);
    expect(await rateAt(900_001)).not.toBe(fx_rate);
    // Another amount was never quoted.
    expect((await create(org, 5_100, after(0))).topup.fx_rate).not.toBe(fx_rate);
    await rows(`delete from settings where name = 'topups'`);
  });
});

describe('an organization has at most', () => {
  const limit = (limit: string, limit_value: number, reset_ms: number) => ({
    ...{ code: 'rate_limit_exceeded', retry_after_ms: reset_ms },
    details: { limit, scope: 'org', limit_value, reset_ms },
  });

  test('ten top-ups open', async () => {
    const org = await world.org(slug());
    const { topup } = await create(org, 2_500, after(0));
    await copy(topup.id, 8);
    const last = await create(org, 2_500, after(0));
    await expect(create(org, 2_500, after(0))).rejects.toMatchObject(limit('pending_topups', 10, 900_000));
    await cancelTopup(context, { org_id: org.id, id: last.topup.id });
    expect((await create(org, 2_500, after(0))).topup.status).toBe('pending');
  });

  test('thirty made in 24 hours', async () => {
    const org = await world.org(slug());
    const { topup } = await create(org, 2_500, after(0));
    await cancelTopup(after(0), { org_id: org.id, id: topup.id });
    await copy(topup.id, 29);
    const refused = create(org, 2_500, after(24 * HOUR_MS - 1));
    await expect(refused).rejects.toMatchObject(limit('topups_per_day', 30, HOUR_MS));
    expect((await create(org, 2_500, after(24 * HOUR_MS))).topup.status).toBe('pending');
  });

  test('five that failed in an hour', async () => {
    const org = await world.org(slug());
    const { topup } = await create(org, 2_500, after(0));
    await rows(`update topup set status = 'failed', failure_code = 'card_declined' where id = $1`, [
      topup.id,
    ]);
    await rows('update topup set updated_at = created_at where id = $1', [topup.id]);
    await copy(topup.id, 4);
    const refused = create(org, 2_500, after(HOUR_MS - 1));
    await expect(refused).rejects.toMatchObject(limit('failed_topups_per_hour', 5, HOUR_MS));
    expect((await create(org, 2_500, after(HOUR_MS))).topup.status).toBe('pending');
  });
});

describe('a rail that makes no checkout', () => {
  test('fails the top-up with its words, which the log has too', async () => {
    const org = await world.org(slug());
    const error = new RailError('The words of the rail.', { declined: true, code: 'refused' });
    const { by, warned } = withRail({ createCheckout: () => Promise.reject(error) });
    const made = create(org, 2_500, by);
    await expect(made).rejects.toMatchObject({
      ...{ code: 'conflict', message: expect.stringContaining('Nothing was charged.') },
      details: { rail: 'rail-b', reason: 'declined', rail_code: 'refused', topup_id: expect.any(String) },
    });
    const failed = await rows<{ id: string }>(
      'select id, status, failure_code, failure_message from topup where org_id = $1',
      [org.id],
    );
    expect(failed).toMatchObject([
      { status: 'failed', failure_code: 'rail_unavailable', failure_message: 'The words of the rail.' },
    ]);
    expect(warned).toEqual([{ error, rail: 'rail-b', topup: failed[0]?.id }]);
  });

  test('by a defect of ours leaves the top-up open: nobody knows what the rail has done', async () => {
    const org = await world.org(slug());
    const defect = new TypeError('an answer of a form that nobody foresaw');
    const { by } = withRail({ createCheckout: () => Promise.reject(defect) });
    await expect(create(org, 2_500, by)).rejects.toBe(defect);
    expect(await rows('select status from topup where org_id = $1', [org.id])).toEqual([
      { status: 'pending' },
    ]);
  });

  test('before the top-up is cancelled has its order closed once there is one', async () => {
    const org = await world.org(slug());
    const { by } = withRail({
      async createCheckout(request) {
        await cancelTopup(context, { org_id: org.id, id: request.topup_id });
        return world.rail.createCheckout(request);
      },
    });
    const { topup } = await create(org, 2_500, by);
    expect(topup.status).toBe('expired');
    expect(await rows('select rail, kind, ref from rail_task where topup_id = $1', [topup.id])).toEqual([
      { rail: 'rail-b', kind: 'close_order', ref: topup.gateway_ref },
    ]);
  });
});

describe('cancelling', () => {
  test('ends a pending top-up of the organization, once', async () => {
    const org = await world.org(slug());
    const { id } = (await create(org)).topup;
    const stranger = await world.org(slug());
    for (const args of [
      { org_id: stranger.id, id },
      { org_id: org.id, id: newId('topup') },
    ])
      await expect(cancelTopup(context, args)).rejects.toMatchObject({ code: 'not_found' });
    const cancelled = await cancelTopup(context, { org_id: org.id, id });
    expect([cancelled.id, cancelled.status]).toEqual([id, 'expired']);
    await expect(cancelTopup(context, { org_id: org.id, id })).rejects.toMatchObject({
      ...{ code: 'state_conflict', details: { state: 'expired' } },
    });
  });
});

test('a balance is shown in rupees in India, elsewhere in the currency of the organization, and in dollars where that is none of ours', async () => {
  const shown = (billing_country: string, billing_currency: string) =>
    displayBalance(context, { billing_country, billing_currency });
  expect(await shown('IN', 'USD')).toEqual({ currency: 'INR', rate_e8: 8_870_000_000 });
  expect(await shown('DE', 'EUR')).toEqual({ currency: 'EUR', rate_e8: 86_120_000 });
  expect(await shown('CH', 'CHF')).toEqual({ currency: 'USD', rate_e8: 100_000_000 });
});

describe('the terms', () => {
  const terms = {
    ...{ paid_credit_days: 0, spread_bps: 150, max_credits_micro: 10_000_000_000 },
    minimums_minor: expect.objectContaining({ USD: 500 }),
    fees: {
      'rail-a': [
        { method: 'upi', bps: 0 },
        { method: 'card', bps: 200 },
        { method: 'netbanking', bps: 200 },
        { method: 'emandate', bps: 100 },
      ],
      'rail-b': [{ method: 'card', bps: 290, fixed_minor: 30 }],
    },
  };

  test('are those of the release', async () => {
    expect(await readTerms(world.pool)).toEqual(terms);
  });

  test('that staff have set go over them, each by itself', async () => {
    const release = await readTerms(world.pool);
    const fees = { 'rail-b': [{ method: 'card', bps: 250 }] };
    const value = { spread_bps: 90, minimums_minor: { USD: 1_000 }, fees };
    await writeSetting(world.pool, { name: 'topups', value, at: T0 });
    expect(await readTerms(world.pool)).toEqual({
      ...{ ...release, spread_bps: 90 },
      minimums_minor: { ...release.minimums_minor, USD: 1_000 },
      fees: { ...release.fees, ...fees },
    });
    await writeSetting(world.pool, { name: 'topups', value: { paid_credit_days: 365 }, at: T0 });
    expect(await readTerms(world.pool)).toEqual({ ...release, paid_credit_days: 365 });
    await rows(`delete from settings where name = 'topups'`);
  });
});
