// What a rail's own books say of a time: the part of a rail that the daily comparison reads.
import type { DisputeFact } from '../disputes/types.ts';
import type { Captured } from '../types.ts';
import type { RefundFact } from './refund-types.ts';

/** From the first moment on, and before the second. */
export interface Time {
  readonly from: Date;
  readonly to: Date;
}

/** A payment that the rail has taken. */
export interface RailPayment {
  readonly payment: Captured;
  readonly order_ref: string | null;
  readonly topup_id: string | null;
  /** What the rail took; null where it does not say, or says it in another currency. */
  readonly fee_minor: number | null;
  /** All of it has gone back. */
  readonly returned: boolean;
}

/** What came into being at the rail in a time. */
interface RailDay {
  readonly payments: readonly RailPayment[];
  readonly refunds: readonly RefundFact[];
  readonly disputes: readonly DisputeFact[];
}

type LineKind = 'payment' | 'refund' | 'refund_back' | 'dispute' | 'dispute_back' | 'fee' | 'other';

/** A line of what a rail paid out. Amounts are those of the account at the rail: positive ones come in. */
export interface SettledLine {
  readonly kind: LineKind;
  /** The rail's name of the line. */
  readonly ref: string;
  /** The refund or the dispute that it is about. */
  readonly source_ref: string | null;
  readonly payment_ref: string | null;
  /** Before the fee. */
  readonly amount_minor: number;
  readonly fee_minor: number;
  readonly currency: string;
  readonly payout_ref: string;
  readonly at: Date;
  /** What was settled, in the currency of the payer. */
  readonly paid: RailPayment | null;
  readonly back: RefundFact | null;
}

/** Money that a rail sent to our bank. */
export interface Payout {
  readonly ref: string;
  readonly amount_minor: number;
  readonly currency: string;
  readonly state: 'under_way' | 'paid' | 'failed';
  /** How the bank's statement names it. */
  readonly bank_ref: string | null;
  /** The rail lists what it is made of; it does not for one that a person asked for. */
  readonly itemized: boolean;
  readonly at: Date;
}

/** What a rail settled in a time. */
interface Settled {
  readonly payouts: readonly Payout[];
  readonly lines: readonly SettledLine[];
}

/** The rail's books. All calls throw `RailError` when the rail refuses or cannot be reached. */
export interface RailBooks {
  readDay(time: Time): Promise<RailDay>;
  readSettled(time: Time): Promise<Settled>;
  /** What an order was made for, by its notes; nulls where it was not made by us. */
  readOrder(
    order_ref: string,
  ): Promise<{ readonly topup_id: string | null; readonly mandate_id: string | null }>;
}
