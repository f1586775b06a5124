// Numbers and price history: what must outlive a file. Numbers go into the ledger's metering records, so they are
// given once and never again.
import type { Db, Id } from '../kernel/index.ts';
import type { PriceContent, PriceDraft } from './build.ts';
import type { PriceVersion } from './types.ts';

const LOCK = 7_305_118_203;

/** Makes loaders of several processes take turns until the transaction ends. */
export async function lockCatalog(db: Db): Promise<void> {
  await db.query({ name: 'catalog.lock', text: 'select pg_advisory_xact_lock($1)', values: [LOCK] });
}

async function numbers(
  db: Db,
  name: string,
  text: string,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await db.query<{ id: string; no: number }>({ name, text, values: [ids] });
  return new Map(rows.map((row) => [row.id, row.no]));
}

/** A model as the database knows it. */
export interface KnownModel {
  readonly id: string;
  readonly model_no: number;
  /** When it was first loaded from a file. */
  readonly created_at: Date;
}

/** Numbers of the models `ids` by id; unknown ones get the next. Needs the lock. */
export async function numberModels(
  db: Db,
  ids: readonly string[],
  at: Date,
): Promise<Map<string, KnownModel>> {
  await db.query({
    name: 'catalog.add_models',
    text: `
      insert into catalog.model (id, created_at)
      select id, $2 from unnest($1::text[]) with ordinality as given (id, place)
       where not exists (select from catalog.model known where known.id = given.id)
       order by place`,
    values: [ids, at],
  });
  const { rows } = await db.query<KnownModel>({
    name: 'catalog.model_numbers',
    text: 'select id, model_no, created_at from catalog.model where id = any ($1)',
    values: [ids],
  });
  return new Map(rows.map((row) => [row.id, row]));
}

interface EndpointIdentity {
  readonly id: Id<'endpoint'>;
  readonly model_no: number;
  readonly provider: string;
  readonly upstream_model: string;
  readonly region: string;
}

/** Numbers of the endpoints; unknown ones get the next. Needs the lock. */
export async function numberEndpoints(
  db: Db,
  endpoints: readonly EndpointIdentity[],
  at: Date,
): Promise<Map<string, number>> {
  const ids = endpoints.map((endpoint) => endpoint.id);
  await db.query({
    name: 'catalog.add_endpoints',
    text: `
      insert into catalog.endpoint (id, model_no, provider, upstream_model, region, created_at)
      select id, model_no, provider, upstream_model, region, $6
        from unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::text[])
             with ordinality as given (id, model_no, provider, upstream_model, region, place)
       where not exists (select from catalog.endpoint known where known.id = given.id)
       order by place`,
    values: [
      ids,
      endpoints.map((endpoint) => endpoint.model_no),
      endpoints.map((endpoint) => endpoint.provider),
      endpoints.map((endpoint) => endpoint.upstream_model),
      endpoints.map((endpoint) => endpoint.region),
      at,
    ],
  });
  const text = 'select id, endpoint_no as no from catalog.endpoint where id = any ($1)';
  return numbers(db, 'catalog.endpoint_numbers', text, ids);
}

function contentOf(price: PriceContent): PriceContent {
  const { rates, bands, list, fee_bps, base } = price;
  return {
    ...{ rates, bands },
    ...(list === undefined ? {} : { list }),
    ...(fee_bps === undefined ? {} : { fee_bps }),
    ...(base === undefined ? {} : { base }),
  };
}

/** Numbers of the prices; unknown ones are stored for good and get the next. Needs the lock. */
export async function numberPrices(
  db: Db,
  prices: readonly PriceDraft[],
  endpoint_numbers: ReadonlyMap<string, number>,
  at: Date,
): Promise<Map<string, number>> {
  const ids = prices.map((price) => price.id);
  const endpoint_nos = prices.map((price) => endpoint_numbers.get(price.endpoint_id));
  const uses = prices.map((price) => price.use);
  await db.query({
    name: 'catalog.add_prices',
    text: `
      insert into catalog.price_version (id, endpoint_no, use, content, created_at)
      select id, endpoint_no, use, content, $5
        from unnest($1::text[], $2::int[], $3::text[], $4::jsonb[])
             with ordinality as given (id, endpoint_no, use, content, place)
       where not exists (select from catalog.price_version known where known.id = given.id)
       order by place`,
    values: [ids, endpoint_nos, uses, prices.map((price) => JSON.stringify(contentOf(price))), at],
  });
  const text = 'select id, price_no as no from catalog.price_version where id = any ($1)';
  return numbers(db, 'catalog.price_numbers', text, ids);
}

/** A price that an endpoint had until now, and the one in its place. */
export interface Repriced {
  readonly model_no: number;
  readonly endpoint_no: number;
  readonly use: string;
  readonly before: PriceContent;
  readonly after: PriceContent;
}

/**
 * Notes from when on the endpoints have `prices`, and returns those that had another price before. Of all processes that
 * load the same change, one gets it. Needs the lock.
 */
