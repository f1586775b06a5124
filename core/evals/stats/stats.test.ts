// Bounds, intervals and comparisons: known values, and that they do what they promise on drawn data.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededUnit } from './random.ts';
import { bootstrap, decide, meanOf, pairedP, type Weighed, wilson } from './stats.ts';

const each = (values: readonly number[]): Weighed[] => values.map((value) => ({ value, weight: 1 }));

describe('the bounds of Wilson', () => {
  // Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
  test.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('%i of %i', (passed, of, low, high) => {
    const bounds = wilson(passed, of);
    expect(bounds.low).toBeCloseTo(low, 4);
    expect(bounds.high).toBeCloseTo(high, 4);
  });

  test('hold the rate, and lie in 0 to 1', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (of, share) => {
          const passed = Math.round(share * of);
          const { low, high } = wilson(passed, of);
          expect(low >= 0 && low <= passed / of && passed / of <= high && high <= 1).toBe(true);
        },
      ),
    );
  });
});

describe('the interval of a mean', () => {
  test('is the same for the same seed, and holds the mean', () => {
    const values = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(values, fc.nat(), (drawn, seed) => {
        const interval = bootstrap(each(drawn), seed);
        expect(bootstrap(each(drawn), seed)).toEqual(interval);
        expect(interval.low).toBeLessThanOrEqual(interval.high);
        if (drawn.length === 1) expect(interval.low).toBe(meanOf(each(drawn)));
      }),
      { numRuns: 20 },
    );
  });

  test('of 100 coins holds the truth about as often as it says', () => {
    const unit = seededUnit(7);
    let held = 0;
    for (let n = 0; n < 200; n++) {
      const coins = each(Array.from({ length: 100 }, () => Number(unit() < 0.7)));
      const { low, high } = bootstrap(coins, n);
      if (low <= 0.7 && 0.7 <= high) held++;
    }
    expect(held).toBeGreaterThan(176);
    expect(held).toBeLessThan(200);
  });
});

describe('a comparison', () => {
  test('of two targets that answer alike cannot tell', () => {
    expect(decide(each(Array(50).fill(0)), 1)).toMatchObject({
      decision: 'cannot_tell',
      p: 1,
      difference: 0,
    });
  });

  test('of few cases is exact: five of five in one direction are not enough, six are', () => {
    expect(pairedP(each([1, 1, 1, 1, 1]), 1)).toBe(2 / 32);
    expect(decide(each([1, 1, 1, 1, 1]), 1).decision).toBe('cannot_tell');
    expect(decide(each([1, 1, 1, 1, 1, 1]), 1).decision).toBe('better');
    expect(decide(each([-1, -1, -1, -1, -1, -1]), 1).decision).toBe('worse');
  });

  test('says the opposite when the targets change places', () => {
    const differences = fc.array(fc.constantFrom(-1, -0.5, 0, 0, 0.5, 1), { minLength: 1, maxLength: 40 });
    const opposite = { better: 'worse', worse: 'better', cannot_tell: 'cannot_tell' } as const;
    fc.assert(
      fc.property(differences, (values) => {
        const p = pairedP(each(values), 3);
        // Close to the bound, drawn signs may fall on either side of it.
        fc.pre(Math.abs(p - 0.05) > 0.01);
        const there = decide(each(values), 3).decision;
        expect(decide(each(values.map((value) => -value)), 3).decision).toBe(opposite[there]);
      }),
      { numRuns: 30 },
    );
  });

  test('of equal targets claims a difference in about one of twenty, not more', () => {
    const unit = seededUnit(11);
    let claimed = 0;
    for (let n = 0; n < 100; n++) {
      const values = Array.from({ length: 40 }, () => Number(unit() < 0.6) - Number(unit() < 0.6));
      if (decide(each(values), n).decision !== 'cannot_tell') claimed++;
    }
    expect(claimed).toBeLessThan(14);
  });
});
