// Wire shape of documents.
import { type Static, Type } from 'typebox';
import { idOf, named, nullable, oneOf, Time } from '../kernel/index.ts';
import type { Invoice } from './types.ts';
import { invoiceKinds } from './types.ts';

const Address = named(
  'InvoiceAddress',
  Type.Object({
    line1: Type.Optional(Type.String()),
    city: Type.Optional(Type.String()),
    state_code: Type.Optional(Type.String()),
    postal_code: Type.Optional(Type.String()),
    country: Type.Optional(Type.String()),
  }),
);

export const InvoiceView = named(
  'Invoice',
  Type.Object({
    id: idOf('invoice'),
    org_id: idOf('org'),
    number: Type.String({ description: 'at most sixteen characters' }),
    fy: Type.String({ description: 'financial year, April to March' }),
    kind: oneOf(invoiceKinds, 'InvoiceKind'),
    status: oneOf(['issued', 'cancelled']),
    currency: Type.String(),
    place_of_supply: Type.String(),
    supplier: Type.Object({
      legal_name: Type.String(),
      address: Type.Array(Type.String()),
      state_code: Type.String(),
      gstin: nullable(Type.String()),
      pan: nullable(Type.String()),
      lut: nullable(Type.String()),
    }),
    supplier_gstin: nullable(Type.String()),
    supplier_reseller_id: nullable(Type.String()),
    recipient: Type.Object({
      org_id: idOf('org'),
      name: Type.String(),
      address: nullable(Address),
      country: Type.String(),
      state_code: nullable(Type.String()),
      gstin: nullable(Type.String()),
    }),
    lines: Type.Array(
      Type.Object({
        description: Type.String(),
        kind: Type.String(),
        sac: Type.String(),
        quantity: Type.Integer(),
        unit_minor: Type.Integer(),
        amount_minor: Type.Integer(),
      }),
    ),
    hsn_sac: Type.String(),
    tax_rate_bps: Type.Integer(),
    taxable_minor: Type.Integer(),
    cgst_minor: Type.Integer(),
    sgst_minor: Type.Integer(),
    igst_minor: Type.Integer(),
    total_minor: Type.Integer(),
    fx_rate: Type.String({ description: 'decimal with 8 places' }),
    credits_micro: Type.Integer(),
    topup_id: nullable(idOf('topup')),
    refund_id: nullable(idOf('refund')),
    original_invoice_id: nullable(idOf('invoice')),
    original_number: nullable(Type.String()),
    reverse_charge: Type.Boolean(),
    irn_status: Type.String(),
    irn: nullable(Type.String()),
    irn_qr: nullable(Type.String()),
    ack_no: nullable(Type.String()),
    ack_at: nullable(Time),
    pdf_sha256: nullable(Type.String()),
    issued_at: Time,
    sent_at: nullable(Time),
  }),
);
export type InvoiceView = Static<typeof InvoiceView>;

/** A document as the API shows it. */
export function viewInvoice(invoice: Invoice): InvoiceView {
  const { supplier_id, ack_at, issued_at, sent_at, lines, supplier, ...row } = invoice;
  const { endorsement, payment_ref, original_issued_at, inr_rate, recipient, ...shown } = row;
  const { tax_status, ...party } = recipient;
  const { email, website, ...seller } = supplier;
  return {
    ...shown,
    supplier: { ...seller, address: [...seller.address] },
    supplier_gstin: supplier.gstin,
    supplier_reseller_id: supplier_id === 'platform' ? null : supplier_id,
    recipient: party,
    lines: [...lines],
    reverse_charge: false,
    ack_at: ack_at?.toISOString() ?? null,
    issued_at: issued_at.toISOString(),
    sent_at: sent_at?.toISOString() ?? null,
  };
}
