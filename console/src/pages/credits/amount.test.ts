import fc from 'fast-check';
import { expect, test } from 'vitest';
import { minorOf, proposedMinor, typedText } from './amount.ts';

test('what is typed is read in the places of its currency, and nothing is rounded away', () => {
  expect(minorOf('25', 'USD')).toBe('2500');
  expect(minorOf('1,18,000.5', 'INR')).toBe('11800050');
  expect(minorOf('5000', 'JPY')).toBe('5000');
  expect(minorOf(' 1 250.50 ', 'USD')).toBe('125050');
  for (const [text, currency] of [
    // A decimal point of other countries must not become a hundred times the amount.
    ['12,50', 'EUR'],
    ['1.250,50', 'EUR'],
    ['25,', 'USD'],
    ['1,2345', 'USD'],
    ['25.005', 'USD'],
    ['5000.5', 'JPY'],
    ['0', 'USD'],
    ['-5', 'USD'],
    ['1e3', 'USD'],
    ['', 'USD'],
  ] as const) {
    expect(minorOf(text, currency)).toBeUndefined();
  }
});

test('an amount survives being shown and read again', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 10n ** 12n - 1n }),
      fc.constantFrom('USD', 'INR', 'JPY', 'KWD'),
      (minor, currency) => {
        expect(minorOf(typedText(String(minor), currency), currency)).toBe(String(minor));
      },
    ),
  );
});

test('proposals are whole amounts', () => {
  expect(proposedMinor('USD')).toEqual(['1000', '2500', '5000', '10000']);
  expect(proposedMinor('INR')[0]).toBe('100000');
  expect(proposedMinor('JPY')[0]).toBe('1000');
});
