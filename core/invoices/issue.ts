// Issuing a document: its number and row are written in the transaction of what it documents.
import type { Context, Id } from '../kernel/index.ts';
import { writeEvent } from '../ledger/index.ts';
import { documentNumber, financialYear } from './number.ts';
import { insertInvoice, nextNumber } from './store.ts';
import type { TaxTerms } from './types.ts';

interface TopupInvoice {
  readonly topup_id: Id<'topup'>;
  readonly currency: string;
  /** Price of the credits without tax. */
  readonly amount_minor: number;
  /** Decimal with eight places. */
  readonly fx_rate: string;
  readonly credits_micro: number;
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
function announce(
  context: Context,
  { terms, currency, topup_id }: TopupInvoice,
  made: {
    readonly id: Id<'invoice'>;
    readonly number: string;
    readonly total_minor: number;
    readonly at: Date;
  },
): Promise<void> {
  return writeEvent(context.db, {
    org_id: terms.recipient.org_id,
    topic: 'invoice.issued',
    payload: {
      invoice_id: made.id,
      number: made.number,
      kind: terms.decision.kind,
      currency,
      total_minor: made.total_minor,
      topup_id,
      refund_id: null,
      issued_at: made.at.toISOString(),
    },
    at: made.at,
  });
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
    supplier: { supplier_id, series, sac, ...supplier },
    recipient,
    decision,
  } = args.terms;
  const { cgst_minor, sgst_minor, igst_minor } = args.terms;
  const at = context.now();
  const id = context.newId('invoice');
  const fy = financialYear(at);
  const total_minor = args.amount_minor + cgst_minor + sgst_minor + igst_minor;
  const no = await nextNumber(context.db, { supplier: supplier_id, series, fy });
  const number = documentNumber({ series, fy, no });
  await insertInvoice(context.db, {
    id,
    org_id: recipient.org_id,
    supplier_id,
    number,
    fy,
    kind: decision.kind,
    currency: args.currency,
    place_of_supply: decision.place_of_supply,
    supplier,
    recipient,
    lines: [creditsLine(sac, args.amount_minor)],
    hsn_sac: sac,
    tax_rate_bps: decision.rate_bps,
    taxable_minor: args.amount_minor,
    cgst_minor,
    sgst_minor,
    igst_minor,
    total_minor,
    endorsement: decision.endorsement,
    fx_rate: args.fx_rate,
    credits_micro: args.credits_micro,
    topup_id: args.topup_id,
    refund_id: null,
    original_invoice_id: null,
    // Registration of documents (IRN) is not part of this release.
    irn_status: 'not_applicable',
    issued_at: at,
  });
  await announce(context, args, { id, number, total_minor, at });
  return { id, number };
}
