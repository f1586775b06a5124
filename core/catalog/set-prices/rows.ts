// Prices that staff set from a day on, and how they stand among those of the files. Pure.
//
// A set price stands in the place of one price: the one that the endpoint would have had on that day. It holds as long as the
// files give that one. When they give another, because they were changed or a later day of theirs came, theirs holds.
import { canonicalJson, milliNanoFromDecimal, sha256Hex } from '../../kernel/index.ts';
import type { FileEndpoint, FilePrice } from '../file-schema.ts';
import { type RateKind, rateKinds } from '../kinds.ts';
import { pricedOn } from '../scheduled.ts';

interface PricedRow {
  readonly price: FilePrice;
  readonly bands: readonly { readonly from_prompt_tokens: number; readonly price: FilePrice }[];
}
/** All prices of an endpoint as a file writes them. */
export interface EndpointPrices extends PricedRow {
  readonly tiers: { readonly [tier: string]: PricedRow };
}

/** A price that staff set. */
export interface SetPrice {
  readonly set_no: number;
  /** `YYYY-MM-DD`. */
  readonly from: string;
  readonly prices: EndpointPrices;
  readonly replaces: string;
}

function rowOf({ price, bands = [] }: Pick<FileEndpoint, 'price' | 'bands'>): PricedRow {
  return {
    price: price as FilePrice,
    bands: bands.map((band) => ({
      from_prompt_tokens: band.from_prompt_tokens,
      price: band.price as FilePrice,
    })),
  };
}

/** What `file` costs, whatever it costs later. */
function pricesOf(file: FileEndpoint): EndpointPrices {
  const tiers = Object.entries(file.tiers ?? {}).map(([tier, row]) => [tier, rowOf(row)]);
  return { ...rowOf(file), tiers: Object.fromEntries(tiers) };
}

/** What `file` costs on `day`. */
export function pricesOn(file: FileEndpoint, day: string): EndpointPrices {
  return pricesOf(pricedOn(file, day));
}

const exact = (price: FilePrice) =>
  Object.fromEntries(
    rateKinds.flatMap((kind) => {
      const decimal = price[kind];
      return decimal === undefined ? [] : [[kind, milliNanoFromDecimal(decimal)]];
    }),
  );
const exactRow = ({ price, bands }: PricedRow) => ({
  price: exact(price),
  bands: bands.map((band) => ({ ...band, price: exact(band.price) })),
});

/** SHA-256 of what `prices` come to: `2.5` is `2.50`. */
export function hashOf(prices: EndpointPrices): string {
  const tiers = Object.entries(prices.tiers).map(([tier, row]) => [tier, exactRow(row)]);
  return sha256Hex(canonicalJson({ ...exactRow(prices), tiers: Object.fromEntries(tiers) }));
}

const asWritten = ({ price, bands }: PricedRow) => ({
  price: price as FileEndpoint['price'],
  ...(bands.length === 0 ? {} : { bands: bands.map((band) => ({ ...band, price: { ...band.price } })) }),
});

function inserted(file: FileEndpoint, { from, prices }: SetPrice): FileEndpoint {
  const others = (file.scheduled ?? []).filter((one) => one.from !== from);
  const tiers = Object.entries(prices.tiers).map(([tier, row]) => [tier, asWritten(row)]);
  const own = {
    ...{ from, ...asWritten(prices) },
    ...(tiers.length === 0 ? {} : { tiers: Object.fromEntries(tiers) }),
  };
  const scheduled = [...others, own].sort((a, b) => (a.from < b.from ? -1 : 1));
  return { ...file, scheduled };
}

/** `file` with those of `set` that hold in it, and which these are; one that was overtaken is left out. */
export function withSetPrices(
  file: FileEndpoint,
  set: readonly SetPrice[],
): { file: FileEndpoint; held: ReadonlySet<number> } {
  const held = new Set<number>();
  let priced = file;
  for (const one of set.toSorted(
    (a, b) => (a.from < b.from ? -1 : Number(a.from > b.from)) || a.set_no - b.set_no,
  )) {
    if (hashOf(pricesOn(priced, one.from)) !== one.replaces) continue;
    priced = inserted(priced, one);
    held.add(one.set_no);
  }
  return { file: priced, held };
}

/** One amount that is another one from a day on. */
export interface RateChange {
  /** Service tier; absent: the usual price. */
  readonly tier?: string;
  /** Of the band that begins there; absent: the price of short prompts. */
  readonly from_prompt_tokens?: number;
  readonly kind: string;
  /** A decimal as files write it. */
  readonly usd_per_million: string;
}

