// What a caller, a key and a policy may ask of the route, and what the choice answers.
import type { Catalog, Endpoint, Model, ModelTask } from '../catalog/index.ts';
import type { Environment } from '../kernel/index.ts';
import type { KeyDataPolicy } from '../keys/index.ts';
import type { armNames, Effective, Ruling } from '../policies/index.ts';
import type { TakenPart, Trial } from './canary.ts';
import type { HealthView } from './health/health.ts';

/** `svc.route` of a body, also the header `x-svc-route`; meanings as in docs/policies.md#keys. */
export interface RoutePreferences {
  sort?: 'price' | 'latency' | 'throughput';
  fallbacks?: boolean;
  fallback_models?: string[];
  providers?: { order?: string[]; only?: string[]; ignore?: string[] };
  endpoints?: { order?: string[]; only?: string[]; ignore?: string[] };
  require?: {
    zdr?: boolean;
    no_train?: boolean;
    regions?: string[];
    max_retention_days?: number;
    /** Decimal USD per million tokens (`input`, `output`) and per call (`request`). */
    max_price?: { input?: number; output?: number; request?: number };
    quantizations?: string[];
    capabilities?: string[];
    /** Exclude every endpoint on which a parameter would be lost. */
    parameters?: boolean;
  };
  data_policy?: 'no_train' | 'zdr';
  affinity?: 'off' | AffinityKind;
  byok?: 'prefer' | 'only' | 'never';
  max_attempts?: number;
  timeouts?: { connect_ms?: number; first_event_ms?: number; idle_ms?: number; total_ms?: number };
}

/** What of a request decides which endpoints can serve it. */
export interface RouteFeatures {
  readonly modalities_in: readonly string[];
  readonly tools: boolean;
  readonly json_schema: boolean;
  readonly images: boolean;
  readonly audio: boolean;
  readonly pdf: boolean;
  readonly reasoning: boolean;
  /** Names of provider-run tools that are offered. */
  readonly server_tools: readonly string[];
  readonly stream: boolean;
  /** Upper bound of the prompt in tokens. */
  readonly input_tokens_bound: number;
  /** The caller's cap, null when none was given. */
  readonly max_tokens: number | null;
  /** Vectors or an order is asked for; absent: an answer to messages. */
  readonly task?: ModelTask;
  /** Bound of the longest of several inputs that are read apart; absent: the prompt is one. */
  readonly longest_input_tokens?: number;
  /** Searches that a ranking is billed by; absent: none. */
  readonly search_units?: number;
  /** Guess for the price dimension of the score. */
  readonly expected_output_tokens: number;
  /** Format of signed reasoning before an unanswered tool call, or null. */
  readonly signed_format: string | null;
  /** A tier with its own prices (`flex`, `priority`); absent or `auto`, `default`: the usual one. */
  readonly service_tier?: string;
}

/** A thing that would be lost on an endpoint; the same shape as the canonical form's. */
export interface RouteLoss {
  readonly class: 'hint' | 'behaviour' | 'content';
  readonly code: string;
  readonly param: string;
  readonly message: string;
  /** Without it nothing would be left to ask: `svc.compat: drop` does not let it go. */
  readonly essential?: true;
}

/** Why an endpoint is out, in the order in which the filters are asked. */
export const exclusionReasons = [
  'status',
  'environment',
  'only',
  'ignored',
  'zdr',
  'train',
  'retention',
  'region',
  'quantization',
  'capability',
  'lossy',
  'server_tool',
  'context',
  'max_output',
  'tier',
  'price',
  'byok',
  'uptime',
  'circuit',
  'rate',
  'capacity',
] as const;
export type ExclusionReason = (typeof exclusionReasons)[number];

export interface Excluded {
  readonly endpoint_id: string;
  readonly provider: string;
  readonly reason: ExclusionReason;
}

export interface RouteWarning {
  readonly code: string;
  readonly param?: string;
  readonly message: string;
}

