import { expect, test } from 'vitest';
import { changesOf, changeText, dayAfter, formOf, keyOf, nameOf } from './form.ts';

const rate = (kind: string, before: string, more: object = {}) => ({
  ...{ tier: null, fromPromptTokens: null, kind, before, after: before },
  ...{ chargedBefore: Number(before), chargedAfter: Number(before), changeBps: 0 },
  ...more,
});
const rates = [
  rate('input', '2.50'),
  rate('output', '10'),
  rate('input', '5', { fromPromptTokens: 200_000 }),
  rate('input', '1', { tier: 'flex' }),
];
const plan = {
  ...{ endpointId: 'ep_1', model: 'acme/fast', provider: 'acme', region: 'global', markupBps: 0 },
  ...{ from: '2026-12-10', earliest: '2026-12-10', until: null, replaces: '0', rates },
  effect: {
    ...{ from: '2026-11-10T00:00:00Z', until: '2026-12-10T00:00:00Z', complete: true, calls: 0 },
    ...{ costMicroUsd: '0', beforeMicroUsd: '0', afterMicroUsd: '0' },
  },
};
const typed = (amounts: Record<string, string>, more: object = {}) => {
  const form = formOf(plan);
  return { ...form, reason: 'contract', amounts: { ...form.amounts, ...amounts }, ...more };
};

test('only what is typed otherwise is a change, whatever its zeros', () => {
  const [input, , band, tier] = rates.map(keyOf) as [string, string, string, string];
  expect(changesOf(plan, typed({ [input]: '2.5', [band]: ' 6 ', [tier]: '0.9' }))).toEqual({
    changes: [
      { kind: 'input', usdPerMillion: '6', fromPromptTokens: 200_000 },
      { kind: 'input', usdPerMillion: '0.9', tier: 'flex' },
    ],
    faults: {},
  });
});

test('what is wrong is reported at its field', () => {
  const [input] = rates.map(keyOf) as [string];
  for (const amount of ['', '-1', '2,5', '1e3', '0.1234567', 'free'])
    expect(Object.keys(changesOf(plan, typed({ [input]: amount })).faults)).toEqual([input]);
  expect(Object.keys(changesOf(plan, typed({ [input]: '3' }, { from: '', reason: ' ' })).faults)).toEqual([
    'from',
    'reason',
  ]);
  expect(Object.keys(changesOf(plan, typed({})).faults)).toEqual(['amounts']);
});

test('amounts, shares and days have words', () => {
  expect(rates.map(nameOf)).toEqual([
    ...['input', 'output', 'input, prompts of 200,000 tokens and more', 'input, tier flex'],
  ]);
  expect([2_000, -1_250, 0, null].map(changeText)).toEqual(['+20 %', '−12.5 %', 'none', 'was free']);
  expect(dayAfter(new Date('2026-12-28T23:59:59Z'), 7)).toBe('2027-01-04');
});
