// A refund as rails report it.

/** A refund as the rail has it. */
export interface RefundFact {
  readonly kind: 'refund';
  /** The rail's name of it. */
  readonly ref: string;
  readonly payment_ref: string;
  /** Ours, where the rail was told it; null for one that was made in the rail's own dashboard. */
  readonly refund_id: string | null;
  readonly amount_minor: number;
  readonly currency: string;
  readonly status: 'pending' | 'refunded' | 'failed';
  /** Why it failed, in the rail's word. */
  readonly failure_code: string | null;
}
