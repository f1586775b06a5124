// What an accountant files of a month's documents: the sections of form GSTR-1 with the headings of its offline tool, as
// CSV (docs/money/tax.md#filing-a-month). Pure.
import { csv } from '../kernel/index.ts';
import { inPaise, supplyType, WITHOUT_TAX } from './e-invoice.ts';
import { IST_MS } from './number.ts';
import type { Invoice } from './types.ts';

/** A document of the month; of a credit note also what its document came to, because that decides its section. */
export type ReturnDocument = Invoice & { readonly original_total_minor: number | null };

/** Files by name, in the order in which people read them. */
type ReturnFiles = ReadonlyMap<string, string>;

type Cells = Readonly<Record<string, string | number>>;

/** Above this an invoice to an unregistered person of another state is listed by itself: one lakh rupees, in paise. */
const LARGE_PAISE = 10_000_000;

const dates = new Intl.DateTimeFormat('en-GB', {
  ...{ day: '2-digit', month: 'short', year: 'numeric', timeZone: 'UTC' },
});

/** A day in Kolkata as the tool writes it: `21-Nov-2026`. */
function day(at: Date): string {
  return dates
    .format(new Date(at.getTime() + IST_MS))
    .replaceAll(' ', '-')
    .replace('Sept', 'Sep');
}

/** Paise as rupees. A double holds two decimals of anything below 2^53 paise. */
const rupees = (paise: number) => paise / 100;

type Section = 'b2b' | 'b2cl' | 'b2cs' | 'exp' | 'cdnr' | 'cdnur' | 'none';

/** The section of a document; `none` for one that is no supply to report: a receipt, a credit note without its tax. */
function sectionOf(document: ReturnDocument): Section {
  if (document.supplier.gstin === null) return 'none';
  const is_note = document.kind === 'credit_note';
  if (is_note && document.tax_rate_bps === 0 && document.endorsement.startsWith(WITHOUT_TAX)) return 'none';
  const type = supplyType(document);
  if (type === 'EXPWP' || type === 'EXPWOP') return is_note ? 'cdnur' : 'exp';
  if (type !== 'B2C') return is_note ? 'cdnr' : 'b2b';
  const between = document.place_of_supply.slice(0, 2) !== document.supplier.state_code;
  const whole = is_note ? (document.original_total_minor ?? 0) : document.total_minor;
  if (!between || whole <= LARGE_PAISE) return 'b2cs';
  return is_note ? 'cdnur' : 'b2cl';
}

const INVOICE_TYPES = {
  B2B: 'Regular B2B',
  SEZWP: 'SEZ supplies with payment',
  SEZWOP: 'SEZ supplies without payment',
} as const;

const typeOf = (document: Invoice) => INVOICE_TYPES[supplyType(document) as keyof typeof INVOICE_TYPES];
const rateOf = (document: Invoice) => document.tax_rate_bps / 100;

function b2b(document: ReturnDocument): Cells {
  const { taxable, total } = inPaise(document);
  return {
    'GSTIN/UIN of Recipient': document.recipient.gstin ?? '',
    'Receiver Name': document.recipient.name,
    'Invoice Number': document.number,
    'Invoice date': day(document.issued_at),
    'Invoice Value': rupees(total),
    'Place Of Supply': document.place_of_supply,
    'Reverse Charge': 'N',
    'Applicable % of Tax Rate': '',
    'Invoice Type': typeOf(document),
    'E-Commerce GSTIN': '',
    Rate: rateOf(document),
    'Taxable Value': rupees(taxable),
    'Cess Amount': 0,
  };
}

function b2cl(document: ReturnDocument): Cells {
  const { taxable, total } = inPaise(document);
  return {
    'Invoice Number': document.number,
    'Invoice date': day(document.issued_at),
    'Invoice Value': rupees(total),
    'Place Of Supply': document.place_of_supply,
    'Applicable % of Tax Rate': '',
    Rate: rateOf(document),
    'Taxable Value': rupees(taxable),
    'Cess Amount': 0,
    'E-Commerce GSTIN': '',
  };
}

