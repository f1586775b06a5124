// Types of top-ups and of the facts that rails report about them.

import type { TaxTerms } from '../invoices/index.ts';
import type { Id } from '../kernel/index.ts';

export const railNames = ['rail-a', 'rail-b'] as const;
export type RailName = (typeof railNames)[number];
export const topupStatuses = ['pending', 'review', 'paid', 'failed', 'expired'] as const;
export type TopupStatus = (typeof topupStatuses)[number];

/** A row of `topup`. Amounts are integers of the currency's smallest unit, credits of micro-USD. */
export interface Topup {
  readonly id: Id<'topup'>;
  readonly org_id: Id<'org'>;
  readonly book_id: number;
  readonly gateway: RailName;
  readonly gateway_ref: string | null;
  readonly payment_ref: string | null;
  readonly currency: string;
  readonly amount_minor: number;
  readonly tax_minor: number;
  readonly total_minor: number;
  readonly fee_minor: number | null;
  readonly fx_day: string;
  /** Decimal with eight places. */
  readonly fx_rate: string;
  readonly credits_micro: number;
  readonly tax: TaxTerms;
  readonly method: string | null;
  readonly status: TopupStatus;
  readonly source: 'checkout' | 'auto' | 'staff';
  readonly invoice_id: Id<'invoice'> | null;
  readonly invoice_number: string | null;
  readonly lot_id: Id<'lot'> | null;
  readonly failure_code: string | null;
  readonly failure_message: string | null;
  readonly refunded_minor: number;
  readonly refunded_credits_micro: number;
  readonly disputed: boolean;
  /** The mandate that it was charged under, and which attempt of its organization it is; null at a checkout. */
  readonly mandate_id: Id<'mandate'> | null;
  readonly attempt_no: number | null;
  /** Where it is paid; null where the rail has not said so. */
  readonly checkout_url: string | null;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly paid_at: Date | null;
}

/** A payment as the rail reports it. */
export interface Captured {
  readonly kind: 'captured';
  readonly payment_ref: string;
  readonly amount_minor: number;
  readonly currency: string;
  readonly method: string | null;
}

/** Something that happened to a top-up, from a callback, a poll, a person or the clock. */
export type TopupFact =
  | Captured
  /** `last`: this payment will not be tried again; else one attempt at checkout failed and the payer may go on. */
  | { readonly kind: 'failed'; readonly last: boolean; readonly code: string; readonly message: string }
  | { readonly kind: 'lapsed' }
  | { readonly kind: 'cancelled' }
  /** The rail could not be asked for an order. */
  | { readonly kind: 'unreachable'; readonly message: string };

/** What a rail's callback is answered with. */
export interface CallbackAnswer {
  readonly invoice: string | null;
  readonly replay: boolean;
  readonly topup: Id<'topup'> | null;
  /** An event that means nothing here. */
  readonly ignored?: true;
}
