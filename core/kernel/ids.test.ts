import { afterEach, expect, test } from 'vitest';
import { nowMs, shiftClock } from './clock.ts';
import { newUlid, ulidMs } from './ids.ts';

const MINUTE_MS = 60_000;

afterEach(() => shiftClock(0));

test('ids made within one millisecond sort in the order of their making', () => {
  const ids = Array.from({ length: 1_000 }, newUlid);
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test('ids still sort in order after a small correction of the clock', () => {
  const before = newUlid();
  shiftClock(-MINUTE_MS / 2);
  expect(newUlid() > before).toBe(true);
});

test('ids carry the present time again after the development clock was set back', () => {
  shiftClock(40 * 24 * 60 * MINUTE_MS);
  const ahead_ms = nowMs();
  expect(ulidMs(newUlid())).toBeGreaterThanOrEqual(ahead_ms);
  shiftClock(0);
  const present_ms = nowMs();
  const ids = [newUlid(), newUlid()];
  expect(ulidMs(ids[0] as string) - present_ms).toBeLessThan(MINUTE_MS);
  expect([...ids].sort()).toEqual(ids);
});
