// From merged files to the snapshot's content, all but the numbers that the database gives out. Pure.
import { canonicalJson, crockford26, type Id, sha256, sha256Hex } from '../kernel/index.ts';
import { chargedPrice, chargedRates } from './charged.ts';
import type { FileCapabilities, FileEndpoint, FilePrice } from './file-schema.ts';
import { endpointId, type Merged, type MergedModel, placeOf, SANDBOX } from './merge.ts';
import { flagsOf, type WholeProvider } from './presets/presets.ts';
import { sandboxEndpoints, sandboxPriceOf, sandboxSites, withSandbox } from './sandbox.ts';
import { comingAfter, pricedOn } from './scheduled.ts';
import { taskOf } from './task.ts';
import type {
  CatalogFormats,
  DataPolicy,
  Endpoint,
  KindFacts,
  Model,
  ModelTask,
  PriceVersion,
  Provider,
  TargetCapabilities,
  Unrounded,
  WireFacts,
} from './types.ts';

/** Which of an endpoint's prices: the usual one, a test key's, or that of a service tier. */
type PriceUse = string;
export const STANDARD = 'standard';
export const TEST = 'test';

/** Calls with a caller's own provider key; no tier's name has a colon. */
export const OWN_KEY = 'byok:';
/** Share of the list cost that a call with a caller's own provider key costs. */
export const OWN_KEY_FEE_BPS = 500;

export type PriceContent = Pick<PriceVersion, 'rates' | 'bands' | 'list' | 'fee_bps' | 'base'>;
export interface PriceDraft extends PriceContent {
  readonly id: Id<'price'>;
  readonly endpoint_id: Id<'endpoint'>;
  readonly use: PriceUse;
  /** As the file says it; absent where no tier is priced from it. */
  readonly unrounded?: Unrounded;
}
type PriceParts = PriceContent & Pick<PriceDraft, 'unrounded'>;
type TierDrafts = readonly (readonly [string, PriceDraft])[];
export type EndpointDraft = Omit<Endpoint, 'endpoint_no' | 'price' | 'tiers' | 'byok' | 'unrounded'> & {
  readonly price: PriceDraft;
  readonly tiers: TierDrafts;
  /** null: the provider takes no keys of callers. */
  readonly byok: { readonly price: PriceDraft; readonly tiers: TierDrafts } | null;
};
export type ModelDraft = Omit<Model, 'model_no' | 'known_since' | 'endpoints'> & {
  readonly endpoints: readonly EndpointDraft[];
};
export interface CatalogDraft {
  readonly version: string;
  readonly providers: readonly Provider[];
  readonly models: readonly ModelDraft[];
  /** The same models as a test key sees them. */
  readonly sandbox: readonly ModelDraft[];
}

/** What is assumed of a provider that the file says nothing about: the worst, so that no privacy preference is met by guess. */
const unknownPolicy: DataPolicy = { trains: true, retention_days: null, zdr: false };

/** The kind of provider whose endpoints answer in this process. */
function sandboxKind({ families, kinds }: CatalogFormats): string {
  for (const [kind, facts] of kinds) {
    const { text } = facts.families;
    if (text !== null && families.get(text)?.in_process === true) return kind;
  }
  throw new Error('no format answers in this process');
}

function sandboxProvider(formats: CatalogFormats): Provider {
  return {
    id: SANDBOX,
    name: 'Sandbox',
    kind: sandboxKind(formats),
    base_url: '',
    api_key_env: [],
    api_key_file: [],
    regions: sandboxSites.map((site) => site.region),
    data_policy: { trains: false, retention_days: 0, zdr: true },
    terms_url: null,
    verified_at: null,
    byok: 'no',
  };
}

function many(value: string | string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}

function providerOf(file: WholeProvider): Provider {
  return {
    id: file.id,
    name: file.name,
    kind: file.kind,
    base_url: file.base_url.replace(/\/+$/, ''),
    api_key_env: many(file.api_key_env),
    api_key_file: many(file.api_key_file),
    regions: file.regions ?? [],
    data_policy: file.data_policy ?? unknownPolicy,
    terms_url: file.terms_url ?? null,
    verified_at: file.verified_at ?? null,
    byok: file.byok ?? 'no',
  };
}

