// Request and policy as one set of preferences (docs/policies.md#policy-key-and-request-together): security is
// tightened by either, a preference is the request's unless it is
// locked, attempts and time limits of the policy can only be lowered.
import { type Catalog, findModel } from '../catalog/index.ts';
import { cheaper, type Effective, type Ruling } from '../policies/index.ts';
import { trialOf } from './canary.ts';
import type {
  RouteInput,
  RoutePreferences,
  RouteWarning,
  SettledInput,
  SettledPreferences,
} from './types.ts';

/** Preferences that a request may set and a policy may lock. */
const lockable = [
  'sort',
  'fallbacks',
  'fallback_models',
  'affinity',
  'byok',
  'max_attempts',
  'timeouts',
] as const;

/** `preferences` without what the policy locks; what protects stays, since it cannot loosen anything. */
function unlocked(
  preferences: RoutePreferences,
  lock: Effective['lock'],
  warnings: RouteWarning[],
): RoutePreferences {
  if (lock.size === 0) return preferences;
  const left: RoutePreferences = { ...preferences };
  const refuse = (param: string) => {
    const message = `The routing policy locks ${param}; the value in the request was not used.`;
    warnings.push({ code: 'route_locked', param: `svc.route.${param}`, message });
  };
  for (const key of lockable) {
    if (preferences[key] === undefined || !lock.has(key)) continue;
    delete left[key];
    refuse(key);
  }
  for (const key of ['providers', 'endpoints'] as const) {
    const given = preferences[key];
    if (given?.order === undefined || !lock.has(key)) continue;
    const { order: _, ...rest } = given;
    left[key] = rest;
    refuse(`${key}.order`);
  }
  return left;
}

function smallest(a: number | undefined, b: number | null): number | undefined {
  if (a === undefined || b === null) return a ?? b ?? undefined;
  return Math.min(a, b);
}

function requirements(
  own: RoutePreferences['require'],
  actions: Effective,
): {
  -readonly [K in keyof NonNullable<RoutePreferences['require']>]: NonNullable<
    RoutePreferences['require']
  >[K];
} {
  const days = smallest(own?.max_retention_days, actions.max_retention_days);
  const price = own?.max_price === undefined ? actions.max_price : cheaper(actions.max_price, own.max_price);
  return {
    ...own,
    ...(actions.zdr ? { zdr: true } : {}),
    ...(actions.no_train ? { no_train: true } : {}),
    ...(actions.parameters ? { parameters: true } : {}),
    ...(days === undefined ? {} : { max_retention_days: days }),
    ...(price === null ? {} : { max_price: price }),
    ...(actions.capabilities.length === 0
      ? {}
      : { capabilities: [...(own?.capabilities ?? []), ...actions.capabilities] }),
  };
}

function ordered(
  own: RoutePreferences['providers'],
  order: readonly string[] | undefined,
): { providers: NonNullable<RoutePreferences['providers']> } | null {
  if (order === undefined || own?.order !== undefined) return null;
  return { providers: { ...own, order: [...order] } };
}

/** Fallback models of the policy that still are in the catalog; one that is gone is reported and passed over. */
function fallbacksOf(
  input: RouteInput,
  actions: Effective,
  catalog: Catalog,
  warnings: RouteWarning[],
): string[] {
  return (actions.fallback_models ?? []).filter((id) => {
    if (findModel(catalog, id, input.environment) !== null) return true;
    const message = `The routing policy falls back to ${id}, which the catalog does not have.`;
    warnings.push({ code: 'policy_model_missing', message });
    return false;
  });
}

/** The request's fallback models without those that the policy rules more strictly than the model asked for. */
function withoutBarred(
  preferred: string[] | undefined,
  ruling: Ruling,
  warnings: RouteWarning[],
): string[] | undefined {
  if (ruling.barred_fallbacks.length === 0) return preferred;
  return preferred?.filter((id) => {
    if (!ruling.barred_fallbacks.includes(id)) return true;
    const message = `The routing policy requires more of ${id} than of the requested model, so it is not used as a fallback.`;
    warnings.push({ code: 'route_locked', param: 'svc.route.fallback_models', message });
    return false;
  });
}

function settledPreferences(
  input: RouteInput,
  ruling: Ruling,
  catalog: Catalog,
  warnings: RouteWarning[],
): SettledPreferences {
  const { actions } = ruling;
  const own = unlocked(input.preferences, actions.lock, warnings);
  const fallback_models =
    withoutBarred(own.fallback_models, ruling, warnings) ??
    (actions.fallback_models === undefined ? undefined : fallbacksOf(input, actions, catalog, warnings));
  const sort = own.sort ?? actions.sort;
  const fallbacks = own.fallbacks ?? actions.fallbacks;
  const byok = own.byok ?? actions.byok;
  const affinity = own.affinity ?? actions.affinity;
  // Places by endpoint come before those by provider: the policy's would stand before what the request orders.
  const overruled = own.providers?.order !== undefined && !actions.lock.has('endpoints');
  const endpoints = overruled ? undefined : ordered(own.endpoints, actions.endpoint_order)?.providers;
  return {
    ...own,
    ...(sort === undefined ? {} : { sort }),
    ...(fallbacks === undefined ? {} : { fallbacks }),
    ...(fallback_models === undefined ? {} : { fallback_models }),
    ...(byok === undefined ? {} : { byok }),
    ...(affinity === undefined ? {} : { affinity }),
    ...(actions.affinity_ttl_s === undefined ? {} : { affinity_ttl_s: actions.affinity_ttl_s }),
    ...(actions.failover === undefined ? {} : { failover: actions.failover }),
    ...ordered(own.providers, actions.provider_order),
    ...(endpoints === undefined ? {} : { endpoints }),
    require: requirements(own.require, actions),
    ...(actions.weights === undefined ? {} : { weights: actions.weights }),
    ...(actions.prefer === undefined ? {} : { prefer: actions.prefer }),
    ...(actions.min_uptime === null ? {} : { min_uptime: actions.min_uptime }),
    lists: actions,
    ...(actions.ignore.length === 0 ? {} : { ignore: actions.ignore }),
    ceilings: { max_attempts: actions.max_attempts, timeouts: actions.timeouts ?? {} },
  };
}

/** `input` with its policy folded into its preferences; itself where the built-in policy rules. */
export function settle(input: RouteInput, catalog: Catalog): SettledInput {
  const ruling = input.policy;
  if (ruling == null) return input;
  const policy_warnings: RouteWarning[] = [];
  const trial = trialOf(ruling, input.request_id);
  return {
    ...input,
    preferences: settledPreferences(input, ruling, catalog, policy_warnings),
    policy_warnings,
    ...(trial === null ? {} : { trial }),
  };
}
