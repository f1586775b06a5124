// The part of admission that needs the prompt: it is read, checked, measured, routed, and prepared for the first
// endpoint. Nothing here waits but large bodies for their turn, so while the money is held only the bytes of the prompt
// stay in memory: the prompts of suspended calls would be half of what the garbage collector has to move.

import type { OrgKeys } from '../../../byok/index.ts';
import { type Catalog, type Endpoint, findModel, namedModel } from '../../../catalog/index.ts';
import { atOnce, compact, hashOfEndUser, microUsd, ServiceError, type Steps } from '../../../kernel/index.ts';
import { type RunBudget, runOf } from '../../../ledger/index.ts';
import type { OrgPolicies, Ruling } from '../../../policies/index.ts';
import { inputTokensBound, type PromptSize, textInputBound } from '../../../pricing/index.ts';
import {
  affordsUnder,
  type DrawnShadow,
  planRoute,
  type RouteFeatures,
  type RoutePlan,
} from '../../../routing/index.ts';
import type { CanonicalRequest, Generation } from '../../canonical/types.ts';
import { throttleMs } from '../attempt/failover.ts';
import { type Lane, prepare, rawLaneOf } from '../attempt/lane.ts';
import { lossesOf, lostOn } from '../attempt/losses.ts';
import { wantedMedia } from '../attempt/media.ts';
import type { Planned } from '../attempt/terms.ts';
import { viewerOf } from '../record.ts';
import { keepsAnswer } from '../settle/content.ts';
import { type Idempotency, idempotencyOf } from '../settle/idempotency.ts';
import { inTurn } from '../turns.ts';
import type { CallDeps, CallRecord, Incoming } from '../types.ts';
import { affinityOf } from './affinity.ts';
import { featuresOf } from './features.ts';
import { type Account, accountOf, hasOwnKey, ownKeyRequired } from './own-key.ts';
import { capsOf, type HoldInput } from './plan.ts';
import { rulingOf, underPolicy } from './policy.ts';
import { promptSize } from './prompt.ts';
import { exactRequest, type Read, readAtOnce, readInSteps } from './read.ts';
import { copied, rulingOfCopy, shadowOf } from './shadow.ts';
import { clearer, refuseUnreadable, searchUnitsOf } from './task.ts';

/** Default time limit to the first event (docs/routing.md#limits-of-an-attempt). */
const FIRST_EVENT_MS = 60_000;
const FIRST_EVENT_REASONING_MS = 180_000;

/** What is known of a call before its money is held; nothing in it refers to the prompt. */
export interface Draft {
  readonly catalog: Catalog;
  /** The route, or the refusal that applies unless an earlier call with the same Idempotency-Key has an answer. */
  readonly route: RoutePlan | ServiceError;
  readonly stream: boolean;
  readonly include_usage: boolean;
  readonly idempotency: Idempotency | null;
  /** The budget of the run that it belongs to; null: it belongs to none. */
  readonly budget: RunBudget | null;
  /** Whether the caller or its policy set an output cap. */
  readonly cap_given: boolean;
  readonly prompt_bytes: number;
  /** Texts to be completed, each by answers of its own. */
  readonly prompts: number;
  /** The default limit to the first event in ms; the caller may have chosen a lower one in its route. */
  readonly first_event_ms: number;
  /**
   * Upper bound of the input tokens if the prompt is only text; null when media, stored state or server tools add to
   * it.
   */
  readonly text_input_bound: number | null;
  /** Everything that the hold is computed from, except the balance. */
  readonly hold_input: HoldInput;
  /**
   * The first attempt, ready to send, with the caps it was prepared for; null when the balance must be known first.
   */
  readonly first: { readonly lane: Lane; readonly planned: Planned } | null;
  /** The copy that is made of the call once it is answered; null: none. */
  readonly shadow: DrawnShadow | null;
}

/** The settings of the caller's organization that decide about calls. */
export interface Scope {
  readonly policies: OrgPolicies;
  readonly keys: OrgKeys;
  /** At the prices that the organization pays. */
  readonly catalog: Catalog;
}

/**
 * The draft of a call; a promise only for a body that is read in slices.
 * @throws ServiceError (or rejects) what reading refuses; a refusal of the route is part of the draft.
 */
