// Reads the caller's `svc` object and the headers with the same meaning, and writes the `svc` object of answers.

import { compact, isObject, type JsonObject } from '../../kernel/index.ts';
import type { ReplyEnd, ReplyMeta, RoutePreferences, SvcOptions, Warning } from '../canonical/types.ts';
import {
  fail,
  type Headers,
  headerObject,
  optionalBoolean,
  optionalChoice,
  optionalNumber,
  optionalObject,
  optionalString,
  optionalStrings,
  present,
  refuseUnknown,
  requireObject,
  stringMap,
  unsupported,
} from './read.ts';
import { readBudget } from './run-budget.ts';

export type { Headers } from './read.ts';

/** Limits of the tags in request rows: number of keys, characters of a key, characters of a value. */
export const METADATA_LIMITS = { max_keys: 16, max_key: 64, max_value: 512 };

const SVC_KEYS = new Set([
  'route',
  'metadata',
  'compat',
  'provider_options',
  'app',
  'data_policy',
  'session',
  'budget',
  'reasoning',
]);
const ROUTE_KEYS = new Set([
  'sort',
  'fallbacks',
  'fallback_models',
  'providers',
  'endpoints',
  'require',
  'data_policy',
  'affinity',
  'byok',
  'max_attempts',
  'timeouts',
]);
const REQUIRE_KEYS = new Set([
  'zdr',
  'no_train',
  'regions',
  'max_retention_days',
  'max_price',
  'quantizations',
  'capabilities',
  'parameters',
]);
const LIST_KEYS = new Set(['order', 'only', 'ignore']);
const PRICE_KEYS = new Set(['input', 'output', 'request']);
const TIMEOUT_KEYS = new Set(['connect_ms', 'first_event_ms', 'idle_ms', 'total_ms']);

/**
 * Members that provider options may not set, in the names of all formats, because they would change what was held,
 * priced, routed or isolated: model, content, output cap, number of answers, kinds of output, tools and services with
 * their own prices, tier, end user, provider-side state and credentials. Options for the sandbox never leave the
 * process, but the rule applies to them too.
 */
const FORBIDDEN_OPTIONS = new Set([
  ...['model', 'modelid', 'models', 'fallbacks', 'provider', 'route', 'inferencegeo', 'performanceconfig'],
  ...['messages', 'input', 'contents', 'prompt', 'promptvariables', 'system', 'systeminstruction'],
  ...['instructions', 'stream', 'streamoptions', 'store', 'user', 'safetyidentifier', 'metadata'],
  ...['requestmetadata', 'promptcachekey', 'cachedcontent'],
  ...['maxtokens', 'maxcompletiontokens', 'maxoutputtokens', 'maxnewtokens', 'maxgenlen', 'maxlength'],
  ...['n', 'bestof', 'candidatecount', 'numresults', 'numgenerations'],
  ...['modalities', 'responsemodalities', 'tools', 'websearchoptions', 'searchparameters', 'enablesearch'],
  ...['plugins', 'mcpservers'],
  ...['guardrailconfig', 'servicetier', 'speed', 'background', 'previousresponseid', 'conversation'],
  ...['thread', 'container', 'apikey', 'key', 'token', 'accesstoken', 'authorization', 'headers'],
  ...['extraheaders', 'extrabody', 'apibase', 'baseurl'],
]);
/** Members that contain further body members, to which the rule applies as well. */
const INNER_BODIES = new Set(['generationconfig', 'inferenceconfig', 'additionalmodelrequestfields']);
const INNER_DEPTH_MAX = 4;

/**
 * The `svc` object of `body`, with the equivalent headers merged below it, key by key. `metadata` is the dialect's
 * own tag object, which takes precedence over the headers but not over `svc`.
 * @throws ServiceError invalid_request for an unknown key (`svc.<key>`: a misspelt privacy preference must not pass)
 * or a wrong value, unsupported_parameter for a forbidden provider option.
 */
