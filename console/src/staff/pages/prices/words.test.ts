import { expect, test } from 'vitest';
import { feeText, rateText, sourceText } from './words.ts';

test('a rate keeps its figures and at least two places', () => {
  expect(['88.70000000', '1.00000000', '0.86120001'].map(rateText)).toEqual(['88.70', '1.00', '0.86120001']);
});

test('a price says what it has besides its rates', () => {
  expect(feeText({ bands: 0, ownKeyFeeBps: null })).toBe('');
  expect(feeText({ bands: 1, ownKeyFeeBps: 500 })).toBe(
    '1 further price for long prompts; 5 % of the list cost with a key of one’s own',
  );
});

test('a source says which day is sold by, or that none has come', () => {
  expect(sourceText({ source: 'STATIC', day: '2026-11-20' })).toBe(
    'The table of the release, of 20 Nov 2026.',
  );
  expect(sourceText({ source: 'ECB', day: null })).toBe('European Central Bank; none has come yet.');
});
