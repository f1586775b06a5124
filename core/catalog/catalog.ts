// Loads files, and prices that staff set, into a snapshot and keeps it: readers see one snapshot or the next, never a mixture, and a faulty file
// leaves the running one in place.
import { readFile as readBytes, stat } from 'node:fs/promises';
import type { Pool } from '../db/index.ts';
import { type Db, type Log, now } from '../kernel/index.ts';
import {
  buildDraft,
  type CatalogDraft,
  type EndpointDraft,
  type ModelDraft,
  type PriceDraft,
  priceId,
} from './build.ts';
import { hasSpoiltKey, missingOf } from './credentials.ts';
import { CatalogError, readFile } from './file.ts';
import { type Merged, type MergeOptions, mergeFiles, SANDBOX } from './merge.ts';
import { noteDeprecations, noteRepriced, noteScheduled } from './news/note.ts';
import { noteOffered } from './news/offer.ts';
import { listWithdrawn } from './news/offer-store.ts';
import { filedEndpoints, withSet } from './set-prices/filed.ts';
import { lastSetNo, listSetPrices } from './set-prices/store.ts';
import {
  addPriceHistory,
  type KnownModel,
  lockCatalog,
  numberEndpoints,
  numberModels,
  numberPrices,
  selectPrice,
} from './store.ts';
import { tierMemory } from './tiers/tiers.ts';
import type { Catalog, CatalogFormats, Endpoint, Model, PriceVersion, Provider } from './types.ts';

/** Path of the catalog that comes with the product. */
export const committedCatalog: string = new URL('./catalog.yaml', import.meta.url).pathname;

type LoadOptions = MergeOptions;

interface Numbers {
  readonly models: ReadonlyMap<string, KnownModel>;
  readonly endpoints: ReadonlyMap<string, number>;
  readonly prices: ReadonlyMap<string, number>;
  readonly withdrawn: ReadonlyMap<string, Date>;
}

/**
 * Reads, checks and merges `paths` in order, without a database.
 * @throws CatalogError with path, line and reason of every fault of the first faulty file.
 */
export async function readFiles(paths: readonly string[], options: LoadOptions): Promise<Merged> {
  const files = [];
  for (const path of paths) {
    let text: string;
    try {
      text = await readBytes(path, 'utf8');
    } catch (error) {
      throw new CatalogError([{ file: path, path: '$', line: 1, reason: (error as Error).message }]);
    }
    files.push(readFile(text, path, options.formats));
  }
  return mergeFiles(files, options);
}

async function number(db: Db, draft: CatalogDraft, at: Date): Promise<Numbers> {
  await lockCatalog(db);
  const models = await numberModels(
    db,
    draft.models.map((model) => model.id),
    at,
  );
  const drafts = new Map<string, EndpointDraft>();
  const prices = new Map<string, PriceDraft>();
  for (const model of [...draft.models, ...draft.sandbox]) {
    for (const endpoint of model.endpoints) {
      drafts.set(endpoint.id, endpoint);
      prices.set(endpoint.price.id, endpoint.price);
      const own =
        endpoint.byok === null ? [] : [endpoint.byok.price, ...endpoint.byok.tiers.map(([, p]) => p)];
      for (const price of [...endpoint.tiers.map(([, p]) => p), ...own]) prices.set(price.id, price);
    }
  }
  const identities = [...drafts.values()].map((endpoint) => ({
    id: endpoint.id,
    model_no: (models.get(endpoint.model_id) as KnownModel).model_no,
    provider: endpoint.provider,
    upstream_model: endpoint.upstream_model,
    region: endpoint.region,
  }));
  const endpoints = await numberEndpoints(db, identities, at);
  const given = [...prices.values()];
  const price_nos = await numberPrices(db, given, endpoints, at);
  const repriced = await addPriceHistory(
    db,
    given.map(({ id, endpoint_id, use }) => ({
      ...{ endpoint_no: endpoints.get(endpoint_id) as number, use },
      price_no: price_nos.get(id) as number,
    })),
    at,
  );
  await noteRepriced(db, repriced, at);
  const offered = draft.models.flatMap((model) =>
    model.endpoints.map(({ id, provider, price, coming }) => {
      const { model_no } = models.get(model.id) as KnownModel;
      return { model_no, endpoint_no: endpoints.get(id) as number, provider, rates: price.rates, coming };
    }),
  );
  await noteScheduled(
    db,
    offered.flatMap(({ coming, ...rest }) => (coming === undefined ? [] : [{ ...rest, coming }])),
    at,
  );
  await noteOffered(
    db,
    offered.filter(({ provider }) => provider !== SANDBOX),
    at,
  );
  await noteDeprecations(db, { models: draft.models, known: models }, at);
  const withdrawn = new Map((await listWithdrawn(db)).map(({ id, left_at }) => [id, left_at]));
  return { models, endpoints, prices: price_nos, withdrawn };
}

