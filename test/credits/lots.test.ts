// Lots as customers see them.
import { expireLots } from '@svc/core/ledger/index.ts';
import { expect, test } from 'vitest';
import { clockAt, startWorld } from './world.ts';

const world = await startWorld();
const { harness } = world;

interface Lots {
  readonly data: {
    id: string;
    kind: string;
    amount_micro_usd: number;
    remaining_micro_usd: number;
    expires_at: string | null;
  }[];
  readonly next_cursor: string;
}

test('calls burn what ends first, grants before paid credit, and each lot shows what is left of it', async () => {
  const tenant = await harness.makeTenant('burn');
  clockAt('2026-11-10T08:00:00Z');
  const paid = await world.paid(tenant, 1_000);
  await world.grant(tenant, 300);
  await world.grant(tenant, 200, '2026-12-01T00:00:00Z');
  await world.call(tenant, 450);
  const { data } = await world.get<Lots>('/v1/credits/lots', tenant.key);
  expect(
    data.map((lot) => [lot.kind, lot.amount_micro_usd, lot.remaining_micro_usd, lot.expires_at]),
  ).toEqual([
    ['granted', 200, 0, '2026-12-01T00:00:00.000Z'],
    ['granted', 300, 50, null],
    ['paid', 1_000, 1_000, null],
  ]);
  expect(data[2]).toMatchObject({ id: paid, source_type: 'topup' });
  const open = await world.get<Lots>('/v1/credits/lots?open=true', tenant.key);
  expect(open.data.map((lot) => lot.remaining_micro_usd)).toEqual([50, 1_000]);
});

test('what is left of a lot expires at its instant; what a running call holds waits for its end', async () => {
  const tenant = await harness.makeTenant('ends');
  clockAt('2026-11-10T08:00:00Z');
  await world.grant(tenant, 1_000, '2026-11-10T09:00:00Z');
  const call = await world.begin(tenant, 400);
  clockAt('2026-11-10T08:59:59.990Z');
  expect(await expireLots(harness.pool)).toBe(0);
  clockAt('2026-11-10T09:00:00Z');
  expect(await expireLots(harness.pool)).toBe(1);
  const balance = () =>
    world.get<{ available_micro_usd: number; held_micro_usd: number; granted_micro_usd: number }>(
      '/v1/credits',
      tenant.key,
    );
  expect(await balance()).toMatchObject({
    available_micro_usd: 0,
    held_micro_usd: 400,
    granted_micro_usd: 400,
  });
  await call.settle();
  expect(await balance()).toMatchObject({ available_micro_usd: 0, held_micro_usd: 0 });
  const { data } = await world.get<Lots>('/v1/credits/lots', tenant.key);
  expect(data[0]?.remaining_micro_usd).toBe(0);
  await world.expectRight();
});

test('a walk over the pages finds every lot once', async () => {
  const tenant = await harness.makeTenant('many');
  for (let at = 0; at < 7; at++) await world.grant(tenant, 100 + at);
  const seen: number[] = [];
  let cursor = '';
  do {
    const page = await world.get<Lots>(`/v1/credits/lots?limit=3&cursor=${cursor}`, tenant.key);
    seen.push(...page.data.map((lot) => lot.amount_micro_usd));
    cursor = page.next_cursor;
  } while (cursor !== '');
  expect(seen).toEqual([106, 105, 104, 103, 102, 101, 100]);
});
