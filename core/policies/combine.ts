// Several action sets as one (docs/policies.md#policy-key-and-request-together): what protects only
// ever tightens, preferences of the later set win.
import type { ActionKey, Actions } from './types.ts';

type Names = readonly string[];

/** What a policy asks of one call, defaults and matching rules together. */
export interface Effective {
  // Security: every list must admit, any true counts, the smallest bound holds.
  readonly zdr: boolean;
  readonly no_train: boolean;
  readonly parameters: boolean;
  readonly only: readonly Names[];
  readonly regions: readonly Names[];
  readonly quantizations: readonly Names[];
  readonly ignore: Names;
  readonly capabilities: Names;
  readonly max_retention_days: number | null;
  readonly min_uptime: number | null;
  readonly max_price: { readonly input?: number; readonly output?: number; readonly request?: number } | null;
  readonly limits: {
    readonly max_tokens: number | null;
    readonly max_input_tokens: number | null;
    readonly max_cost_micro: number | null;
  };
  readonly lock: ReadonlySet<ActionKey>;
  // Preferences: absent where nothing was said.
  readonly sort?: NonNullable<Actions['sort']>;
  readonly weights?: NonNullable<Actions['weights']>;
  readonly provider_order?: Names;
  readonly endpoint_order?: Names;
  readonly prefer?: NonNullable<Actions['prefer']>;
  readonly fallbacks?: boolean;
  readonly fallback_models?: Names;
  /** Classes of faults that let another endpoint be tried, beyond or (`-`) without the standard ones. */
  readonly failover?: Names;
  readonly affinity?: NonNullable<Actions['affinity']>;
  readonly affinity_ttl_s?: number;
  readonly byok?: NonNullable<Actions['byok']>;
  readonly max_attempts?: number;
  readonly timeouts?: NonNullable<Actions['timeouts']>;
  /** Its percent is 0 once it was rolled back. */
  readonly canary?: NonNullable<Actions['canary']>;
  readonly shadow?: NonNullable<Actions['shadow']>;
  readonly experiment?: NonNullable<Actions['experiment']>;
}

function smaller(a: number | null, b: number | undefined): number | null {
  if (a === null || b === undefined) return b ?? a;
  return Math.min(a, b);
}

const nothing: Effective = {
  ...{ zdr: false, no_train: false, parameters: false },
  ...{ only: [], regions: [], quantizations: [], ignore: [], capabilities: [] },
  ...{ max_retention_days: null, min_uptime: null, max_price: null },
  limits: { max_tokens: null, max_input_tokens: null, max_cost_micro: null },
  lock: new Set(),
};

function tightened(before: Effective, actions: Actions): Omit<Effective, keyof Preferences> {
  const { providers, endpoints, require, limits } = actions;
  const given = (...found: (Names | undefined)[]) => found.filter((names) => names !== undefined);
  const price = require?.max_price;
  return {
    zdr: before.zdr || require?.zdr === true,
    no_train: before.no_train || require?.no_train === true,
    parameters: before.parameters || require?.parameters === true,
    only: [...before.only, ...given(providers?.only, endpoints?.only)],
    regions: [...before.regions, ...given(require?.regions)],
    quantizations: [...before.quantizations, ...given(require?.quantizations)],
    ignore: [...before.ignore, ...(providers?.ignore ?? []), ...(endpoints?.ignore ?? [])],
    capabilities: [...before.capabilities, ...(require?.capabilities ?? [])],
    max_retention_days: smaller(before.max_retention_days, require?.max_retention_days),
    min_uptime:
      require?.min_uptime === undefined
        ? before.min_uptime
        : Math.max(before.min_uptime ?? 0, require.min_uptime),
    max_price: price === undefined ? before.max_price : cheaper(before.max_price, price),
    limits: {
      max_tokens: smaller(before.limits.max_tokens, limits?.max_tokens),
      max_input_tokens: smaller(before.limits.max_input_tokens, limits?.max_input_tokens),
      max_cost_micro: smaller(before.limits.max_cost_micro, limits?.max_cost_micro),
    },
    lock: actions.lock === undefined ? before.lock : new Set([...before.lock, ...actions.lock]),
  };
}

