// What bounds shadows over all gateways: copies of a day, and what the platform pays in one.
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/support/database.ts';
import { provision } from '../../../test/support/provision.ts';
import { createPool } from '../../db/index.ts';
import {
  allowanceLeft,
  dropShadowDays,
  findAllowance,
  giveBackShadow,
  readSpending,
  type ShadowDay,
  setAllowance,
  spendAllowance,
  takeShadow,
} from './allowance.ts';

const url = await createTestDatabase();
/** As many connections as gateways that ask at once. */
const pool = createPool(url, { max: 8 });
afterAll(() => pool.end());
const { org_id } = await provision({ database_url: url, live_micro_usd: 0 });

const noon = new Date('2026-11-21T12:00:00Z');
const shadowAt = (name: string, at: Date): ShadowDay => ({
  environment: 'live',
  ...{ org_id, name, endpoint_id: 'ep_a', at },
});

async function taken(name: string, at: Date, max: number, times: number): Promise<number> {
  const all = await Promise.all(
    Array.from({ length: times }, () => takeShadow(pool, shadowAt(name, at), max)),
  );
  return all.filter(Boolean).length;
}

test('of fifty copies at once as many are made as the day allows', async () => {
  expect(await taken('main', noon, 20, 50)).toBe(20);
  expect(await taken('main', noon, 20, 5)).toBe(0);
  expect(await taken('main', noon, 22, 5)).toBe(2);
  expect(await taken('other', noon, 0, 5)).toBe(0);
});

test('a day is one of UTC, and what was not made is given back', async () => {
  const last = new Date('2026-11-22T23:59:59.999Z');
  expect(await taken('day', last, 1, 2)).toBe(1);
  expect(await taken('day', new Date(last.getTime() + 1), 1, 2)).toBe(1);
  await giveBackShadow(pool, shadowAt('day', last));
  await giveBackShadow(pool, shadowAt('day', last));
  expect(await taken('day', last, 1, 2)).toBe(1);
});

test('counts of days that are over are dropped, today’s stays', async () => {
  const today = new Date('2026-12-20T12:00:00Z');
  await taken('old', noon, 5, 1);
  await taken('old', today, 1, 1);
  expect(await dropShadowDays(pool, today)).toBeGreaterThan(0);
  expect(await taken('old', today, 1, 1)).toBe(0);
  expect(await taken('old', noon, 1, 1)).toBe(1);
});

const spend = (reserved_micro_usd: number, cost_micro_usd: number, within: boolean, at = noon) =>
  spendAllowance(pool, { org_id, at, reserved_micro_usd, cost_micro_usd, runs: within ? 0 : 1 }, within);

test('however many ask at once, no more is reserved than the allowance; without one nothing is', async () => {
  expect(await spend(1, 0, true)).toBe(false);
  await setAllowance(pool, { org_id, daily_micro_usd: 1_000, at: noon });
  const all = await Promise.all(Array.from({ length: 40 }, () => spend(90, 0, true)));
  expect(all.filter(Boolean)).toHaveLength(11);
  expect(await allowanceLeft(pool, org_id, noon)).toBe(10);
});

test('a copy that ends gives back what it reserved and keeps what it cost, also above the allowance', async () => {
  const day = new Date('2026-11-25T12:00:00Z');
  await setAllowance(pool, { org_id, daily_micro_usd: 1_000, at: day });
  expect(await spend(900, 0, true, day)).toBe(true);
  expect(await spend(-900, 400, false, day)).toBe(true);
  expect(await allowanceLeft(pool, org_id, day)).toBe(600);
  expect(await spend(601, 0, true, day)).toBe(false);
  expect(await spend(600, 0, true, day)).toBe(true);
  expect(await spend(-600, 1_200, false, day)).toBe(true);
  expect(await allowanceLeft(pool, org_id, day)).toBe(0);
  expect(await readSpending(pool, org_id, day)).toEqual({
    ...{ today_micro_usd: 1_600, month_micro_usd: 1_600, month_runs: 2 },
  });
});

test('an allowance that is over is none, and what was running then is still paid', async () => {
  const day = new Date('2026-11-27T12:00:00Z');
  await setAllowance(pool, { org_id, daily_micro_usd: 1_000, at: day });
  expect(await spend(500, 0, true, day)).toBe(true);
  await setAllowance(pool, { org_id, daily_micro_usd: null, at: day });
  expect(await findAllowance(pool, org_id)).toBeNull();
  expect(await spend(1, 0, true, day)).toBe(false);
  expect(await allowanceLeft(pool, org_id, day)).toBe(0);
  expect(await spend(-500, 300, false, day)).toBe(true);
  expect((await readSpending(pool, org_id, day)).today_micro_usd).toBe(300);
});
