// Credit notes: what a refund takes back from a document (docs/money/tax.md#credit-notes).
import { type Context, type Id, mulDivHalfUp } from '../kernel/index.ts';
import { WITHOUT_TAX } from './e-invoice.ts';
import { putDocument } from './issue.ts';
import { creditNoteSeries, taxReductionEnd } from './number.ts';
import { mailIssued } from './sending.ts';
import { creditedSoFar, findInvoice, lockInvoice } from './store.ts';
import type { Invoice, TaxParts } from './types.ts';

const parts = ['cgst_minor', 'sgst_minor', 'igst_minor'] as const;
const NO_TAX: TaxParts = { cgst_minor: 0, sgst_minor: 0, igst_minor: 0 };

/** What the tax of a refund follows from. */
export type Credited = Pick<Invoice, 'taxable_minor' | 'issued_at'> & TaxParts;

/** The tax of the first `amount_minor` of a document, each part rounded half up once. */
function taxOfFirst(original: Credited, amount_minor: number): TaxParts {
  const of = (tax_minor: number) =>
    tax_minor === 0 ? 0 : mulDivHalfUp(amount_minor, tax_minor, original.taxable_minor);
  return {
    cgst_minor: of(original.cgst_minor),
    sgst_minor: of(original.sgst_minor),
    igst_minor: of(original.igst_minor),
  };
}

/**
 * The tax that goes back with `amount_minor` (without tax) of `original`, of which `before_minor` went back earlier: in
 * proportion, and so that the parts of all refunds of a document add up to its tax. None from the end of 30 November
 * after the document's financial year. Pure.
 */
export function refundedTax(
  original: Credited,
  refund: { readonly before_minor: number; readonly amount_minor: number; readonly at: Date },
): TaxParts {
  if (refund.at >= taxReductionEnd(original.issued_at)) return NO_TAX;
  const before = taxOfFirst(original, refund.before_minor);
  const after = taxOfFirst(original, refund.before_minor + refund.amount_minor);
  return {
    cgst_minor: after.cgst_minor - before.cgst_minor,
    sgst_minor: after.sgst_minor - before.sgst_minor,
    igst_minor: after.igst_minor - before.igst_minor,
  };
}

interface CreditNote {
  /** The document of the top-up that is refunded. */
  readonly invoice_id: Id<'invoice'>;
  readonly org_id: Id<'org'>;
  readonly refund_id: Id<'refund'>;
  /** What goes back, without tax; positive. */
  readonly amount_minor: number;
  /** The tax that goes back, as `refundedTax` gave it when the refund was decided. */
  readonly tax: TaxParts;
  /** The credits that were taken for it. */
  readonly credits_micro: number;
  /** The rail's reference of the refund; null where it has none. */
  readonly payment_ref: string | null;
}

/** @throws Error (a defect) when this note would take back more than is left of the document. */
async function checkLeft(context: Context, original: Invoice, note: CreditNote): Promise<void> {
  const sum = await creditedSoFar(context.db, original.id);
  const over = parts.filter((part) => sum[part] + note.tax[part] > original[part]);
  if (over.length > 0 || sum.taxable_minor + note.amount_minor > original.taxable_minor)
    throw new Error(`credit notes of ${original.number} would exceed it`);
}

/** Why a note gives back no tax although the document has some; empty where it gives back some or there is none. */
function endorsementOf(original: Invoice, note: CreditNote, at: Date): string {
  const has_tax = parts.some((part) => original[part] > 0);
  const gives_tax = parts.some((part) => note.tax[part] > 0);
  if (!has_tax || gives_tax || at < taxReductionEnd(original.issued_at)) return '';
  return (
    `${WITHOUT_TAX}: the time in which the tax of the original document can be reduced has ended ` +
    '(section 34(2) of the CGST Act)'
  );
}

/**
 * Issues the credit note of a settled refund, emits `invoice.issued` and asks for its mail. Call it last in the transaction that settles
 * the refund: it locks the document, then the counter of the series, until the commit.
 * @throws Error when the notes would exceed the document, or the refund has a note already (`invoice_refund_once`).
 */
export async function issueCreditNote(
  context: Context,
  note: CreditNote,
): Promise<{ id: Id<'credit_note'>; number: string; total_minor: number }> {
  const original = await lockInvoice(context.db, { org_id: note.org_id, id: note.invoice_id });
  if (original === null || original.kind === 'credit_note') throw new Error(`no document ${note.invoice_id}`);
  if (note.amount_minor <= 0) throw new Error(`a credit note of nothing for ${original.number}`);
  await checkLeft(context, original, note);
  const id = context.newId('credit_note');
  const at = context.now();
  const { sac } = original.lines[0] ?? { sac: original.hsn_sac };
  const endorsement = endorsementOf(original, note, at);
  const made = await putDocument(context, {
    ...original,
    id,
    kind: 'credit_note',
    series: creditNoteSeries(original.number),
    lines: [
      {
        description: 'Refund of prepaid API credits',
        kind: 'credits',
        sac,
        quantity: 1,
        unit_minor: note.amount_minor,
        amount_minor: note.amount_minor,
      },
    ],
    tax_rate_bps: endorsement === '' ? original.tax_rate_bps : 0,
    taxable_minor: note.amount_minor,
    ...note.tax,
    endorsement: endorsement === '' ? original.endorsement : endorsement,
    credits_micro: note.credits_micro,
    refund_id: note.refund_id,
    original_invoice_id: note.invoice_id,
    payment_ref: note.payment_ref,
    at,
  });
  const issued = await findInvoice(context.db, { org_id: note.org_id, id });
  if (issued === null) throw new Error(`${made.number} was not kept`);
  // One that is to be registered is mailed with its registration.
  if (issued.irn_status !== 'pending') await mailIssued(context, issued);
  return { id, ...made };
}