export interface RouteInput {
  /** Spreads calls over endpoints of about equal score. */
  readonly request_id: string;
  readonly environment: Environment;
  /** `vendor/model` as the caller wrote it. */
  readonly model: string;
  readonly preferences: RoutePreferences;
  /** What the active policy says of the call; null or absent: the built-in one rules. */
  readonly policy?: Ruling | null;
  /** Org and key policy combined; only ever tightens. */
  readonly data_policy: Pick<KeyDataPolicy, 'zdr' | 'no_train' | 'regions'>;
  readonly compat: 'strict' | 'warn' | 'drop';
  readonly features: RouteFeatures;
  /** What the request would lose on an endpoint; asked only where the cheaper filters pass. */
  losses(endpoint: Endpoint): readonly RouteLoss[];
  /** Whether `family` is the caller's own wire; absent: it is not known of any. */
  speaks?(family: string): boolean;
  readonly health: HealthView;
  /** Milliseconds until a key of the pool may be used at `endpoint`; 0: one may now. Absent: always. */
  rests?(endpoint: Endpoint): number;
  /** The caller's own keys at providers; absent: there are none. */
  readonly own_keys?: OwnKeys;
  /** The request may name things of the caller's account at a provider; absent: it names none. */
  readonly account?: AccountState;
  /** Whether the policy's `max_cost_micro` pays for this call at `endpoint`; absent: it sets none. */
  affords?(endpoint: Endpoint): boolean;
  /** What keeps calls that belong together at one endpoint; absent: nothing does. */
  readonly affinity?: AffinitySource;
  readonly now_ms: number;
}

/** An endpoint as it is called with a key of the caller's own. */
export interface OwnKeyUse {
  /** With `own_key` set, at the price of such calls. */
  readonly endpoint: Endpoint;
  /** Milliseconds until the key may be used there; 0: now. */
  readonly rest_ms: number;
}

export interface OwnKeys {
  /** `endpoint` with each of the caller's keys of its provider, in the order in which they are tried. */
  of(endpoint: Endpoint): readonly OwnKeyUse[];
}

/** Such a request reaches no account of the pool, whatever a policy locks. */
export interface AccountState {
  /** The format in which it names something; null: it only says that it may. */
  readonly family: string | null;
}

/** What of a request its affinity can be read from. */
export interface AffinitySource {
  readonly memory: AffinityMemory;
  readonly org_id: string;
  /** The request names what to cache, or where its prompt may be cut for it. */
  readonly cache_hints: boolean;
  /** Longest life that a cache hint asks for; null where none says. */
  readonly cache_ttl_ms: number | null;
  /** What `kind` groups calls by; null where the request has nothing of the kind. Asked at most once. */
  value(kind: AffinityKind): string | null;
}

/** How the affinity of a call came out. */
export interface RouteAffinity {
  readonly kind: 'off' | AffinityKind;
  /** `hit`: the remembered endpoint stands first; `-`: off, or the request has nothing to go by. */
  readonly state: 'hit' | 'miss' | '-';
  /** What the endpoint that answers is remembered under; null: it is not. */
  readonly key: string | null;
  readonly ttl_ms: number;
}

export type Sort = 'price' | 'latency' | 'throughput' | 'uptime' | 'balanced';

/** Request and policy as one set of preferences: what protects is tightened, preferences are settled. */
export interface SettledPreferences extends Omit<RoutePreferences, 'sort'> {
  readonly sort?: Sort;
  readonly weights?: NonNullable<Effective['weights']>;
  readonly prefer?: NonNullable<Effective['prefer']>;
  readonly min_uptime?: number;
  /** Of the policy alone. */
  readonly affinity_ttl_s?: number;
  readonly failover?: readonly string[];
  /** Lists of the policy beside those of the request: each must admit the endpoint. */
  readonly lists?: Pick<Effective, 'only' | 'regions' | 'quantizations'>;
  readonly ignore?: readonly string[];
  /** What the request's own numbers may only lower. */
  readonly ceilings?: {
    readonly max_attempts: number | undefined;
    readonly timeouts: NonNullable<Effective['timeouts']>;
  };
}

