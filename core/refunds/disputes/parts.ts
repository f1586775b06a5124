// What a disputed amount is made of: price, tax and credits by the proportions of the top-up. Pure.
import type { Dispute, DisputeParts } from '../../topups/index.ts';
import { addParts, NOTHING, type Part, partOfTotal, type Sold, totalOf } from '../proportion.ts';

/** What disputes have taken of a top-up. */
export function takenBy(disputes: readonly Dispute[]): Part {
  return disputes.reduce<Part>(
    (sum, { price_minor, cgst_minor, sgst_minor, igst_minor, credits_micro }) =>
      addParts(sum, { amount_minor: price_minor, cgst_minor, sgst_minor, igst_minor, credits_micro }),
    NOTHING,
  );
}

/** The whole of what was sold, as a part. */
function wholeOf({ taxable_minor: amount_minor, ...sold }: Sold): Part {
  const { cgst_minor, sgst_minor, igst_minor, credits_micro } = sold;
  return { amount_minor, cgst_minor, sgst_minor, igst_minor, credits_micro };
}

/**
 * The parts of a disputed amount after `before` has gone back or was lost. Where the payer wants more than is left of the
 * payment, or another currency than was paid, it is about all that is left, and the rest is an excess without credits.
 */
export function partsOfDispute(
  sold: Sold,
  before: Part,
  disputed: { readonly amount_minor: number; readonly same_currency: boolean },
): DisputeParts {
  const whole = wholeOf(sold);
  const left_minor = Math.max(0, totalOf(whole) - totalOf(before));
  const { amount_minor, same_currency } = disputed;
  const total_minor = same_currency ? Math.min(amount_minor, left_minor) : left_minor;
  // The tax is that of the sale, whenever the dispute ends: no document lowers it.
  const part = total_minor === 0 ? NOTHING : partOfTotal(sold, before, { total_minor, at: sold.issued_at });
  const { amount_minor: price_minor, credits_micro, ...tax } = part;
  const { cgst_minor, sgst_minor, igst_minor } = tax;
  return {
    ...{ price_minor, cgst_minor, sgst_minor, igst_minor },
    excess_minor: amount_minor - totalOf(part),
    credits_micro: Math.max(0, Math.min(credits_micro, whole.credits_micro - before.credits_micro)),
  };
}
