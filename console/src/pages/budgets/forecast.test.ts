import { expect, test } from 'vitest';
import { forecastOf, percentOf } from './forecast.ts';

const at = (time: string) => new Date(`2026-11-${time}Z`);

test('the day on which a budget is used up follows from the pace of the month so far', () => {
  const half = { budget_micro: 500_000_000n, spend_micro: 410_220_000n };
  expect(forecastOf(half, at('21T12:00:00'))).toEqual({
    kind: 'ends',
    at: new Date('2026-11-25T23:40:41.597Z'),
  });
  expect(forecastOf({ ...half, spend_micro: 100_000_000n }, at('16T00:00:00'))).toEqual({
    kind: 'enough',
    month_micro: 200_000_000n,
  });
});

test('nothing is foretold on the first day, without spend, or when it is all spent', () => {
  const budget_micro = 1_000n;
  expect(forecastOf({ budget_micro, spend_micro: 999n }, at('01T23:59:59'))).toEqual({ kind: 'unknown' });
  expect(forecastOf({ budget_micro, spend_micro: 0n }, at('20T00:00:00'))).toEqual({ kind: 'unknown' });
  expect(forecastOf({ budget_micro, spend_micro: 1_000n }, at('01T00:00:00'))).toEqual({ kind: 'spent' });
  expect(forecastOf({ budget_micro: 0n, spend_micro: 0n }, at('20T00:00:00'))).toEqual({ kind: 'spent' });
});

test('a budget is 100 % used when it is used, not before', () => {
  expect([percentOf(999n, 1_000n), percentOf(1_000n, 1_000n), percentOf(0n, 0n)]).toEqual([99, 100, 100]);
  expect(percentOf(10n ** 15n, 1n)).toBe(999);
});
