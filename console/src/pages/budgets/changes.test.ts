import { expect, test } from 'vitest';
import { alertsOf, changesOf } from './changes.ts';

const budget = { micro: '500000000', hard: true, alerts: [50, 80, 100] };
const form = { budget: '500.00', hard: true, alerts: '50, 80, 100' };

test('what was not changed is not sent, however it is written', () => {
  expect(changesOf(budget, { ...form, alerts: '100% 80% 50%' })).toEqual({ faults: {}, patch: {} });
});

test('an empty budget is none, a soft one and other thresholds are sent', () => {
  const changed = changesOf(budget, { budget: ' ', hard: false, alerts: '' });
  expect(changed).toEqual({ faults: {}, patch: { micro: null, hard: false, alerts: [] } });
});

test('what is no amount and no list of percentages is said at its field', () => {
  expect(Object.keys(changesOf(budget, { ...form, budget: 'much', alerts: '0, 50' }).faults)).toEqual([
    'budget',
    'alerts',
  ]);
  for (const wrong of ['101', '50 50', '50.5', '-1', '1 2 3 4 5 6 7 8 9 10 11'])
    expect([wrong, alertsOf(wrong)]).toEqual([wrong, undefined]);
});
