import { expect, test } from 'vitest';
import { checkGstin } from './gstin.ts';
import { documentNumber, financialYear } from './number.ts';
import { isStateOfAddress, isUnionTerritory } from './states.ts';
import { DEMO_SUPPLIER } from './supplier.ts';
import { decideTax, taxOn } from './tax.ts';
import type { Supplier } from './types.ts';

type Who = Parameters<typeof decideTax>[1];
const indian = (other: Partial<Who>): Who => ({
  country: 'IN',
  tax_status: 'unregistered',
  gstin: null,
  address: null,
  ...other,
});
const german: Who = { country: 'DE', tax_status: 'overseas', gstin: null, address: null };
const without_lut: Supplier = { ...DEMO_SUPPLIER, lut: null };
const unregistered: Supplier = { ...DEMO_SUPPLIER, gstin: null, pan: null, lut: null };

test.each([
  ['27AAPFU0939F1ZV', { valid: true, state_code: '27', pan: 'AAPFU0939F' }],
  ['29AABCU9603R1ZJ', { valid: true, state_code: '29', pan: 'AABCU9603R' }],
  ['07AABCS1429B1ZW', { valid: true, state_code: '07', pan: 'AABCS1429B' }],
  ['27AAPFU0939F1ZX', { valid: false, reason: 'check' }],
  ['00AAPFU0939F1ZV', { valid: false, reason: 'state' }],
  ['27aapfu0939f1zv', { valid: false, reason: 'form' }],
  ['27AAPFU0939F1ZV ', { valid: false, reason: 'form' }],
  ['', { valid: false, reason: 'form' }],
])('the GSTIN %s is judged by form, state and check character', (text, verdict) => {
  expect(checkGstin(text)).toEqual(verdict);
});

test('any one character changed makes a GSTIN invalid, and another PAN than its own does', () => {
  const gstin = '29AABCU9603R1ZJ';
  for (let at = 0; at < gstin.length; at++) {
    const other = gstin[at] === '7' ? '8' : '7';
    expect(checkGstin(gstin.slice(0, at) + other + gstin.slice(at + 1)).valid).toBe(false);
  }
  expect(checkGstin(gstin, 'AABCU9603R').valid).toBe(true);
  expect(checkGstin(gstin, 'AABCU9603X')).toEqual({ valid: false, reason: 'pan' });
});

test("the demo supplier's GSTIN has the right check character and its state", () => {
  expect(checkGstin(DEMO_SUPPLIER.gstin as string, DEMO_SUPPLIER.pan)).toMatchObject({
    valid: true,
    state_code: DEMO_SUPPLIER.state_code,
  });
});

test.each([
  [
    'registered in the same state',
    indian({ tax_status: 'gst_registered', gstin: '29AABCU9603R1ZJ' }),
    100_000,
    [9_000, 9_000, 0],
  ],
  [
    'registered in another state',
    indian({ tax_status: 'gst_registered', gstin: '27AAPFU0939F1ZV' }),
    100_000,
    [0, 0, 18_000],
  ],
  ['unregistered, same state', indian({ address: { state_code: '29' } }), 50_005, [4_500, 4_500, 0]],
  ['unregistered, another state', indian({ address: { state_code: '07' } }), 50_005, [0, 0, 9_001]],
  ['abroad under LUT', german, 5_000, [0, 0, 0]],
  ['another state, a third of it', indian({ address: { state_code: '27' } }), 33_333, [0, 0, 6_000]],
  ['same state, halves rounded alike', indian({ address: { state_code: '29' } }), 33_333, [3_000, 3_000, 0]],
] as const)(
  '%s: the tax of docs/money/tax.md#who-is-taxed to the minor unit',
  (_name, who, amount, [cgst_minor, sgst_minor, igst_minor]) => {
    const decision = decideTax(DEMO_SUPPLIER, who, 1_800);
    expect(taxOn(amount, decision)).toEqual({ cgst_minor, sgst_minor, igst_minor });
  },
);

