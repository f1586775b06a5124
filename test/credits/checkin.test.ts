// The daily check-in over the wire.
import { writeSetting } from '@svc/core/db/index.ts';
import { beforeEach, expect, test } from 'vitest';
import { codeOf, type Tenant } from '../registry/harness.ts';
import { makeTopup } from '../registry/topup-rows.ts';
import { clockAt, persistently, startWorld } from './world.ts';

const world = await startWorld();
const { harness } = world;

const offer = (value: object) =>
  writeSetting(harness.pool, { name: 'checkin', value, at: new Date('2026-11-01') });
beforeEach(() => offer({ enabled: true, needs_topup: false }));
const post = (tenant: Tenant, headers: Record<string, string> = {}) =>
  harness.call('POST', '/v1/credits/checkin', { key: tenant.key, body: {}, headers });
const status = (tenant: Tenant) => world.get<Record<string, unknown>>('/v1/credits/checkin', tenant.key);

test('a check-in brings ten cents for thirty days, once a day', async () => {
  const tenant = await harness.makeTenant('daily');
  clockAt('2026-11-21T10:00:00Z');
  expect(await status(tenant)).toEqual({
    enabled: true,
    amount_micro_usd: 100_000,
    credit_days: 30,
    done_today: false,
    streak_days: 0,
  });
  const made = await post(tenant);
  expect([made.statusCode, made.json()]).toEqual([
    201,
    {
      day: '2026-11-21',
      amount_micro_usd: 100_000,
      ledger_seq: 1,
      credit_expires_at: expect.stringMatching(/^2026-12-21T10:00:/),
    },
  ]);
  const again = await post(tenant);
  expect([again.statusCode, codeOf(again)]).toEqual([409, 'checkin_already_done']);
  const { data } = await world.get<{ data: object[] }>('/v1/credits/ledger', tenant.key);
  expect(data).toMatchObject([{ kind: 'checkin', amount_micro_usd: 100_000, ref_id: 'checkin 2026-11-21' }]);
  expect(await status(tenant)).toMatchObject({ done_today: true, streak_days: 1 });
});

test('of two hundred check-ins at once one is made', async () => {
  const tenant = await harness.makeTenant('at-once');
  clockAt('2026-11-21T10:00:00Z');
  const answers = await Promise.all(Array.from({ length: 200 }, () => persistently(() => post(tenant))));
  const codes = answers.map(({ statusCode }) => statusCode);
  expect([codes.filter((code) => code === 201).length, codes.filter((code) => code === 409).length]).toEqual([
    1, 199,
  ]);
  expect(await world.get('/v1/credits', tenant.key)).toMatchObject({ available_micro_usd: 100_000 });
  await world.expectRight();
});

test('the same Idempotency-Key gets the first answer again', async () => {
  const tenant = await harness.makeTenant('repeated');
  const headers = { 'idempotency-key': 'today' };
  const [first, second] = [await post(tenant, headers), await post(tenant, headers)];
  expect(second.json()).toEqual(first.json());
  expect(second.headers['x-svc-idempotent-replay']).toBe('true');
});

test('a streak counts unbroken days up to today or yesterday, and a missed day ends it', async () => {
  const tenant = await harness.makeTenant('streak');
  const streak = async (time: string) => {
    clockAt(time);
    return (await status(tenant))['streak_days'];
  };
  for (const day of ['01', '02', '03', '05', '06']) {
    clockAt(`2026-11-${day}T23:59:00Z`);
    expect((await post(tenant)).statusCode).toBe(201);
  }
  expect(await streak('2026-11-06T23:59:30Z')).toBe(2);
  expect(await streak('2026-11-07T23:59:59Z')).toBe(2);
  expect(await streak('2026-11-08T00:00:00Z')).toBe(0);
  clockAt('2026-11-08T00:00:01Z');
  await post(tenant);
  expect(await streak('2026-11-08T12:00:00Z')).toBe(1);
});

test('it is off unless staff offer it, and then for organizations that have paid', async () => {
  const tenant = await harness.makeTenant('asked');
  await offer({});
  const refused = async () => {
    const answer = await post(tenant);
    return [answer.statusCode, codeOf(answer), answer.json().error.details];
  };
  expect(await refused()).toEqual([403, 'feature_disabled', { reason: 'off' }]);
  await offer({ enabled: true });
  expect(await refused()).toEqual([403, 'feature_disabled', { reason: 'no_paid_topup' }]);
  expect(await status(tenant)).toMatchObject({ enabled: false });
  const { topup_id, invoice_id } = await makeTopup(harness.context, tenant);
  await world.rows(
    `update topup set status = 'paid', paid_at = now(), invoice_id = $2, payment_ref = 'pi_1', lot_id = 'lot_1'
      where id = $1`,
    [topup_id, invoice_id],
  );
  expect((await post(tenant)).statusCode).toBe(201);
});

test('a test key cannot check in', async () => {
  const answer = await harness.call('POST', '/v1/credits/checkin', { key: harness.a.test_key, body: {} });
  expect([answer.statusCode, codeOf(answer)]).toEqual([403, 'sandbox_key_not_allowed']);
});
