import { expect, test } from 'vitest';
import { decisionOf, differenceText, metricText, pairsOf } from './words.ts';

test('a value is written as what it measures', () => {
  expect(metricText('ERROR_RATE', 0.021)).toBe('2.1%');
  expect(metricText('COST_MICRO', 412.4)).toBe('$0.000412');
  expect(metricText('TTFT_MS', 402.3)).toBe('402 ms');
  expect(metricText('TTFT_MS', null)).toBe('–');
});

test('a difference has signs and an interval, and none while too little was seen', () => {
  const cost = { metric: 'COST_MICRO', estimate: -580, low: -611, high: 0.2 } as const;
  expect(differenceText(cost)).toBe('−$0.000580 (−$0.000611 to $0)');
  const errors = { metric: 'ERROR_RATE', estimate: 0.18, low: 0.12, high: 0.24 } as const;
  expect(differenceText(errors)).toBe('+18% (+12% to +24%)');
  expect(differenceText({ ...errors, estimate: null, low: null, high: null })).toBeNull();
});

test('a decision is a word, and a control has none', () => {
  const words = (['BETTER', 'WORSE', 'CANNOT_TELL', null] as const).map(
    (decision) => decisionOf({ decision })?.word,
  );
  expect(words).toEqual(['better', 'worse', 'cannot tell', undefined]);
});

test('the arms of an experiment stand together, those of another version apart', () => {
  type Arm = Parameters<typeof pairsOf>[0][number];
  const arm = (version: number, name: string) => ({ version, experiment: 'x', arm: name }) as unknown as Arm;
  const pairs = pairsOf([arm(2, 'CONTROL'), arm(2, 'CANDIDATE'), arm(1, 'CONTROL'), arm(1, 'CANDIDATE')]);
  expect(pairs.map(({ key, arms }) => [key, arms.length])).toEqual([
    ['2 x', 2],
    ['1 x', 2],
  ]);
});
