// What goes back with a part of a top-up: its share of tax and credits. Shares are computed of all that has gone back,
// and a refund is the difference, so that parts add up to the whole, to the minor unit and the micro-dollar.
import { type Credited, refundedTax, type TaxParts } from '../invoices/index.ts';
import { mulDivCeil, mulDivFloor } from '../kernel/index.ts';

/** A top-up as it was sold: its document, and the credits that it bought. Amounts are integers of the smallest unit. */
export interface Sold extends Credited {
  readonly credits_micro: number;
}

/** What one refund gives back, or all of them so far. */
export interface Part extends TaxParts {
  /** Without tax. */
  readonly amount_minor: number;
  readonly credits_micro: number;
}

export const NOTHING: Part = {
  amount_minor: 0,
  cgst_minor: 0,
  sgst_minor: 0,
  igst_minor: 0,
  credits_micro: 0,
};

/** Two parts as one. */
export function addParts(one: Part, other: Part): Part {
  return {
    amount_minor: one.amount_minor + other.amount_minor,
    cgst_minor: one.cgst_minor + other.cgst_minor,
    sgst_minor: one.sgst_minor + other.sgst_minor,
    igst_minor: one.igst_minor + other.igst_minor,
    credits_micro: one.credits_micro + other.credits_micro,
  };
}

/** The tax in a part. */
export function taxOf(part: TaxParts): number {
  return part.cgst_minor + part.sgst_minor + part.igst_minor;
}

/** Money that goes back: price and tax. */
export function totalOf(part: Part): number {
  return part.amount_minor + taxOf(part);
}

/**
 * What goes back at `at` with further `amount_minor`, after `before`. The credits are rounded up, so that credits that
 * were sold for what goes back never stay. No tax goes back after the law's time for it (`refundedTax`).
 */
export function partOf(sold: Sold, before: Part, more: { amount_minor: number; at: Date }): Part {
  const amount_minor = before.amount_minor + more.amount_minor;
  const tax = refundedTax(sold, { before_minor: 0, amount_minor, at: more.at });
  const left = (name: keyof TaxParts) => Math.max(0, tax[name] - before[name]);
  return {
    amount_minor: more.amount_minor,
    cgst_minor: left('cgst_minor'),
    sgst_minor: left('sgst_minor'),
    igst_minor: left('igst_minor'),
    credits_micro: mulDivCeil(amount_minor, sold.credits_micro, sold.taxable_minor) - before.credits_micro,
  };
}

/** The most that can go back, without tax, when `usable_micro` of the top-up's own credits are unused. */
export function refundableMinor(sold: Sold, before: Part, usable_micro: number): number {
  const most = mulDivFloor(before.credits_micro + usable_micro, sold.taxable_minor, sold.credits_micro);
  return Math.max(0, most - before.amount_minor);
}

/**
 * The part whose total is exactly `total_minor`, as a rail reports money that went back there. The tax is that of the
 * largest amount whose total is no more; a unit or two that rounding leaves over belong to the price.
 */
export function partOfTotal(sold: Sold, before: Part, back: { total_minor: number; at: Date }): Part {
  const { total_minor, at } = back;
  let low = 0;
  let high = Math.min(total_minor, sold.taxable_minor - before.amount_minor);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (totalOf(partOf(sold, before, { amount_minor: middle, at })) <= total_minor) low = middle;
    else high = middle - 1;
  }
  const tax = partOf(sold, before, { amount_minor: low, at });
  const whole = partOf(sold, before, { amount_minor: total_minor - taxOf(tax), at });
  return { ...tax, amount_minor: whole.amount_minor, credits_micro: whole.credits_micro };
}