/** A route input whose preferences are settled; one without a policy is settled as it is. */
export interface SettledInput extends Omit<RouteInput, 'preferences'> {
  readonly preferences: SettledPreferences;
  readonly policy_warnings?: readonly RouteWarning[];
  /** The canary of the policy; absent: it asks for none. */
  readonly trial?: Trial;
  /** The arm under which it is chosen, `experiment/arm`; absent: no experiment. */
  readonly arm?: string;
}

/** One endpoint in its place. */
export interface RankedEndpoint {
  readonly endpoint: Endpoint;
  /** 0..1, best ÷ own over the candidates of its model. */
  readonly score: number;
  /** Why it stands where it stands; `slow` misses what the policy prefers. */
  readonly reason:
    | 'canary'
    | 'order'
    | 'affinity'
    | 'score'
    | 'degraded'
    | 'slow'
    | 'server_tool'
    | 'signature';
  readonly losses: readonly RouteLoss[];
}

/** An endpoint that no filter refuses. */
export type Passed = Pick<RankedEndpoint, 'endpoint' | 'losses'>;

export interface Timeouts {
  readonly connect_ms: number;
  readonly first_event_ms: number;
  readonly idle_ms: number;
  readonly total_ms: number;
}

/** What calls are grouped by. */
export type AffinityKind = 'key' | 'user' | 'session' | 'prefix';

/** The endpoint that answered last, and until when that is remembered. */
export interface AffinityEntry {
  readonly endpoint_id: string;
  readonly until_ms: number;
}

/** Which endpoint answered last, by organization and key; bounded, and forgetful. */
export interface AffinityMemory {
  /** The endpoint remembered under `key`; null where none is, or its time is up. */
  find(org_id: string, key: string, now_ms: number): string | null;
  /** Remembers `endpoint_id`, or lengthens its time. */
  keep(org_id: string, key: string, entry: AffinityEntry): void;
  readonly size: number;
}

/** A policy's version, and the names of its rules that matched, joined by `/`; `-` where none did. */
export interface PolicyNamed {
  readonly name: string;
  readonly version: number;
  readonly rule: string;
}

/** The arm that a call was put in: both could have served it, and this one was drawn. */
export interface TakenArm {
  /** Of the experiment. */
  readonly name: string;
  readonly arm: (typeof armNames)[number];
  /** 0 to 9,999: what was drawn. All calls of who stays in one arm have the same. */
  readonly bucket: number;
}

export interface RoutePlan {
  /** The attempts in their order, at most `max_attempts`. */
  readonly plan: readonly RankedEndpoint[];
  /** Usable too, but beyond the cut; by model, in no further order. */
  readonly spare: readonly Passed[];
  readonly excluded: readonly Excluded[];
  readonly sort: Sort;
  /** The policy and its rules that matched; absent: the built-in policy. */
  readonly policy?: PolicyNamed;
  /** Absent: the call takes part in no canary. */
  readonly canary?: TakenPart;
  /** Absent: the call takes part in no experiment. */
  readonly experiment?: TakenArm;
  /** Absent: off. */
  readonly affinity?: RouteAffinity;
  /** `failover.on` of the policy; absent: the standard classes. */
  readonly failover?: readonly string[];
  readonly max_attempts: number;
  readonly timeouts: Timeouts;
  /** The caller lowered the idle or the total limit: a cut by it is the caller leaving. */
  readonly chosen_deadline: boolean;
  readonly warnings: readonly RouteWarning[];
}

/** A plan, maybe empty, and what the endpoints excluded as `lossy` would have lost, for the refusal. */
export interface Choice extends RoutePlan {
  /** Endpoints are out because the policy pays for less; absent: none is. */
  readonly too_expensive?: true;
  readonly lost: readonly RouteLoss[];
}

/** `catalog` and the models of a call: the one asked for, then the fallbacks. */
export interface Candidates {
  readonly catalog: Catalog;
  readonly models: readonly Model[];
}