export function draftCall(
  deps: CallDeps,
  incoming: Incoming,
  record: CallRecord,
  scope: Scope,
): Draft | Promise<Draft> {
  function* drafting(): Steps<Draft> {
    const decision = yield* decide(deps, incoming, record, scope);
    yield;
    return yield* drafted(deps, incoming, record, decision);
  }
  return incoming.in_slices ? inTurn(incoming, drafting()) : atOnce(drafting());
}

function* drafted(deps: CallDeps, incoming: Incoming, record: CallRecord, decision: Decision): Steps<Draft> {
  const { draft, read, endpoints } = decision;
  const { route } = draft;
  if (route instanceof ServiceError) return { ...draft, first: null };
  const facts = { draft, plan: route.plan, read, endpoints, record };
  return { ...draft, first: yield* firstAttempt(deps, incoming, facts) };
}

/** A draft without its prepared attempt, and what is needed to prepare it. */
export interface Decision {
  readonly draft: Omit<Draft, 'first'>;
  readonly request: CanonicalRequest;
  readonly endpoints: readonly Endpoint[];
  readonly read: Read;
}

/**
 * Makes the decision of a call: reads the request, measures it, applies policies and routes it. Changes nothing
 * except what `deps.health` lets the router reserve, so dry runs use it as well. A promise only for a body that is read in slices.
 * @throws ServiceError (or rejects) what reading refuses; a refusal of the route is part of the draft.
 */
export function decideCall(
  deps: CallDeps,
  incoming: Incoming,
  record: CallRecord,
  scope: Scope,
): Decision | Promise<Decision> {
  const deciding = decide(deps, incoming, record, scope);
  return incoming.in_slices ? inTurn(incoming, deciding) : atOnce(deciding);
}

function* decide(
  deps: CallDeps,
  incoming: Incoming,
  record: CallRecord,
  { policies, keys, catalog }: Scope,
): Steps<Decision> {
  const { dialect } = incoming;
  const read = incoming.in_slices ? yield* readInSteps(incoming) : readAtOnce(incoming);
  const { body, request: asked } = read;
  const request = copied(underItsId(catalog, asked, incoming.grant.environment), incoming, catalog);
  const account = accountOf(dialect, request);
  // Accounts of the pool hold no files of callers, and other tenants' files must stay out of reach.
  if (account !== null && account.param !== null && keys.size === 0) throw ownKeyRequired(account.param);
  refuseUnreadable(request, incoming.grant.data_policy.redact !== null);
  const idempotency = idempotencyOf(incoming, body);
  describe(record, request, incoming);
  yield;
  const size = promptSize(request, incoming.body);
  const bound = inputTokensBound(size);
  const features = { ...featuresOf(request, bound), ...knownLength(size) };
  yield;
  record.has_images = features.images;
  record.has_schema = features.json_schema;
  const ruled = rulingOf(policies, incoming, request, {
    now_ms: deps.clock.nowMs(),
    features,
    hasCacheHints: () => hasCacheHints(request),
    hasOwnKey: () => hasOwnKey(keys, findModel(catalog, request.model, incoming.grant.environment)),
  });
  const ruling = incoming.shadow === undefined ? ruled : rulingOfCopy(incoming.shadow, ruled);
  const found = routeOrRefusal(deps, { catalog, incoming, request, features, ruling, keys, account });
  const { route, max_tokens } = underPolicy(
    ruling,
    found,
    { record, catalog: catalog.version },
    (endpoints) => holdInputOf(deps, incoming, request, endpoints, bound),
  );
  const facts = {
    catalog,
    route,
    stream: request.stream,
    include_usage: request.include_usage,
    ...{ idempotency, budget: budgetOf(incoming, request) },
    cap_given: request.generation.max_tokens !== undefined || max_tokens !== null,
    prompt_bytes: size.text_bytes,
    prompts: request.completion?.prompts ?? 1,
    text_input_bound: addsInput(features, request) || account !== null ? null : textInputBound(size),
    first_event_ms: features.reasoning ? FIRST_EVENT_REASONING_MS : FIRST_EVENT_MS,
    shadow: ruling === null ? null : shadowOf(incoming, ruling, request, account),
  };
  if (route instanceof ServiceError) {
    const draft = { ...facts, hold_input: holdInputOf(deps, incoming, request, [], bound) };
    return { draft, request: asked, endpoints: [], read };
  }
  record.warnings.push(...request.warnings, ...route.warnings);
  const endpoints = route.plan.map((item) => item.endpoint);
  const asks = holdInputOf(deps, incoming, request, endpoints, bound);
  const draft = { ...facts, hold_input: max_tokens === null ? asks : { ...asks, max_tokens } };
  return { draft, request: asked, endpoints, read };
}

