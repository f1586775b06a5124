// Ledger entries and lots in words. Pure.
import type { LotRowFragment, MovementRowFragment } from '../../api/gen/graphql.ts';

export type EntryKind = MovementRowFragment['kind'];

/** What people call each kind of entry. */
export const kindWords: Readonly<Record<EntryKind, string>> = {
  SETTLE: 'Call',
  TOPUP: 'Top-up',
  REFUND: 'Refund',
  REFUND_REVERSAL: 'Refund given back',
  GRANT: 'Grant',
  REDEEM: 'Code redeemed',
  GIFT: 'Gift made',
  GIFT_CANCEL: 'Gift given back',
  GIFT_REDEEM: 'Gift received',
  CHECKIN: 'Check-in',
  ALLOCATION_OUT: 'To a customer',
  ALLOCATION_IN: 'From the reseller',
  ALLOCATION_RECLAIM: 'Taken back by the reseller',
  PLAN_FEE: 'Plan fee',
  PLAN_CREDIT: 'Included in the plan',
  EXPIRE: 'Expired',
  DISPUTE_HOLD: 'Held for a dispute',
  DISPUTE_RELEASE: 'Dispute won',
  CHARGEBACK: 'Dispute lost',
  ACCRUAL: 'Markup earned',
  ADJUSTMENT: 'Adjustment',
};

/** Kinds in the order of the filter. */
export const kinds = Object.keys(kindWords) as readonly EntryKind[];

const sources: Readonly<Record<string, string>> = {
  topup: 'Top-up',
  gift: 'Gift',
  redemption: 'Code',
  allocation: 'From the reseller',
  plan: 'Included in the plan',
  dispute: 'Dispute won',
  refund: 'Refund given back',
  staff: 'Granted by us',
};

/** What brought a lot. */
export function sourceOf({ sourceType }: Pick<LotRowFragment, 'sourceType'>): string {
  return sources[sourceType] ?? sourceType;
}

/** A lot that is not spent: how much of it, in hundredths. Rounded down, and 1 while anything is left. */
export function leftPercent(lot: Pick<LotRowFragment, 'amountMicroUsd' | 'remainingMicroUsd'>): number {
  const [amount, left] = [BigInt(lot.amountMicroUsd), BigInt(lot.remainingMicroUsd)];
  if (left === 0n) return 0;
  return Math.max(1, Number((left * 100n) / amount));
}

/**
 * Seqs of rows whose balance is not that of the entry before plus their amount. `rows` are newest first; with a filter
 * they have gaps, and only neighbours can be compared.
 */
export function breaksIn(rows: readonly MovementRowFragment[]): ReadonlySet<string> {
  const found = new Set<string>();
  rows.forEach((row, at) => {
    const before = rows[at + 1];
    if (before === undefined || BigInt(row.seq) !== BigInt(before.seq) + 1n) return;
    const wanted = BigInt(before.balanceAfterMicroUsd) + BigInt(row.amountMicroUsd);
    if (wanted !== BigInt(row.balanceAfterMicroUsd)) found.add(String(row.seq));
  });
  return found;
}
