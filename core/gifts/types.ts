// A gift: credit that one organization takes out of its own, for whoever has the code.
import type { Id } from '../kernel/index.ts';

/**
 * `pending`: the ledger has not said whether the credit is there, and nobody has the code yet. Customers see the others.
 */
export const giftStatuses = ['open', 'redeemed', 'cancelled'] as const;
export type GiftStatus = (typeof giftStatuses)[number] | 'pending';

export interface Gift {
  readonly id: Id<'gift'>;
  readonly org_id: Id<'org'>;
  readonly amount_micro_usd: number;
  readonly hint: string;
  readonly note: string;
  readonly status: GiftStatus;
  readonly expires_at: Date;
  readonly created_at: Date;
  readonly closed_at: Date | null;
}
