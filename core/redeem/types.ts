// Batches of codes that staff hand out, and what organizations made of codes and gifts.
import type { Id } from '../kernel/index.ts';

export interface Batch {
  readonly batch_id: number;
  readonly name: string;
  readonly amount_micro_usd: number;
  readonly codes: number;
  /** Days until the credit of a code ends, from its redemption on. */
  readonly credit_days: number;
  readonly valid_until: Date;
  readonly max_per_org: number;
  /** Billing country that an organization must have; null: any. */
  readonly country: string | null;
  /** Only organizations that have neither paid nor redeemed a code before. */
  readonly new_org_only: boolean;
  readonly created_by: string;
  readonly created_at: Date;
  readonly closed_at: Date | null;
}

export interface Redemption {
  readonly id: Id<'redemption'>;
  readonly org_id: Id<'org'>;
  readonly amount_micro_usd: number;
  readonly credit_expires_at: Date;
  /** Null until the ledger has booked it. */
  readonly ledger_seq: number | null;
  /** Name of the batch; null: a gift. */
  readonly batch: string | null;
  readonly gift_id: Id<'gift'> | null;
  readonly created_at: Date;
}
