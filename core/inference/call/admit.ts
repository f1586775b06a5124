// Everything before the first attempt: read, route, reserve, hold. Each refusal here costs the caller nothing.
import type { Catalog, Endpoint } from '../../catalog/index.ts';
import {
  hmacSha256,
  type MicroUsd,
  microUsd,
  nowMs,
  type RequestId,
  ServiceError,
} from '../../kernel/index.ts';
import {
  affordableTokens,
  type EndpointReserve,
  HOLD_STEP_TOKENS,
  holdMicroUsd,
  inputTokensBound,
  type ReserveInput,
  reserve,
} from '../../pricing/index.ts';
import { planRoute, type RouteFeatures, type RoutePlan, traceLine } from '../../routing/index.ts';
import type { Dialect } from '../canonical/contract.ts';
import type { CanonicalRequest } from '../canonical/types.ts';
import { storedFile } from '../dialects/shared/own-key.ts';
import { featuresOf } from './features.ts';
import { HoldWatch } from './hold-watch.ts';
import { findReplay, type Idempotency, idempotencyOf, type StoredAnswer } from './idempotency.ts';
import { rawLaneOf, targetOf } from './lane.ts';
import { parseBody, parseBodyExact } from './parse.ts';
import { promptSize } from './prompt.ts';
import type { AttemptRecord, CallDeps, CallRecord, Incoming } from './types.ts';

/** Standard limits between events and of a whole call (4.8 "Attempt limits"). */
const IDLE_MS = 90_000;
const TOTAL_MS = 600_000;

export interface Planned {
  readonly endpoint: Endpoint;
  /** Output cap to send, or null where the model's own maximum is the bound. */
  readonly cap: number | null;
}

/** A call that has passed every check and whose money is held. */
export interface Admitted {
  /** Dropped once content flows, so that an idle stream does not keep its prompt. */
  request: CanonicalRequest | null;
  readonly dialect: Dialect;
  readonly stream: boolean;
  readonly debug: boolean;
  /** Sent with an Idempotency-Key: the caller will ask again, so a left call is drained and its answer kept. */
  readonly idempotency: Idempotency | null;
  /** Key or request demand zero retention: no answer is kept. */
  readonly zdr: boolean;
  readonly plan: readonly Planned[];
  readonly max_attempts: number;
  readonly times: { readonly first_event_ms: number; readonly idle_ms: number };
  readonly total_ms: number;
  /** Which limits the caller or its policy lowered: a cut by one of them is no fault of the provider (4.8 row 26). */
  readonly chosen: { readonly idle: boolean; readonly total: boolean };
  readonly prompt_bytes: number;
  readonly watch: HoldWatch;
  model_no(endpoint: Endpoint): number;
  trace(attempts: readonly AttemptRecord[]): string;
}

/** The key of an earlier call came again: its answer, and no money moves. */
export interface Replayed {
  readonly id: RequestId;
  readonly stored: StoredAnswer;
  readonly request: CanonicalRequest;
}

export type Admission = { readonly call: Admitted } | { readonly replay: Replayed };

interface Money {
  readonly amount_micro_usd: MicroUsd;
  readonly endpoints: readonly EndpointReserve[];
  readonly wish: ReserveInput;
}

/**
 * Reads and checks the request, plans its route and holds its money; fills `record` on the way.
 * @throws ServiceError every refusal of 4.8 rows 2 to 4 and 21; then nothing is held.
 */
export async function admit(deps: CallDeps, incoming: Incoming, record: CallRecord): Promise<Admission> {
  const { headers, dialect } = incoming;
  const body = parseBody(incoming.body);
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
  let route: RoutePlan;
  let money: Money | { replay: Replayed };
  try {
    route = routeFor(deps, { catalog, incoming, request, features });
    money = await claimAndHold(deps, { incoming, request, route, bound, idempotency });
  } catch (refusal) {
    return { replay: await replayInstead(deps, refusal, request, idempotency) };
  }
  if ('replay' in money) return money;
  record.warnings.push(...request.warnings, ...route.warnings, ...lossWarnings(route, request));
  const plan = planOf(route, money, request, record);
  const { text_bytes } = size;
  const debug = headers['x-svc-debug'] === '1';
  const { zdr } = record;
  const facts = { plan, dialect, stream: request.stream, debug, idempotency, zdr, prompt_bytes: text_bytes };
  const raw = rawLaneOf(deps, dialect.name, (plan[0] as Planned).endpoint) !== null;
  // The raw lane sends the caller's bytes; the canonical one writes numbers anew and must not lose their digits.
  const exact = raw ? request : dialect.read(parseBodyExact(incoming.body), headers);
  return { call: { request: exact, ...facts, ...terms(deps, incoming, { catalog, route, money }) } };
}

/**
 * The answer of an earlier call with the same key, which needs neither credit nor an endpoint.
 * @throws `refusal` where there is none, or why that answer cannot be given.
 */
