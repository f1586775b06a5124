import { expect, test } from 'vitest';
import { costText, endsText, scopeText, ttftText } from './words.ts';

test('what is copied says how much, how often, and who pays where it is not the organization', () => {
  expect(scopeText({ percent: 100, maxPerDay: null, bill: 'ORG' })).toBe('100% of the calls');
  expect(scopeText({ percent: 1, maxPerDay: 500, bill: 'PLATFORM' })).toBe(
    '1% of the calls, at most 500 a day; the platform pays',
  );
});

test('the cost of a copy stands beside that of its call, with its sign', () => {
  const costs = {
    runs: 5,
    errors: 1,
    primaryCostMicro: '4000',
    shadowCostMicro: '1000',
    costDeltaMicro: '-3000',
  };
  expect(costText(costs)).toBe('−75% ($0.000250 instead of $0.001000)');
  expect(costText({ ...costs, shadowCostMicro: '6000', costDeltaMicro: '2000' })).toMatch(/^\+50% /);
});

test('where no copy was answered there is nothing to compare', () => {
  const none = { runs: 2, errors: 2, primaryCostMicro: '0', shadowCostMicro: '0', costDeltaMicro: '0' };
  expect(costText(none)).toBeNull();
  expect(ttftText({ primaryTtftMs: null, shadowTtftMs: null })).toBeNull();
  expect(endsText({ runs: 0, errors: 0, stopMismatch: 0 })).toBe('no copy yet');
});

test('times and ends are told', () => {
  expect(ttftText({ primaryTtftMs: 412, shadowTtftMs: 301 })).toBe('301 ms instead of 412 ms');
  expect(endsText({ runs: 412, errors: 3, stopMismatch: 9 })).toBe(
    '9 of 409 copies ended for another reason; 3 failed',
  );
});
