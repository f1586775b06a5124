// The part of admission that needs the prompt: read, checked, measured, routed, and written for the first endpoint.
// It does not wait for anything, so nothing of the prompt but its bytes lives on while the money is held: prompts of
// suspended calls would be half of what the garbage collector has to move.
import type { Catalog, Endpoint } from '../../catalog/index.ts';
import { hmacSha256, nowMs, ServiceError } from '../../kernel/index.ts';
import type { OrgPolicies, Ruling } from '../../policies/index.ts';
import { inputTokensBound, type ReserveInput } from '../../pricing/index.ts';
import { planRoute, type RouteFeatures, type RoutePlan } from '../../routing/index.ts';
import type { CanonicalRequest } from '../canonical/types.ts';
import { storedFile } from '../dialects/shared/own-key.ts';
import { featuresOf } from './features.ts';
import { type Idempotency, idempotencyOf } from './idempotency.ts';
import { type Lane, prepare, rawLaneOf, targetOf } from './lane.ts';
import { parseBodyExact, parseText } from './parse.ts';
import { capsOf, type Planned } from './plan.ts';
import { rulingOf, underPolicy } from './policy.ts';
import { promptSize } from './prompt.ts';
import type { CallDeps, CallRecord, Incoming } from './types.ts';

/** Standard limits to the first event (4.8 "Attempt limits"). */
const FIRST_EVENT_MS = 60_000;
const FIRST_EVENT_REASONING_MS = 180_000;

/** What is known of a call before its money is held; nothing of it leads to the prompt. */
export interface Draft {
  readonly catalog: Catalog;
  /** The route, or the refusal that stands unless an earlier call with the same Idempotency-Key answers. */
  readonly route: RoutePlan | ServiceError;
  readonly stream: boolean;
  readonly include_usage: boolean;
  readonly idempotency: Idempotency | null;
  /** Whether the caller named a cap of its own, or its policy did. */
  readonly cap_given: boolean;
  readonly prompt_bytes: number;
  /** The standard limit to the first event; a route may have a lower one, which the caller chose. */
  readonly first_event_ms: number;
  /** All of the reserve's input but the balance. */
  readonly wish: Omit<ReserveInput, 'available_micro_usd'>;
  /** The first attempt, ready to send, with the caps it was written for; null where the balance must be asked first. */
  readonly first: { readonly lane: Lane; readonly planned: Planned } | null;
}

/** @throws ServiceError what reading refuses; a refusal of the route is part of the draft. */
export function draftCall(
  deps: CallDeps,
  incoming: Incoming,
  record: CallRecord,
  policies: OrgPolicies,
): Draft {
  const { headers, dialect } = incoming;
  const text = incoming.body.toString('utf8');
  const body = parseText(text);
  const request = dialect.read(body, headers);
  refuseStoredFiles(request);
  const idempotency = idempotencyOf(incoming, body);
  describe(record, request, incoming);
  const size = promptSize(request, incoming.body);
  const bound = inputTokensBound(size);
  const features = featuresOf(request, bound);
  record.has_images = features.images;
  record.has_schema = features.json_schema;
  const catalog = deps.catalog();
  const hints = () => hasCacheHints(request);
  const ruling = rulingOf(policies, incoming, request, { features, hasCacheHints: hints });
  const found = routeOrRefusal(deps, { catalog, incoming, request, features, ruling });
  const { route, max_tokens } = underPolicy(ruling, found, record, (endpoints) =>
    wishOf(deps, request, endpoints, bound),
  );
  const facts = {
    catalog,
    route,
    stream: request.stream,
    include_usage: request.include_usage,
    idempotency,
    cap_given: request.generation.max_tokens !== undefined || max_tokens !== null,
    prompt_bytes: size.text_bytes,
    first_event_ms: features.reasoning ? FIRST_EVENT_REASONING_MS : FIRST_EVENT_MS,
  };
  if (route instanceof ServiceError) return { ...facts, wish: wishOf(deps, request, [], bound), first: null };
  record.warnings.push(...request.warnings, ...route.warnings, ...lossWarnings(route, request));
  const endpoints = route.plan.map((item) => item.endpoint);
  const own = wishOf(deps, request, endpoints, bound);
  const draft = { ...facts, wish: max_tokens === null ? own : { ...own, max_tokens } };
  return { ...draft, first: firstAttempt(deps, incoming, { draft, request, endpoints, record, text }) };
}

/** The request once more, from its bytes, with every number exact; for attempts after the first. */
export function readAgain(incoming: Incoming): CanonicalRequest {
  return incoming.dialect.read(parseBodyExact(incoming.body), incoming.headers);
}

