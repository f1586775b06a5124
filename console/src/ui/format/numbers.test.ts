import { expect, test } from 'vitest';
import { countText, durationText, plural, shareText, tileText } from './numbers.ts';

test('a count is exact as long as it fits, and unknown is no zero', () => {
  expect([0, 999, 10_033, 999_999, 1_200_000].map(tileText)).toEqual([
    '0',
    '999',
    '10,033',
    '999,999',
    '1.2M',
  ]);
  expect([16_384, 0, null, undefined].map(countText)).toEqual(['16,384', '0', '–', '–']);
  expect([plural(1, 'call'), plural(10_033, 'call')]).toEqual(['1 call', '10,033 calls']);
});

test('times and shares have the places that tell them apart', () => {
  expect([1.84, 402.4, 9_999, 12_400, null].map(durationText)).toEqual([
    '1.8 ms',
    '402 ms',
    '9,999 ms',
    '12.4 s',
    '–',
  ]);
  expect([0.75, 0.004, 1].map(shareText)).toEqual(['75%', '0.4%', '100%']);
});