function numberedPrice(draft: PriceDraft, numbers: Numbers): PriceVersion {
  const { use: _, unrounded: _exact, ...rest } = draft;
  return { ...rest, price_no: numbers.prices.get(draft.id) as number };
}

function numberedTiers(tiers: EndpointDraft['tiers'], numbers: Numbers): NonNullable<Endpoint['tiers']> {
  return Object.fromEntries(tiers.map(([tier, p]) => [tier, numberedPrice(p, numbers)]));
}

/** What tiers of resellers are priced from. */
function unroundedOf(prices: readonly PriceDraft[]): Pick<Endpoint, 'unrounded'> {
  const exact = prices.flatMap(({ id, unrounded }) => (unrounded === undefined ? [] : [[id, unrounded]]));
  return exact.length === 0 ? {} : { unrounded: Object.fromEntries(exact) };
}

function numberedEndpoint(draft: EndpointDraft, numbers: Numbers): Endpoint {
  const { tiers, price, byok, ...rest } = draft;
  const own = byok && {
    price: numberedPrice(byok.price, numbers),
    tiers: numberedTiers(byok.tiers, numbers),
  };
  return {
    ...rest,
    endpoint_no: numbers.endpoints.get(draft.id) as number,
    price: numberedPrice(price, numbers),
    ...unroundedOf([price, ...tiers.map(([, own]) => own)]),
    ...(tiers.length === 0 ? {} : { tiers: numberedTiers(tiers, numbers) }),
    ...(own === null ? {} : { byok: own }),
  };
}

function numberedModel(draft: ModelDraft, numbers: Numbers): Model {
  const { model_no, created_at } = numbers.models.get(draft.id) as KnownModel;
  return {
    ...draft,
    model_no,
    known_since: created_at.toISOString(),
    endpoints: draft.endpoints.map((endpoint) => numberedEndpoint(endpoint, numbers)),
  };
}

function assemble(draft: CatalogDraft, numbers: Numbers): Catalog {
  const models = new Map(draft.models.map((model) => [model.id, numberedModel(model, numbers)]));
  const sandbox = new Map(draft.sandbox.map((model) => [model.id, numberedModel(model, numbers)]));
  const endpoints = new Map<string, Endpoint>();
  // A sandbox model's endpoint stands in both: by id its live form, at price 0, is found.
  for (const model of [...sandbox.values(), ...models.values()]) {
    for (const endpoint of model.endpoints) endpoints.set(endpoint.id, endpoint);
  }
  const providers = new Map(draft.providers.map((provider) => [provider.id, provider]));
  return { version: draft.version, models, endpoints, providers, sandbox, withdrawn: numbers.withdrawn };
}

/**
 * The snapshot of `paths` (later ones over earlier ones) and of the prices that staff set, with the numbers that models, endpoints and prices have in
 * `db`. Safe when several processes start at once.
 * @throws CatalogError when a file cannot be used; then nothing was written.
 */
export async function loadCatalog(
  db: Pool,
  paths: readonly string[],
  options: LoadOptions,
): Promise<Catalog> {
  const at = now();
  const merged = await readFiles(paths, options);
  const set = await listSetPrices(db, null);
  const draft = buildDraft(withSet(merged, set, options.formats), {
    formats: options.formats,
    missing: missingOf,
    today: at.toISOString().slice(0, 10),
  });
  const numbers = await db.transaction((tx) => number(tx, draft, at));
  const catalog: Catalog = {
    ...assemble(draft, numbers),
    filed: filedEndpoints(merged, options.formats),
    atTier: tierMemory(db, () => catalog),
  };
  return catalog;
}

/**
 * Model `id` as a key of `environment` may call it: a test key sees sandbox endpoints with the model's capabilities and
 * prices. null when unknown.
 */
export function findModel(catalog: Catalog, id: string, environment: 'live' | 'test'): Model | null {
  return (environment === 'test' ? catalog.sandbox : catalog.models).get(id) ?? null;
}

/**
 * The price version with this number, whatever the present catalog says; null when there is none.
 * @throws Error (a defect, or someone wrote to the table) when the content does not belong to its id.
 */