export function readSvc(
  body: JsonObject,
  headers: Headers,
  metadata: Record<string, string> = {},
): SvcOptions {
  const svc = optionalObject(body['svc'], 'svc') ?? {};
  refuseUnknown(svc, SVC_KEYS, 'svc');
  return readOptions(svc, 'svc.', headers, metadata);
}

/**
 * The same from an object with the members of `svc`, whose paths begin with `at`: the native dialect has them in its
 * body.
 * @throws ServiceError invalid_request or unsupported_parameter.
 */
export function readOptions(
  svc: JsonObject,
  at: string,
  headers: Headers,
  metadata: Record<string, string> = {},
): SvcOptions {
  const options: SvcOptions = {
    route: readRoute(svc, at, headers),
    metadata: readMetadata(svc, at, headers, metadata),
    compat:
      optionalChoice(svc['compat'], `${at}compat`, COMPATS) ??
      optionalChoice(headers['x-svc-compat'], 'x-svc-compat', COMPATS) ??
      'warn',
    provider_options: readProviderOptions(svc['provider_options'], `${at}provider_options`),
    reasoning: optionalChoice(svc['reasoning'], `${at}reasoning`, REASONING) ?? 'include',
  };
  const app =
    optionalString(svc['app'], `${at}app`, { max: APP_LENGTH_MAX }) ??
    optionalString(headers['x-svc-app'], 'x-svc-app', { max: APP_LENGTH_MAX }) ??
    appSlug(headers['x-title'] ?? '');
  if (app !== undefined && app !== '') options.app = app;
  const session =
    optionalString(svc['session'], `${at}session`, { max: SESSION_LENGTH_MAX }) ??
    optionalString(headers['x-svc-session'], 'x-svc-session', { max: SESSION_LENGTH_MAX }) ??
    headers['x-claude-code-session-id']?.slice(0, 128);
  if (session !== undefined && session !== '') options.session = session;
  const budget = readBudget(svc, at, headers);
  if (budget !== undefined) options.budget = budget;
  return options;
}

export const COMPATS = ['strict', 'warn', 'drop'] as const;
export const REASONING = ['include', 'exclude'] as const;
export const SORTS = ['price', 'latency', 'throughput'] as const;
export const AFFINITIES = ['off', 'key', 'user', 'session', 'prefix'] as const;
export const BYOK = ['prefer', 'only', 'never'] as const;
export const ATTEMPTS_MAX = 6;
export const FALLBACK_MODELS_MAX = 5;
/** In UTF-16 units. */
export const APP_LENGTH_MAX = 64;
export const SESSION_LENGTH_MAX = 128;

/** The name of an app as request rows and public pages have it: small letters, digits and hyphens. "" of nothing else. */
export function appSlug(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, APP_LENGTH_MAX)
    .replace(/^-|-$/g, '');
}

function readMetadata(
  svc: JsonObject,
  at: string,
  headers: Headers,
  own: Record<string, string>,
): Record<string, string> {
  const merged =
    present(headers['x-svc-metadata']) || present(svc['metadata'])
      ? {
          ...stringMap(headerObject(headers, 'x-svc-metadata'), 'x-svc-metadata', METADATA_LIMITS),
          ...own,
          ...stringMap(svc['metadata'], `${at}metadata`, METADATA_LIMITS),
        }
      : own;
  if (Object.keys(merged).length > METADATA_LIMITS.max_keys) {
    fail(`${at}metadata`, `Metadata has more than ${METADATA_LIMITS.max_keys} keys in all.`);
  }
  return merged;
}

