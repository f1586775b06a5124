import { expect, test } from 'vitest';
import type { MovementRowFragment } from '../../api/gen/graphql.ts';
import { breaksIn, leftPercent } from './entry-words.ts';

const row = (seq: number, amount: number, after: number) =>
  ({
    seq: String(seq),
    amountMicroUsd: String(amount),
    balanceAfterMicroUsd: String(after),
  }) as unknown as MovementRowFragment;

test('a balance that does not follow from the entry before is marked, a gap of a filter is not', () => {
  expect([...breaksIn([row(3, -5, 90), row(2, -5, 95), row(1, 100, 100)])]).toEqual([]);
  expect([...breaksIn([row(3, -5, 91), row(2, -5, 95), row(1, 100, 100)])]).toEqual(['3']);
  expect([...breaksIn([row(9, -5, 12), row(2, -5, 95)])]).toEqual([]);
});

test('a lot with anything left is never shown as empty, nor one that was touched as full', () => {
  const left = (amount: string, remaining: string) =>
    leftPercent({ amountMicroUsd: amount, remainingMicroUsd: remaining });
  expect(left('1000000', '1')).toBe(1);
  expect(left('1000000', '0')).toBe(0);
  expect(left('1000000', '999999')).toBe(99);
  expect(left('9007199254740991', '9007199254740991')).toBe(100);
});