/** Id of a price: equal content of one endpoint has an equal id, so a price can never change under its id. */
export function priceId(endpoint_id: string, use: PriceUse, content: PriceContent): Id<'price'> {
  const list = content.list === undefined ? {} : { list: content.list };
  const fee = content.fee_bps === undefined ? {} : { fee_bps: content.fee_bps };
  const scope = use === STANDARD ? {} : { use };
  const base = content.base === undefined ? {} : { base: content.base };
  const { rates, bands } = content;
  const text = canonicalJson({ endpoint_id, ...scope, rates, bands, ...list, ...fee, ...base });
  return `pv_${crockford26(sha256(text))}`;
}

function draftPrice(endpoint_id: Id<'endpoint'>, use: PriceUse, content: PriceParts): PriceDraft {
  return { id: priceId(endpoint_id, use, content), endpoint_id, use, ...content };
}

/** The prices of an endpoint for calls with the caller's own key: the same, of which a share is charged. */
function ownKeyPrices(
  endpoint_id: Id<'endpoint'>,
  of: { provider: Provider; price: PriceContent; tiers: readonly (readonly [string, PriceContent])[] },
): EndpointDraft['byok'] {
  if (of.provider.byok === 'no') return null;
  const draft = (use: PriceUse, { rates, bands, list }: PriceContent) =>
    draftPrice(endpoint_id, use, {
      ...{ rates, bands },
      ...(list === undefined ? {} : { list }),
      fee_bps: OWN_KEY_FEE_BPS,
    });
  return {
    price: draft(`${OWN_KEY}${STANDARD}`, of.price),
    tiers: of.tiers.map(([tier, content]) => [tier, draft(`${OWN_KEY}${tier}`, content)] as const),
  };
}

type Switch =
  | 'tools'
  | 'parallel_tools'
  | 'json_schema'
  | 'vision'
  | 'audio'
  | 'pdf'
  | 'reasoning'
  | 'cache'
  | 'prefill';

function capabilitiesOf(
  model: MergedModel,
  endpoint: FileEndpoint,
  provider_parameters: readonly string[],
): TargetCapabilities {
  const own: FileCapabilities = endpoint.capabilities ?? {};
  const base: FileCapabilities = model.capabilities ?? {};
  const inputs = model.modalities?.in ?? [];
  // An endpoint narrows: what the model cannot do no endpoint can.
  const both = (key: Switch, otherwise: boolean) => (base[key] ?? otherwise) && (own[key] ?? true);
  const tools = both('tools', false);
  const reasoning = both('reasoning', false);
  return {
    tools,
    parallel_tools: tools && both('parallel_tools', true),
    json_schema: both('json_schema', false),
    vision: both('vision', inputs.includes('image')),
    audio: both('audio', inputs.includes('audio')),
    pdf: both('pdf', false),
    reasoning,
    cache: both('cache', false),
    // Prefill is an endpoint's own: a host may add it to a model that does not have it at home.
    prefill: own.prefill ?? base.prefill ?? false,
    parameters: own.parameters ?? [...new Set([...(base.parameters ?? []), ...provider_parameters])],
    betas: own.betas ?? base.betas ?? [],
    server_tools: soldTools(own.server_tools ?? base.server_tools ?? [], endpoint),
    reasoning_controls: reasoning ? (model.reasoning?.controls ?? []) : [],
    max_output: maxOutput(model, endpoint),
  };
}

/**
 * `listed` without what has no price: a search of the web is billed by the provider and never bought on a caller's word
 * alone. Google's own word for it is the same tool.
 */
function soldTools(listed: readonly string[], endpoint: FileEndpoint): readonly string[] {
  const tools = listed.map((tool) => (tool === 'google_search' ? 'web_search' : tool));
  if ((endpoint.price as FilePrice).search_unit !== undefined) return [...new Set(tools)];
  return tools.filter((tool) => tool !== '*' && !/^web_search(_|$)/.test(tool));
}

function contextLength(model: MergedModel, endpoint: FileEndpoint): number {
  return Math.min(endpoint.context_length ?? model.context_length, model.context_length);
}

/** Where a file does not name the largest answer, the context is its only bound. */
function maxOutput(model: MergedModel, endpoint: FileEndpoint): number {
  const context = contextLength(model, endpoint);
  return Math.min(endpoint.max_output ?? model.max_output ?? context, context);
}

