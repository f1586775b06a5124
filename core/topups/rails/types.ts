// The interface of every payment rail. Code outside this folder knows nothing of a particular rail.
import type { Id } from '../../kernel/index.ts';
import type { DisputeFact } from '../disputes/types.ts';
import type { RailName, TopupFact } from '../types.ts';
import type { RailBooks } from './books.ts';
import type { MandateFact, NoticeFact, RailMandates } from './mandate-types.ts';
import type { RefundFact } from './refund-types.ts';

export interface Checkout {
  /** Order or session at the rail. */
  readonly gateway_ref: string;
  /** Where the payer goes. */
  readonly checkout_url: string;
}

export interface CheckoutRequest {
  readonly topup_id: Id<'topup'>;
  readonly org_id: Id<'org'>;
  readonly total_minor: number;
  readonly currency: string;
  /** What is bought, in words. */
  readonly description: string;
  readonly email: string | null;
  readonly expires_in_seconds: number;
  /** Our page that opens the rail's checkout, for a rail that has none of its own. */
  readonly pay_url: string;
  /** Where the payer comes back to, paid or not. */
  readonly success_url: string;
  readonly cancel_url: string;
}

/** A callback as it arrived. */
export interface Callback {
  readonly raw: Uint8Array;
  /** The header that signs the bytes. */
  readonly signature: string | null;
  /** The header that names the event, where the rail has one. */
  readonly event_id?: string | null;
}

export interface RefundRequest {
  readonly refund_id: Id<'refund'>;
  readonly topup_id: Id<'topup'>;
  readonly org_id: Id<'org'>;
  readonly payment_ref: string;
  readonly total_minor: number;
}

/** A verified callback. */
export interface RailEvent {
  readonly event_id: string;
  readonly type: string;
  /** Null: nothing that concerns a top-up. */
  readonly fact: TopupFact | null;
  readonly order_ref: string | null;
  readonly topup_id: string | null;
  /** What the event says of money that went back; such an event has no `fact`. */
  readonly money_back?: RefundFact;
  /** What the event says of a payment that is disputed; such an event has no `fact`. */
  readonly dispute?: DisputeFact;
  /** What it says of a mandate, or of the notice before a debit; such an event has no `fact`. */
  readonly mandate?: MandateFact;
  readonly notice?: NoticeFact;
  /** An event about a top-up that lacks needed data or has the other mode: it becomes a staff item. */
  readonly unreadable?: string;
}

/** The present state of an order at the rail. */
export interface CheckoutState {
  /** What happened to it, oldest first; none: still open, or a payment under way. */
  readonly facts: readonly TopupFact[];
  /** What the rail took, by payment; a payment whose fee the rail has not said is left out. */
  readonly fees: Readonly<Record<string, number>>;
}

/** How a page of ours opens the checkout of a rail. */
export interface CheckoutOpening {
  /** Public name of our account. */
  readonly key_id: string;
  /** The rail's script, which opens its checkout in the page. */
  readonly script_url: string;
  /** Where a form with the same fields opens it without the script. */
  readonly form_url: string;
  /** Origins that the checkout loads from, as the page's security policy names them. */
  readonly sources: readonly string[];
  /** Whether a browser's return says that `gateway_ref` was paid, signed by the rail. It books nothing. */
  isPaid(gateway_ref: string, fields: Readonly<Record<string, string>>): boolean;
}

/**
 * A rail. Calls carry idempotency keys made of our ids, so that each may be repeated. All but `readCallback` throw
 * `RailError` when the rail refuses or cannot be reached.
 */
export interface Rail {
  readonly name: RailName;
  /** Real money. */
  readonly live: boolean;
  /** Null: the rail has pages of its own to pay on. */
  readonly opening: CheckoutOpening | null;
  /** Null: nobody can be charged here while away. */
  readonly mandates: RailMandates | null;
  /** What the rail itself says of a day. */
  readonly books: RailBooks;
  createCheckout(request: CheckoutRequest): Promise<Checkout>;
  readCheckout(gateway_ref: string): Promise<CheckoutState>;
  /** Closes an open order; one that is closed or paid stays as it is. */
  closeCheckout(gateway_ref: string): Promise<void>;
  /** Gives a payment back whole. */
  refundPayment(payment_ref: string): Promise<void>;
  /** Gives a part of a payment back, under our refund's id; the rail keeps that id with it. */
  createRefund(request: RefundRequest): Promise<RefundFact>;
  /** The refund of a payment that the rail was given under our id; null when it has none, so that it may be sent again. */
  findRefund(named: Pick<RefundRequest, 'refund_id' | 'payment_ref'>): Promise<RefundFact | null>;
  /** A refund by the rail's name of it. */
  readRefund(ref: string): Promise<RefundFact>;
  /** A dispute by the rail's name of it. */
  readDispute(ref: string): Promise<DisputeFact>;
  /** Verifies and reads a callback. @throws ServiceError signature_invalid, signature_expired, invalid_json. */
  readCallback(callback: Callback, machine_ms: number): RailEvent;
}

/** The rail could not be asked, or refused: then `declined`, and `code` is its reason. No secrets in the message. */
export class RailError extends Error {
  readonly declined: boolean;
  readonly code: string | null;

  constructor(message: string, refusal: { readonly declined: boolean; readonly code?: string | null }) {
    super(message);
    this.name = 'RailError';
    this.declined = refusal.declined;
    this.code = refusal.code ?? null;
  }
}
