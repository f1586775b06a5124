import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { createPool } from '../db/index.ts';
import { now, shiftClock, silentLog } from '../kernel/index.ts';
import { advanceClock, followClock, readClockShift, resetClock } from './index.ts';

const pool = createPool(await createTestDatabase(), { max: 2 });
afterAll(async () => {
  shiftClock(0);
  await pool.end();
});
const DAY_MS = 86_400_000;

/** How far this process is from the machine's clock, to the second. */
const shifted = () => Math.round((now().getTime() - Date.now()) / 1000) * 1000;

test('shifts add up and a reset returns', async () => {
  expect(await readClockShift(pool)).toBe(0);
  expect(await advanceClock(pool, DAY_MS)).toBe(DAY_MS);
  expect(await advanceClock(pool, DAY_MS)).toBe(2 * DAY_MS);
  expect(await readClockShift(pool)).toBe(2 * DAY_MS);
  await resetClock(pool);
  expect(await readClockShift(pool)).toBe(0);
});

// A busy machine only makes what is measured longer, so one good run of three is proof.
test('a program that follows has the shift at once and later ones within a second', {
  retry: 2,
}, async () => {
  await resetClock(pool);
  await advanceClock(pool, DAY_MS);
  const following = await followClock(pool, silentLog);
  try {
    expect(shifted()).toBe(DAY_MS);
    await advanceClock(pool, DAY_MS);
    await expect.poll(shifted, { timeout: 1_000 }).toBe(2 * DAY_MS);
    await resetClock(pool);
    await expect.poll(shifted, { timeout: 1_000 }).toBe(0);
  } finally {
    following.stop();
  }
});
