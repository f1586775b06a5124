// What a document says, line by line, before anything is drawn (docs/money/tax.md#the-pdf). Pure: the same row gives the same
// sheet.
import { type Currency, formatMoney, isCurrency, mulDivFloor } from '../../kernel/index.ts';
import { originalOf } from '../e-invoice.ts';
import { IST_MS } from '../number.ts';
import { toPaise } from '../rupees.ts';
import { isUnionTerritory } from '../states.ts';
import type { Invoice } from '../types.ts';
import { amountInWords } from './words.ts';

/** A party of the sale: a name, then its lines. */
export interface Party {
  readonly heading: string;
  readonly name: string;
  readonly lines: readonly string[];
}

export interface Row {
  readonly description: string;
  /** Smaller, under the description; empty for none. */
  readonly note: string;
  readonly cells: readonly { readonly text: string; readonly note: string }[];
}

export interface Sheet {
  readonly title: string;
  readonly number: string;
  readonly supplier: Party;
  readonly recipient: Party;
  /** Beside the parties: label and value. */
  readonly facts: readonly (readonly [string, string])[];
  /** Headings of the table after `Description`. */
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  /** Label and amount; the last one is the total. */
  readonly totals: readonly (readonly [string, string])[];
  readonly words: string;
  readonly notes: readonly string[];
  readonly registration: {
    readonly lines: readonly (readonly [string, string])[];
    readonly qr: string;
  } | null;
}

const TITLES = {
  tax_invoice: 'Tax invoice',
  export_invoice: 'Export invoice',
  credit_note: 'Credit note',
  receipt: 'Receipt',
} as const;

const dates = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});
const countries = new Intl.DisplayNames('en', { type: 'region' });

/** The day in Kolkata, in words: `21 November 2026`. */
export function dayOf(at: Date): string {
  return dates.format(new Date(at.getTime() + IST_MS));
}

function moneyOf(currency: string): (minor: number) => string {
  if (!isCurrency(currency)) throw new Error(`no document in ${currency}`);
  return (minor) => formatMoney(minor, currency);
}

/** Basis points as a percentage without needless zeros: `9%`, `2.5%`. */
function percent(bps: number): string {
  return `${bps / 100}%`;
}

/** The taxes of a document: what each is called, its rate, its amount. */
function taxesOf(invoice: Invoice): { name: string; rate: string; amount_minor: number }[] {
  const { cgst_minor, sgst_minor, igst_minor, tax_rate_bps } = invoice;
  if (igst_minor > 0) return [{ name: 'IGST', rate: percent(tax_rate_bps), amount_minor: igst_minor }];
  if (cgst_minor === 0) return [];
  const rate = percent(tax_rate_bps / 2);
  const of_state = isUnionTerritory(invoice.place_of_supply.slice(0, 2)) ? 'UTGST' : 'SGST';
  return [
    { name: 'CGST', rate, amount_minor: cgst_minor },
    { name: of_state, rate, amount_minor: sgst_minor },
  ];
}

function supplierOf({ supplier }: Invoice): Party {
  const { gstin, pan, lut, email, website } = supplier;
  return {
    heading: 'From',
    name: supplier.legal_name,
    lines: [
      ...supplier.address,
      ...(gstin === null ? [] : [`GSTIN ${gstin}`]),
      ...(pan === null ? [] : [`PAN ${pan}`]),
      ...(lut === null ? [] : [`LUT ${lut}`]),
      ...(email === undefined ? [] : [email]),
      ...(website === undefined ? [] : [website]),
    ],
  };
}

function recipientOf({ recipient, place_of_supply, supplier }: Invoice): Party {
  const { address, country, gstin } = recipient;
  const in_india = country === 'IN';
  const city = [address?.city, address?.postal_code].filter((part) => part !== undefined).join(' ');
  const state = in_india ? place_of_supply.slice(3) : (address?.state_code ?? '');
  const registered = gstin === null ? 'GSTIN: Unregistered' : `GSTIN ${gstin}`;
  return {
    heading: 'Bill to',
    name: recipient.name,
    lines: [
      ...[address?.line1 ?? '', city, state, countries.of(country) ?? country].filter((line) => line !== ''),
      ...(in_india && supplier.gstin !== null ? [registered] : []),
    ],
  };
}

function factsOf(invoice: Invoice): [string, string][] {
  const original = originalOf(invoice);
  const facts: [string, string][] = [
    ['Number', invoice.number],
    ['Date', dayOf(invoice.issued_at)],
  ];
  if (original !== null)
    facts.push(['Original document', `${original.number} of ${dayOf(original.issued_at)}`]);
  facts.push(['Place of supply', invoice.place_of_supply]);
  if (invoice.supplier.gstin !== null) facts.push(['Reverse charge', 'No']);
  const { payment_ref, kind } = invoice;
  if (payment_ref !== null) facts.push([kind === 'credit_note' ? 'Refund' : 'Payment', payment_ref]);
  return facts;
}