function exports(document: ReturnDocument): Cells {
  const { taxable, total } = inPaise(document);
  return {
    'Export Type': supplyType(document) === 'EXPWP' ? 'WPAY' : 'WOPAY',
    'Invoice Number': document.number,
    'Invoice date': day(document.issued_at),
    'Invoice Value': rupees(total),
    'Port Code': '',
    'Shipping Bill Number': '',
    'Shipping Bill Date': '',
    Rate: rateOf(document),
    'Taxable Value': rupees(taxable),
    'Cess Amount': 0,
  };
}

function cdnr(document: ReturnDocument): Cells {
  const { taxable, total } = inPaise(document);
  return {
    'GSTIN/UIN of Recipient': document.recipient.gstin ?? '',
    'Receiver Name': document.recipient.name,
    'Note Number': document.number,
    'Note Date': day(document.issued_at),
    'Note Type': 'C',
    'Place Of Supply': document.place_of_supply,
    'Reverse Charge': 'N',
    'Note Supply Type': typeOf(document),
    'Note Value': rupees(total),
    'Applicable % of Tax Rate': '',
    Rate: rateOf(document),
    'Taxable Value': rupees(taxable),
    'Cess Amount': 0,
  };
}

function cdnur(document: ReturnDocument): Cells {
  const { taxable, total } = inPaise(document);
  const type = supplyType(document);
  return {
    'UR Type': type === 'B2C' ? 'B2CL' : type,
    'Note Number': document.number,
    'Note Date': day(document.issued_at),
    'Note Type': 'C',
    // The tool wants it empty for exports.
    'Place Of Supply': type === 'B2C' ? document.place_of_supply : '',
    'Note Value': rupees(total),
    'Applicable % of Tax Rate': '',
    Rate: rateOf(document),
    'Taxable Value': rupees(taxable),
    'Cess Amount': 0,
  };
}