/** The wire of `file`: a model that makes vectors or an order is spoken to in another one than its provider's chat models. */
function wireOf(
  { formats }: Pick<Make, 'formats'>,
  provider: Provider,
  file: Pick<FileEndpoint, 'family'>,
  task: ModelTask | null,
): { family: string; wire: WireFacts } {
  const { families } = formats.kinds.get(provider.kind) as KindFacts;
  // Both were checked when the files were merged.
  const family = (task === null ? (file.family ?? families.text) : families[task]) as string;
  return { family, wire: formats.families.get(family) as WireFacts };
}

interface Make {
  readonly formats: CatalogFormats;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly said: Merged['providers'];
  readonly missing: (provider: Provider) => string | null;
  readonly today: string;
}

function hidden(hide: readonly string[]): { hide?: readonly string[] } {
  return hide.length === 0 ? {} : { hide };
}

function draftEndpoint(make: Make, model: MergedModel, given: FileEndpoint): EndpointDraft {
  const file = pricedOn(given, make.today);
  const provider = make.providers.get(file.provider) as Provider;
  // The sandbox stands in no file.
  const said = make.said.get(file.provider);
  const place = placeOf(file, provider.kind, make.formats);
  const id = endpointId(model.id, file.provider, file.upstream_model, place);
  const markup = model.markup_bps ?? 0;
  const task = taskOf(model.modalities?.out);
  const price = chargedPrice(file, markup);
  const tiers = Object.entries(file.tiers ?? {}).map(
    ([tier, row]) => [tier, draftPrice(id, tier, chargedPrice(row, markup))] as const,
  );
  return {
    id,
    model_id: model.id,
    provider: provider.id,
    provider_name: provider.name,
    ...wireOf(make, provider, file, task),
    kind: provider.kind,
    ...(task === null ? {} : { task }),
    ...(model.tokenizer === undefined ? {} : { tokenizer: model.tokenizer }),
    upstream_model: file.upstream_model,
    region: place.region,
    status: model.retires_at !== undefined && model.retires_at <= make.today ? 'disabled' : 'active',
    quantization: file.quantization ?? null,
    context_length: contextLength(model, file),
    max_output: maxOutput(model, file),
    capabilities: capabilitiesOf(model, file, said?.parameters ?? []),
    price: draftPrice(id, STANDARD, price),
    tiers,
    ...comingAfter(given, make.today, (row) => chargedRates(row as FilePrice, markup)),
    byok: ownKeyPrices(id, { provider, price, tiers }),
    data_policy: provider.data_policy,
    cancel_billing: file.cancel_billing ?? said?.cancel_billing ?? 'unknown',
    hidden_reasoning: model.reasoning?.hidden ?? false,
    flags: flagsOf(said?.flags ?? [], file.flags ?? []),
    ...hidden(flagsOf(said?.hide ?? [], file.hide ?? [])),
    missing: make.missing(provider),
  };
}

function knowingOthers(endpoints: EndpointDraft[]): EndpointDraft[] {
  return endpoints.map((one) => {
    const others = endpoints.filter(
      ({ provider, upstream_model, family }) =>
        provider === one.provider && upstream_model === one.upstream_model && family !== one.family,
    );
    return others.length === 0 ? one : { ...one, other_families: others.map(({ family }) => family) };
  });
}

function draftModel(make: Make, model: MergedModel): ModelDraft {
  // A model that retires and names no other day is deprecated from now on.
  const from = model.deprecated_at ?? (model.retires_at === undefined ? undefined : make.today);
  const deprecated = from !== undefined && from <= make.today;
  return {
    id: model.id,
    vendor: model.id.slice(0, model.id.indexOf('/')),
    name: model.name,
    context_length: model.context_length,
    max_output: Math.min(model.max_output ?? model.context_length, model.context_length),
    modalities: model.modalities ?? { in: ['text'], out: ['text'] },
    status: deprecated ? 'deprecated' : 'active',
    markup_bps: model.markup_bps ?? 0,
    released_at: model.released_at ?? null,
    deprecated_at: model.deprecated_at ?? null,
    retires_at: model.retires_at ?? null,
    endpoints: knowingOthers(model.endpoints.map((endpoint) => draftEndpoint(make, model, endpoint))),
    ...(model.tokenizer === undefined ? {} : { tokenizer: model.tokenizer }),
    ...(model.reasoning?.format === undefined ? {} : { reasoning_format: model.reasoning.format }),
  };
}

