// What an accountant files of a month, from documents in the books: each in the section the form has for it.
import {
  DEMO_SUPPLIER,
  type Invoice,
  issueCreditNote,
  listIssued,
  monthInKolkata,
  refundedTax,
  returnFiles,
} from '@svc/core/invoices/index.ts';
import { type Id, newId } from '@svc/core/kernel/index.ts';
import { expect, test } from 'vitest';
import { atTime, startWorld } from './world.ts';

const world = await startWorld();
const november = (day: string) => world.at(`2026-11-${day}T10:00:00Z`);

async function credit(original: Invoice, amount_minor: number, day: string): Promise<void> {
  const context = november(day);
  const tax = refundedTax(original, { before_minor: 0, amount_minor, at: context.now() });
  await context.transaction((inner) =>
    issueCreditNote(atTime(inner, context.now()), {
      invoice_id: original.id as Id<'invoice'>,
      org_id: original.org_id,
      ...{ refund_id: newId('refund'), amount_minor, tax, credits_micro: 1, payment_ref: 'rfnd_1' },
    }),
  );
}

const registered = await world.org('IN', { legal_name: 'Acme, Pune', gstin: '27AAPFU0939F1ZV' });
const zone = await world.org('IN', { legal_name: 'Zone', gstin: '29AABCU9603R1ZJ', tax_status: 'sez' });
const home = await world.org('IN', { billing_address: { state_code: '29' } });
const delhi = await world.org('IN', { billing_address: { state_code: '07' } });
const berlin = await world.org('DE');
const first = await world.issue(registered, { context: november('01') });
await world.issue(zone, { context: november('02') });
await world.issue(zone, { context: november('03'), supplier: { ...DEMO_SUPPLIER, lut: null } });
const small = await world.issue(home, { context: november('04'), amount_minor: 50_005 });
await world.issue(home, { context: november('05') });
await world.issue(delhi, { context: november('06') });
const large = await world.issue(delhi, { context: november('07'), amount_minor: 20_000_000 });
const abroad = await world.issue(berlin, { context: november('08'), amount_minor: 5_000 });
await world.issue(home, {
  context: november('09'),
  supplier: { ...DEMO_SUPPLIER, gstin: null, pan: null, lut: null },
});
await credit(first, 33_333, '10');
await credit(small, 20_000, '11');
await credit(large, 10_000_000, '12');
await credit(abroad, 1_000, '13');
// The last instant of October and the first of December, in Kolkata.
await world.issue(home, { context: world.at('2026-10-31T18:29:59Z') });
await world.issue(home, { context: world.at('2026-11-30T18:30:00Z') });

const documents = await listIssued(world.pool, { supplier_id: 'platform', ...monthInKolkata('2026-11') });
const files = returnFiles(documents);
const rowsOf = (name: string) => (files.get(`${name}.csv`) ?? '').trimEnd().split('\r\n');

test('registered recipients and special economic zones are listed with their GSTIN, each under its kind', () => {
  expect(rowsOf('b2b')).toEqual([
    'GSTIN/UIN of Recipient,Receiver Name,Invoice Number,Invoice date,Invoice Value,Place Of Supply,Reverse Charge,' +
      'Applicable % of Tax Rate,Invoice Type,E-Commerce GSTIN,Rate,Taxable Value,Cess Amount',
    '27AAPFU0939F1ZV,"Acme, Pune",INV/26-27/00001,01-Nov-2026,1180,27-Maharashtra,N,,Regular B2B,,18,1000,0',
    '29AABCU9603R1ZJ,Zone,INV/26-27/00002,02-Nov-2026,1000,29-Karnataka,N,,SEZ supplies without payment,,0,1000,0',
    '29AABCU9603R1ZJ,Zone,INV/26-27/00003,03-Nov-2026,1180,29-Karnataka,N,,SEZ supplies with payment,,18,1000,0',
  ]);
});

test('others are added up by state and rate, credit notes off, but a large one of another state stands alone', () => {
  expect(rowsOf('b2cs').slice(1)).toEqual(['OE,07-Delhi,,18,1000,0,', 'OE,29-Karnataka,,18,1300.05,0,']);
  expect(rowsOf('b2cl').slice(1)).toEqual(['INV/26-27/00007,07-Nov-2026,236000,07-Delhi,,18,200000,0,']);
});

test('exports are in rupees; credit notes stand with registered recipients or with the rest', () => {
  expect(rowsOf('exp').slice(1)).toEqual(['WOPAY,INV/26-27/00008,08-Nov-2026,4435,,,,0,4435,0']);
  expect(rowsOf('cdnr').slice(1)).toEqual([
    '27AAPFU0939F1ZV,"Acme, Pune",CINV/26-27/00001,10-Nov-2026,C,27-Maharashtra,N,Regular B2B,393.33,,18,333.33,0',
  ]);
  expect(rowsOf('cdnur').slice(1)).toEqual([
    'B2CL,CINV/26-27/00003,12-Nov-2026,C,07-Delhi,118000,,18,100000,0',
    'EXPWOP,CINV/26-27/00004,13-Nov-2026,C,,887,,0,887,0',
  ]);
});

test('the numbers that were used are named, and no document of another month is in it', () => {
  expect(rowsOf('docs').slice(1)).toEqual([
    'Credit Note,CINV/26-27/00001,CINV/26-27/00004,4,0',
    'Invoices for outward supply,INV/26-27/00001,INV/26-27/00008,8,0',
  ]);
  expect(rowsOf('documents')).toHaveLength(14);
});

test('the sections add up to the documents: taxable value and each tax, credit notes off', () => {
  const column = (name: string, heading: string) => {
    const [head = '', ...rows] = rowsOf(name);
    // The name with a comma is the only quoted cell.
    const at = head.split(',').indexOf(heading);
    return rows.map((row) => Number(row.replace(/"[^"]*"/, 'quoted').split(',')[at]));
  };
  const sum = (numbers: number[]) => Math.round(numbers.reduce((one, other) => one + other, 0) * 100);
  const sections = ['b2b', 'b2cl', 'b2cs', 'exp'].flatMap((name) => column(name, 'Taxable Value'));
  const notes = ['cdnr', 'cdnur'].flatMap((name) => column(name, 'Taxable Value'));
  const codes = ['hsn-b2b', 'hsn-b2c'].flatMap((name) => column(name, 'Taxable Value'));
  expect(sum(codes)).toBe(sum(sections) - sum(notes));
  const integrated = ['hsn-b2b', 'hsn-b2c'].flatMap((name) => column(name, 'Integrated Tax Amount'));
  const of_documents = documents.reduce(
    (total, { kind, igst_minor }) => total + (kind === 'credit_note' ? -igst_minor : igst_minor),
    0,
  );
  expect(sum(integrated)).toBe(of_documents);
});

test('a name that begins like a formula is text to a spreadsheet', async () => {
  const evil = await world.org('IN', { legal_name: '=HYPERLINK("http://x")', gstin: '27AAPFU0939F1ZV' });
  const document = await world.issue(evil, { context: november('20') });
  const made = returnFiles([{ ...document, original_total_minor: null }]);
  expect(made.get('b2b.csv')).toContain(`"'=HYPERLINK(""http://x"")"`);
});
