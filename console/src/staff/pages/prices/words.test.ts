import { expect, test } from 'vitest';
import { feeText, historyOf, rateText, sourceText } from './words.ts';

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

test('a currency is followed over the days that have it, and the first day moved from nothing', () => {
  const day = (day: string, rate: string | null, state: 'IN_FORCE' | 'WAITING' = 'IN_FORCE') => ({
    ...{ day, state, rates: rate === null ? [] : [{ currency: 'INR', rate }] },
  });
  const days = [day('2026-11-20', '97.57', 'WAITING'), day('2026-11-19', '88.70'), day('2026-11-18', null)];
  expect(historyOf([...days, day('2026-11-17', '88.70')], 'INR')).toEqual([
    { day: '2026-11-20', rate: '97.57', waits: true, change: '+10%' },
    { day: '2026-11-19', rate: '88.70', waits: false, change: 'none' },
    { day: '2026-11-17', rate: '88.70', waits: false, change: '–' },
  ]);
  expect(historyOf(days, 'EUR')).toEqual([]);
});
