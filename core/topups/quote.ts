// What credits cost (docs/money/topups.md#what-credits-cost). Pure; integers only.
import { type TaxTerms, taxTerms } from '../invoices/index.ts';
import { mulDivHalfUp, ServiceError } from '../kernel/index.ts';
import type { Billing } from '../orgs/index.ts';
import { type Currency, currencies, formatCredits, formatMoney, isCurrency } from './currency.ts';
import { creditsFor, minorFor, type Rates, rateText, withSpread } from './fx/rates.ts';
import type { FeeItem, PriceFacts } from './terms.ts';
import type { RailName } from './types.ts';

export interface Quote {
  readonly rail: RailName;
  readonly currency: Currency;
  readonly amount_minor: number;
  readonly tax_minor: number;
  readonly total_minor: number;
  readonly credits_micro: number;
  readonly fx_rate: string;
  readonly fx_day: string;
  readonly fees: { readonly rail: RailName; readonly items: readonly FeeItem[] };
  readonly min_amount_minor: number;
  readonly display: string;
}

/** A quote with the tax terms for its document. */
export interface Priced {
  readonly quote: Quote;
  readonly tax: TaxTerms;
}

/** The rail that serves a billing country. */
export function railOf(country: string): RailName {
  return country === 'IN' ? 'rail-a' : 'rail-b';
}

/** The currency an organization pays in. @throws ServiceError currency_not_supported. */
export function currencyOf(billing: Pick<Billing, 'country' | 'currency'>): Currency {
  const currency = billing.country === 'IN' ? 'INR' : billing.currency;
  if (isCurrency(currency) && (billing.country === 'IN' || currency !== 'INR')) return currency;
  throw new ServiceError('currency_not_supported', `Credits cannot be paid in ${currency}.`, {
    details: { currencies: currencies.filter((name) => name !== 'INR') },
  });
}

/**
 * Rupees for one unit of `currency` at mid rates, for the supplier's returns; null for rupees. Who pays in dollars may do so
 * however old the rates are.
 */
function inrRate(fx: Rates, currency: Currency): string | null {
  if (currency === 'INR') return null;
  const [rupee, paid] = [fx.shownRate('INR').rate_e8, fx.shownRate(currency).rate_e8];
  return rateText(mulDivHalfUp(rupee, 100_000_000, paid));
}

/** The rate of the day with the spread on top. @throws ServiceError fx_stale. */
function ratePriced({ fx, terms }: PriceFacts, currency: Currency): { fx_day: string; rate_e8: number } {
  const { fx_day, rate_e8 } = fx.midRate(currency);
  return { fx_day, rate_e8: withSpread(rate_e8, currency, terms.spread_bps) };
}

/** The price of `amount_minor` of credits. @throws ServiceError amount_too_large, currency_not_supported, fx_stale. */
export function priceTopup(facts: PriceFacts, amount_minor: number): Priced {
  const { billing, terms } = facts;
  const currency = currencyOf(billing);
  const rail = railOf(billing.country);
  const { fx_day, rate_e8 } = facts.promised ?? ratePriced(facts, currency);
  const max_amount_minor = minorFor(terms.max_credits_micro, currency, rate_e8);
  if (amount_minor > max_amount_minor) {
    throw new ServiceError(
      'amount_too_large',
      `One top-up is at most ${formatMoney(max_amount_minor, currency)}.`,
      {
        param: 'amount_minor',
        details: { max_amount_minor, currency },
      },
    );
  }
  const tax = taxTerms({ ...facts, amount_minor, inr_rate: inrRate(facts.fx, currency) });
  const tax_minor = tax.cgst_minor + tax.sgst_minor + tax.igst_minor;
  const total_minor = amount_minor + tax_minor;
  const credits_micro = creditsFor(amount_minor, currency, rate_e8);
  return {
    tax,
    quote: {
      rail,
      currency,
      amount_minor,
      tax_minor,
      total_minor,
      credits_micro,
      fx_rate: rateText(rate_e8),
      fx_day,
      fees: { rail, items: terms.fees[rail] },
      min_amount_minor: terms.minimums_minor[currency],
      display: `${formatMoney(total_minor, currency)} for ${formatCredits(credits_micro)} of credits`,
    },
  };
}
