// The objects of the simulated rail, with those members of the real ones that the official client and ours read.

export type Metadata = Record<string, string>;

export interface Session {
  readonly id: string;
  readonly object: 'checkout.session';
  readonly mode: 'payment';
  readonly livemode: false;
  readonly created: number;
  readonly currency: string;
  readonly client_reference_id: string | null;
  readonly customer_email: string | null;
  readonly metadata: Metadata;
  readonly payment_method_types: readonly string[];
  readonly success_url: string;
  readonly cancel_url: string | null;
  url: string;
  readonly expires_at: number;
  readonly description: string;
  readonly intent_metadata: Metadata;
  amount_total: number;
  payment_intent: string | null;
  payment_status: 'unpaid' | 'paid';
  status: 'open' | 'complete' | 'expired';
}

export interface Intent {
  readonly id: string;
  readonly object: 'payment_intent';
  readonly livemode: false;
  readonly created: number;
  readonly currency: string;
  /** Whose kept card it is; null of a payment at a checkout. */
  readonly customer: string | null;
  readonly metadata: Metadata;
  readonly payment_method_types: readonly string[];
  readonly amount: number;
  amount_received: number;
  status: 'processing' | 'succeeded' | 'requires_payment_method' | 'canceled';
  latest_charge: string | null;
  last_payment_error: { code: string; decline_code: string | null; message: string } | null;
}

export interface Charge {
  readonly id: string;
  readonly object: 'charge';
  readonly livemode: false;
  readonly created: number;
  readonly amount: number;
  readonly currency: string;
  readonly payment_intent: string;
  readonly metadata: Metadata;
  readonly payment_method_details: { readonly type: string };
  readonly balance_transaction: string;
  amount_refunded: number;
  refunded: boolean;
}

export interface BalanceTransaction {
  readonly id: string;
  readonly object: 'balance_transaction';
  readonly created: number;
  readonly amount: number;
  readonly fee: number;
  readonly net: number;
  readonly currency: string;
  readonly type: 'charge' | 'refund' | 'refund_failure' | 'adjustment' | 'stripe_fee' | 'payout' | 'transfer';
  readonly source: string | null;
  /** In which payout it was; null until it is in one. */
  payout: string | null;
}

export interface Payout {
  readonly id: string;
  readonly object: 'payout';
  readonly created: number;
  readonly arrival_date: number;
  readonly amount: number;
  readonly currency: string;
  readonly automatic: boolean;
  readonly trace_id: { readonly status: string; readonly value: string };
  reconciliation_status: 'completed' | 'not_applicable';
  status: 'paid' | 'failed';
}

export interface Refund {
  readonly id: string;
  readonly object: 'refund';
  readonly created: number;
  readonly amount: number;
  readonly currency: string;
  readonly payment_intent: string;
  readonly charge: string;
  status: 'pending' | 'succeeded' | 'failed';
  failure_reason: string | null;
  readonly metadata: Metadata;
}

export interface Dispute {
  readonly id: string;
  readonly object: 'dispute';
  readonly livemode: false;
  readonly created: number;
  readonly amount: number;
  readonly currency: string;
  readonly charge: string;
  readonly payment_intent: string;
  readonly reason: string;
  readonly evidence_details: { readonly due_by: number };
  status: 'needs_response' | 'under_review' | 'won' | 'lost';
}

export interface RailEvent {
  readonly id: string;
  readonly object: 'event';
  readonly api_version: string;
  readonly created: number;
  readonly livemode: false;
  readonly type: string;
  readonly data: { readonly object: unknown };
}

interface RefusalFacts {
  readonly code?: string;
  readonly param?: string;
  readonly decline_code?: string;
  readonly payment_intent?: Intent;
}

/** A refusal as the rail words it. */
export class RailRefusal extends Error {
  readonly status: number;
  readonly body: { error: { type: string; message: string } & RefusalFacts };

  constructor(status: number, message: string, more: { readonly type?: string } & RefusalFacts = {}) {
    super(message);
    this.status = status;
    const { type = 'invalid_request_error', ...rest } = more;
    this.body = { error: { type, message, ...rest } };
  }
}