function readProviderOptions(value: unknown, at: string): Record<string, JsonObject> {
  const all = optionalObject(value, at);
  const options: Record<string, JsonObject> = {};
  if (all === undefined) return options;
  for (const [provider, members] of Object.entries(all)) {
    const path = `${at}.${provider}`;
    const object = requireObject(members, path);
    refuseOptions(object, path);
    // With an assignment, a provider named __proto__ would give its options to all others.
    Object.defineProperty(options, provider, {
      value: object,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return options;
}

function refuseOptions(object: JsonObject, path: string, depth = 0): void {
  for (const [name, member] of Object.entries(object)) {
    const param = `${path}.${name}`;
    const word = optionWord(name);
    refuseForbidden(name, param);
    if (!isObject(member)) continue;
    // In some families the output cap is one object deeper (generationConfig, inferenceConfig).
    if (INNER_BODIES.has(word) && depth < INNER_DEPTH_MAX) refuseOptions(member, param, depth + 1);
    else {
      for (const inner of Object.keys(member)) {
        if (/token|candidate/i.test(inner)) refuseForbidden(inner, `${param}.${inner}`);
      }
    }
  }
}

/** The common form of all spellings of `name`. */
function optionWord(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

function refuseForbidden(name: string, param: string): void {
  if (!FORBIDDEN_OPTIONS.has(optionWord(name))) return;
  unsupported(param, `'${name}' may not be set by provider options; use the field of the request.`);
}

function readRoute(svc: JsonObject, at: string, headers: Headers): RoutePreferences {
  if (!present(headers['x-svc-route']) && !present(svc['route']) && !present(svc['data_policy'])) return {};
  const head = headerObject(headers, 'x-svc-route');
  const object = optionalObject(svc['route'], `${at}route`) ?? {};
  const route = bothRoutes(routeOf(head, 'x-svc-route'), routeOf(object, `${at}route`));
  const policy = optionalChoice(svc['data_policy'], `${at}data_policy`, DATA_POLICIES);
  if (policy !== undefined) {
    // Two different privacy preferences both apply; neither may weaken the other.
    if (route.data_policy !== undefined && route.data_policy !== policy) {
      route.require = { ...route.require, [route.data_policy]: true };
    }
    route.data_policy = policy;
  }
  return route;
}

/**
 * `body` merged over `head`, key by key, except for privacy preferences: those of both apply, and of two the stricter
 * one.
 */
function bothRoutes(head: RoutePreferences, body: RoutePreferences): RoutePreferences {
  const route: RoutePreferences = { ...head, ...body };
  const both: [RoutePreferences['data_policy'], RoutePreferences['data_policy']] = [
    head.data_policy,
    body.data_policy,
  ];
  const given = { ...head.require };
  if (both[0] !== undefined && both[1] !== undefined && both[0] !== both[1]) given[both[0]] = true;
  const kept = privacyOf(given, body.require ?? {});
  if (Object.keys(kept).length > 0) route.require = { ...route.require, ...kept };
  return route;
}

type Require = NonNullable<RoutePreferences['require']>;

function privacyOf(head: Require, body: Require): Require {
  const days = [head.max_retention_days, body.max_retention_days].filter((one) => one !== undefined);
  return compact({
    zdr: head.zdr === true ? true : undefined,
    no_train: head.no_train === true ? true : undefined,
    regions:
      head.regions === undefined || body.regions === undefined
        ? head.regions
        : inBoth(head.regions, body.regions),
    max_retention_days: head.max_retention_days === undefined ? undefined : Math.min(...days),
  });
}

/** The regions that both lists allow, where `eu` includes `eu-west`; when that is none, no region is allowed. */
function inBoth(a: readonly string[], b: readonly string[]): string[] {
  const within = (region: string, wanted: readonly string[]) =>
    wanted.some((name) => region === name || region.startsWith(`${name}-`));
  const all = [...a.filter((region) => within(region, b)), ...b.filter((region) => within(region, a))];
  return [...new Set(all)];
}

export const DATA_POLICIES = ['no_train', 'zdr'] as const;

/**
 * Reads a route object (`svc.route`, or `route` in the native dialect). @throws ServiceError invalid_request with a
 * path below `path` for an unknown key or a wrong value.
 */
export function routeOf(object: JsonObject, path: string): RoutePreferences {
  refuseUnknown(object, ROUTE_KEYS, path);
  const timeouts = optionalObject(object['timeouts'], `${path}.timeouts`);
  const require = optionalObject(object['require'], `${path}.require`);
  return compact({
    sort: optionalChoice(object['sort'], `${path}.sort`, SORTS),
    fallbacks: optionalBoolean(object['fallbacks'], `${path}.fallbacks`),
    fallback_models: optionalStrings(object['fallback_models'], `${path}.fallback_models`, {
      max: FALLBACK_MODELS_MAX,
    }),
    providers: listsOf(object['providers'], `${path}.providers`),
    endpoints: listsOf(object['endpoints'], `${path}.endpoints`),
    require: require === undefined ? undefined : requireOf(require, `${path}.require`),
    data_policy: optionalChoice(object['data_policy'], `${path}.data_policy`, DATA_POLICIES),
    affinity: optionalChoice(object['affinity'], `${path}.affinity`, AFFINITIES),
    byok: optionalChoice(object['byok'], `${path}.byok`, BYOK),
    max_attempts: optionalNumber(object['max_attempts'], `${path}.max_attempts`, {
      min: 1,
      max: ATTEMPTS_MAX,
      integer: true,
    }),
    timeouts:
      timeouts === undefined ? undefined : numbersOf(timeouts, `${path}.timeouts`, TIMEOUT_KEYS, true),
  });
}

function listsOf(
  value: unknown,
  path: string,
): { order?: string[]; only?: string[]; ignore?: string[] } | undefined {
  const object = optionalObject(value, path);
  if (object === undefined) return undefined;
  refuseUnknown(object, LIST_KEYS, path);
  return compact({
    order: optionalStrings(object['order'], `${path}.order`),
    only: optionalStrings(object['only'], `${path}.only`),
    ignore: optionalStrings(object['ignore'], `${path}.ignore`),
  });
}

function requireOf(object: JsonObject, path: string): NonNullable<RoutePreferences['require']> {
  refuseUnknown(object, REQUIRE_KEYS, path);
  const price = optionalObject(object['max_price'], `${path}.max_price`);
  return compact({
    zdr: optionalBoolean(object['zdr'], `${path}.zdr`),
    no_train: optionalBoolean(object['no_train'], `${path}.no_train`),
    regions: optionalStrings(object['regions'], `${path}.regions`),
    max_retention_days: optionalNumber(object['max_retention_days'], `${path}.max_retention_days`, {
      min: 0,
      integer: true,
    }),
    max_price: price === undefined ? undefined : numbersOf(price, `${path}.max_price`, PRICE_KEYS, false),
    quantizations: optionalStrings(object['quantizations'], `${path}.quantizations`),
    capabilities: optionalStrings(object['capabilities'], `${path}.capabilities`),
    parameters: optionalBoolean(object['parameters'], `${path}.parameters`),
  });
}

function numbersOf(
  object: JsonObject,
  path: string,
  known: ReadonlySet<string>,
  integer: boolean,
): Record<string, number> {
  refuseUnknown(object, known, path);
  const numbers: Record<string, number> = {};
  for (const key of known) {
    const value = optionalNumber(object[key], `${path}.${key}`, { min: 0, integer });
    if (value !== undefined) numbers[key] = value;
  }
  return numbers;
}

/** Warnings as the caller sees them: at most 20, then how many more there are. */
export function shownWarnings(warnings: readonly Warning[]): (Warning | { code: 'more'; count: number })[] {
  if (warnings.length <= 20) return [...warnings];
  return [...warnings.slice(0, 20), { code: 'more', count: warnings.length - 20 }];
}

/** JSON text of the answer's `svc`; `own` are warnings that arose while writing the answer itself. */
export function svcText(
  meta: Pick<ReplyMeta, 'request_id' | 'provider' | 'endpoint_id'>,
  end: Pick<ReplyEnd, 'cost' | 'warnings'> | null,
  own: readonly Warning[] = [],
): string {
  const warnings = shownWarnings(
    own.length === 0 ? (end?.warnings ?? []) : [...(end?.warnings ?? []), ...own],
  );
  const { request_id, provider, endpoint_id } = meta;
  return JSON.stringify({ request_id, provider, endpoint_id, cost: end?.cost ?? null, warnings });
}
