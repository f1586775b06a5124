// Issuing a document: its number and row are written in the transaction of what it documents.
import type { Context, Id } from '../kernel/index.ts';
import { writeEvent } from '../ledger/index.ts';
import { startWorkflow } from '../workflow-starts/index.ts';
import { supplyType, WITHOUT_TAX } from './e-invoice.ts';
import { documentNumber, financialYear } from './number.ts';
import { holdSeries } from './sellers/identity-store.ts';
import { insertInvoice, type NewInvoice, nextNumber } from './store.ts';
import { readSupplier } from './supplier.ts';
import type { InvoiceId, IrnStatus, TaxTerms } from './types.ts';

interface TopupInvoice {
  readonly topup_id: Id<'topup'>;
  readonly currency: string;
  /** Price of the credits without tax. */
  readonly amount_minor: number;
  /** Decimal with eight places. */
  readonly fx_rate: string;
  readonly credits_micro: number;
  /** The rail's reference of the payment. */
  readonly payment_ref: string;
  readonly terms: TaxTerms;
}

/** The one line of a document for credits. */
function creditsLine(sac: string, amount_minor: number) {
  return {
    description: 'Prepaid API credits',
    kind: 'credits' as const,
    sac,
    quantity: 1,
    unit_minor: amount_minor,
    amount_minor,
  };
}

/** Writes the event `invoice.issued`, to be sent when the transaction has committed. */
function announce(context: Context, invoice: NewInvoice): Promise<void> {
  const { id, number, kind, currency, total_minor, topup_id, refund_id, issued_at } = invoice;
  return writeEvent(context.db, {
    org_id: invoice.org_id,
    topic: 'invoice.issued',
    payload: {
      ...{ invoice_id: id, number, kind, currency, total_minor, topup_id, refund_id },
      issued_at: issued_at.toISOString(),
    },
    at: issued_at,
  });
}

/** A document before it has its number. */
export type Draft = Omit<NewInvoice, 'number' | 'fy' | 'total_minor' | 'irn_status' | 'issued_at'> & {
  readonly id: InvoiceId;
  /** Prefix of its number. */
  readonly series: string;
  readonly at: Date;
};

/**
 * Whether a document of the platform has to be registered: those to businesses with a GSTIN, to special economic zones and abroad, once
 * staff have said so of the supplier. A credit note without its tax is no document of the law.
 */
async function registrationOf(context: Context, draft: Draft): Promise<IrnStatus> {
  if (draft.supplier_id !== 'platform') return 'not_applicable';
  const { supplier } = await readSupplier(context.db);
  if (supplier.e_invoicing !== true || draft.supplier.gstin === null) return 'not_applicable';
  const is_reported = supplyType(draft) !== 'B2C' && !draft.endorsement.startsWith(WITHOUT_TAX);
  return is_reported ? 'pending' : 'not_applicable';
}

/**
 * Numbers a document, inserts it, emits `invoice.issued`, and asks for its registration where it needs one. The counter of its series stays locked until the
 * transaction ends, so call it last.
 */
export async function putDocument(
  context: Context,
  draft: Draft,
): Promise<{ number: string; total_minor: number }> {
  const { series, at } = draft;
  const irn_status = await registrationOf(context, draft);
  const fy = financialYear(at);
  const no = await nextNumber(context.db, { supplier: draft.supplier_id, series, fy });
  const number = documentNumber({ series, fy, no });
  const total_minor = draft.taxable_minor + draft.cgst_minor + draft.sgst_minor + draft.igst_minor;
  const invoice = { ...draft, number, fy, total_minor, irn_status, issued_at: at };
  await insertInvoice(context.db, invoice);
  await announce(context, invoice);
  if (irn_status === 'pending') {
    const start = {
      workflow_id: `invoice-${draft.id}`,
      type: 'invoiceIssue',
      args: { invoice_id: draft.id },
      org_id: invoice.org_id,
    };
    await startWorkflow(context.db, { ...start, at });
  }
  return { number, total_minor };
}

/**
 * The series in which `supplier_id` numbers a document now. That of a reseller is read when the document is issued, because it
 * may have changed since the price was made; what else the price said stays.
 */
async function seriesNow(context: Context, supplier_id: string, of_price: string): Promise<string> {
  if (supplier_id === 'platform') return of_price;
  const series = await holdSeries(context.acrossOrgs.db, supplier_id);
  if (series === null) throw new Error(`${supplier_id} sells and has no series`);
  return series;
}

/**
 * Issues the document of a booked top-up and emits `invoice.issued`. Call it last in the booking transaction: it
 * locks the supplier's counter until the commit. @throws an error of PostgreSQL when the top-up has one already.
 */
export async function issueTopupInvoice(
  context: Context,
  args: TopupInvoice,
): Promise<{ id: Id<'invoice'>; number: string }> {
  const {
    supplier: { supplier_id, series: of_price, sac, e_invoicing: _, ...supplier },
    recipient,
    decision,
  } = args.terms;
  const { cgst_minor, sgst_minor, igst_minor } = args.terms;
  const id = context.newId('invoice');
  const series = await seriesNow(context, supplier_id, of_price);
  const { number } = await putDocument(context, {
    id,
    org_id: recipient.org_id,
    supplier_id,
    series,
    kind: decision.kind,
    currency: args.currency,
    place_of_supply: decision.place_of_supply,
    supplier,
    recipient,
    lines: [creditsLine(sac, args.amount_minor)],
    hsn_sac: sac,
    tax_rate_bps: decision.rate_bps,
    taxable_minor: args.amount_minor,
    ...{ cgst_minor, sgst_minor, igst_minor },
    endorsement: decision.endorsement,
    fx_rate: args.fx_rate,
    inr_rate: args.terms.inr_rate ?? null,
    credits_micro: args.credits_micro,
    topup_id: args.topup_id,
    refund_id: null,
    original_invoice_id: null,
    payment_ref: args.payment_ref,
    at: context.now(),
  });
  return { id, number };
}
