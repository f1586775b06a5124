// Keys that end: who hears of it, when, and once.
import { newRequestId, shiftClock } from '@svc/core/kernel/index.ts';
import { notifyExpiringKeys, purgeKeyNotices } from '@svc/core/keys/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { afterEach, expect, test } from 'vitest';
import type { Tenant } from '../registry/harness.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const { call, makePerson, makeTenant, pool, signIn } = world;
/** Of nobody, as jobs have it. */
const context = createContext({
  ...{ request_id: newRequestId(), caller: { kind: 'public' }, pool },
  ...{ log: world.context.log, services: {} as never },
});
const HOUR_MS = 3_600_000;

afterEach(() => shiftClock(0));

const rows = async <T>(text: string, values: unknown[]) =>
  (await pool.query<T>({ name: '', text, values })).rows;
const noticesOf = async (id: string) =>
  (
    await rows<{ payload: { key_id: string } }>(
      `select payload from outbox where topic = 'key.expiring' and payload ->> 'key_id' = $1 order by outbox_id`,
      [id],
    )
  ).map(({ payload }) => payload);
const mailsAbout = async (id: string) =>
  (
    await rows<{ recipient: string }>(
      `select recipient from mail where template = 'key_expiring' and reference like $1 || '-%' order by recipient`,
      [id],
    )
  ).map(({ recipient }) => recipient);

async function makeKey(tenant: Tenant, by: string, body: object = {}): Promise<{ id: string }> {
  const made = await call('POST', '/v1/keys', {
    key: by,
    body: { name: 'ending', scopes: ['inference'], project_id: tenant.live.id, ...body },
  });
  expect(made.statusCode, made.body).toBe(201);
  return made.json();
}

/** How many notices of `id` there are, after the job ran twice at once `hours` from now. */
async function afterHours(id: string, hours: number): Promise<number> {
  shiftClock(hours * HOUR_MS);
  await Promise.all([notifyExpiringKeys(context), notifyExpiringKeys(context)]);
  return (await noticesOf(id)).length;
}

test('a key is announced seven days and one day before its end, once each, to its maker, owners and admins', async () => {
  const tenant = await makeTenant('ending-key');
  const owner = await makePerson(tenant, 'owner');
  const maker = await makePerson(tenant, 'developer');
  await makePerson(tenant, 'viewer');
  const key = await makeKey(tenant, await signIn(maker), { expires_in: '240h' });
  expect(await afterHours(key.id, 71)).toBe(0);
  expect(await afterHours(key.id, 73)).toBe(1);
  expect(await afterHours(key.id, 200)).toBe(1);
  expect(await afterHours(key.id, 217)).toBe(2);
  expect(await afterHours(key.id, 239)).toBe(2);
  expect(await afterHours(key.id, 241)).toBe(2);
  expect(await noticesOf(key.id)).toMatchObject([
    { name: 'ending', actor: { type: 'system' } },
    { name: 'ending', actor: { type: 'system' } },
  ]);
  const people = [owner.email, maker.email];
  expect(await mailsAbout(key.id)).toEqual([...people, ...people].sort());
});

test('an end that was the default of the organization is announced like any other', async () => {
  const tenant = await makeTenant('default-end');
  const owner = await signIn(await makePerson(tenant, 'owner'));
  await call('PATCH', `/v1/orgs/${tenant.org.id}`, {
    ...{ key: owner, body: { settings: { security: { key_default_expiry_days: 30 } } } },
  });
  const key = await makeKey(tenant, owner);
  expect(await afterHours(key.id, 24 * 24)).toBe(1);
});

test('a key that was made for less than a notice gets none of it', async () => {
  const tenant = await makeTenant('short-lived');
  const owner = await signIn(await makePerson(tenant, 'owner'));
  const [hours, days] = [
    await makeKey(tenant, owner, { expires_in: '12h' }),
    await makeKey(tenant, owner, { expires_in: '72h' }),
  ];
  expect([await afterHours(hours.id, 1), await afterHours(days.id, 1)]).toEqual([0, 0]);
  expect([await afterHours(hours.id, 11), await afterHours(days.id, 49)]).toEqual([0, 1]);
});

test('a later end begins anew; what was rotated or revoked is not announced', async () => {
  const tenant = await makeTenant('moved-end');
  const owner = await signIn(await makePerson(tenant, 'owner'));
  const [later, revoked, rotated] = [
    await makeKey(tenant, owner, { expires_in: '240h' }),
    await makeKey(tenant, owner, { expires_in: '240h' }),
    await makeKey(tenant, owner, { expires_in: '240h' }),
  ];
  await call('DELETE', `/v1/keys/${revoked.id}`, { key: owner });
  await call('POST', `/v1/keys/${rotated.id}/rotate`, { key: owner, body: { grace_seconds: 604_800 } });
  expect(await afterHours(later.id, 80)).toBe(1);
  expect([await noticesOf(revoked.id), await noticesOf(rotated.id)]).toEqual([[], []]);
  shiftClock(0);
  const ends = new Date(Date.now() + 480 * HOUR_MS).toISOString();
  await call('PATCH', `/v1/keys/${later.id}`, { key: owner, body: { expires_at: ends } });
  expect(await afterHours(later.id, 300)).toBe(1);
  expect(await afterHours(later.id, 320)).toBe(2);
});

test('the end of a sandbox key is an event and no mail, and old notices are forgotten', async () => {
  const tenant = await makeTenant('sandbox-end');
  const owner = await signIn(await makePerson(tenant, 'owner'));
  const key = await makeKey(tenant, owner, { environment: 'test', expires_in: '240h' });
  expect(await afterHours(key.id, 100)).toBe(1);
  expect(await mailsAbout(key.id)).toEqual([]);
  shiftClock(0);
  expect(await purgeKeyNotices(pool, new Date(Date.now() + 1_000 * HOUR_MS))).toBeGreaterThan(0);
});
