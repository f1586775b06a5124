// From the file's decimals to the price that is charged, once, when a price version is made
// (docs/money/pricing.md#the-price-that-is-charged). It stands in the catalog because the catalog stores the result;
// pricing gives it to resellers' tiers.
import { milliNanoFromDecimal, mulDivHalfUp, type NanoUsd, nanoUsd } from '../kernel/index.ts';
import type { FileEndpoint, FilePrice } from './file-schema.ts';
import { type RateKind, rateKinds } from './kinds.ts';
import type { ExactRates, PriceBand, PriceVersion, Rates, Unrounded } from './types.ts';

/** USD per million units as decimal strings, by line kind; what a file says before markup. */
export type ListRates = { readonly [K in RateKind]?: string } & {
  readonly input: string;
  readonly output: string;
};

/**
 * Charged nano-USD per unit of `decimal` USD per million:
 * `half_up(list_nano × (10000 + markup_bps) × (10000 + tier_bps) / 10^8)`, with the list price not rounded before. A
 * price above 0 gives at least 1.
 * @throws RangeError when `decimal` has more than six places or is no decimal.
 */
export function chargedRate(decimal: string, markup_bps: number, tier_bps = 0): NanoUsd {
  return rateOfMilli(milliNanoFromDecimal(decimal), markup_bps, tier_bps);
}

function rateOfMilli(milli: number, markup_bps: number, tier_bps: number): NanoUsd {
  const charged = mulDivHalfUp(milli, (10_000 + markup_bps) * (10_000 + tier_bps), 100_000_000_000);
  return nanoUsd(milli > 0 ? Math.max(1, charged) : 0);
}

/** `chargedRate` of every kind in `list`. @throws RangeError as `chargedRate`. */
export function chargedRates(list: ListRates, markup_bps: number, tier_bps = 0): Rates {
  const rates: { [K in RateKind]?: NanoUsd } = {};
  for (const kind of rateKinds) {
    const decimal = list[kind];
    if (decimal !== undefined) rates[kind] = chargedRate(decimal, markup_bps, tier_bps);
  }
  return rates as Rates;
}

/** `list` exactly. @throws RangeError as `chargedRate`. */
function exactRates(list: ListRates): ExactRates {
  const rates: { [K in RateKind]?: number } = {};
  for (const kind of rateKinds) {
    const decimal = list[kind];
    if (decimal !== undefined) rates[kind] = milliNanoFromDecimal(decimal);
  }
  return rates as ExactRates;
}

/** What a reseller's tier charges for `exact` prices, rounded once. */
export function tierRates(exact: ExactRates, markup_bps: number, tier_bps: number): Rates {
  const rates: { [K in RateKind]?: NanoUsd } = {};
  for (const kind of rateKinds) {
    const milli = exact[kind];
    if (milli !== undefined) rates[kind] = rateOfMilli(milli, markup_bps, tier_bps);
  }
  return rates as Rates;
}

interface PriceRow {
  price: FileEndpoint['price'];
  bands?: FileEndpoint['bands'];
}

/** What callers are charged by `row` of a file, with the prices before markup where one is added. */
export function chargedPrice(
  row: PriceRow,
  markup_bps: number,
): Pick<PriceVersion, 'rates' | 'bands' | 'list'> & { readonly unrounded: Unrounded } {
  const bandsAt = (bps: number): PriceBand[] =>
    (row.bands ?? []).map((band) => ({
      from_prompt_tokens: band.from_prompt_tokens,
      rates: chargedRates(band.price as FilePrice, bps),
    }));
  const list = row.price as FilePrice;
  const unrounded = {
    markup_bps,
    rates: exactRates(list),
    bands: (row.bands ?? []).map(({ from_prompt_tokens, price }) => ({
      from_prompt_tokens,
      rates: exactRates(price as FilePrice),
    })),
  };
  const charged = { rates: chargedRates(list, markup_bps), bands: bandsAt(markup_bps), unrounded };
  if (markup_bps === 0) return charged;
  return { ...charged, list: { rates: chargedRates(list, 0), bands: bandsAt(0) } };
}