export async function findPriceVersion(db: Db, price_no: number): Promise<PriceVersion | null> {
  const row = await selectPrice(db, price_no);
  if (row === null) return null;
  const { use, ...version } = row;
  if (priceId(version.endpoint_id, use, version) !== version.id) {
    throw new Error(`price ${version.id} (number ${price_no}) does not match its content`);
  }
  return version;
}

export interface CatalogHandle {
  /** The present snapshot. */
  current(): Catalog;
  /** The provider as it is now, or as it last was: a call may outlive it. Undefined: this process never had it. */
  provider(id: string): Provider | undefined;
  /** Reads the files again. @throws CatalogError when they cannot be used; `current` is then unchanged. */
  reload(): Promise<Catalog>;
  close(): void;
}

async function stampOf(paths: readonly string[]): Promise<string> {
  const stamps = paths.map(async (path) => {
    const found = await stat(path).catch(() => null);
    return found === null ? 'none' : `${found.mtimeMs} ${found.size} ${found.ino}`;
  });
  return (await Promise.all(stamps)).join(' ');
}

/** What decides what is loaded from `paths`: the files, the day, on which models retire, and what staff set. */
async function stampOfCatalog(db: Db, paths: readonly string[]): Promise<string> {
  return `${now().toISOString().slice(0, 10)} ${await lastSetNo(db)} ${await stampOf(paths)}`;
}

/** What decides which keys its providers have, of what can change in a running process. */
function stampOfKeys({ providers }: Catalog): Promise<string> {
  return stampOf([...providers.values()].flatMap(({ api_key_file }) => api_key_file));
}

/** Tells of keys that are left out; which they are, the file or variable of the provider shows. */
function tellSpoiltKeys({ providers }: Catalog, log: Log): void {
  for (const provider of providers.values()) {
    if (!hasSpoiltKey(provider)) continue;
    const facts = { alert: 'provider_key_unusable', provider: provider.id };
    log.error(facts, 'a provider key has characters that no header can carry, and is left out');
  }
}

/**
 * A catalog that follows its files, those of provider keys, and the prices that staff set: a change is picked up within `poll_ms` (default 10 s,
 * 0 = only by `reload`), a faulty one is logged and waits to be mended.
 * @throws CatalogError when the files cannot be used at the start.
 */
export async function openCatalog(args: {
  db: Pool;
  files: readonly string[];
  log: Log;
  /** The wire formats that files may name. */
  formats: CatalogFormats;
  insecure_upstreams?: boolean;
  poll_ms?: number;
}): Promise<CatalogHandle> {
  const { db, files, log } = args;
  const options = { formats: args.formats, insecure_upstreams: args.insecure_upstreams ?? false };
  let stamp = await stampOfCatalog(db, files);
  let catalog = await loadCatalog(db, files, options);
  let key_stamp = await stampOfKeys(catalog);
  tellSpoiltKeys(catalog, log);
  const former = new Map<string, Provider>();
  let turn: Promise<unknown> = Promise.resolve();

  function reload(): Promise<Catalog> {
    const next = turn.then(async () => {
      const loaded = await loadCatalog(db, files, options);
      for (const [id, provider] of catalog.providers) former.set(id, provider);
      catalog = loaded;
      tellSpoiltKeys(loaded, log);
      return loaded;
    });
    turn = next.catch(() => {});
    return next;
  }
  async function follow(): Promise<void> {
    const seen = await stampOfCatalog(db, files).catch((error: unknown) => {
      // Without a database nothing can be loaded either.
      log.warn({ error }, 'the database cannot say whether prices were set; the running catalog stays');
      return stamp;
    });
    const seen_keys = await stampOfKeys(catalog);
    if (seen === stamp && seen_keys === key_stamp) return;
    try {
      const loaded = await reload();
      stamp = seen;
      key_stamp = await stampOfKeys(loaded);
      log.info({ version: loaded.version }, 'catalog loaded');
    } catch (error) {
      // A faulty file is reported once and waits for its next change; a database that is away is asked again.
      if (error instanceof CatalogError) {
        stamp = seen;
        key_stamp = seen_keys;
      }
      log.error({ error }, 'catalog not loaded; the running one stays');
    }
  }
  const every = args.poll_ms ?? 10_000;
  const timer = every === 0 ? null : setInterval(() => void follow(), every).unref();
  return {
    current: () => catalog,
    provider: (id) => catalog.providers.get(id) ?? former.get(id),
    reload,
    close() {
      if (timer !== null) clearInterval(timer);
    },
  };
}