/** `request` with the catalog's ids of its models, by which policies, rows and the route know them. */
function underItsId(
  catalog: Catalog,
  request: CanonicalRequest,
  environment: 'live' | 'test',
): CanonicalRequest {
  const idOf = (name: string) => {
    const named = namedModel(catalog, name, environment);
    return 'id' in named ? named.id : name;
  };
  const model = idOf(request.model);
  const { fallback_models } = request.svc.route;
  if (fallback_models === undefined) return model === request.model ? request : { ...request, model };
  const route = { ...request.svc.route, fallback_models: fallback_models.map(idOf) };
  return { ...request, model, svc: { ...request.svc, route } };
}

/** Whether the prompt has more than text; how many tokens that adds, only the provider knows. */
function addsInput({ modalities_in, pdf }: RouteFeatures, { tools = [] }: CanonicalRequest): boolean {
  return modalities_in.length > 1 || pdf || tools.some(({ kind }) => kind === 'server');
}

/**
 * The bound only when it is certain. Pages and seconds of a document given by address, stored in the caller's
 * account, or of a video are guesses: such a prompt is charged up to its bound but never refused for it.
 */
function knownLength(size: PromptSize): Pick<RouteFeatures, 'longest_input_tokens'> {
  if (size.pdf_pages + size.audio_seconds === 0) return {};
  return { longest_input_tokens: inputTokensBound({ ...size, pdf_pages: 0, audio_seconds: 0 }) };
}

function* firstAttempt(
  deps: CallDeps,
  incoming: Incoming,
  facts: {
    draft: Omit<Draft, 'first'>;
    plan: RoutePlan['plan'];
    read: Read;
    endpoints: readonly Endpoint[];
    record: CallRecord;
  },
): Steps<Draft['first']> {
  const { draft, plan, endpoints, record } = facts;
  const { request, text } = facts.read;
  const { shard, book_id } = incoming.grant.subject;
  const available = deps.ledgers.at(shard).availableHint(book_id);
  if (available === null && !draft.cap_given) return null;
  const planned = capsOf(
    endpoints,
    { ...draft.hold_input, available_micro_usd: available },
    draft.cap_given,
  )[0];
  if (planned === undefined) return null;
  // When this family needs media as bytes, they are fetched after the hold.
  if (wantedMedia(request, deps.adapters.get(planned.endpoint.family), null).length > 0) return null;
  // The raw lane sends the caller's bytes. The canonical lane writes numbers anew and must not lose their digits.
  const raw = rawLaneOf(deps, incoming, request, planned.endpoint) !== null;
  const exact = raw ? request : yield* exactRequest(incoming, facts.read);
  yield;
  const { idempotency, prompt_bytes } = draft;
  const keep = keepsAnswer(incoming, record, idempotency);
  const lost = lostOn(
    deps,
    request,
    planned.endpoint,
    plan.find(({ endpoint }) => endpoint === planned.endpoint)?.losses,
  );
  const parts = { planned, attempt: 1, keep, prompt_bytes, ...(text === undefined ? {} : { text }), lost };
  return { planned, lane: prepare(deps, incoming, exact, parts) };
}

