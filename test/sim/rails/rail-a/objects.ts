// The objects of the simulated rail-a, with those members of the real ones that its official client and ours read.

export type Notes = Record<string, string>;
export const methods = ['upi', 'card', 'netbanking', 'emandate'] as const;
export type Method = (typeof methods)[number];

export interface Order {
  readonly id: string;
  readonly entity: 'order';
  readonly amount: number;
  readonly currency: string;
  readonly receipt: string | null;
  readonly created_at: number;
  /** A list when there are none, as the rail has it. */
  readonly notes: Notes | readonly never[];
  /** Of an order whose payment gives leave to debit: whose, by what, and how far. */
  readonly customer_id?: string;
  readonly method?: string;
  readonly token?: { readonly max_amount: number; readonly expire_at: number; readonly frequency: string };
  amount_paid: number;
  amount_due: number;
  status: 'created' | 'attempted' | 'paid';
  attempts: number;
}

export interface Payment {
  readonly id: string;
  readonly entity: 'payment';
  readonly amount: number;
  readonly currency: string;
  readonly order_id: string;
  readonly method: Method;
  readonly email: string;
  readonly contact: string;
  readonly description: string | null;
  readonly notes: Notes | readonly never[];
  readonly created_at: number;
  /** Of a payment that registered a token, or was made with one while its payer was away. */
  readonly token_id?: string;
  readonly customer_id?: string;
  readonly is_debit?: boolean;
  status: 'created' | 'authorized' | 'captured' | 'refunded' | 'failed';
  captured: boolean;
  late_authorized: boolean;
  amount_refunded: number;
  refund_status: null | 'partial' | 'full';
  /** What the rail takes, its tax included; null until it is captured. */
  fee: number | null;
  tax: number | null;
  error_code: string | null;
  error_description: string | null;
  error_source: string | null;
  error_step: string | null;
  error_reason: string | null;
}

export interface Refund {
  readonly id: string;
  readonly entity: 'refund';
  readonly amount: number;
  readonly currency: string;
  readonly payment_id: string;
  readonly notes: Notes | readonly never[];
  readonly receipt: string | null;
  readonly created_at: number;
  readonly speed_requested: 'normal' | 'optimum';
  speed_processed: 'normal' | 'instant';
  status: 'pending' | 'processed' | 'failed';
}

export interface Dispute {
  readonly id: string;
  readonly entity: 'dispute';
  readonly payment_id: string;
  readonly amount: number;
  readonly currency: string;
  readonly reason_code: string;
  readonly phase: string;
  readonly respond_by: number;
  readonly created_at: number;
  /** What the rail took in the end. */
  amount_deducted: number;
  status: 'open' | 'under_review' | 'won' | 'lost' | 'closed';
}

export interface Settlement {
  readonly id: string;
  readonly entity: 'settlement';
  readonly amount: number;
  readonly fees: number;
  readonly tax: number;
  readonly utr: string;
  readonly created_at: number;
  status: 'created' | 'processed';
}

/** A line of the rail's report of what it settled. */
export interface ReconItem {
  readonly entity_id: string;
  readonly type: 'payment' | 'refund' | 'adjustment';
  readonly debit: number;
  readonly credit: number;
  readonly amount: number;
  readonly currency: string;
  readonly fee: number;
  readonly tax: number;
  readonly on_hold: false;
  readonly settled: true;
  readonly created_at: number;
  readonly settled_at: number;
  readonly settlement_id: string;
  readonly settlement_utr: string;
  readonly payment_id: string | null;
  readonly order_id: string | null;
  readonly order_receipt: string | null;
  readonly method: Method | null;
  readonly dispute_id: string | null;
}

/** An event and the id that travels in its header. */
export interface RailAEvent {
  readonly id: string;
  readonly type: string;
  readonly body: {
    readonly entity: 'event';
    readonly account_id: string;
    readonly event: string;
    readonly contains: readonly string[];
    readonly payload: Readonly<Record<string, { readonly entity: object }>>;
    readonly created_at: number;
  };
}

/** A refusal as the rail words it. */
export class RailARefusal extends Error {
  readonly status: number;
  readonly body: {
    error: {
      code: string;
      description: string;
      source: string;
      step: string;
      reason: string;
      metadata: object;
      field?: string;
    };
  };

  constructor(
    status: number,
    description: string,
    more: { readonly code?: string; readonly reason?: string; readonly field?: string } = {},
  ) {
    super(description);
    this.status = status;
    const { code = status >= 500 ? 'SERVER_ERROR' : 'BAD_REQUEST_ERROR', field } = more;
    const { reason = 'input_validation_failed' } = more;
    const about = { source: 'business', step: 'payment_initiation', reason, metadata: {} };
    this.body = { error: { code, description, ...about, ...(field === undefined ? {} : { field }) } };
  }
}
