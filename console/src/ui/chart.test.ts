import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anchorOf, axisOf, leftOf } from './chart.tsx';
import { axisText } from './format/money.ts';

test('the axis covers the highest day in few round steps', () => {
  expect(axisOf(43_000_000)).toEqual({ top: 60_000_000, ticks: [0, 20_000_000, 40_000_000, 60_000_000] });
  expect(axisOf(0)).toEqual({ top: 1, ticks: [0] });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e15 }), (max) => {
      const { top, ticks } = axisOf(max);
      expect(top).toBeGreaterThanOrEqual(max);
      expect(ticks.length).toBeLessThanOrEqual(5);
    }),
  );
});

test('the plot begins right of the widest label, however small the amounts are', () => {
  // 7 pixels are the widest digit of the axis.
  for (const max of [3, 9_500, 43_000_000, 2_400_000_000_000]) {
    const labels = axisOf(max).ticks.map(axisText);
    const widest = Math.max(...labels.map(({ length }) => length)) * 7;
    expect(leftOf(labels)).toBeGreaterThan(widest);
  }
});

test('the name of a day ends inside the drawing, however wide its bar is', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 400 }),
      fc.double({ min: 1, max: 300, noNaN: true }),
      (days, slot) => {
        for (let i = 1; i < days; i++) {
          const room = (days - i - 0.5) * slot;
          // Names are centred below their bars; the widest is 52 pixels.
          expect(anchorOf(i, { days, slot })).toBe(room < 26 ? 'end' : 'middle');
        }
      },
    ),
  );
});
