// Wire shapes of the desk.
import { type Static, Type } from 'typebox';
import type { ActRow } from '../identity/index.ts';
import type { Invoice } from '../invoices/index.ts';
import { nullable, Time } from '../kernel/index.ts';
import type { OpenItem } from '../topups/index.ts';

export const ItemView = Type.Object({
  id: Type.String(),
  kind: Type.String({ description: 'what is the matter: `amount_mismatch`, `reconciliation_variance`, …' }),
  subject: Type.String({ description: 'what it is about; with the kind, one matter' }),
  topup_id: nullable(Type.String()),
  org_id: nullable(Type.String()),
  org_name: nullable(Type.String()),
  invoice_number: nullable(Type.String({ description: 'of its top-up' })),
  in_review: Type.Boolean({
    description: 'its top-up is in review, and the item cannot be resolved until it is not',
  }),
  details: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
  created_at: Time,
  resolved_at: nullable(Time),
});

export const DocumentView = Type.Object({
  id: Type.String(),
  kind: Type.String({ description: '`tax_invoice`, `export_invoice`, `credit_note` or `receipt`' }),
  number: Type.String(),
  currency: Type.String(),
  tax_minor: Type.Integer(),
  total_minor: Type.Integer(),
  topup_id: nullable(Type.String()),
  original_number: nullable(Type.String({ description: 'the document that a credit note takes back from' })),
  issued_at: Time,
  sent_at: nullable(Time),
  irn_status: Type.String({
    description:
      'registration at the portal: `not_applicable`, `pending`, `generated`, `cancelled` or `failed`',
  }),
  irn: nullable(Type.String({ description: 'its number there' })),
});

export const ActView = Type.Object({
  id: Type.String(),
  at: Time,
  actor: Type.String({ description: 'address of the member of staff, or the program' }),
  action: Type.String(),
  target: nullable(Type.String()),
  reason: nullable(Type.String()),
  after: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
  outcome: Type.String({ description: '`ok` or `denied`' }),
});

/** Members of `facts` as names with text, for people to read. */
export function namedFacts(
  facts: Readonly<Record<string, unknown>> | null,
): { name: string; value: string }[] {
  return Object.entries(facts ?? {})
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => ({ name, value: typeof value === 'string' ? value : JSON.stringify(value) }));
}

/** An item as staff read it. */
export function viewItem(item: OpenItem): Static<typeof ItemView> {
  return {
    id: String(item.staff_item_id),
    kind: item.kind,
    subject: item.subject,
    topup_id: item.topup_id,
    org_id: item.org_id,
    org_name: item.org_name,
    invoice_number: item.invoice_number,
    in_review: item.topup_status === 'review',
    details: namedFacts(item.details),
    created_at: item.created_at.toISOString(),
    resolved_at: item.resolved_at?.toISOString() ?? null,
  };
}

/** A document in one row; the customer's own view has all of it. */
export function viewDocument(invoice: Invoice): Static<typeof DocumentView> {
  return {
    id: invoice.id,
    kind: invoice.kind,
    number: invoice.number,
    currency: invoice.currency,
    tax_minor: invoice.cgst_minor + invoice.sgst_minor + invoice.igst_minor,
    total_minor: invoice.total_minor,
    topup_id: invoice.topup_id,
    original_number: invoice.original_number,
    issued_at: invoice.issued_at.toISOString(),
    sent_at: invoice.sent_at?.toISOString() ?? null,
    irn_status: invoice.irn_status,
    irn: invoice.irn,
  };
}

/** An entry of the audit log as staff read it. */
export function viewAct(act: ActRow): Static<typeof ActView> {
  return {
    id: String(act.id),
    at: act.at.toISOString(),
    actor: act.actor_display,
    action: act.action,
    target: act.target_display,
    reason: act.reason,
    after: namedFacts(act.after),
    outcome: act.outcome,
  };
}