export async function addPriceHistory(
  db: Db,
  prices: readonly { endpoint_no: number; use: string; price_no: number }[],
  at: Date,
): Promise<Repriced[]> {
  const { rows } = await db.query<Repriced>({
    name: 'catalog.add_price_history',
    text: `
      with changed as (
        select given.endpoint_no, given.use, given.price_no, given.place, former.price_no as former_no
          from unnest($1::int[], $2::text[], $3::int[])
               with ordinality as given (endpoint_no, use, price_no, place)
          left join lateral (
                 select last.price_no from catalog.price_history last
                  where last.endpoint_no = given.endpoint_no and last.use = given.use
                  order by last.history_no desc limit 1) as former on true
         where given.price_no is distinct from former.price_no),
      added as (
        insert into catalog.price_history (endpoint_no, use, price_no, effective_from)
        select endpoint_no, use, price_no, $4 from changed order by place)
      select endpoint.model_no, changed.endpoint_no, changed.use, former.content as before, price.content as after
        from changed
        join catalog.endpoint using (endpoint_no)
        join catalog.price_version price on price.price_no = changed.price_no
        join catalog.price_version former on former.price_no = changed.former_no
       order by changed.place`,
    values: [
      prices.map(({ endpoint_no }) => endpoint_no),
      prices.map(({ use }) => use),
      prices.map(({ price_no }) => price_no),
      at,
    ],
  });
  return rows;
}

/** What an organization pays above catalog prices as a reseller's customer; null: it is nobody's. */
export async function tierOfOrg(db: Db, org_id: Id<'org'>): Promise<number | null> {
  const { rows } = await db.query<{ tier_bps: number | null }>({
    name: 'catalog.tier_of_org',
    text: 'select reseller_bps($1) as tier_bps',
    values: [org_id],
  });
  return rows[0]?.tier_bps ?? null;
}

/** A price of a reseller's tier, and the catalog's price that it stands on. */
interface TierPrice {
  readonly price_no: number;
  readonly base: PriceVersion;
}

/** Those of these price numbers that are a tier's. */
export async function selectTierPrices(db: Db, price_nos: readonly number[]): Promise<TierPrice[]> {
  const { rows } = await db.query<
    Pick<PriceVersion, 'id' | 'price_no' | 'endpoint_id'> & { content: PriceContent; of_no: number }
  >({
    name: 'catalog.find_tier_prices',
    text: `
      select tier.price_no as of_no, base.id, base.price_no, endpoint.id as endpoint_id, base.content
        from catalog.price_version tier
        join catalog.price_version base on base.id = tier.content ->> 'base'
        join catalog.endpoint on endpoint.endpoint_no = base.endpoint_no
       where tier.price_no = any ($1)`,
    values: [price_nos],
  });
  return rows.map(({ of_no, content, ...rest }) => ({ price_no: of_no, base: { ...rest, ...content } }));
}

/** The price version with `price_no`, and its use; null when there is none. */
export async function selectPrice(
  db: Db,
  price_no: number,
): Promise<(PriceVersion & { use: string }) | null> {
  const { rows } = await db.query<{
    id: Id<'price'>;
    price_no: number;
    endpoint_id: Id<'endpoint'>;
    use: string;
    content: PriceContent;
  }>({
    name: 'catalog.find_price',
    text: `
      select price.id, price.price_no, endpoint.id as endpoint_id, price.use, price.content
        from catalog.price_version price join catalog.endpoint using (endpoint_no)
       where price.price_no = $1`,
    values: [price_no],
  });
  const row = rows[0];
  if (row === undefined) return null;
  const { content, ...rest } = row;
  return { ...rest, ...content };
}

interface PriceChange {
  readonly endpoint_id: Id<'endpoint'>;
  readonly use: string;
  readonly price_id: Id<'price'>;
  readonly price_no: number;
  readonly effective_from: Date;
}

/** Which price an endpoint had from when on, oldest first. */
export async function selectPriceHistory(db: Db, endpoint_id: string): Promise<PriceChange[]> {
  const { rows } = await db.query<PriceChange>({
    name: 'catalog.price_history',
    text: `
      select endpoint.id as endpoint_id, history.use, price.id as price_id, price.price_no, history.effective_from
        from catalog.endpoint
        join catalog.price_history history using (endpoint_no)
        join catalog.price_version price using (price_no)
       where endpoint.id = $1
       order by history.history_no`,
    values: [endpoint_id],
  });
  return rows;
}

interface NumberedEndpoint {
  readonly endpoint_id: Id<'endpoint'>;
  readonly provider: string;
  readonly upstream_model: string;
  readonly region: string;
  readonly model: string;
}

/** The endpoint that metering records call `endpoint_no`, also one that the catalog does not have any more. */
export async function findEndpointByNo(db: Db, endpoint_no: number): Promise<NumberedEndpoint | null> {
  const { rows } = await db.query<NumberedEndpoint>({
    name: 'catalog.find_endpoint_by_no',
    text: `
      select e.id as endpoint_id, e.provider, e.upstream_model, e.region, m.id as model
        from catalog.endpoint e join catalog.model m using (model_no) where e.endpoint_no = $1`,
    values: [endpoint_no],
  });
  return rows[0] ?? null;
}
