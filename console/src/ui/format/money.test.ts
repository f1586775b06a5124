import { expect, test } from 'vitest';
import {
  axisText,
  balanceText,
  currencyText,
  exactText,
  perMillionText,
  plainText,
  spendText,
} from './money.ts';

test('a row of money shows all six digits, whatever their size', () => {
  expect([1_284_371_904, 7412, -16_968, 0, 1, '9007199254740993'].map(exactText)).toEqual([
    '$1,284.371904',
    '$0.007412',
    '−$0.016968',
    '$0',
    '$0.000001',
    '$9,007,199,254.740993',
  ]);
});

test('a balance is rounded down, so that it never shows more than there is', () => {
  expect([1_284_371_904, 1_999_999, 7412, 0].map(balanceText)).toEqual([
    '$1,284.37',
    '$1.99',
    '$0.00',
    '$0.00',
  ]);
});

test('spend has cents from a dollar on and three significant digits below', () => {
  expect([1_284_371_904, 7412, -16_968, 0, 999_999, 995_000, 994_999, 5, 123_456].map(spendText)).toEqual([
    '$1,284.37',
    '$0.00741',
    '−$0.0170',
    '$0',
    '$1.00',
    '$1.00',
    '$0.995',
    '$0.000005',
    '$0.123',
  ]);
});

test('an axis is short, and small amounts keep the places that tell them apart', () => {
  expect([0, 20e6, 12.5e6, 1_200e6, 1_250e6, 3_400_000e6, 5, 2500, 500_000].map(axisText)).toEqual([
    '$0',
    '$20',
    '$12.5',
    '$1.2k',
    '$1.25k',
    '$3.4M',
    '$0.000005',
    '$0.0025',
    '$0.5',
  ]);
});

test('what is copied is a plain decimal', () => {
  expect([7412, -16_968, 1_284_371_904].map(plainText)).toEqual(['0.007412', '-0.016968', '1284.371904']);
});

test('a unit price is shown per million units with every place it has', () => {
  expect([2500, 250, 10_000, 1, 37].map(perMillionText)).toEqual([
    '$2.50',
    '$0.25',
    '$10.00',
    '$0.001',
    '$0.037',
  ]);
});

test('an amount keeps its own currency, exponent and grouping', () => {
  expect(currencyText(11_800_000, 'INR')).toBe('₹1,18,000.00');
  expect(currencyText('5000', 'USD')).toBe('$50.00');
  expect(currencyText(5000, 'JPY')).toBe('¥5,000');
  expect(currencyText(-199, 'EUR')).toBe('−€1.99');
});
