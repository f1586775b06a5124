import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Credited, refundedTax } from './credit-note.ts';
import { creditNoteSeries, documentNumber, taxReductionEnd } from './number.ts';

const issued_at = new Date('2026-11-21T10:00:00Z');
const inter: Credited = {
  ...{ taxable_minor: 100_000, cgst_minor: 0, sgst_minor: 0, igst_minor: 18_000 },
  issued_at,
};
const intra: Credited = {
  ...{ taxable_minor: 50_005, cgst_minor: 4_500, sgst_minor: 4_500, igst_minor: 0 },
  issued_at,
};

/** The tax of refunds of `amounts`, one after the other. */
function refunds(original: Credited, amounts: readonly number[], at = issued_at) {
  let before_minor = 0;
  return amounts.map((amount_minor) => {
    const tax = refundedTax(original, { before_minor, amount_minor, at });
    before_minor += amount_minor;
    return tax;
  });
}

test('the tax of refunds is in proportion, per half within one state: the examples of docs/money/tax.md#credit-notes', () => {
  const between = refunds(inter, [33_333, 33_333, 33_334]);
  expect(between.map(({ igst_minor }) => igst_minor)).toEqual([6_000, 6_000, 6_000]);
  const within = refunds(intra, [20_000, 30_005]);
  expect(within.map(({ cgst_minor, sgst_minor }) => [cgst_minor, sgst_minor])).toEqual([
    [1_800, 1_800],
    [2_700, 2_700],
  ]);
});

test('refunds of any sizes that add up to the document give its tax back to the minor unit, halves alike', () => {
  const document = fc.record({
    taxable: fc.integer({ min: 1, max: 1_000_000_000_000 }),
    rate: fc.nat(5_000),
  });
  const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 });
  fc.assert(
    fc.property(document, cuts, fc.boolean(), ({ taxable, rate }, shares, one_state) => {
      const half = Math.floor((taxable * rate) / 20_000);
      const original: Credited = {
        taxable_minor: taxable,
        cgst_minor: one_state ? half : 0,
        sgst_minor: one_state ? half : 0,
        igst_minor: one_state ? 0 : 2 * half,
        issued_at,
      };
      const ends = [...shares.map((share) => Math.floor(share * taxable)), taxable].sort((a, b) => a - b);
      const amounts = ends.map((end, i) => end - (ends[i - 1] ?? 0));
      const taxes = refunds(original, amounts);
      for (const part of ['cgst_minor', 'sgst_minor', 'igst_minor'] as const) {
        expect(taxes.every((tax) => tax[part] >= 0)).toBe(true);
        expect(taxes.reduce((sum, tax) => sum + tax[part], 0)).toBe(original[part]);
      }
      expect(taxes.every((tax) => tax.cgst_minor === tax.sgst_minor)).toBe(true);
    }),
  );
});

test.each([
  ['2026-11-21T10:00:00Z', '2027-11-30T18:30:00.000Z'],
  ['2026-03-31T18:29:59Z', '2026-11-30T18:30:00.000Z'],
  ['2026-03-31T18:30:00Z', '2027-11-30T18:30:00.000Z'],
  ['2027-01-05T00:00:00Z', '2027-11-30T18:30:00.000Z'],
])('the tax of a document of %s can be reduced until %s, not at it', (issued, end) => {
  const original = { ...inter, issued_at: new Date(issued) };
  expect(taxReductionEnd(original.issued_at).toISOString()).toBe(end);
  const [last] = refunds(original, [100_000], new Date(Date.parse(end) - 1));
  expect(last).toEqual({ cgst_minor: 0, sgst_minor: 0, igst_minor: 18_000 });
  const [late] = refunds(original, [100_000], new Date(end));
  expect(late).toEqual({ cgst_minor: 0, sgst_minor: 0, igst_minor: 0 });
});

test('credit notes are numbered in a series of their own, which is C and the series of their document', () => {
  const series = creditNoteSeries('INV/26-27/00001');
  expect(documentNumber({ series, fy: '26-27', no: 1 })).toBe('CINV/26-27/00001');
  expect(creditNoteSeries('A/26-27/100000')).toBe('CA');
});
