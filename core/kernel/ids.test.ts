import { afterEach, expect, test } from 'vitest';
import { nowMs, shiftClock } from './clock.ts';
import { newUlid, ulidMs } from './ids.ts';

const MINUTE_MS = 60_000;

afterEach(() => shiftClock(0));

test('ids of one millisecond rise', () => {
  const ids = Array.from({ length: 1_000 }, newUlid);
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test('ids rise over a small correction of the clock', () => {
  const before = newUlid();
  shiftClock(-MINUTE_MS / 2);
  expect(newUlid() > before).toBe(true);
});

test('ids say the present again once the development clock has been put back', () => {
  shiftClock(40 * 24 * 60 * MINUTE_MS);
  const ahead_ms = nowMs();
  expect(ulidMs(newUlid())).toBeGreaterThanOrEqual(ahead_ms);
  shiftClock(0);
  const present_ms = nowMs();
  const ids = [newUlid(), newUlid()];
  expect(ulidMs(ids[0] as string) - present_ms).toBeLessThan(MINUTE_MS);
  expect([...ids].sort()).toEqual(ids);
});
