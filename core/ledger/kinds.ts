// Kinds of entries and of units. The order is the number in ledger.entry_kind; a test compares the two.

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

/** Units that few calls have. The order is the number in ledger.unit_kind; a test compares the two. */
export const OTHER_UNITS = [
  /** Of a ranking, and searches of the provider's. */
  'search_units',
  /** Part of `input_tokens`; as are those of pictures. */
  'audio_input_tokens',
  /** Part of `output_tokens`; as are those of pictures. */
  'audio_output_tokens',
  'image_input_tokens',
  'image_output_tokens',
  /** Where it is not 1: 0 where an estimate was fitted under a hold that did not pay for the request. */
  'requests',
  /** 1 where an answer without output and without a proper end is insured, so that its units cost nothing. */
  'insured',
] as const;

export type OtherUnit = (typeof OTHER_UNITS)[number];

/** Kinds that a debit may have; expiry is the job's own. */
const DEBIT_KINDS = [
  'refund',
  'gift',
  'allocation_out',
  'allocation_reclaim',
  'plan_fee',
  'dispute_hold',
  'chargeback',
  'adjustment',
] as const satisfies readonly EntryKind[];

export type DebitKind = (typeof DEBIT_KINDS)[number];

/** Debits whose credit can be put back where it came from, and the kind of the entry that does it. */
export const RESTORE_KINDS = {
  refund: 'refund_reversal',
  gift: 'gift_cancel',
  dispute_hold: 'dispute_release',
} as const satisfies Partial<Record<DebitKind, EntryKind>>;

/**
 * Kinds that bring credit; an adjustment may go either way, and what is taken back of an allocation is a debit of one book
 * and a credit of the other. What restores a debit's has its own way.
 */
export type CreditKind =
  | Exclude<EntryKind, 'settle' | 'expire' | DebitKind | (typeof RESTORE_KINDS)[keyof typeof RESTORE_KINDS]>
  | 'adjustment'
  | 'allocation_reclaim';

/** The number of a kind in the tables. */
export function kindNumber(kind: EntryKind): number {
  return ENTRY_KINDS.indexOf(kind) + 1;
}
