// The filters of 4.9.5 step 5, in their order; the first that refuses names the reason. Security filters come before
// all others but the endpoint's own state, so that a trace shows a privacy exclusion as one.
import type { Endpoint, Provider } from '../catalog/index.ts';
import { ratesFor } from '../pricing/index.ts';
import type { ExclusionReason, RouteLoss, SettledInput } from './types.ts';

/** The wishes of request and key combined once per call; security wishes only ever tighten (4.9.2). */
export interface Demands {
  readonly zdr: boolean;
  readonly no_train: boolean;
  /** Each list must admit the endpoint's region. */
  readonly regions: readonly (readonly string[])[];
  readonly only: readonly (readonly string[])[];
  readonly quantizations: readonly (readonly string[])[];
  readonly ignored: ReadonlySet<string>;
  readonly tier: string | null;
}

const usualTiers: ReadonlySet<string> = new Set(['auto', 'default', 'standard', 'standard_only']);
/** The prompt's bound overshoots by half; only a prompt that is too long beyond doubt is refused unasked. */
const BOUND_SLACK = 1.5;

type Names = readonly string[];

const NO_LISTS: readonly Names[] = [];
const NOBODY: ReadonlySet<string> = new Set();

/** Those of two lists that are there. */
function given(a: Names | null | undefined, b: Names | null | undefined): readonly Names[] {
  if (a == null) return b == null ? NO_LISTS : [b];
  return b == null ? [a] : [a, b];
}

function ignoredBy({ providers, endpoints, ignore }: SettledInput['wish']): ReadonlySet<string> {
  if (providers?.ignore === undefined && endpoints?.ignore === undefined && ignore === undefined)
    return NOBODY;
  return new Set([...(providers?.ignore ?? []), ...(endpoints?.ignore ?? []), ...(ignore ?? [])]);
}

function withPolicys(own: readonly Names[], policys: readonly Names[] | undefined): readonly Names[] {
  return policys === undefined || policys.length === 0 ? own : [...own, ...policys];
}

/** What `input` asks of an endpoint, with the key's data policy folded in (4.9.2: any true wins, lists intersect). */
export function demandsOf(input: SettledInput): Demands {
  const { wish, data_policy } = input;
  const tier = input.features.service_tier;
  return {
    zdr: data_policy.zdr || wish.require?.zdr === true || wish.data_policy === 'zdr',
    no_train: data_policy.no_train || wish.require?.no_train === true || wish.data_policy === 'no_train',
    regions: withPolicys(given(data_policy.regions, wish.require?.regions), wish.lists?.regions),
    only: withPolicys(given(wish.providers?.only, wish.endpoints?.only), wish.lists?.only),
    quantizations: withPolicys(given(wish.require?.quantizations, null), wish.lists?.quantizations),
    ignored: ignoredBy(wish),
    tier: tier === undefined || usualTiers.has(tier) ? null : tier,
  };
}

/** Whether `wanted` names the endpoint, by provider or by id (4.9.1 `providers`). */
export function isNamed(endpoint: Endpoint, wanted: readonly string[]): boolean {
  return wanted.includes(endpoint.provider) || wanted.includes(endpoint.id);
}

/** `eu` admits `eu` and `eu-west`. */
function admitsRegion(wanted: readonly string[], region: string): boolean {
  return wanted.some((want) => region === want || region.startsWith(`${want}-`));
}

function privacy(endpoint: Endpoint, input: SettledInput, demands: Demands): ExclusionReason | null {
  const policy = endpoint.data_policy;
  if (demands.zdr && !policy.zdr) return 'zdr';
  if (demands.no_train && policy.trains) return 'train';
  const days = input.wish.require?.max_retention_days;
  if (days !== undefined && (policy.retention_days === null || policy.retention_days > days)) {
    return 'retention';
  }
  if (!demands.regions.every((wanted) => admitsRegion(wanted, endpoint.region))) return 'region';
  return null;
}

/** Whether the endpoint has what the request needs and what the caller demands by name. */
function isCapable(endpoint: Endpoint, input: SettledInput): boolean {
  const { features } = input;
  const can = endpoint.capabilities;
  if (features.tools && !can.tools) return false;
  if (features.json_schema && !can.json_schema) return false;
  if (features.images && !can.vision) return false;
  if (features.audio && !can.audio) return false;
  if (features.pdf && !can.pdf) return false;
  for (const name of input.wish.require?.capabilities ?? []) {
    if (
      name === 'zdr'
        ? endpoint.data_policy.zdr
        : name === 'no_train'
          ? !endpoint.data_policy.trains
          : isTrue(can, name)
    )
      continue;
    return false;
  }
  return true;
}

