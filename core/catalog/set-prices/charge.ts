// What callers are charged by prices as files write them, for each use that a metering record may name. Pure.
import { OWN_KEY, OWN_KEY_FEE_BPS, type PriceContent, STANDARD } from '../build.ts';
import { chargedPrice, chargedRate, tierRates } from '../charged.ts';
import { type EndpointPrices, rowOfTier } from './rows.ts';

const OF_TIER = /^tier:(\d+) (.+)$/;

function charged(prices: EndpointPrices, name: string, markup_bps: number) {
  const row = rowOfTier(prices, name === STANDARD ? undefined : name);
  if (row === undefined) return null;
  const bands = row.bands.map((band) => ({ ...band }));
  return chargedPrice({ price: row.price, ...(bands.length === 0 ? {} : { bands }) }, markup_bps);
}

/** The price of `use` as `prices` have it with the markup of their model; null where they have none. */
export function priceOfUse(prices: EndpointPrices, use: string, markup_bps: number): PriceContent | null {
  const [, tier_bps, of_tier] = OF_TIER.exec(use) ?? [];
  const is_own = use.startsWith(OWN_KEY);
  const row = charged(prices, of_tier ?? (is_own ? use.slice(OWN_KEY.length) : use), markup_bps);
  if (row === null) return null;
  const { unrounded, ...content } = row;
  if (is_own) return { ...content, fee_bps: OWN_KEY_FEE_BPS };
  if (tier_bps === undefined) return content;
  const at = (rates: typeof unrounded.rates) => tierRates(rates, markup_bps, Number(tier_bps));
  return {
    rates: at(unrounded.rates),
    bands: unrounded.bands.map((band) => ({ ...band, rates: at(band.rates) })),
  };
}

/** The nano-USD per unit that callers are charged for `decimal` USD per million. */
export const chargedNano = (decimal: string, markup_bps: number): number => chargedRate(decimal, markup_bps);
