// The part of a rail that charges people who are not there: they allow it once, and later each debit is announced and made.
import type { Id } from '../../kernel/index.ts';
import type { TopupFact } from '../types.ts';

export const mandateMethods = ['card', 'upi', 'emandate'] as const;
export type MandateMethod = (typeof mandateMethods)[number];

/** How somebody is charged: the rail's names of the payer and of the method that was kept. */
export interface Token {
  readonly customer_ref: string;
  readonly token_ref: string;
}

export interface SetupRequest {
  readonly mandate_id: Id<'mandate'>;
  readonly org_id: Id<'org'>;
  readonly method: MandateMethod;
  /** The most of one debit. */
  readonly max_amount_minor: number;
  readonly currency: string;
  readonly name: string;
  readonly email: string | null;
  readonly expires_in_seconds: number;
  /** Our page that opens the rail's checkout, for a rail that has none of its own. */
  readonly page_url: string;
  readonly success_url: string;
  readonly cancel_url: string;
}

/** A registration that was begun at the rail. */
interface Setup {
  /** Session or order at the rail. */
  readonly setup_ref: string;
  readonly registration_url: string;
  /** Null until the rail has made one. */
  readonly customer_ref: string | null;
}

/** What a rail says of a mandate. */
export interface MandateFact {
  readonly kind: 'mandate';
  /** `completed`: the payer is done, and the rail must be asked for the token. */
  readonly change: 'completed' | 'confirmed' | 'rejected' | 'paused' | 'resumed' | 'cancelled' | 'lapsed';
  /** Any of its names; all that are given must lead to one mandate. */
  readonly mandate_id: string | null;
  readonly setup_ref: string | null;
  readonly token_ref: string | null;
  readonly customer_ref: string | null;
  /** When the token ends at the rail; null: never. */
  readonly ends_at: Date | null;
  /** A first payment that proved the method, and goes back. */
  readonly first_payment: string | null;
}

/** What a rail says of the notice that it gave the payer before a debit. */
export interface NoticeFact {
  readonly kind: 'notice';
  readonly order_ref: string;
  readonly topup_id: string | null;
  readonly delivered: boolean;
}

export interface ChargeRequest extends Token {
  readonly topup_id: Id<'topup'>;
  readonly mandate_id: Id<'mandate'>;
  readonly org_id: Id<'org'>;
  readonly method: MandateMethod;
  readonly total_minor: number;
  readonly currency: string;
  readonly description: string;
  readonly email: string | null;
  /** Session or order with which the debits were allowed. */
  readonly setup_ref: string | null;
  /** The order of the debit, where `announce` made one. */
  readonly gateway_ref: string | null;
}

/** What became of a charge so far; without facts it is under way. */
export interface Charge {
  readonly gateway_ref: string;
  readonly facts: readonly TopupFact[];
}

/** Calls about mandates; all throw `RailError` when the rail refuses or cannot be reached. */
export interface RailMandates {
  readonly methods: readonly MandateMethod[];
  createSetup(request: SetupRequest): Promise<Setup>;
  /** What became of a registration; null: nothing yet. It is `completed` where only its payment is known. */
  readSetup(setup_ref: string): Promise<MandateFact | null>;
  /** Whether nobody can finish a registration after `closeSetup`. */
  readonly closes_setups: boolean;
  /** Closes an open registration; one that is over stays as it is. */
  closeSetup(setup_ref: string): Promise<void>;
  /** What the rail says of an allowance now, as an event would have; null where it is not asked, or does not know it. */
  readToken(token: Token): Promise<MandateFact | null>;
  /** Takes the allowance back; one that is gone stays so. */
  cancelToken(token: Token): Promise<void>;
  /** Whether a debit by `method` waits until the rail has reported that it gave its notice. */
  givesNotice(method: MandateMethod): boolean;
  /** Makes the order of a debit and lets the rail give its notice; null where the rail gives none and needs no order. */
  announce(request: ChargeRequest, earliest: Date): Promise<string | null>;
  /** Makes the debit. Repeated for a day, it is made once. */
  charge(request: ChargeRequest): Promise<Charge>;
  /** The debit of a top-up that was sent before; null when the rail has none. */
  findCharge(request: ChargeRequest): Promise<Charge | null>;
}