/** Adds up what `keyOf` gives the same key; credit notes count against. */
function sums(documents: readonly ReturnDocument[], keyOf: (document: ReturnDocument) => string) {
  const found = new Map<
    string,
    ReturnType<typeof inPaise> & { readonly first: ReturnDocument; readonly count: number }
  >();
  for (const document of documents) {
    const key = keyOf(document);
    const paise = inPaise(document);
    const before = found.get(key);
    const sign = document.kind === 'credit_note' ? -1 : 1;
    found.set(key, {
      first: before?.first ?? document,
      count: (before?.count ?? 0) + sign,
      taxable: (before?.taxable ?? 0) + sign * paise.taxable,
      cgst: (before?.cgst ?? 0) + sign * paise.cgst,
      sgst: (before?.sgst ?? 0) + sign * paise.sgst,
      igst: (before?.igst ?? 0) + sign * paise.igst,
      total: (before?.total ?? 0) + sign * paise.total,
    });
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
}

function b2cs(documents: readonly ReturnDocument[]): Cells[] {
  const key = (document: ReturnDocument) => `${document.place_of_supply} ${document.tax_rate_bps}`;
  return sums(documents, key).map(({ first, taxable }) => ({
    Type: 'OE',
    'Place Of Supply': first.place_of_supply,
    'Applicable % of Tax Rate': '',
    Rate: rateOf(first),
    'Taxable Value': rupees(taxable),
    'Cess Amount': 0,
    'E-Commerce GSTIN': '',
  }));
}

function hsn(documents: readonly ReturnDocument[]): Cells[] {
  return sums(documents, (document) => `${document.hsn_sac} ${document.tax_rate_bps}`).map((sum) => ({
    HSN: sum.first.hsn_sac,
    Description: 'Prepaid API credits',
    UQC: 'NA',
    'Total Quantity': 0,
    'Total Value': rupees(sum.total),
    Rate: rateOf(sum.first),
    'Taxable Value': rupees(sum.taxable),
    'Integrated Tax Amount': rupees(sum.igst),
    'Central Tax Amount': rupees(sum.cgst),
    'State/UT Tax Amount': rupees(sum.sgst),
    'Cess Amount': 0,
  }));
}

/** The numbers that were used: one row for each series. Numbers have no gaps, so first and last say all. */
function series(documents: readonly ReturnDocument[]): Cells[] {
  const found = new Map<string, ReturnDocument[]>();
  for (const document of documents) {
    const of_series = document.number.slice(0, document.number.lastIndexOf('/'));
    found.set(of_series, [...(found.get(of_series) ?? []), document]);
  }
  const last = (document: ReturnDocument) =>
    Number(document.number.slice(document.number.lastIndexOf('/') + 1));
  return [...found].sort().map(([, all]) => {
    const sorted = [...all].sort((a, b) => last(a) - last(b));
    return {
      'Nature of Document': all[0]?.kind === 'credit_note' ? 'Credit Note' : 'Invoices for outward supply',
      'Sr. No. From': sorted[0]?.number ?? '',
      'Sr. No. To': sorted.at(-1)?.number ?? '',
      'Total Number': all.length,
      Cancelled: 0,
    };
  });
}

/** Every document, filed or not, with its section: what the other files are added up from. */
function register(document: ReturnDocument): Cells {
  const { taxable, cgst, sgst, igst, total } = inPaise(document);
  return {
    number: document.number,
    date: day(document.issued_at),
    kind: document.kind,
    section: sectionOf(document),
    recipient: document.recipient.name,
    gstin: document.recipient.gstin ?? '',
    place_of_supply: document.place_of_supply,
    currency: document.currency,
    inr_rate: document.inr_rate ?? '',
    taxable_inr: rupees(taxable),
    cgst_inr: rupees(cgst),
    sgst_inr: rupees(sgst),
    igst_inr: rupees(igst),
    total_inr: rupees(total),
    original_number: document.original_number ?? '',
    irn: document.irn ?? '',
    payment_ref: document.payment_ref ?? '',
  };
}

function file(rows: readonly Cells[]): string | null {
  const [first] = rows;
  return first === undefined ? null : csv(Object.keys(first), rows);
}

/** The files of a month; a section without rows has none. */
export function returnFiles(documents: readonly ReturnDocument[]): ReturnFiles {
  const of = (section: Section) => documents.filter((document) => sectionOf(document) === section);
  const filed = documents.filter((document) => sectionOf(document) !== 'none');
  const registered = (document: ReturnDocument) => document.recipient.gstin !== null;
  const files: readonly (readonly [string, string | null])[] = [
    ['b2b', file(of('b2b').map(b2b))],
    ['b2cl', file(of('b2cl').map(b2cl))],
    ['b2cs', file(b2cs(of('b2cs')))],
    ['exp', file(of('exp').map(exports))],
    ['cdnr', file(of('cdnr').map(cdnr))],
    ['cdnur', file(of('cdnur').map(cdnur))],
    ['hsn-b2b', file(hsn(filed.filter(registered)))],
    ['hsn-b2c', file(hsn(filed.filter((document) => !registered(document))))],
    ['docs', file(series(documents.filter(({ supplier }) => supplier.gstin !== null)))],
    ['documents', file(documents.map(register))],
  ];
  return new Map(files.flatMap(([name, text]) => (text === null ? [] : [[`${name}.csv`, text] as const])));
}

/** The month `2026-11` in Kolkata, from its first instant to that of the next. */
export function monthInKolkata(month: string): { readonly from: Date; readonly to: Date } {
  const [year, number] = month.split('-').map(Number) as [number, number];
  return {
    from: new Date(Date.UTC(year, number - 1, 1) - IST_MS),
    to: new Date(Date.UTC(year, number, 1) - IST_MS),
  };
}