function isTrue(capabilities: Endpoint['capabilities'], name: string): boolean {
  return (capabilities as unknown as Record<string, unknown>)[name] === true;
}

/** Whether `losses` rule an endpoint out (4.7.4). */
export function isLossy(losses: readonly RouteLoss[], input: SettledInput): boolean {
  if (losses.length === 0) return false;
  if (input.compat === 'strict' || input.wish.require?.parameters === true) return true;
  return input.compat === 'warn' && losses.some((loss) => loss.class === 'content');
}

function offersTools(endpoint: Endpoint, names: readonly string[]): boolean {
  const listed = endpoint.capabilities.server_tools;
  return names.every((name) => listed.some((tool) => name === tool || name.startsWith(`${tool}_`)));
}

function fits(endpoint: Endpoint, input: SettledInput): ExclusionReason | null {
  const { input_tokens_bound, max_tokens } = input.features;
  // The sandbox counts by the same rule as the bound, so there the bound is exact.
  const slack = endpoint.family === 'sandbox' ? 1 : BOUND_SLACK;
  if (input_tokens_bound > endpoint.context_length * slack) return 'context';
  if (max_tokens !== null && max_tokens > endpoint.max_output) return 'max_output';
  return null;
}

function isTooDear(endpoint: Endpoint, input: SettledInput): boolean {
  const most = input.wish.require?.max_price;
  if (most === undefined) return false;
  const rates = ratesFor(endpoint.price, input.features.input_tokens_bound);
  return (
    rates.input > (most.input ?? Number.POSITIVE_INFINITY) * 1_000 ||
    rates.output > (most.output ?? Number.POSITIVE_INFINITY) * 1_000 ||
    (rates.request ?? 0) > (most.request ?? Number.POSITIVE_INFINITY) * 1_000_000_000
  );
}

/** Until callers' own keys are stored, `only` and providers that need one have no endpoint. */
function needsOwnKey(provider: Provider | undefined, input: SettledInput): boolean {
  return input.wish.byok === 'only' || provider?.byok === 'required';
}

/** Below the success that the policy requires; one not seen lately has not failed. */
function isUnreliable(endpoint: Endpoint, input: SettledInput): boolean {
  const least = input.wish.min_uptime;
  if (least === undefined) return false;
  const success = input.health.success(endpoint.id, input.now_ms);
  return success !== null && success < least;
}

/** The filters that need nothing of the request's content; null when the endpoint passes. */
export function cheapReason(
  endpoint: Endpoint,
  input: SettledInput,
  demands: Demands,
): ExclusionReason | null {
  if (endpoint.status !== 'active') return 'status';
  if (endpoint.missing !== null) return 'status';
  if (input.environment === 'test' && endpoint.family !== 'sandbox') return 'environment';
  if (!demands.only.every((wanted) => isNamed(endpoint, wanted))) return 'only';
  if (demands.ignored.has(endpoint.provider) || demands.ignored.has(endpoint.id)) return 'ignored';
  const security = privacy(endpoint, input, demands);
  if (security !== null) return security;
  const quantization = endpoint.quantization ?? 'unknown';
  if (!demands.quantizations.every((wanted) => wanted.includes(quantization))) return 'quantization';
  return isCapable(endpoint, input) ? null : 'capability';
}

/** The filters after `lossy`. */
export function lateReason(
  endpoint: Endpoint,
  provider: Provider | undefined,
  input: SettledInput,
  demands: Demands,
): ExclusionReason | null {
  if (!offersTools(endpoint, input.features.server_tools)) return 'server_tool';
  const size = fits(endpoint, input);
  if (size !== null) return size;
  if (demands.tier !== null && endpoint.tiers?.[demands.tier] === undefined) return 'tier';
  if (isTooDear(endpoint, input)) return 'price';
  if (needsOwnKey(provider, input)) return 'byok';
  if (isUnreliable(endpoint, input)) return 'uptime';
  return input.health.circuit(endpoint.id, input.now_ms) === 'open' ? 'circuit' : null;
}
