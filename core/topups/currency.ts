// What a payment may be in each currency (docs/money/topups.md#what-credits-cost).
import { type Currency, formatMoney, isCurrency, mulDivFloor } from '../kernel/index.ts';

export {
  type Currency,
  currencies,
  decimalOf,
  exponentOf,
  formatMoney,
  isCurrency,
} from '../kernel/index.ts';

/** Least amounts of a top-up in the smallest unit, before tax. */
export const MINIMUMS_MINOR: Readonly<Record<Currency, number>> = {
  INR: 50_000,
  USD: 500,
  EUR: 500,
  GBP: 500,
  SGD: 700,
  AED: 2_000,
  AUD: 800,
  CAD: 700,
  JPY: 800,
};

/** An amount whose currency was written down long ago: one that is sold no more is a plain number. */
export function formatAmount(amount_minor: number, currency: string): string {
  return isCurrency(currency) ? formatMoney(amount_minor, currency) : `${amount_minor} ${currency}`;
}

/** Micro-USD as US dollars, rounded down to cents, so that never more is shown than there is. */
export function formatCredits(credits_micro: number): string {
  return formatMoney(mulDivFloor(credits_micro, 1, 10_000), 'USD');
}
