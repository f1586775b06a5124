// The filters of docs/policies.md#why-an-endpoint-is-left-out, in their order; the first that refuses names the
// reason. Security filters come before all others but the endpoint's own state, so that a trace shows a privacy
// exclusion as one. What is not known of an endpoint counts against it wherever a preference protects (retention,
// quantization, region, training, parameters).
import type { Catalog, Endpoint, ModelTask } from '../catalog/index.ts';
import { ratesFor } from '../pricing/index.ts';
import { bitsOf, type EndpointFacts } from './facts.ts';
import type { Figures } from './health/health.ts';
import type { ExclusionReason, OwnKeys, OwnKeyUse, RouteLoss, SettledInput } from './types.ts';

/** The preferences of request and key combined once per call; security preferences only ever tighten. */
export interface Demands {
  readonly zdr: boolean;
  readonly no_train: boolean;
  readonly retention_days: number;
  /** Each list must admit the endpoint's region. */
  readonly regions: readonly (readonly Region[])[];
  readonly only: readonly ReadonlySet<string>[];
  readonly quantizations: readonly ReadonlySet<string>[];
  /** null: nobody. */
  readonly ignored: ReadonlySet<string> | null;
  /** What the endpoint must make; undefined: text. */
  readonly task: ModelTask | undefined;
  /** Bits of the capabilities that the request's content needs. */
  readonly needs: number;
  /** Capabilities demanded by name. */
  readonly capabilities: readonly string[];
  readonly server_tools: readonly string[];
  readonly test: boolean;
  readonly tier: string | null;
  readonly price: Price | null;
  readonly own_key_only: boolean;
  /** null: none may be used. */
  readonly own_keys: OwnKeys | null;
  /** The only format that an own key may be used in; null: any. */
  readonly own_key_family: string | null;
  /** Providers that take no key of the pool. */
  readonly own_key_providers: ReadonlySet<string>;
  readonly min_uptime: number;
}

/** `eu` admits `eu` and all that begins with `eu-`. */
interface Region {
  readonly name: string;
  readonly prefix: string;
}

/** Nano-USD per token, and per call. */
interface Price {
  readonly input: number;
  readonly output: number;
  readonly request: number;
}

const usualTiers: ReadonlySet<string> = new Set(['auto', 'default', 'standard', 'standard_only']);
/** The prompt's bound overshoots by half; only a prompt that is too long beyond doubt is refused unasked. */
const BOUND_SLACK = 1.5;

type Names = readonly string[];

const NO_LISTS: readonly Names[] = [];
const NO_SETS: readonly ReadonlySet<string>[] = [];
const NO_NAMES: Names = [];
const NO_REGIONS: Demands['regions'] = [];

/** Those of some lists that are there. */
function given(
  a: Names | null | undefined,
  b: Names | null | undefined,
  policys: readonly Names[] | undefined,
): readonly Names[] {
  if (a == null && b == null) return policys ?? NO_LISTS;
  const lists = policys === undefined ? [] : [...policys];
  if (a != null) lists.push(a);
  if (b != null) lists.push(b);
  return lists;
}

function sets(lists: readonly Names[]): readonly ReadonlySet<string>[] {
  return lists.length === 0 ? NO_SETS : lists.map((names) => new Set(names));
}

function regionsOf(lists: readonly Names[]): Demands['regions'] {
  if (lists.length === 0) return NO_REGIONS;
  return lists.map((names) => names.map((name) => ({ name, prefix: `${name}-` })));
}

function ignoredBy({
  providers,
  endpoints,
  ignore,
}: SettledInput['preferences']): ReadonlySet<string> | null {
  const names = [...(providers?.ignore ?? []), ...(endpoints?.ignore ?? []), ...(ignore ?? [])];
  return names.length === 0 ? null : new Set(names);
}

function priceOf(most: NonNullable<SettledInput['preferences']['require']>['max_price']): Price | null {
  if (most === undefined) return null;
  return {
    input: (most.input ?? Number.POSITIVE_INFINITY) * 1_000,
    output: (most.output ?? Number.POSITIVE_INFINITY) * 1_000,
    request: (most.request ?? Number.POSITIVE_INFINITY) * 1_000_000_000,
  };
}

