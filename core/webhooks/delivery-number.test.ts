import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deliveryNumbers, LARGEST_DELIVERY_NUMBER } from './delivery-number.ts';

const numbers = deliveryNumbers(Buffer.alloc(32, 7));

test('a number leads back to its row, and stays an integer that JSON keeps', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: LARGEST_DELIVERY_NUMBER }), (id) => {
      const shown = numbers.shown(id);
      expect(Number.isSafeInteger(shown) && shown >= 0 && shown <= LARGEST_DELIVERY_NUMBER).toBe(true);
      expect(numbers.stored(shown)).toBe(id);
    }),
  );
});

test('numbers of rows made one after the other do not count, and others have another order in another installation', () => {
  const ids = Array.from({ length: 1_000 }, (_, i) => i + 1);
  const shown = ids.map((id) => numbers.shown(id));
  const rising = shown.filter((number, i) => i > 0 && number > (shown[i - 1] as number)).length;
  expect(new Set(shown).size).toBe(ids.length);
  expect(rising).toBeGreaterThan(400);
  expect(rising).toBeLessThan(600);
  const other = deliveryNumbers(Buffer.alloc(32, 8));
  expect(ids.filter((id) => other.shown(id) === numbers.shown(id))).toEqual([]);
});
