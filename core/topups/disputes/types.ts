// Disputes, and the facts that rails report about them.
import type { Id } from '../../kernel/index.ts';
import type { RailName } from '../types.ts';

export const disputeStatuses = ['open', 'won', 'lost'] as const;
export type DisputeStatus = (typeof disputeStatuses)[number];

/** A dispute as the rail has it. */
export interface DisputeFact {
  readonly kind: 'dispute';
  /** The rail's name of it. */
  readonly ref: string;
  readonly payment_ref: string;
  readonly amount_minor: number;
  readonly currency: string;
  readonly status: DisputeStatus;
  /** The rail's words for how far it has gone and for what the payer says. */
  readonly phase: string;
  readonly reason: string;
  /** Until when the rail takes our answer. */
  readonly respond_by: Date | null;
}

/** A row of `dispute`. Amounts are integers of the currency's smallest unit, credits of micro-USD. */
export interface Dispute {
  readonly id: Id<'dispute'>;
  readonly org_id: Id<'org'>;
  readonly topup_id: Id<'topup'>;
  readonly book_id: number;
  readonly gateway: RailName;
  readonly gateway_ref: string;
  readonly payment_ref: string;
  readonly phase: string;
  readonly reason: string;
  readonly currency: string;
  /** What the payer wants back, as the rail says. */
  readonly amount_minor: number;
  /** Its parts by the proportions of the top-up, and what is more than was left of the payment. */
  readonly price_minor: number;
  readonly cgst_minor: number;
  readonly sgst_minor: number;
  readonly igst_minor: number;
  readonly excess_minor: number;
  /** Credits that the amount bought. */
  readonly credits_micro: number;
  /** Of a lost one: credits that were spent and that the loss therefore costs; null until the ledger has answered. */
  readonly written_off_micro: number | null;
  readonly status: DisputeStatus;
  readonly respond_by: Date | null;
  readonly opened_at: Date;
  readonly closed_at: Date | null;
  readonly lifted_at: Date | null;
  readonly paid_at: Date | null;
}

/** A dispute as a rail reported it, of a payment that may not be booked yet. */
export interface RailDispute {
  readonly rail: RailName;
  readonly ref: string;
  readonly payment_ref: string;
  readonly dispute_id: Id<'dispute'> | null;
  readonly amount_minor: number;
  readonly currency: string;
  readonly status: DisputeStatus;
  readonly phase: string;
  readonly reason: string;
  readonly respond_by: Date | null;
}