function needsOf({ features }: SettledInput): number {
  const { tools, json_schema, images, audio, pdf } = features;
  return bitsOf({ tools, json_schema, vision: images, audio, pdf });
}

const own_key = new WeakMap<Catalog, ReadonlySet<string>>();

function ownKeyProviders(catalog: Catalog): ReadonlySet<string> {
  let found = own_key.get(catalog);
  if (found === undefined) {
    const all = [...catalog.providers.values()];
    found = new Set(all.filter(({ byok }) => byok === 'required').map(({ id }) => id));
    own_key.set(catalog, found);
  }
  return found;
}

/** What `input` asks of an endpoint, with the key's data policy folded in: any true wins, lists intersect. */
export function demandsOf(input: SettledInput, catalog: Catalog): Demands {
  const { preferences, data_policy } = input;
  const { require, lists } = preferences;
  const tier = input.features.service_tier;
  return {
    zdr: data_policy.zdr || require?.zdr === true || preferences.data_policy === 'zdr',
    no_train: data_policy.no_train || require?.no_train === true || preferences.data_policy === 'no_train',
    retention_days: require?.max_retention_days ?? Number.POSITIVE_INFINITY,
    regions: regionsOf(given(data_policy.regions, require?.regions, lists?.regions)),
    only: sets(given(preferences.providers?.only, preferences.endpoints?.only, lists?.only)),
    quantizations: sets(given(require?.quantizations, null, lists?.quantizations)),
    ignored: ignoredBy(preferences),
    task: input.features.task,
    needs: needsOf(input),
    capabilities: require?.capabilities ?? NO_NAMES,
    server_tools: input.features.server_tools,
    test: input.environment === 'test',
    tier: tier === undefined || usualTiers.has(tier) ? null : tier,
    price: priceOf(require?.max_price),
    own_key_only: preferences.byok === 'only' || input.account !== undefined,
    // Test keys are answered by the sandbox, which has no accounts.
    own_keys: preferences.byok === 'never' || input.environment === 'test' ? null : (input.own_keys ?? null),
    own_key_family: input.account?.family ?? null,
    own_key_providers: ownKeyProviders(catalog),
    min_uptime: preferences.min_uptime ?? 0,
  };
}

/** Whether `wanted` names the endpoint, by provider or by id. */
function names(wanted: ReadonlySet<string>, endpoint: Endpoint): boolean {
  return wanted.has(endpoint.provider) || wanted.has(endpoint.id);
}

function admits(wanted: readonly Region[], region: string): boolean {
  for (const { name, prefix } of wanted) if (region === name || region.startsWith(prefix)) return true;
  return false;
}

function privacy(endpoint: Endpoint, demands: Demands): ExclusionReason | null {
  const policy = endpoint.data_policy;
  if (demands.zdr && !policy.zdr) return 'zdr';
  if (demands.no_train && policy.trains) return 'train';
  const days = demands.retention_days;
  if (days < Number.POSITIVE_INFINITY && (policy.retention_days === null || policy.retention_days > days)) {
    return 'retention';
  }
  for (const wanted of demands.regions) if (!admits(wanted, endpoint.region)) return 'region';
  return null;
}

/** Whether the endpoint has what the caller demands by name. */
function hasNamed(endpoint: Endpoint, wanted: Names): boolean {
  const can = endpoint.capabilities as unknown as Readonly<Record<string, unknown>>;
  return wanted.every((name) => {
    if (name === 'zdr') return endpoint.data_policy.zdr;
    if (name === 'no_train') return !endpoint.data_policy.trains;
    return can[name] === true;
  });
}

/** Whether `losses` rule an endpoint out. */
export function isLossy(losses: readonly RouteLoss[], input: SettledInput): boolean {
  if (losses.length === 0) return false;
  if (input.compat === 'strict' || input.preferences.require?.parameters === true) return true;
  const lets_go = input.compat === 'drop';
  return losses.some((loss) => (lets_go ? loss.essential === true : loss.class === 'content'));
}

function offersTools(endpoint: Endpoint, wanted: Names): boolean {
  const listed = endpoint.capabilities.server_tools;
  if (listed.includes('*')) return true;
  return wanted.every((name) => listed.some((tool) => name === tool || name.startsWith(`${tool}_`)));
}

