// Documents and what they are made of. Fields as on the wire.
import type { Id } from '../kernel/index.ts';
import type { BillingAddress, TaxStatus } from '../orgs/index.ts';

export const invoiceKinds = ['tax_invoice', 'export_invoice', 'credit_note', 'receipt'] as const;
export type InvoiceKind = (typeof invoiceKinds)[number];

/** Who supplies: the platform, or a reseller with an invoicing identity of its own. */
export interface Supplier {
  /** `platform`, or the reseller's organization. */
  readonly supplier_id: string;
  readonly legal_name: string;
  readonly address: readonly string[];
  readonly state_code: string;
  /** Null: not registered; its documents are receipts without tax. */
  readonly gstin: string | null;
  readonly pan: string | null;
  /** Letter of undertaking: exports without payment of tax. */
  readonly lut: string | null;
  /** One to three of `[A-Z0-9]`, first a letter. */
  readonly series: string;
  readonly sac: string;
  /** Where a reseller is reached; absent of the platform. */
  readonly email?: string;
  readonly website?: string;
  /** Whether its documents to businesses and abroad are registered (IRN); absent in terms of before it was kept. */
  readonly e_invoicing?: boolean;
}

export interface TaxDecision {
  readonly kind: Exclude<InvoiceKind, 'credit_note'>;
  readonly place_of_supply: string;
  /** Two-digit code of the state of supply; null abroad. */
  readonly state_code: string | null;
  readonly state_known: boolean;
  readonly rate_bps: number;
  /** Within one state (CGST and SGST), between two (IGST), or none. */
  readonly split: 'intra' | 'inter' | 'none';
  readonly endorsement: string;
}

export interface TaxParts {
  readonly cgst_minor: number;
  readonly sgst_minor: number;
  readonly igst_minor: number;
}

interface Recipient {
  readonly org_id: Id<'org'>;
  readonly name: string;
  readonly address: BillingAddress | null;
  readonly country: string;
  readonly state_code: string | null;
  readonly gstin: string | null;
  /** Absent in documents of before it was kept. */
  readonly tax_status?: TaxStatus;
}

/** The tax decision behind a quoted price; stored with the top-up, so that its document says the same. */
export interface TaxTerms extends TaxParts {
  readonly decision: TaxDecision;
  readonly supplier: Supplier;
  readonly recipient: Recipient;
  /** Rupees for one unit of the currency, as `Invoice.inr_rate`; absent in terms of before it was kept. */
  readonly inr_rate?: string | null;
}

interface InvoiceLine {
  readonly description: string;
  readonly kind: string;
  readonly sac: string;
  readonly quantity: number;
  readonly unit_minor: number;
  readonly amount_minor: number;
}

/** An id of a document: a credit note has its own prefix. */
export type InvoiceId = Id<'invoice'> | Id<'credit_note'>;

/** Where the registration of a document stands; `not_applicable`: it needs none. */
export type IrnStatus = 'not_applicable' | 'pending' | 'generated' | 'cancelled' | 'failed';

/** A row of `invoice`. */
export interface Invoice {
  readonly id: InvoiceId;
  readonly org_id: Id<'org'>;
  readonly supplier_id: string;
  readonly number: string;
  readonly fy: string;
  readonly kind: InvoiceKind;
  readonly status: 'issued' | 'cancelled';
  readonly currency: string;
  readonly place_of_supply: string;
  readonly supplier: Omit<Supplier, 'supplier_id' | 'series' | 'sac' | 'e_invoicing'>;
  readonly recipient: Recipient;
  readonly lines: readonly InvoiceLine[];
  readonly hsn_sac: string;
  readonly tax_rate_bps: number;
  readonly taxable_minor: number;
  readonly cgst_minor: number;
  readonly sgst_minor: number;
  readonly igst_minor: number;
  readonly total_minor: number;
  readonly endorsement: string;
  /** Decimal with eight places. */
  readonly fx_rate: string;
  /** Rupees for one unit of `currency` on the day of issue, with eight places; null for rupees. */
  readonly inr_rate: string | null;
  readonly credits_micro: number;
  readonly topup_id: Id<'topup'> | null;
  readonly refund_id: Id<'refund'> | null;
  readonly original_invoice_id: Id<'invoice'> | null;
  readonly original_number: string | null;
  readonly original_issued_at: Date | null;
  /** The rail's reference of the payment, or of the refund. */
  readonly payment_ref: string | null;
  readonly irn_status: IrnStatus;
  readonly irn: string | null;
  readonly irn_qr: string | null;
  readonly ack_no: string | null;
  readonly ack_at: Date | null;
  readonly pdf_sha256: string | null;
  readonly issued_at: Date;
  readonly sent_at: Date | null;
}
