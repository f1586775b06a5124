import { expect, test } from 'vitest';
import { microOf } from './budget.ts';

test('a budget typed by a person becomes exactly that many micro-USD, or nothing', () => {
  expect(['25', '$1,250.50', '0.000001', ' 5 ', '9.99'].map(microOf)).toEqual([
    '25000000',
    '1250500000',
    '1',
    '5000000',
    '9990000',
  ]);
  expect(['', 'ten', '-5', '1.2345678', '1e9', '0x10', '99999999999', '12,50', '1,'].map(microOf)).toEqual(
    Array.from({ length: 9 }, () => undefined),
  );
});
