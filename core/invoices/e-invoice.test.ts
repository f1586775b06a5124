import { expect, test } from 'vitest';
import { eInvoice, inPaise, supplyType } from './e-invoice.ts';
import { DEMO_SUPPLIER } from './supplier.ts';
import type { Invoice } from './types.ts';

const { supplier_id: _, series: __, sac, ...supplier } = DEMO_SUPPLIER;
const invoice: Invoice = {
  ...{
    id: 'inv_01KACZ3V8S6T5R4Q3P2N1M0K9J',
    org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9H',
    supplier_id: 'platform',
  },
  ...{ number: 'INV/26-27/00001', fy: '26-27', kind: 'tax_invoice', status: 'issued', currency: 'INR' },
  place_of_supply: '27-Maharashtra',
  supplier,
  recipient: {
    ...{ org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9H', name: 'Acme', country: 'IN', state_code: '27' },
    ...{ gstin: '27AAPFU0939F1ZV', tax_status: 'gst_registered' },
    address: { line1: '2 Example Road', city: 'Pune', postal_code: '411001' },
  },
  lines: [
    {
      description: 'Prepaid API credits',
      kind: 'credits',
      sac,
      quantity: 1,
      unit_minor: 50_005,
      amount_minor: 50_005,
    },
  ],
  ...{
    hsn_sac: sac,
    tax_rate_bps: 1_800,
    taxable_minor: 50_005,
    cgst_minor: 0,
    sgst_minor: 0,
    igst_minor: 9_001,
  },
  ...{
    total_minor: 59_006,
    endorsement: '',
    fx_rate: '90.03050000',
    inr_rate: null,
    credits_micro: 5_554_228,
  },
  ...{
    topup_id: null,
    refund_id: null,
    original_invoice_id: null,
    original_number: null,
    original_issued_at: null,
  },
  ...{ payment_ref: null, irn_status: 'not_applicable', irn: null, irn_qr: null, ack_no: null, ack_at: null },
  ...{ pdf_sha256: null, issued_at: new Date('2026-11-20T20:00:00Z'), sent_at: null },
};
const abroad: Partial<Invoice> = {
  ...{ currency: 'EUR', inr_rate: '102.99581979', place_of_supply: '96-Other country', tax_rate_bps: 0 },
  ...{ taxable_minor: 5_000, igst_minor: 0, total_minor: 5_000 },
  recipient: { ...invoice.recipient, country: 'DE', gstin: null, address: null, tax_status: 'overseas' },
};

test('a document between two states in the form of the portal: rupees, the day in Kolkata, both parties', () => {
  expect(eInvoice(invoice)).toEqual({
    Version: '1.1',
    TranDtls: { TaxSch: 'GST', SupTyp: 'B2B', RegRev: 'N', IgstOnIntra: 'N' },
    DocDtls: { Typ: 'INV', No: 'INV/26-27/00001', Dt: '21/11/2026' },
    SellerDtls: {
      ...{ Gstin: '29AAACD0000A1ZR', LglNm: 'Demo Supplier Private Limited', Addr1: '1 Example Road' },
      ...{ Addr2: 'Bengaluru 560001, Karnataka, India', Loc: 'Bengaluru', Pin: 560_001, Stcd: '29' },
    },
    BuyerDtls: {
      ...{ Gstin: '27AAPFU0939F1ZV', LglNm: 'Acme', Pos: '27', Addr1: '2 Example Road', Loc: 'Pune' },
      ...{ Pin: 411_001, Stcd: '27' },
    },
    ItemList: [
      {
        ...{ SlNo: '1', PrdDesc: 'Prepaid API credits', IsServc: 'Y', HsnCd: '998315', Qty: 1, Unit: 'OTH' },
        ...{ UnitPrice: 500.05, TotAmt: 500.05, Discount: 0, AssAmt: 500.05, GstRt: 18 },
        ...{ IgstAmt: 90.01, CgstAmt: 0, SgstAmt: 0, TotItemVal: 590.06 },
      },
    ],
    ValDtls: { AssVal: 500.05, CgstVal: 0, SgstVal: 0, IgstVal: 90.01, TotInvVal: 590.06 },
  });
});

test('an export is in rupees at the rate of its day, with the total in its own currency beside', () => {
  const made = eInvoice({ ...invoice, ...abroad });
  expect(made.TranDtls.SupTyp).toBe('EXPWOP');
  expect(made.BuyerDtls).toMatchObject({ Gstin: 'URP', Pos: '96', Pin: 999_999, Stcd: '96' });
  expect(made.ValDtls).toMatchObject({ AssVal: 5_149.79, TotInvVal: 5_149.79, TotInvValFc: 50 });
  expect(made.ExpDtls).toEqual({ ForCur: 'EUR', CntCode: 'DE', RefClm: 'N' });
});

test('yen have no hundredths: five thousand of them are 2,853.93 rupees', () => {
  const yen = { ...invoice, ...abroad, currency: 'JPY', inr_rate: '0.57078507' };
  expect(inPaise(yen)).toMatchObject({ taxable: 285_393, total: 285_393 });
});

test('a credit note names the document that it takes back from', () => {
  const note = eInvoice({
    ...{ ...invoice, kind: 'credit_note', number: 'CINV/26-27/00001' },
    ...{ original_number: 'INV/26-27/00001', original_issued_at: invoice.issued_at },
  });
  expect(note.DocDtls).toMatchObject({ Typ: 'CRN', No: 'CINV/26-27/00001' });
  expect(note.RefDtls).toEqual({ PrecDocDtls: [{ InvNo: 'INV/26-27/00001', InvDt: '21/11/2026' }] });
});

test.each([
  ['B2B', {}, 1_800],
  ['B2C', { gstin: null, tax_status: 'unregistered' }, 1_800],
  ['SEZWP', { tax_status: 'sez' }, 1_800],
  ['SEZWOP', { tax_status: 'sez' }, 0],
  ['EXPWP', { country: 'US', gstin: null }, 1_800],
  ['EXPWOP', { country: 'US', gstin: null }, 0],
] as const)('supply type %s', (type, recipient, tax_rate_bps) => {
  expect(supplyType({ ...invoice, recipient: { ...invoice.recipient, ...recipient }, tax_rate_bps })).toBe(
    type,
  );
});