/** `$11.10 of credits at ₹90.0305 per US dollar`; a document in dollars needs no rate. */
function creditsNote(invoice: Invoice): string {
  const dollars = formatMoney(mulDivFloor(invoice.credits_micro, 1, 10_000), 'USD');
  if (invoice.currency === 'USD') return `${dollars} of credits`;
  const rate = invoice.fx_rate.replace(/0+$/, '').replace(/\.$/, '');
  return `${dollars} of credits at ${invoice.currency} ${rate} per US dollar`;
}

function rowsOf(invoice: Invoice, money: (minor: number) => string): Row[] {
  const only = invoice.lines.length === 1;
  const taxes = only ? taxesOf(invoice) : [];
  return invoice.lines.map((line) => {
    const plain = (text: string) => ({ text, note: '' });
    const tax = taxes.map(({ rate, amount_minor }) => ({ text: money(amount_minor), note: rate }));
    const taxed = taxes.reduce((sum, { amount_minor }) => sum + amount_minor, line.amount_minor);
    return {
      description: line.description,
      note: line.kind === 'credits' ? creditsNote(invoice) : '',
      cells: [
        plain(line.sac),
        plain(money(line.amount_minor)),
        ...tax,
        ...(tax.length > 0 ? [plain(money(taxed))] : []),
      ],
    };
  });
}

/** What a document in another currency is in rupees, for the supplier's returns. */
function rupees(invoice: Invoice): string[] {
  if (invoice.inr_rate === null) return [];
  const { inr_rate, currency } = invoice;
  const inr = (minor: number) => formatMoney(toPaise(minor, invoice.currency as Currency, inr_rate), 'INR');
  const tax = invoice.total_minor - invoice.taxable_minor;
  const parts = tax === 0 ? '' : ` (taxable value ${inr(invoice.taxable_minor)}, tax ${inr(tax)})`;
  const rate = inr_rate.replace(/0+$/, '').replace(/\.$/, '');
  return [
    `Equivalent in Indian rupees: ${inr(invoice.total_minor)}${parts}, at INR ${rate} per ${currency}.`,
  ];
}

function notesOf(invoice: Invoice): string[] {
  const endorsement = invoice.endorsement === '' ? [] : [`${invoice.endorsement}.`];
  const credit =
    invoice.kind === 'credit_note'
      ? [
          'The amount of this credit note was paid back the way it was paid, and the credits were taken off the balance.',
        ]
      : [];
  const receipt =
    invoice.kind === 'receipt' ? ['The supplier is not registered for GST, so no tax is charged.'] : [];
  return [
    ...endorsement,
    ...credit,
    ...receipt,
    ...rupees(invoice),
    'This document was generated and recorded digitally by a computer and is valid without a signature.',
  ];
}

function registrationOf(invoice: Invoice): Sheet['registration'] {
  const { irn, irn_qr, ack_no, ack_at } = invoice;
  if (irn === null || irn_qr === null) return null;
  const lines: [string, string][] = [['IRN', irn]];
  if (ack_no !== null) lines.push(['Acknowledgement', ack_no]);
  if (ack_at !== null) lines.push(['Acknowledged on', dayOf(ack_at)]);
  return { lines, qr: irn_qr };
}

/** The sheet of a document. @throws Error (a defect) in a currency that nothing is sold in. */
export function sheetOf(invoice: Invoice): Sheet {
  const money = moneyOf(invoice.currency);
  const taxes = taxesOf(invoice);
  const columns = ['SAC', taxes.length === 0 ? 'Amount' : 'Taxable value'];
  if (invoice.lines.length === 1 && taxes.length > 0)
    columns.push(...taxes.map(({ name }) => name), 'Amount');
  return {
    title: TITLES[invoice.kind],
    number: invoice.number,
    supplier: supplierOf(invoice),
    recipient: recipientOf(invoice),
    facts: factsOf(invoice),
    columns,
    rows: rowsOf(invoice, money),
    totals: [
      ...(taxes.length === 0 ? [] : [['Taxable value', money(invoice.taxable_minor)] as const]),
      ...taxes.map(({ name, rate, amount_minor }) => [`${name} ${rate}`, money(amount_minor)] as const),
      [invoice.kind === 'credit_note' ? 'Total credited' : 'Total', money(invoice.total_minor)],
    ],
    words: amountInWords(invoice.total_minor, invoice.currency),
    notes: notesOf(invoice),
    registration: registrationOf(invoice),
  };
}
