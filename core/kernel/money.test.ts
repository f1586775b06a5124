// The functions that multiply and divide amounts are exact and round as their names say, for numbers of every size.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { milliNanoFromDecimal, mulDivCeil, mulDivFloor, mulDivHalfUp } from './money.ts';

const amount = fc.oneof(fc.nat(), fc.maxSafeNat());
const divisor = fc.oneof(
  fc.integer({ min: 1, max: 1_000_000_000 }),
  fc.maxSafeNat().map((n) => Math.max(1, n)),
);

const functions = {
  mulDivFloor: [mulDivFloor, (product: bigint, d: bigint) => product / d],
  mulDivCeil: [mulDivCeil, (product: bigint, d: bigint) => (product + d - 1n) / d],
  mulDivHalfUp: [mulDivHalfUp, (product: bigint, d: bigint) => (2n * product + d) / (2n * d)],
} as const;

describe.each(Object.entries(functions))('%s', (_name, [rounded, exact]) => {
  test('returns the exact result, or refuses one beyond 2^53-1', () => {
    fc.assert(
      fc.property(amount, amount, divisor, (a, b, d) => {
        const expected = exact(BigInt(a) * BigInt(b), BigInt(d));
        if (expected > BigInt(Number.MAX_SAFE_INTEGER)) expect(() => rounded(a, b, d)).toThrow(RangeError);
        else expect(rounded(a, b, d)).toBe(Number(expected));
      }),
      { numRuns: 2_000 },
    );
  });

  test('is exact on both sides of 2^53-1, where products start to need BigInt', () => {
    const edge = 2 ** 53 - 1;
    for (const d of [1, 2, 3, 7, 10_000]) {
      for (const a of [edge - d, edge - 2, edge - 1, edge]) {
        expect([a, d, rounded(a, 1, d)]).toEqual([a, d, Number(exact(BigInt(a), BigInt(d)))]);
      }
    }
  });
});

test('rounds in the direction that the name says', () => {
  expect([mulDivFloor(5, 1, 2), mulDivCeil(5, 1, 2), mulDivHalfUp(5, 1, 2)]).toEqual([2, 3, 3]);
  expect([mulDivFloor(7, 1, 3), mulDivCeil(7, 1, 3), mulDivHalfUp(7, 1, 3)]).toEqual([2, 3, 2]);
});

test('a price in USD per million units keeps six decimals and accepts no more', () => {
  expect(milliNanoFromDecimal('2.50')).toBe(2_500_000);
  expect(milliNanoFromDecimal('0.000001')).toBe(1);
  for (const text of ['', '-1', '1.0000001', '1e3', '.5', '1,5']) {
    expect(() => milliNanoFromDecimal(text)).toThrow(RangeError);
  }
});