function firstAttempt(
  deps: CallDeps,
  incoming: Incoming,
  facts: {
    draft: Omit<Draft, 'first'>;
    request: CanonicalRequest;
    endpoints: readonly Endpoint[];
    record: CallRecord;
    /** The decoded body. */
    text: string;
  },
): Draft['first'] {
  const { draft, request, endpoints, record, text } = facts;
  const available = deps.ledger.availableHint(incoming.grant.subject.book_id);
  if (available === null && !draft.cap_given) return null;
  const planned = capsOf(endpoints, { ...draft.wish, available_micro_usd: available }, draft.cap_given)[0];
  if (planned === undefined) return null;
  // The raw lane sends the caller's bytes; the canonical one writes numbers anew and must not lose their digits.
  const raw = rawLaneOf(deps, incoming.dialect.name, planned.endpoint) !== null;
  const exact = raw ? request : readAgain(incoming);
  const { idempotency, prompt_bytes } = draft;
  const keep = idempotency !== null && !record.zdr;
  return { planned, lane: prepare(deps, incoming, exact, { planned, attempt: 1, keep, prompt_bytes, text }) };
}

function wishOf(
  deps: CallDeps,
  request: CanonicalRequest,
  endpoints: readonly Endpoint[],
  bound: number,
): Draft['wish'] {
  const canonical = endpoints.every((endpoint) => rawLaneOf(deps, request.dialect, endpoint) === null);
  return {
    input_tokens_bound: bound,
    max_tokens: request.generation.max_tokens ?? null,
    candidates: request.generation.candidates ?? 1,
    upstream_stream: request.stream || canonical,
    cache_hints: hasCacheHints(request),
    audio_output: request.output?.modalities?.includes('audio') ?? false,
    image_output: request.output?.modalities?.includes('image') ?? false,
    search_units: 0,
  };
}

function hasCacheHints(request: CanonicalRequest): boolean {
  if (request.cache !== undefined) return true;
  if (request.tools?.some((tool) => tool.cache !== undefined)) return true;
  return request.messages.some((message) => message.content.some((part) => part.cache !== undefined));
}

function routeOrRefusal(
  deps: CallDeps,
  facts: {
    catalog: Catalog;
    incoming: Incoming;
    request: CanonicalRequest;
    features: RouteFeatures;
    ruling: Ruling | null;
  },
): RoutePlan | ServiceError {
  const { catalog, incoming, request, features, ruling } = facts;
  const { grant } = incoming;
  try {
    return planRoute(catalog, {
      request_id: incoming.request_id,
      environment: grant.environment,
      model: request.model,
      wish: request.svc.route,
      policy: ruling,
      data_policy: grant.data_policy,
      compat: request.svc.compat,
      features,
      losses: (endpoint) => lossesOf(deps, request, endpoint),
      health: deps.health,
      now_ms: nowMs(),
    });
  } catch (refusal) {
    if (refusal instanceof ServiceError) return refusal;
    throw refusal;
  }
}

/** Pool accounts hold no caller files, and another tenant's must stay out of reach (4.1 `file.file_id`). */
function refuseStoredFiles(request: CanonicalRequest): void {
  const param = storedFile(request);
  if (param === null) return;
  throw new ServiceError(
    'unsupported_parameter',
    'A file stored at a provider needs your own provider key there.',
    {
      param,
      details: { reason: 'own_key_required' },
    },
  );
}

function describe(record: CallRecord, request: CanonicalRequest, incoming: Incoming): void {
  record.model = request.model;
  record.stream = request.stream;
  record.app = request.svc.app ?? '';
  record.tags = request.svc.metadata;
  record.has_tools = (request.tools?.length ?? 0) > 0;
  const { data_policy, require } = request.svc.route;
  record.zdr ||= data_policy === 'zdr' || require?.zdr === true;
  if (request.user !== undefined) {
    record.user_hash = hmacSha256(incoming.grant.org_pepper, request.user).toString('hex');
  }
}

/** Adapters know of the dialect: in the raw lane only what the endpoint itself refuses is a loss. */
function lossesOf(deps: CallDeps, request: CanonicalRequest, endpoint: Endpoint) {
  return deps.adapters.get(endpoint.family)?.losses(request, targetOf(endpoint)) ?? [];
}

function lossWarnings(route: RoutePlan, request: CanonicalRequest) {
  if (request.svc.compat === 'drop') return [];
  return (route.plan[0]?.losses ?? []).map(({ code, param, message }) => ({ code, param, message }));
}