async function replayInstead(
  deps: CallDeps,
  refusal: unknown,
  request: CanonicalRequest,
  idempotency: Idempotency | null,
): Promise<Replayed> {
  const known = refusal instanceof ServiceError && !refusal.code.startsWith('idempotency_');
  if (idempotency === null || !known || refusal.code === 'service_unavailable') throw refusal;
  const found = await findReplay(deps.claims.find, idempotency);
  if (found === null) throw refusal;
  return { ...found, request };
}

function routeFor(
  deps: CallDeps,
  facts: { catalog: Catalog; incoming: Incoming; request: CanonicalRequest; features: RouteFeatures },
): RoutePlan {
  const { catalog, incoming, request, features } = facts;
  const { grant } = incoming;
  return planRoute(catalog, {
    request_id: incoming.request_id,
    environment: grant.environment,
    model: request.model,
    wish: request.svc.route,
    data_policy: grant.data_policy,
    compat: request.svc.compat,
    features,
    losses: (endpoint) => lossesOf(deps, request, endpoint),
    health: deps.health,
    now_ms: nowMs(),
  });
}

/** What lives as long as the call. Its closures see route and money only, or they would keep the prompt alive. */
function terms(
  deps: CallDeps,
  incoming: Incoming,
  facts: { catalog: Catalog; route: RoutePlan; money: Money },
): Omit<Admitted, 'request' | 'plan' | 'dialect' | 'stream' | 'debug' | 'idempotency' | 'prompt_bytes'> {
  const { catalog, route, money } = facts;
  const first = money.endpoints[0] as EndpointReserve;
  const candidates = money.wish.candidates;
  return {
    max_attempts: route.max_attempts,
    times: route.timeouts,
    total_ms: route.timeouts.total_ms,
    chosen: { idle: route.timeouts.idle_ms < IDLE_MS, total: route.timeouts.total_ms < TOTAL_MS },
    watch: new HoldWatch({
      ledger: deps.ledger,
      subject: incoming.grant.subject,
      request_id: incoming.request_id,
      output_held: first.output_held,
      step: HOLD_STEP_TOKENS * candidates,
      amount_micro_usd: money.amount_micro_usd,
      capOf(endpoint) {
        const item = money.endpoints.find((reserved) => reserved.endpoint_id === endpoint.id);
        return item === undefined ? null : item.output_cap * candidates;
      },
      holdFor: (endpoint, tokens) => holdMicroUsd(endpoint, money.wish, tokens),
    }),
    model_no: (endpoint) => catalog.models.get(endpoint.model_id)?.model_no ?? 0,
    trace: (attempts) => traceOf(route, attempts, money.amount_micro_usd),
  };
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

function planOf(route: RoutePlan, money: Money, request: CanonicalRequest, record: CallRecord): Planned[] {
  const planned: Planned[] = [];
  for (const { endpoint } of route.plan) {
    const item = money.endpoints.find((candidate) => candidate.endpoint_id === endpoint.id);
    if (item === undefined) continue;
    const given = request.generation.max_tokens !== undefined;
    const required = endpoint.family === 'anthropic_messages';
    planned.push({ endpoint, cap: given || item.capped_by_credit || required ? item.output_cap : null });
    if (item.capped_by_credit && planned.length === 1) {
      record.warnings.push({
        code: 'max_tokens_capped',
        message: `The balance pays for at most ${item.output_cap} output tokens.`,
      });
    }
  }
  return planned;
}

function traceOf(route: RoutePlan, attempts: readonly AttemptRecord[], reserve_micro_usd: number): string {
  const tries = attempts
    .filter((attempt) => attempt.outcome !== null)
    .map((attempt) => ({
      endpoint_id: attempt.endpoint.id,
      outcome: attempt.error_class === '' ? (attempt.outcome as string) : attempt.error_class,
      http_status: attempt.http_status,
      ms: attempt.ttft_ms ?? attempt.duration_ms ?? 0,
    }));
  const win = attempts.find((attempt) => attempt.outcome === 'ok')?.endpoint.id ?? null;
  return traceLine(route, { policy: 'default', rule: '-', tries, win, reserve_micro_usd });
}

// ---- money ----

interface HoldWish {
  readonly incoming: Incoming;
  readonly request: CanonicalRequest;
  readonly route: RoutePlan;
  readonly bound: number;
  readonly idempotency: Idempotency | null;
}

/** Holds the money; where the Idempotency-Key is taken, finds what its first call left instead. */
async function claimAndHold(deps: CallDeps, wish: HoldWish): Promise<Money | { replay: Replayed }> {
  for (;;) {
    const money = await hold(deps, wish);
    if (money !== 'claimed') return money;
    const found = await findReplay(deps.claims.find, wish.idempotency as Idempotency);
    // null: the first call failed uncharged meanwhile and its key is free; this one executes anew.
    if (found !== null) return { replay: { ...found, request: wish.request } };
  }
}

async function hold(deps: CallDeps, facts: HoldWish): Promise<Money | 'claimed'> {
  const { incoming, request, route, idempotency } = facts;
  const { subject } = incoming.grant;
  const endpoints = route.plan.map((item) => item.endpoint);
  let available = deps.ledger.availableHint(subject.book_id);
  // A cap that credit must set needs the balance; with a cap of the caller's the hold alone decides.
  if (available === null && request.generation.max_tokens === undefined) {
    available = await availableNow(deps, subject.book_id);
  }
  for (let again = false; ; again = true) {
    const wish = reserveInput(deps, facts, available);
    const wanted = reserve(endpoints, wish);
    if (wanted.status === 'ok') {
      const result = await deps.ledger.hold({
        ...subject,
        request_id: incoming.request_id,
        amount_micro_usd: wanted.amount_micro_usd,
        ...(idempotency === null ? {} : { idempotency: idempotency.claim }),
      });
      if (result.status === 'ok') return { ...wanted, wish };
      if (result.status === 'claimed') return 'claimed';
      if (result.status !== 'insufficient_credits') throw holdRefusal(result, incoming);
    }
    // The hint may be stale either way: the committed balance decides once more before the caller is refused.
    available = await availableNow(deps, subject.book_id);
    if (again || !mayFit(wanted, wish, available)) {
      const required = wanted.status === 'ok' ? wanted.amount_micro_usd : null;
      throw insufficient(endpoints, wish, required, available);
    }
  }
}

function reserveInput(deps: CallDeps, facts: HoldWish, available: number | null): ReserveInput {
  const { request, route, bound } = facts;
  const canonical = route.plan.every(({ endpoint }) => rawLaneOf(deps, request.dialect, endpoint) === null);
  return {
    input_tokens_bound: bound,
    max_tokens: request.generation.max_tokens ?? null,
    candidates: request.generation.candidates ?? 1,
    upstream_stream: request.stream || canonical,
    cache_hints: hasCacheHints(request),
    audio_output: request.output?.modalities?.includes('audio') ?? false,
    image_output: request.output?.modalities?.includes('image') ?? false,
    search_units: 0,
    available_micro_usd: available,
  };
}

function mayFit(wanted: ReturnType<typeof reserve>, wish: ReserveInput, available: number): boolean {
  if (wanted.status === 'ok' && wanted.amount_micro_usd <= available) return true;
  return wish.max_tokens === null && available !== wish.available_micro_usd;
}

async function availableNow(deps: CallDeps, book_id: number): Promise<number> {
  try {
    return (await deps.ledger.balance(book_id)).available_micro_usd;
  } catch {
    throw unavailable();
  }
}

function unavailable(): ServiceError {
  return new ServiceError(
    'service_unavailable',
    'The ledger cannot be reached; no call is made unpaid. Try again.',
    {
      details: { component: 'ledger' },
      retry_after_ms: 1_000,
    },
  );
}

function holdRefusal(
  result: { status: string; scope?: 'key' | 'project'; reason?: string },
  incoming: Incoming,
): Error {
  if (result.status === 'unavailable') return unavailable();
  if (result.status === 'budget_exhausted') {
    const scope = result.scope as 'key' | 'project';
    return new ServiceError('budget_exhausted', `The ${scope}'s budget is used up until it resets.`, {
      details: { scope, resets_at: resetsAt(scope) },
    });
  }
  return new Error(`hold of ${incoming.request_id} refused: ${result.reason ?? result.status}`);
}

/** End of the present window: the key's UTC day, the project's UTC month (P7.1). */
function resetsAt(scope: 'key' | 'project'): string {
  const at = new Date(nowMs());
  const end =
    scope === 'key'
      ? Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate() + 1)
      : Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1);
  return new Date(end).toISOString();
}

function insufficient(
  endpoints: readonly Endpoint[],
  wish: ReserveInput,
  required: number | null,
  available: number,
): ServiceError {
  const affordable = Math.max(...endpoints.map((endpoint) => affordableTokens(endpoint, wish, available)));
  const least = required ?? Math.min(...endpoints.map((endpoint) => holdMicroUsd(endpoint, wish, 16)));
  return new ServiceError(
    'insufficient_credits',
    'The balance does not cover this call; top up or lower max_tokens.',
    {
      details: {
        required_micro: microUsd(least),
        available_micro: available,
        affordable_max_tokens: affordable,
      },
    },
  );
}

function hasCacheHints(request: CanonicalRequest): boolean {
  if (request.cache !== undefined) return true;
  if (request.tools?.some((tool) => tool.cache !== undefined)) return true;
  return request.messages.some((message) => message.content.some((part) => part.cache !== undefined));
}
