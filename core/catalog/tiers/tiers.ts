// The catalog at the prices of a reseller's tier. A tier's price is made from the prices of the file, rounded once, and
// stored as a price version of its own that names the catalog's price it stands on: so a bill recomputes from its own
// version, and what the same usage costs at catalog prices from the other.
import type { Pool } from '../../db/index.ts';
import { type Context, type Id, now } from '../../kernel/index.ts';
import { type PriceDraft, priceId, STANDARD, TEST } from '../build.ts';
import { tierRates } from '../charged.ts';
import { lockCatalog, numberPrices, tierOfOrg } from '../store.ts';
import type { Catalog, Endpoint, Model, PriceVersion, Rates, Unrounded } from '../types.ts';

/** The price that customers of a tier pay in place of `price`; null where they pay what everybody pays. */
function tierPrice(
  { price, unrounded }: { price: PriceVersion; unrounded: Unrounded | undefined },
  use: string,
  tier_bps: number,
): PriceDraft | null {
  const { endpoint_id } = price;
  if (unrounded === undefined || tier_bps === 0) return null;
  const content = {
    rates: tierRates(unrounded.rates, unrounded.markup_bps, tier_bps),
    bands: unrounded.bands.map(({ from_prompt_tokens, rates }) => ({
      from_prompt_tokens,
      rates: tierRates(rates, unrounded.markup_bps, tier_bps),
    })),
    base: price.id,
  };
  const of_tier = `tier:${tier_bps} ${use}`;
  return { id: priceId(endpoint_id, of_tier, content), endpoint_id, use: of_tier, ...content };
}

/** What customers of a tier pay at `endpoint` in place of its price. Pure. */
export function ratesAtTier(
  { price, unrounded = {} }: Pick<Endpoint, 'price' | 'unrounded'>,
  tier_bps: number,
): Rates {
  return tierPrice({ price, unrounded: unrounded[price.id] }, STANDARD, tier_bps)?.rates ?? price.rates;
}

/** Prices of a tier by the id of the catalog's price in whose place they stand. */
type InPlaceOf = ReadonlyMap<Id<'price'>, PriceDraft>;

function draftsOf(models: Iterable<Model>, use: string, tier_bps: number): InPlaceOf {
  const drafts = new Map<Id<'price'>, PriceDraft>();
  for (const { endpoints } of models) {
    for (const { price, tiers = {}, unrounded = {} } of endpoints) {
      const uses: (readonly [PriceVersion, string])[] = Object.entries(tiers).map(([tier, own]) => [
        own,
        tier,
      ]);
      for (const [own, name] of [[price, use] as const, ...uses]) {
        const draft = tierPrice({ price: own, unrounded: unrounded[own.id] }, name, tier_bps);
        if (draft !== null) drafts.set(own.id, draft);
      }
    }
  }
  return drafts;
}

function replaced(
  price: PriceVersion,
  drafts: InPlaceOf,
  numbers: ReadonlyMap<string, number>,
): PriceVersion {
  const draft = drafts.get(price.id);
  if (draft === undefined) return price;
  const { use: _, ...rest } = draft;
  return { ...rest, price_no: numbers.get(draft.id) as number };
}

function endpointAt(endpoint: Endpoint, drafts: InPlaceOf, numbers: ReadonlyMap<string, number>): Endpoint {
  // Prices to come are the catalog's: who pays a tier's sees theirs when it comes.
  const { coming: _, unrounded: _exact, tiers, ...rest } = endpoint;
  const at = (price: PriceVersion) => replaced(price, drafts, numbers);
  return {
    ...rest,
    price: at(endpoint.price),
    ...(tiers === undefined
      ? {}
      : { tiers: Object.fromEntries(Object.entries(tiers).map(([tier, price]) => [tier, at(price)])) }),
  };
}

