import fc from 'fast-check';
import { expect, test } from 'vitest';
import { partOf } from './window.ts';

test('a short list is drawn whole', () => {
  expect(partOf({ count: 50, row_height: 40, top: 0, height: 700 })).toEqual({
    from: 0,
    to: 50,
    above: 0,
    below: 0,
  });
});

test('whatever is in sight is drawn, the list keeps its height, and only a few rows are elements', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 121, max: 20_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer({ min: 100, max: 1_500 }),
      (count, share, height) => {
        const top = share * Math.max(0, count * 40 - height);
        const { from, to, above, below } = partOf({ count, row_height: 40, top, height });
        expect(above + (to - from) * 40 + below).toBe(count * 40);
        expect(from * 40).toBeLessThanOrEqual(top);
        expect(to * 40).toBeGreaterThanOrEqual(Math.min(count * 40, top + height));
        expect(to - from).toBeLessThanOrEqual(Math.ceil(height / 40) + 80);
      },
    ),
  );
});