/** A change that cannot be made: which one, which of its members, and why. */
interface ChangeFault {
  readonly place: number;
  readonly member: keyof RateChange;
  readonly reason: string;
}

const keyOf = ({ tier = '', from_prompt_tokens = 0, kind }: RateChange) =>
  `${tier} ${from_prompt_tokens} ${kind}`;

/** The prices of a tier, or the usual ones. */
export function rowOfTier(prices: EndpointPrices, tier: string | undefined): PricedRow | undefined {
  if (tier === undefined) return prices;
  return Object.hasOwn(prices.tiers, tier) ? prices.tiers[tier] : undefined;
}

/** Why `change` does not fit `prices`; null when it does. */
function faultOf(prices: EndpointPrices, change: RateChange): Omit<ChangeFault, 'place'> | null {
  const { tier, from_prompt_tokens, kind, usd_per_million } = change;
  const row = rowOfTier(prices, tier);
  if (row === undefined) return { member: 'tier', reason: `The endpoint has no tier ${tier}.` };
  const band = row.bands.find((one) => one.from_prompt_tokens === from_prompt_tokens);
  if (from_prompt_tokens !== undefined && band === undefined)
    return { member: 'from_prompt_tokens', reason: `No band begins at ${from_prompt_tokens} tokens.` };
  const now = (band ?? row).price[kind as RateKind];
  if (!(rateKinds as readonly string[]).includes(kind) || now === undefined)
    return {
      member: 'kind',
      reason: `The endpoint has no price of ${kind}. Which kinds it has, its file says.`,
    };
  if (milliNanoFromDecimal(now) === milliNanoFromDecimal(usd_per_million))
    return { member: 'usd_per_million', reason: `That is its price: ${now}.` };
  return null;
}

function changedRow(row: PricedRow, changes: readonly RateChange[]): PricedRow {
  const changed = (price: FilePrice, from: number | undefined): FilePrice => {
    const of = changes.filter(({ from_prompt_tokens }) => from_prompt_tokens === from);
    return {
      ...price,
      ...Object.fromEntries(of.map(({ kind, usd_per_million }) => [kind, usd_per_million])),
    };
  };
  return {
    price: changed(row.price, undefined),
    bands: row.bands.map((band) => ({ ...band, price: changed(band.price, band.from_prompt_tokens) })),
  };
}

/** `prices` with other amounts: kinds, bands and tiers stay as the files have them. */
export function changedPrices(
  prices: EndpointPrices,
  changes: readonly RateChange[],
): { prices: EndpointPrices } | { fault: ChangeFault } {
  const seen = new Set<string>();
  for (const [place, change] of changes.entries()) {
    const fault = faultOf(prices, change);
    if (fault !== null) return { fault: { place, ...fault } };
    if (seen.has(keyOf(change))) return { fault: { place, member: 'kind', reason: 'It is changed twice.' } };
    seen.add(keyOf(change));
  }
  const tiers = Object.entries(prices.tiers).map(([tier, row]) => [
    tier,
    changedRow(
      row,
      changes.filter((change) => change.tier === tier),
    ),
  ]);
  const standard = changedRow(
    prices,
    changes.filter(({ tier }) => tier === undefined),
  );
  return { prices: { ...standard, tiers: Object.fromEntries(tiers) } };
}

/** One amount of an endpoint, before and after. */
export interface RatePair {
  readonly tier: string | null;
  readonly from_prompt_tokens: number | null;
  readonly kind: RateKind;
  readonly before: string;
  readonly after: string;
}

/** The amounts of `before` beside those of `after`, which has the same ones. */
export function ratePairs(before: EndpointPrices, after: EndpointPrices): RatePair[] {
  const ofRow = (tier: string | null, old: PricedRow, fresh: PricedRow): RatePair[] => {
    const rows = [
      { from_prompt_tokens: null, old: old.price, fresh: fresh.price },
      ...old.bands.map((band, i) => ({
        from_prompt_tokens: band.from_prompt_tokens,
        old: band.price,
        fresh: (fresh.bands[i] ?? band).price,
      })),
    ];
    return rows.flatMap(({ from_prompt_tokens, old, fresh }) =>
      rateKinds.flatMap((kind) => {
        const [was, is] = [old[kind], fresh[kind]];
        return was === undefined ? [] : [{ tier, from_prompt_tokens, kind, before: was, after: is ?? was }];
      }),
    );
  };
  return [
    ...ofRow(null, before, after),
    ...Object.entries(before.tiers).flatMap(([tier, row]) => ofRow(tier, row, after.tiers[tier] ?? row)),
  ];
}