/** What `model` can do anywhere: a test key is promised the model, not one host of it. */
function union(model: ModelDraft): TargetCapabilities {
  const all = model.endpoints.map((endpoint) => endpoint.capabilities);
  const first = all[0] as TargetCapabilities;
  const any = (key: Switch) => all.some((one) => one[key]);
  const every = (key: 'parameters' | 'betas' | 'server_tools') => [
    ...new Set(all.flatMap((one) => one[key])),
  ];
  return {
    ...first,
    tools: any('tools'),
    parallel_tools: any('parallel_tools'),
    json_schema: any('json_schema'),
    vision: any('vision'),
    audio: any('audio'),
    pdf: any('pdf'),
    reasoning: any('reasoning'),
    cache: any('cache'),
    prefill: any('prefill'),
    parameters: every('parameters'),
    betas: every('betas'),
    server_tools: every('server_tools'),
    max_output: Math.max(...all.map((one) => one.max_output)),
  };
}

/** `model` as a test key sees it: two sandbox endpoints with its capabilities and its first endpoint's prices. */
function sandboxTwin(make: Make, model: ModelDraft): ModelDraft {
  const real = model.endpoints[0] as EndpointDraft;
  const own = model.vendor === SANDBOX;
  const capabilities = union(model);
  const endpoints = sandboxEndpoints(model.id).map((file, i): EndpointDraft => {
    const site = sandboxSites[i] as (typeof sandboxSites)[number];
    const provider = make.providers.get(SANDBOX) as Provider;
    const id = endpointId(model.id, SANDBOX, file.upstream_model, { region: site.region });
    const content = own
      ? { rates: chargedRates(sandboxPriceOf(model.id), 0, (site.price_factor - 1) * 10_000), bands: [] }
      : {
          ...{ rates: real.price.rates, bands: real.price.bands },
          ...(real.price.unrounded === undefined ? {} : { unrounded: real.price.unrounded }),
        };
    const { coming: _, ...present } = real;
    return {
      ...present,
      id,
      provider: SANDBOX,
      provider_name: provider.name,
      ...wireOf(make, provider, {}, real.task ?? null),
      kind: provider.kind,
      upstream_model: file.upstream_model,
      region: site.region,
      quantization: null,
      context_length: model.context_length,
      max_output: capabilities.max_output,
      capabilities,
      price: draftPrice(id, TEST, content),
      tiers: [],
      byok: null,
      data_policy: provider.data_policy,
      cancel_billing: site.cancel_billing,
      flags: [],
      missing: null,
    };
  });
  return { ...model, endpoints };
}

/** A price as it is stored; what tiers are made from follows from it. */
const withoutUnrounded = ({ unrounded: _, ...price }: PriceDraft) => price;

/**
 * The content of a catalog. `missing` names the variable or file that a provider's keys would come from when none is
 * there; `today` (`YYYY-MM-DD`) decides what is deprecated or retired.
 */
export function buildDraft(
  merged: Merged,
  options: { formats: CatalogFormats; missing: (provider: Provider) => string | null; today: string },
): CatalogDraft {
  const providers = [sandboxProvider(options.formats), ...[...merged.providers.values()].map(providerOf)];
  const byId = new Map(providers.map((provider) => [provider.id, provider]));
  const make: Make = { ...options, providers: byId, said: merged.providers };
  const models = withSandbox(merged).map((model) => draftModel(make, model));
  const sandbox = models.map((model) => sandboxTwin(make, model));
  // What a process lacks keys for is not part of the content: equal files have equal versions everywhere.
  const content = models.map((model) => ({
    ...model,
    endpoints: model.endpoints.map(({ missing: _, wire: _facts, price, tiers, ...rest }) => ({
      ...rest,
      price: withoutUnrounded(price),
      tiers: tiers.map(([tier, own]) => [tier, withoutUnrounded(own)]),
    })),
  }));
  const version = sha256Hex(
    canonicalJson([providers, content, sandbox.map((m) => m.endpoints.map((e) => e.price.id))]),
  );
  return { version: version.slice(0, 16), providers, models, sandbox };
}