/** The prompt that `endpoint` is never asked for: the sandbox counts by the bound's own rule, so there it is exact. */
function tooLong({ endpoint, sandbox }: EndpointFacts, bound: number): boolean {
  return bound > endpoint.context_length * (sandbox ? 1 : BOUND_SLACK);
}

/** Whether the endpoint, at the price of the tier that is asked for, could cost more per unit than allowed. */
function isTooExpensive(endpoint: Endpoint, { price, tier }: Demands, input: SettledInput): boolean {
  if (price === null) return false;
  const version = tier === null ? endpoint.price : (endpoint.tiers?.[tier] ?? endpoint.price);
  const rates = ratesFor(version, input.features.input_tokens_bound);
  const output = Math.max(rates.output, rates.reasoning ?? 0);
  return rates.input > price.input || output > price.output || (rates.request ?? 0) > price.request;
}

const NO_USES: readonly OwnKeyUse[] = [];

/** `endpoint` with each key of the caller's own that this call may use there. */
export function ownUses(endpoint: Endpoint, { own_keys, own_key_family }: Demands): readonly OwnKeyUse[] {
  if (own_keys === null || endpoint.byok === undefined) return NO_USES;
  if (own_key_family !== null && own_key_family !== endpoint.family) return NO_USES;
  return own_keys.of(endpoint);
}

/**
 * The filters that need nothing of the request's content; null when the endpoint passes. With `own`, a key of the
 * caller's own, it does not matter that the pool has none.
 */
export function cheapReason(facts: EndpointFacts, demands: Demands, own: boolean): ExclusionReason | null {
  const { endpoint } = facts;
  if (!facts.in_service && !(own && endpoint.status === 'active')) return 'status';
  if (demands.test && !facts.sandbox) return 'environment';
  for (const wanted of demands.only) if (!names(wanted, endpoint)) return 'only';
  if (demands.ignored !== null && names(demands.ignored, endpoint)) return 'ignored';
  const security = privacy(endpoint, demands);
  if (security !== null) return security;
  for (const wanted of demands.quantizations) if (!wanted.has(facts.quantization)) return 'quantization';
  if (endpoint.task !== demands.task) return 'capability';
  if ((facts.can & demands.needs) !== demands.needs) return 'capability';
  if (demands.capabilities.length > 0 && !hasNamed(endpoint, demands.capabilities)) return 'capability';
  return null;
}

/** The filters after `lossy`, but for what has been seen of the endpoint. */
export function lateReason(
  facts: EndpointFacts,
  input: SettledInput,
  demands: Demands,
): ExclusionReason | null {
  const { endpoint } = facts;
  const { features } = input;
  if (demands.server_tools.length > 0 && !offersTools(endpoint, demands.server_tools)) return 'server_tool';
  if (tooLong(facts, features.longest_input_tokens ?? features.input_tokens_bound)) return 'context';
  if (features.max_tokens !== null && features.max_tokens > endpoint.max_output) return 'max_output';
  if (demands.tier !== null && endpoint.tiers?.[demands.tier] === undefined) return 'tier';
  return isTooExpensive(endpoint, demands, input) ? 'price' : null;
}

/** Whether no key of the pool may answer at `endpoint`, by the preference or the provider's own terms. */
export function isOwnKeyOnly({ provider }: Endpoint, demands: Demands): boolean {
  if (demands.own_key_only) return true;
  return demands.own_key_providers.size > 0 && demands.own_key_providers.has(provider);
}

/**
 * What this process has seen of the endpoint; `figures` null: nothing, and then nothing speaks against it. `rests`:
 * whether the key that would be used there has to rest.
 */
export function seenReason(
  figures: Figures | null,
  demands: Demands,
  rests: boolean,
): ExclusionReason | null {
  if (figures !== null) {
    if (figures.success !== null && figures.success < demands.min_uptime) return 'uptime';
    if (figures.circuit === 'open') return 'circuit';
  }
  if (rests) return 'rate';
  return figures !== null && figures.rest_ms > 0 ? 'capacity' : null;
}