test('the place of supply is the state of the GSTIN before that of the address, and abroad is 96', () => {
  const both = indian({
    tax_status: 'gst_registered',
    gstin: '27AAPFU0939F1ZV',
    address: { state_code: '29' },
  });
  expect(decideTax(DEMO_SUPPLIER, both, 1_800)).toMatchObject({
    place_of_supply: '27-Maharashtra',
    kind: 'tax_invoice',
    split: 'inter',
  });
  expect(decideTax(DEMO_SUPPLIER, german, 1_800)).toMatchObject({
    place_of_supply: '96-Other country',
    kind: 'export_invoice',
    rate_bps: 0,
    state_known: true,
  });
});

test('an Indian recipient without a known state is quoted as at home and marked as unknown', () => {
  for (const address of [null, {}, { state_code: '28' }, { state_code: 'KA' }, { state_code: '99' }]) {
    expect(decideTax(DEMO_SUPPLIER, indian({ address }), 1_800)).toMatchObject({
      state_known: false,
      split: 'intra',
      place_of_supply: '29-Karnataka',
    });
  }
});

test('export and SEZ: no tax under a letter of undertaking, integrated tax without one, and the words for it', () => {
  const sez = indian({ tax_status: 'sez', gstin: '29AABCU9603R1ZJ' });
  for (const who of [sez, german]) {
    const under = decideTax(DEMO_SUPPLIER, who, 1_800);
    expect([under.split, under.endorsement.includes(DEMO_SUPPLIER.lut as string)]).toEqual(['none', true]);
    const paid = decideTax(without_lut, who, 1_800);
    expect([paid.split, paid.rate_bps]).toEqual(['inter', 1_800]);
    expect(paid.endorsement).toContain('on payment of integrated tax');
  }
  expect(decideTax(DEMO_SUPPLIER, sez, 1_800)).toMatchObject({
    kind: 'tax_invoice',
    place_of_supply: '29-Karnataka',
  });
});

test('a supplier that is not registered issues receipts without tax, at home and abroad', () => {
  for (const who of [german, indian({ address: { state_code: '29' } })]) {
    const decision = decideTax(unregistered, who, 1_800);
    expect(decision).toMatchObject({ kind: 'receipt', split: 'none', rate_bps: 0, endorsement: '' });
    expect(taxOn(100_000, decision)).toEqual({ cgst_minor: 0, sgst_minor: 0, igst_minor: 0 });
  }
});

test.each([
  ['2026-03-31T18:29:59Z', '25-26'],
  ['2026-03-31T18:30:00Z', '26-27'],
  ['2027-01-05T00:00:00Z', '26-27'],
  ['2099-12-31T00:00:00Z', '99-00'],
])('%s lies in the financial year %s', (at, fy) => {
  expect(financialYear(new Date(at))).toBe(fy);
});

test('a number has five digits, then six, and never more than sixteen characters', () => {
  expect(documentNumber({ series: 'INV', fy: '26-27', no: 1 })).toBe('INV/26-27/00001');
  expect(documentNumber({ series: 'INV', fy: '26-27', no: 100_000 })).toBe('INV/26-27/100000');
  expect(documentNumber({ series: 'CINV', fy: '26-27', no: 99_999 })).toHaveLength(16);
  expect(() => documentNumber({ series: 'CINV', fy: '26-27', no: 100_000 })).toThrow(RangeError);
  expect(() => documentNumber({ series: 'INV', fy: '26-27', no: 1_000_000 })).toThrow(RangeError);
});

test('old state codes stand in old GSTINs alone, and union territories are known', () => {
  expect(['25', '28'].map(isStateOfAddress)).toEqual([false, false]);
  expect(['26', '37', '97', '01', '38'].every(isStateOfAddress)).toBe(true);
  expect(['04', '26', '31', '35', '38', '25'].every(isUnionTerritory)).toBe(true);
  expect(isUnionTerritory('07')).toBe(false);
});
