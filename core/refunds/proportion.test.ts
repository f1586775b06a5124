import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  NOTHING,
  type Part,
  partOf,
  partOfTotal,
  refundableMinor,
  type Sold,
  taxOf,
  totalOf,
} from './proportion.ts';

const issued_at = new Date('2026-11-21T10:00:00Z');
const at = new Date('2026-12-01T10:00:00Z');
const late = new Date('2027-12-01T10:00:00Z');

const inter = (taxable_minor: number, igst_minor: number, credits_micro: number): Sold => ({
  issued_at,
  taxable_minor,
  igst_minor,
  cgst_minor: 0,
  sgst_minor: 0,
  credits_micro,
});
const sum = (a: Part, b: Part): Part => ({
  amount_minor: a.amount_minor + b.amount_minor,
  cgst_minor: a.cgst_minor + b.cgst_minor,
  sgst_minor: a.sgst_minor + b.sgst_minor,
  igst_minor: a.igst_minor + b.igst_minor,
  credits_micro: a.credits_micro + b.credits_micro,
});

/** The parts that refunds of these amounts give back, one after the other. */
function parts(sold: Sold, amounts: readonly number[]): Part[] {
  let before = NOTHING;
  return amounts.map((amount_minor) => {
    const part = partOf(sold, before, { amount_minor, at });
    before = sum(before, part);
    return part;
  });
}

test('thirds of a top-up of 1,000 rupees give back all of its tax and credits', () => {
  const given = parts(inter(100_000, 18_000, 11_107_346), [33_333, 33_333, 33_334]);
  expect(given.map(taxOf)).toEqual([6_000, 6_000, 6_000]);
  expect(given.map((part) => part.credits_micro)).toEqual([3_702_412, 3_702_412, 3_702_522]);
});

test('within a state each half of the tax is rounded by itself', () => {
  const sold: Sold = {
    issued_at,
    taxable_minor: 50_005,
    cgst_minor: 4_500,
    sgst_minor: 4_500,
    igst_minor: 0,
    credits_micro: 5_554_228,
  };
  const given = parts(sold, [20_000, 30_005]);
  expect(given.map(taxOf)).toEqual([3_600, 5_400]);
  expect(given.map((part) => part.cgst_minor)).toEqual([1_800, 2_700]);
  expect(given.map((part) => part.credits_micro)).toEqual([2_221_470, 3_332_758]);
});

test('what can go back is bounded by the credits that are unused', () => {
  const sold = inter(100_000, 18_000, 11_107_346);
  expect(refundableMinor(sold, NOTHING, 4_000_000)).toBe(36_012);
  expect(refundableMinor(sold, NOTHING, 11_107_346)).toBe(100_000);
  expect(refundableMinor(sold, NOTHING, 0)).toBe(0);
});

test('after the time of the law no tax goes back, and credits do as before', () => {
  const sold = inter(100_000, 18_000, 11_107_346);
  const part = partOf(sold, NOTHING, { amount_minor: 33_333, at: late });
  expect([taxOf(part), part.credits_micro]).toEqual([0, 3_702_412]);
});

/** All of it, as one part. */
function wholeOf({ issued_at: _, taxable_minor, ...rest }: Sold): Part {
  return { ...rest, amount_minor: taxable_minor };
}

/** Top-ups of all sizes, with tax of either kind or none. */
const sold = fc
  .record({
    taxable_minor: fc.integer({ min: 1, max: 1_000_000_000 }),
    rate_bps: fc.constantFrom(0, 500, 1_800, 2_800),
    in_state: fc.boolean(),
    credits_micro: fc.integer({ min: 1, max: 10_000_000_000 }),
  })
  .map(({ taxable_minor, rate_bps, in_state, credits_micro }): Sold => {
    const half = Math.floor((taxable_minor * rate_bps) / 20_000);
    const whole = Math.floor((taxable_minor * rate_bps) / 10_000);
    const tax = in_state ? [half, half, 0] : [0, 0, whole];
    return {
      issued_at,
      taxable_minor,
      cgst_minor: tax[0]!,
      sgst_minor: tax[1]!,
      igst_minor: tax[2]!,
      credits_micro,
    };
  });

test('in whatever parts a top-up goes back, they sum to the whole, and no part takes more credit than is unused', () => {
  fc.assert(
    fc.property(
      sold,
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 }),
      (of, shares) => {
        let before = NOTHING;
        for (const share of [...shares, 1]) {
          const usable = of.credits_micro - before.credits_micro;
          const most = refundableMinor(of, before, usable);
          const amount_minor = share === 1 ? most : Math.floor(most * share);
          const part = partOf(of, before, { amount_minor, at });
          expect(part.credits_micro).toBeLessThanOrEqual(usable);
          expect(Math.min(...Object.values(part))).toBeGreaterThanOrEqual(0);
          before = sum(before, part);
        }
        expect(before).toEqual(wholeOf(of));
      },
    ),
  );
});

test('a refundable amount never takes more credit than is usable, and one unit more would', () => {
  fc.assert(
    fc.property(sold, fc.double({ min: 0, max: 1, noNaN: true }), (of, share) => {
      const usable = Math.floor(of.credits_micro * share);
      const most = refundableMinor(of, NOTHING, usable);
      const taken = (amount_minor: number) => partOf(of, NOTHING, { amount_minor, at }).credits_micro;
      expect(taken(most)).toBeLessThanOrEqual(usable);
      if (most < of.taxable_minor) expect(taken(most + 1)).toBeGreaterThan(usable);
    }),
  );
});

test('a total that the rail gave back is split to the minor unit, and what is left goes back to the whole', () => {
  fc.assert(
    fc.property(sold, fc.double({ min: 0, max: 1, noNaN: true }), (of, share) => {
      const whole = of.taxable_minor + taxOf(of);
      expect(partOfTotal(of, NOTHING, { total_minor: whole, at })).toEqual(wholeOf(of));
      const total_minor = Math.floor(whole * share);
      const first = partOfTotal(of, NOTHING, { total_minor, at });
      expect(totalOf(first)).toBe(total_minor);
      const left = { amount_minor: of.taxable_minor - first.amount_minor, at };
      expect(sum(first, partOf(of, first, left))).toEqual(wholeOf(of));
    }),
  );
});
