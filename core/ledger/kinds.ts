// Kinds of entries (P5.9). The order is the number in ledger.entry_kind; a test compares the two.

export const ENTRY_KINDS = [
  'settle',
  'topup',
  'refund',
  'refund_reversal',
  'grant',
  'redeem',
  'gift',
  'gift_cancel',
  'gift_redeem',
  'checkin',
  'allocation_out',
  'allocation_in',
  'allocation_reclaim',
  'plan_fee',
  'plan_credit',
  'expire',
  'dispute_hold',
  'dispute_release',
  'chargeback',
  'accrual',
  'adjustment',
] as const;

export type EntryKind = (typeof ENTRY_KINDS)[number];

/** Kinds that a debit may have; expiry is the job's own. */
export const DEBIT_KINDS = [
  'refund',
  'gift',
  'allocation_out',
  'allocation_reclaim',
  'plan_fee',
  'dispute_hold',
  'chargeback',
  'adjustment',
] as const satisfies readonly EntryKind[];

/** The number of a kind in the tables. */
export function kindNumber(kind: EntryKind): number {
  return ENTRY_KINDS.indexOf(kind) + 1;
}
