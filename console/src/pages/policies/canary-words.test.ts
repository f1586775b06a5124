import { expect, test } from 'vitest';
import { canaryState, figuresText } from './canary-words.ts';

test('a state is a word, and a roll-back is told from an alert', () => {
  const word = (state: Parameters<typeof canaryState>[0]['state'], percent = 5) =>
    canaryState({ state, percent }).word;
  expect([word('PENDING'), word('GREEN'), word('RED'), word('RED', 0), word('DONE')]).toEqual([
    ...['pending', 'good', 'worse', 'rolled back', 'ended'],
  ]);
});

test('failures stand beside those elsewhere, and no calls are never a rate of zero', () => {
  const none = { errorRate: null, samples: 0, controlErrorRate: null, controlSamples: 0 };
  expect(figuresText(none)).toBeNull();
  const control = { controlErrorRate: 0.012, controlSamples: 4_610 };
  expect(figuresText({ ...none, ...control })).toBe('failed: no calls; elsewhere 1.2% of 4,610 calls');
  expect(figuresText({ errorRate: 0.1, samples: 240, ...control })).toBe(
    'failed: 10% of 240 calls; elsewhere 1.2% of 4,610 calls',
  );
});
