// Refunds, and the facts that rails report about them.
import type { Id } from '../kernel/index.ts';
import type { RailName } from '../topups/index.ts';

export const refundStatuses = ['pending', 'refunded', 'failed'] as const;
export type RefundStatus = (typeof refundStatuses)[number];

/** A row of `refund`. Amounts are integers of the currency's smallest unit, credits of micro-USD. */
export interface Refund {
  readonly id: Id<'refund'>;
  readonly org_id: Id<'org'>;
  readonly topup_id: Id<'topup'>;
  readonly book_id: number;
  readonly gateway: RailName;
  readonly payment_ref: string;
  /** The rail's name of it; null until the rail has it. */
  readonly gateway_ref: string | null;
  readonly currency: string;
  /** Without tax. */
  readonly amount_minor: number;
  readonly cgst_minor: number;
  readonly sgst_minor: number;
  readonly igst_minor: number;
  readonly total_minor: number;
  /** Decimal with eight places, of the top-up. */
  readonly fx_rate: string;
  readonly credits_micro: number;
  /** `rail`: it was made at the rail, and nobody here asked. */
  readonly source: 'request' | 'rail';
  readonly reason: string;
  /** Null: all that could go back. */
  readonly requested_minor: number | null;
  readonly idempotency_key: string | null;
  readonly status: RefundStatus;
  readonly failure_code: string | null;
  readonly credit_note_id: Id<'credit_note'> | null;
  /** When the rail was first asked for it. */
  readonly sent_at: Date | null;
  readonly created_at: Date;
  readonly settled_at: Date | null;
}