function holdInputOf(
  deps: CallDeps,
  incoming: Incoming,
  request: CanonicalRequest,
  endpoints: readonly Endpoint[],
  bound: number,
): HoldInput {
  const canonical = endpoints.every((endpoint) => rawLaneOf(deps, incoming, request, endpoint) === null);
  return {
    input_tokens_bound: bound,
    max_tokens: request.generation.max_tokens ?? null,
    candidates: candidatesOf(request),
    upstream_stream: request.stream || canonical,
    cache_hints: hasCacheHints(request),
    audio_output: request.output?.modalities?.includes('audio') ?? false,
    // Models that draw do so without being asked; where images have no price this changes nothing.
    image_output: request.output?.modalities?.includes('image') ?? true,
    search_units: searchUnitsOf(request),
  };
}

/** Number of answers that the provider produces and bills, whether they are returned or not. */
export function candidatesOf({ generation, completion }: CanonicalRequest): number {
  const each = generation.candidates ?? 1;
  return completion === undefined ? each : Math.max(each, completion.best_of) * completion.prompts;
}

/** Whether the caller marked what a provider may cache. */
export function hasCacheHints(request: CanonicalRequest): boolean {
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
    keys: OrgKeys;
    account: Account | null;
  },
): RoutePlan | ServiceError {
  const { catalog, incoming, request, features, ruling, account } = facts;
  const { grant } = incoming;
  const now_ms = deps.clock.nowMs();
  const own_keys = deps.own_keys.usesOf(facts.keys, now_ms);
  const affords = affordsUnder(ruling, () =>
    holdInputOf(deps, incoming, request, [], features.input_tokens_bound),
  );
  try {
    return planRoute(catalog, {
      request_id: incoming.request_id,
      environment: grant.environment,
      model: request.model,
      preferences: request.svc.route,
      policy: ruling,
      data_policy: grant.data_policy,
      compat: request.svc.compat,
      features,
      losses: (endpoint) => lossesOf(deps, request, endpoint),
      speaks: (family) => deps.raw_lanes.has(`${request.dialect} ${family}`),
      health: deps.health.seenBy(viewerOf({ grant, dialect_in: incoming.dialect.name })),
      rests: (endpoint) => throttleMs(deps, endpoint, now_ms),
      ...(own_keys === undefined ? {} : { own_keys }),
      ...(affords === undefined ? {} : { affords }),
      ...(account === null ? {} : { account }),
      affinity: affinityOf(deps, incoming, request, hasCacheHints(request)),
      now_ms,
    });
  } catch (refusal) {
    if (refusal instanceof ServiceError) {
      if (account !== null && account.param !== null && isUnmet(refusal, account.param)) {
        return ownKeyRequired(account.param);
      }
      return clearer(refusal, request, { catalog, environment: grant.environment });
    }
    throw refusal;
  }
}

/** A copy counts in no run: its caller did not ask for it. */
function budgetOf({ grant, shadow }: Incoming, { svc }: CanonicalRequest): RunBudget | null {
  if (svc.budget === undefined || shadow !== undefined) return null;
  const { id, max_micro } = svc.budget;
  const run = runOf(grant.org_pepper, { project_no: grant.subject.project_no, id });
  return { run, max_micro_usd: microUsd(max_micro) };
}

function describe(record: CallRecord, request: CanonicalRequest, incoming: Incoming): void {
  record.model = request.model;
  record.stream = request.stream;
  record.asked = numbersAsked(request.generation);
  record.app = request.svc.app ?? '';
  record.tags = request.svc.metadata;
  record.session_id = request.svc.session ?? '';
  record.has_tools = (request.tools?.length ?? 0) > 0;
  const { data_policy, require } = request.svc.route;
  record.zdr ||= data_policy === 'zdr' || require?.zdr === true;
  if (request.user !== undefined) {
    record.user_hash = hashOfEndUser(incoming.grant.org_pepper, request.user);
  }
}

function numbersAsked(generation: Generation): CallRecord['asked'] {
  const { max_tokens, temperature, top_p, top_k, seed, candidates } = generation;
  const { frequency_penalty, presence_penalty } = generation;
  return compact({
    ...{ max_tokens, temperature, top_p, top_k, seed, candidates },
    ...{ frequency_penalty, presence_penalty },
  });
}

/** Whether `refusal` may only be due to a missing own key for what `param` names. */
function isUnmet({ code, status, param }: ServiceError, account_param: string): boolean {
  return status === 400 && (code === 'no_endpoint_available' || param === account_param);
}
