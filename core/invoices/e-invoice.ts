// A document in the form of India's e-invoices (schema 1.1 of the invoice registration portal): attached to every PDF,
// and what is sent for registration. Amounts are in rupees with two decimals. Pure.
import { type Currency, decimalOf } from '../kernel/index.ts';
import { IST_MS } from './number.ts';
import { toPaise } from './rupees.ts';
import type { Invoice } from './types.ts';

/** The document that a credit note takes back from; null for other documents. */
export function originalOf(invoice: Invoice): { readonly number: string; readonly issued_at: Date } | null {
  const { original_number: number, original_issued_at: issued_at } = invoice;
  return number === null || issued_at === null ? null : { number, issued_at };
}

export interface EInvoice {
  readonly Version: '1.1';
  readonly TranDtls: {
    readonly TaxSch: 'GST';
    readonly SupTyp: string;
    readonly RegRev: 'N';
    readonly IgstOnIntra: 'N';
  };
  readonly DocDtls: { readonly Typ: 'INV' | 'CRN'; readonly No: string; readonly Dt: string };
  readonly SellerDtls: EParty;
  readonly BuyerDtls: EParty & { readonly Pos: string };
  readonly ItemList: readonly object[];
  readonly ValDtls: {
    readonly AssVal: number;
    readonly CgstVal: number;
    readonly SgstVal: number;
    readonly IgstVal: number;
    readonly TotInvVal: number;
    readonly TotInvValFc?: number;
  };
  readonly RefDtls?: object;
  readonly ExpDtls?: object;
}

interface EParty {
  readonly Gstin: string;
  readonly LglNm: string;
  readonly Addr1: string;
  readonly Addr2?: string;
  readonly Loc: string;
  readonly Pin: number;
  readonly Stcd: string;
}

/** Begin of the endorsement of a credit note that takes back no tax although its document has some. */
export const WITHOUT_TAX = 'Credit note without tax';

/** Of a place outside India, by the schema. */
const ABROAD = { code: '96', pin: 999_999 } as const;

/** A date as the portal writes it, in Kolkata: `21/11/2026`. */
function day(at: Date): string {
  const [year, month, date] = new Date(at.getTime() + IST_MS).toISOString().slice(0, 10).split('-');
  return `${date}/${month}/${year}`;
}

/** The kind of supply: to a registered recipient or a consumer, to a special economic zone, or abroad. */
export function supplyType(
  invoice: Pick<Invoice, 'tax_rate_bps' | 'recipient'>,
): 'B2B' | 'B2C' | 'SEZWP' | 'SEZWOP' | 'EXPWP' | 'EXPWOP' {
  const taxed = invoice.tax_rate_bps > 0;
  if (invoice.recipient.country !== 'IN') return taxed ? 'EXPWP' : 'EXPWOP';
  if (invoice.recipient.tax_status === 'sez') return taxed ? 'SEZWP' : 'SEZWOP';
  return invoice.recipient.gstin === null ? 'B2C' : 'B2B';
}

const cut = (text: string, most: number) => [...text].slice(0, most).join('');
const pinOf = (text: string) => /\b[1-9]\d{5}\b/.exec(text)?.[0];

function seller({ supplier }: Invoice): EParty {
  const [first = supplier.legal_name, ...rest] = supplier.address;
  const with_pin = supplier.address.find((line) => pinOf(line) !== undefined);
  const pin = with_pin === undefined ? undefined : pinOf(with_pin);
  const loc = with_pin?.replace(pin ?? '', '').replaceAll(/[\s,-]+$/g, '') ?? rest[0] ?? first;
  return {
    Gstin: supplier.gstin ?? 'URP',
    LglNm: cut(supplier.legal_name, 100),
    Addr1: cut(first, 100),
    ...(rest.length > 1 ? { Addr2: cut(rest.join(', '), 100) } : {}),
    Loc: cut(loc, 50),
    Pin: Number(pin ?? ABROAD.pin),
    Stcd: supplier.state_code,
  };
}

function buyer({ recipient, place_of_supply }: Invoice): EInvoice['BuyerDtls'] {
  const { address } = recipient;
  const in_india = recipient.country === 'IN';
  const state = in_india ? place_of_supply.slice(0, 2) : ABROAD.code;
  const pin = pinOf(address?.postal_code ?? '');
  return {
    Gstin: in_india ? (recipient.gstin ?? 'URP') : 'URP',
    LglNm: cut(recipient.name, 100),
    Pos: state,
    // The schema wants three characters at least.
    Addr1: cut((address?.line1 ?? recipient.name).padEnd(3, '.'), 100),
    Loc: cut((address?.city ?? recipient.name).padEnd(3, '.'), 50),
    Pin: in_india && pin !== undefined ? Number(pin) : ABROAD.pin,
    Stcd: state,
  };
}

/** Amounts of a document in paise: the parts converted, the total their sum. */
export function inPaise(invoice: Invoice) {
  const { currency, inr_rate } = invoice;
  const of = (minor: number) =>
    currency === 'INR' || inr_rate === null ? minor : toPaise(minor, currency as Currency, inr_rate);
  const taxable = of(invoice.taxable_minor);
  const [cgst, sgst, igst] = [of(invoice.cgst_minor), of(invoice.sgst_minor), of(invoice.igst_minor)];
  return { taxable, cgst, sgst, igst, total: taxable + cgst + sgst + igst };
}

/** Paise as rupees; exact to the paisa, because a double holds two decimals of anything below 2^53 paise. */
const rupees = (paise: number) => Number(decimalOf(paise, 'INR'));

/** The document in the form of the portal. */
export function eInvoice(invoice: Invoice): EInvoice {
  const original = originalOf(invoice);
  const { taxable, cgst, sgst, igst, total } = inPaise(invoice);
  const tax = { IgstAmt: rupees(igst), CgstAmt: rupees(cgst), SgstAmt: rupees(sgst) };
  const abroad = invoice.recipient.country !== 'IN';
  return {
    Version: '1.1',
    TranDtls: { TaxSch: 'GST', SupTyp: supplyType(invoice), RegRev: 'N', IgstOnIntra: 'N' },
    DocDtls: {
      Typ: invoice.kind === 'credit_note' ? 'CRN' : 'INV',
      No: invoice.number,
      Dt: day(invoice.issued_at),
    },
    SellerDtls: seller(invoice),
    BuyerDtls: buyer(invoice),
    ItemList: [
      {
        SlNo: '1',
        PrdDesc: invoice.lines[0]?.description ?? '',
        IsServc: 'Y',
        HsnCd: invoice.hsn_sac,
        Qty: 1,
        Unit: 'OTH',
        UnitPrice: rupees(taxable),
        TotAmt: rupees(taxable),
        Discount: 0,
        AssAmt: rupees(taxable),
        GstRt: invoice.tax_rate_bps / 100,
        ...tax,
        TotItemVal: rupees(total),
      },
    ],
    ValDtls: {
      AssVal: rupees(taxable),
      CgstVal: tax.CgstAmt,
      SgstVal: tax.SgstAmt,
      IgstVal: tax.IgstAmt,
      TotInvVal: rupees(total),
      ...(abroad
        ? { TotInvValFc: Number(decimalOf(invoice.total_minor, invoice.currency as Currency)) }
        : {}),
    },
    ...(original === null
      ? {}
      : { RefDtls: { PrecDocDtls: [{ InvNo: original.number, InvDt: day(original.issued_at) }] } }),
    ...(abroad
      ? { ExpDtls: { ForCur: invoice.currency, CntCode: invoice.recipient.country, RefClm: 'N' } }
      : {}),
  };
}
