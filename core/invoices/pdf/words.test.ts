import { expect, test } from 'vitest';
import { currencies } from '../../kernel/index.ts';
import { amountInWords } from './words.ts';

test.each([
  [118_000, 'INR', 'Rupees One Thousand One Hundred Eighty Only'],
  [1, 'INR', 'One Paisa Only'],
  [100, 'INR', 'Rupee One Only'],
  [150, 'INR', 'Rupee One and Fifty Paise Only'],
  [0, 'INR', 'Rupees Zero Only'],
  [10_000_000, 'INR', 'Rupees One Lakh Only'],
  [1_000_000_000, 'INR', 'Rupees One Crore Only'],
  [
    99_999_999_999,
    'INR',
    'Rupees Ninety-Nine Crore Ninety-Nine Lakh Ninety-Nine Thousand Nine Hundred Ninety-Nine and Ninety-Nine Paise Only',
  ],
  [
    123_456_789_012_345,
    'INR',
    'Rupees One Lakh Twenty-Three Thousand Four Hundred Fifty-Six Crore Seventy-Eight Lakh Ninety Thousand One Hundred Twenty-Three and Forty-Five Paise Only',
  ],
  [2_500, 'USD', 'US Dollars Twenty-Five Only'],
  [101, 'USD', 'US Dollar One and One Cent Only'],
  [
    123_456_789,
    'EUR',
    'Euros One Million Two Hundred Thirty-Four Thousand Five Hundred Sixty-Seven and Eighty-Nine Cents Only',
  ],
  [5_000, 'JPY', 'Japanese Yen Five Thousand Only'],
  [201, 'GBP', 'Pounds Sterling Two and One Penny Only'],
])('%s %s is written %s', (amount, currency, words) => {
  expect(amountInWords(amount, currency)).toBe(words);
});

test('every currency that can be paid in has words, and each number its own', () => {
  for (const currency of currencies) expect(amountInWords(12_345, currency)).toMatch(/ Only$/);
  const written = Array.from({ length: 20_000 }, (_, i) => amountInWords(i * 97, 'INR'));
  expect(new Set(written).size).toBe(written.length);
  expect(written.every((words) => !/undefined|NaN| {2}/.test(words))).toBe(true);
});