function modelsAt(
  models: ReadonlyMap<string, Model>,
  drafts: InPlaceOf,
  numbers: ReadonlyMap<string, number>,
): Map<string, Model> {
  const at = (model: Model): Model => ({
    ...model,
    // What a reseller and we add to a price is nobody's but theirs: its customers see one price.
    markup_bps: 0,
    endpoints: model.endpoints.map((endpoint) => endpointAt(endpoint, drafts, numbers)),
  });
  return new Map([...models].map(([id, model]) => [id, at(model)]));
}

/** The snapshot `catalog` with `numbers` of `drafts` in the place of its prices. */
function resold(
  catalog: Catalog,
  { live, test }: { readonly live: InPlaceOf; readonly test: InPlaceOf },
  numbers: ReadonlyMap<string, number>,
): Catalog {
  const models = modelsAt(catalog.models, live, numbers);
  const sandbox = modelsAt(catalog.sandbox, test, numbers);
  const endpoints = new Map<string, Endpoint>();
  for (const model of [...sandbox.values(), ...models.values()])
    for (const endpoint of model.endpoints) endpoints.set(endpoint.id, endpoint);
  return { ...catalog, models, endpoints, sandbox };
}

/** The snapshot `catalog` with its prices at `tier_bps`, each stored and numbered; stored before, they are the same ones. */
async function priceTier(pool: Pool, catalog: Catalog, tier_bps: number): Promise<Catalog> {
  const live = draftsOf(catalog.models.values(), STANDARD, tier_bps);
  const test = draftsOf(catalog.sandbox.values(), TEST, tier_bps);
  const endpoint_nos = new Map<string, number>();
  for (const all of [catalog.models, catalog.sandbox])
    for (const { endpoints } of all.values())
      for (const { id, endpoint_no } of endpoints) endpoint_nos.set(id, endpoint_no);
  const drafts = [
    ...new Map([...live.values(), ...test.values()].map((draft) => [draft.id, draft])).values(),
  ];
  const numbers = await pool.transaction(async (db) => {
    await lockCatalog(db);
    return numberPrices(db, drafts, endpoint_nos, now());
  });
  return resold(catalog, { live, test }, numbers);
}

/** No price is another: what a customer pays whose reseller adds nothing. */
const UNCHANGED = { live: new Map(), test: new Map() };

/** What a snapshot remembers of tiers: each is priced once per snapshot, when it is first asked for. */
export function tierMemory(pool: Pool, catalog: () => Catalog): NonNullable<Catalog['atTier']> {
  const priced = new Map<number, Catalog>();
  const asking = new Map<number, Promise<Catalog>>();
  return (tier_bps) => {
    if (tier_bps === 0 && !priced.has(0)) priced.set(0, resold(catalog(), UNCHANGED, new Map()));
    const known = priced.get(tier_bps) ?? asking.get(tier_bps);
    if (known !== undefined) return known;
    const asked = priceTier(pool, catalog(), tier_bps)
      .then((made) => {
        priced.set(tier_bps, made);
        return made;
      })
      .finally(() => asking.delete(tier_bps));
    asking.set(tier_bps, asked);
    return asked;
  };
}

/**
 * `catalog` as a reseller's customer sees it that pays `tier_bps` above it, where 0 is its prices without what we add to them;
 * null: as who is no reseller's customer. @throws Error (a defect) where a snapshot that was not loaded has no tiers.
 */
export function catalogAt(catalog: Catalog, tier_bps: number | null): Catalog | Promise<Catalog> {
  if (tier_bps === null) return catalog;
  if (catalog.atTier === undefined) throw new Error('this catalog has no tiers');
  return catalog.atTier(tier_bps);
}

/** The catalog at the prices that the caller's organization pays. */
export function callersCatalog({ services, caller }: Context): Catalog | Promise<Catalog> {
  const tier_bps = caller.kind === 'key' || caller.kind === 'session' ? caller.tier_bps : undefined;
  return catalogAt(services.catalog(), tier_bps ?? null);
}

/** The catalog at the prices that an organization pays, whoever asks. */
export async function catalogOfOrg(context: Context, org_id: Id<'org'>): Promise<Catalog> {
  return catalogAt(context.services.catalog(), await tierOfOrg(context.db, org_id));
}