/** The smaller of each price that either names. */
export function cheaper(
  a: Effective['max_price'],
  b: NonNullable<Effective['max_price']>,
): NonNullable<Effective['max_price']> {
  const least: { input?: number; output?: number; request?: number } = { ...a };
  for (const kind of ['input', 'output', 'request'] as const) {
    const price = b[kind];
    if (price !== undefined) least[kind] = Math.min(least[kind] ?? price, price);
  }
  return least;
}

type Bounds = Readonly<Record<string, number | null | undefined>>;

/** Whether each bound of `other` is in `own` too, at least as small. */
function bounds(own: Bounds | null, other: Bounds | null): boolean {
  return Object.entries(other ?? {}).every(
    ([name, most]) => most == null || (own?.[name] ?? Number.POSITIVE_INFINITY) <= most,
  );
}

/** Whether everything that `other` protects is protected by `own` at least as much; preferences do not count. */
export function protectsAsMuch(own: Effective, other: Effective): boolean {
  const texts = (lists: readonly Names[]) => lists.map((names) => JSON.stringify(names));
  const holdsAll = (mine: Names, theirs: Names) => theirs.every((name) => mine.includes(name));
  return (
    (own.zdr || !other.zdr) &&
    (own.no_train || !other.no_train) &&
    (own.parameters || !other.parameters) &&
    holdsAll(texts(own.only), texts(other.only)) &&
    holdsAll(texts(own.regions), texts(other.regions)) &&
    holdsAll(texts(own.quantizations), texts(other.quantizations)) &&
    holdsAll(own.ignore, other.ignore) &&
    holdsAll(own.capabilities, other.capabilities) &&
    holdsAll([...own.lock], [...other.lock]) &&
    (own.min_uptime ?? 0) >= (other.min_uptime ?? 0) &&
    bounds({ days: own.max_retention_days }, { days: other.max_retention_days }) &&
    bounds(own.max_price, other.max_price) &&
    bounds(own.limits, other.limits)
  );
}

type Preferences = Pick<
  Effective,
  | 'sort'
  | 'weights'
  | 'provider_order'
  | 'endpoint_order'
  | 'prefer'
  | 'fallbacks'
  | 'fallback_models'
  | 'failover'
  | 'affinity'
  | 'affinity_ttl_s'
  | 'byok'
  | 'max_attempts'
  | 'timeouts'
  | 'canary'
  | 'shadow'
  | 'experiment'
>;

function preferred(before: Effective, actions: Actions): Preferences {
  const named: { -readonly [K in keyof Preferences]: Preferences[K] | undefined } = {
    sort: actions.sort ?? before.sort,
    weights: actions.weights ?? before.weights,
    provider_order: actions.providers?.order ?? before.provider_order,
    endpoint_order: actions.endpoints?.order ?? before.endpoint_order,
    prefer: actions.prefer ?? before.prefer,
    fallbacks: actions.fallbacks ?? before.fallbacks,
    fallback_models: actions.fallback_models ?? before.fallback_models,
    failover: actions.failover?.on ?? before.failover,
    affinity: actions.affinity ?? before.affinity,
    affinity_ttl_s: actions.affinity_ttl_s ?? before.affinity_ttl_s,
    byok: actions.byok ?? before.byok,
    max_attempts: actions.max_attempts ?? before.max_attempts,
    timeouts: actions.timeouts === undefined ? before.timeouts : { ...before.timeouts, ...actions.timeouts },
    canary: actions.canary ?? before.canary,
    shadow: actions.shadow ?? before.shadow,
    experiment: actions.experiment ?? before.experiment,
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined)) as Preferences;
}

/** `sets` combined in their order, the first being the weakest. */
export function combine(sets: readonly Actions[]): Effective {
  return sets.reduce<Effective>(
    (before, actions) => ({ ...tightened(before, actions), ...preferred(before, actions) }),
    nothing,
  );
}
