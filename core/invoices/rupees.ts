// What a document in another currency is in rupees, for the supplier's returns.
import { type Currency, mulDivHalfUp } from '../kernel/index.ts';

/** An amount of another currency in paise at `inr_rate` rupees for one unit, rounded half up. */
export function toPaise(amount_minor: number, currency: Currency, inr_rate: string): number {
  const rate_e8 = Number(inr_rate.replace('.', ''));
  return mulDivHalfUp(amount_minor, rate_e8, currency === 'JPY' ? 1_000_000 : 100_000_000);
}
