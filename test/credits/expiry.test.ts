// Credit that will end: who learns of it, when, and once.
import { notifyExpiring, purgeNotices } from '@svc/core/credits/index.ts';
import { microUsd } from '@svc/core/kernel/index.ts';
import { credit, expireLots } from '@svc/core/ledger/index.ts';
import { setBilling } from '@svc/core/orgs/index.ts';
import { expect, test } from 'vitest';
import type { Tenant } from '../registry/harness.ts';
import { clockAt, startWorld } from './world.ts';

const world = await startWorld();
const { harness } = world;

const add = (tenant: Tenant, micro: number, ends: string, granted: boolean) =>
  credit(harness.pool, {
    ...{ book_id: tenant.org.live_book_id, kind: granted ? 'grant' : 'topup', granted },
    ...{ amount_micro_usd: microUsd(micro), expires_at: new Date(ends) },
    ...{ ref_type: granted ? 'staff' : 'topup', ref_id: `${ends} ${micro} ${granted}` },
  });
const events = (tenant: Tenant) =>
  world.rows<{ payload: object }>(
    `select payload from outbox where org_id = $1 and topic = 'credits.expiring' order by outbox_id`,
    [tenant.org.id],
  );
const mails = (tenant: Tenant) =>
  world.rows<{ recipient: string; data: { amount: string } }>(
    `select recipient, data from mail where org_id = $1 and template = 'credits_expiring' order by created_at`,
    [tenant.org.id],
  );

test('what ends on a day is announced fourteen and three days before, once each; what was paid by mail too', async () => {
  clockAt('2026-11-01T00:00:00Z');
  const tenant = await harness.makeTenant('ending');
  await setBilling(harness.pool, {
    ...{ org_id: tenant.org.id, at: new Date(), billing_email: 'money@ending.example' },
  });
  await add(tenant, 1_500_000, '2026-11-30T06:00:00Z', false);
  await add(tenant, 700_000, '2026-11-30T18:00:00Z', true);
  const noticesAt = async (time: string) => {
    clockAt(time);
    await Promise.all([notifyExpiring(world.context), notifyExpiring(world.context)]);
    return (await events(tenant)).length;
  };
  expect(await noticesAt('2026-11-15T05:59:00Z')).toBe(0);
  // The first of the day's credit alone is within fourteen days, and is enough.
  expect(await noticesAt('2026-11-16T06:00:01Z')).toBe(1);
  expect(await noticesAt('2026-11-20T00:00:00Z')).toBe(1);
  expect(await noticesAt('2026-11-27T19:00:00Z')).toBe(2);
  expect(await noticesAt('2026-11-29T19:00:00Z')).toBe(2);
  expect((await events(tenant)).map(({ payload }) => payload)).toEqual([
    { amount_micro: 1_500_000, expires_at: '2026-11-30T06:00:00.000Z' },
    { amount_micro: 2_200_000, expires_at: '2026-11-30T06:00:00.000Z' },
  ]);
  expect((await mails(tenant)).map(({ recipient, data }) => [recipient, data.amount])).toEqual([
    ['money@ending.example', '$1.50'],
    ['money@ending.example', '$1.50'],
  ]);
});

test('a dollar or less is no notice, and of granted credit there is an event but no mail', async () => {
  clockAt('2026-11-01T00:00:00Z');
  const [small, granted] = [await harness.makeTenant('small'), await harness.makeTenant('only-granted')];
  await add(small, 1_000_000, '2026-11-10T00:00:00Z', false);
  await add(granted, 9_000_000, '2026-11-10T00:00:00Z', true);
  await notifyExpiring(world.context);
  expect(await events(small)).toEqual([]);
  expect(await events(granted)).toHaveLength(1);
  expect(await mails(granted)).toEqual([]);
});

test('credit that was spent or has ended is no notice, and old notices are forgotten', async () => {
  clockAt('2026-11-01T00:00:00Z');
  const tenant = await harness.makeTenant('spent');
  await add(tenant, 2_000_000, '2026-11-09T00:00:00Z', true);
  await world.call(tenant, 1_500_000);
  await notifyExpiring(world.context);
  expect(await events(tenant)).toEqual([]);
  clockAt('2026-11-09T00:00:00Z');
  await expireLots(harness.pool);
  await notifyExpiring(world.context);
  expect(await events(tenant)).toEqual([]);
  expect(await purgeNotices(harness.pool, '2027-01-01')).toBeGreaterThan(0);
});
