// Everything before the first attempt: the request is read and routed, money is held, and the call's terms are fixed.
// A refusal here costs the caller nothing.
import { catalogAt, type Endpoint } from '../../../catalog/index.ts';
import { type RequestId, ServiceError } from '../../../kernel/index.ts';
import { type LimitRefusal, type LimitSlot, limitError } from '../../../limits/index.ts';
import { HOLD_STEP_TOKENS, holdMicroUsd, isReserveOf } from '../../../pricing/index.ts';
import type { DrawnShadow, RoutePlan } from '../../../routing/index.ts';
import type { Lane } from '../attempt/lane.ts';
import type { AttemptTerms, Planned } from '../attempt/terms.ts';
import { readBefore } from '../patience.ts';
import { warn } from '../record.ts';
import { keepsAnswer } from '../settle/content.ts';
import { HoldWatch } from '../settle/hold-watch.ts';
import { findReplay, type StoredAnswer } from '../settle/idempotency.ts';
import type { HeldTerms } from '../settle/settlement.ts';
import type { CallDeps, CallRecord, Incoming } from '../types.ts';
import { type Draft, draftCall, type Scope } from './draft.ts';
import { holdMoney, type Money } from './hold.ts';
import { plannedOf } from './plan.ts';

/** Default limits between events and for the whole call (docs/routing.md#limits-of-an-attempt). */
const IDLE_MS = 90_000;
const TOTAL_MS = 600_000;
/** Bytes per token of ordinary text. Only rate limits use this estimate; holds use an upper bound. */
const BYTES_PER_TOKEN = 4;

/**
 * What is fixed when the money is held and stays the same until the end of the call. Nothing in it refers to the
 * prompt.
 */
export interface Terms extends AttemptTerms, HeldTerms {
  readonly stream: boolean;
  /** Records that `endpoint` answered, so that related calls try it first. */
  remember(endpoint: Endpoint): void;
}

/** A call that has passed every check and whose money is held. */
export interface Admitted {
  readonly terms: Terms;
  /** The first attempt, prepared before the hold; null when it must be prepared now. */
  readonly first: Lane | null;
  /** The copy that is made of the call once it is answered; null: none. */
  readonly shadow: DrawnShadow | null;
}

/** An earlier call used the same Idempotency-Key: its answer is sent again, and no money moves. */
export interface Replayed {
  readonly id: RequestId;
  readonly stored: StoredAnswer;
  readonly stream: boolean;
  readonly include_usage: boolean;
}

export type Admission = { readonly call: Admitted } | { readonly replay: Replayed };

/**
 * Reads and checks the request, plans its route and holds its money; fills `record` on the way.
 * @throws ServiceError every refusal of docs/outcomes.md#before-an-attempt; then nothing is held.
 */
export async function admit(deps: CallDeps, incoming: Incoming, record: CallRecord): Promise<Admission> {
  // Read before the draft is made: awaiting it afterwards would keep the prompt in memory.
  const scope = scopeOf(deps, incoming.grant);
  const drafting = draftCall(deps, incoming, record, scope instanceof Promise ? await scope : scope);
  const draft = drafting instanceof Promise ? await drafting : drafting;
  const { route } = draft;
  let money: Money | { replay: Replayed };
  try {
    if (route instanceof ServiceError) throw route;
    const spent = spendTokens(incoming.place, draft);
    if (spent !== undefined) await spent;
    money = await claimAndHold(deps, incoming, draft, route);
  } catch (refusal) {
    return { replay: await replayInstead(deps, incoming, refusal, draft) };
  }
  if ('replay' in money) return money;
  const plan = plannedOf(
    route.plan.map((item) => item.endpoint),
    money.endpoints,
    draft.cap_given,
  );
  const [first] = plan;
  tellCap(record, first);
  const { stream, idempotency, budget, prompt_bytes, prompts } = draft;
  const { catalog, first_event_ms, text_input_bound } = draft;
  record.decided = { route, catalog: catalog.version, reserve_micro_usd: money.amount_micro_usd };
  return {
    call: {
      terms: {
        stream,
        idempotency,
        run: budget?.run ?? null,
        keep: keepsAnswer(incoming, record, idempotency),
        plan,
        ...{ prompt_bytes, prompts },
        ...termsOf(deps, incoming, { catalog, first_event_ms, route, money, text_input_bound }),
      },
      first: drafted(draft, first),
      shadow: draft.shadow,
    },
  };
}

/**
 * The policies and own keys of the caller's organization, and the catalog at the prices that it pays; a promise only when
 * one of them must be read first. @throws ServiceError service_unavailable (from the promise).
 */
export function scopeOf(deps: CallDeps, { org_id, tier_bps }: Incoming['grant']): Scope | Promise<Scope> {
  const policies = deps.policies.policiesOf(org_id);
  const keys = deps.own_keys.keysOf(org_id);
  const catalog = catalogAt(deps.catalog(), tier_bps);
  if (!(policies instanceof Promise) && !(keys instanceof Promise) && !(catalog instanceof Promise))
    return { policies, keys, catalog };
  return readBefore(Promise.all([policies, keys, catalog])).then(([policies, keys, catalog]) => ({
    ...{ policies, keys, catalog },
  }));
}

/**
 * Counts the estimated prompt against the token limits; the end of the call corrects it. A promise only when Redis is
 * asked.
 * @throws ServiceError rate_limit_exceeded.
 */
function spendTokens(place: LimitSlot, { prompt_bytes, hold_input }: Draft): Promise<void> | undefined {
  const estimate = Math.min(hold_input.input_tokens_bound, Math.ceil(prompt_bytes / BYTES_PER_TOKEN));
  const refuse = (refusal: LimitRefusal | null) => {
    if (refusal !== null) throw limitError(refusal);
  };
  const spent = place.spend(estimate);
  if (spent instanceof Promise) return spent.then(refuse);
  refuse(spent);
  return undefined;
}

/** Warns when the balance, not the caller, determined the output cap on the first endpoint. */
export function tellCap(record: CallRecord, first: Planned | undefined): void {
  if (first?.by_credit !== true) return;
  warn(record, 'max_tokens_capped', `The balance pays for at most ${first.cap} output tokens.`);
}

/** The attempt that was prepared with the draft, unless the hold changed its endpoint or cap. */
function drafted(draft: Draft, planned: Planned | undefined): Lane | null {
  const was = draft.first?.planned;
  return was?.endpoint === planned?.endpoint && was?.cap === planned?.cap
    ? (draft.first?.lane ?? null)
    : null;
}

/** Holds the money. When the Idempotency-Key is already claimed, returns what its first call left instead. */
async function claimAndHold(
  deps: CallDeps,
  incoming: Incoming,
  draft: Draft,
  route: RoutePlan,
): Promise<Money | { replay: Replayed }> {
  for (;;) {
    const money = await holdMoney(deps, incoming, draft, route);
    if (money !== 'claimed') return money;
    if (draft.idempotency === null) throw new Error('a hold without an Idempotency-Key was claimed');
    const claims = deps.claims(incoming.grant.subject.shard);
    const found = await findReplay(deps.clock, claims.find, draft.idempotency);
    // Null: the first call has failed uncharged meanwhile, so its key is free and this call executes.
    if (found !== null) return { replay: replayOf(found, draft) };
  }
}

/**
 * The answer of an earlier call with the same key, which needs neither credit nor an endpoint.
 * @throws `refusal` when there is none, or the reason why that answer cannot be sent.
 */
async function replayInstead(
  deps: CallDeps,
  incoming: Incoming,
  refusal: unknown,
  draft: Draft,
): Promise<Replayed> {
  const { idempotency } = draft;
  const known = refusal instanceof ServiceError && !refusal.code.startsWith('idempotency_');
  if (idempotency === null || !known || refusal.code === 'service_unavailable') throw refusal;
  const claims = deps.claims(incoming.grant.subject.shard);
  const found = await findReplay(deps.clock, claims.find, idempotency);
  if (found === null) throw refusal;
  return replayOf(found, draft);
}

function replayOf(found: { id: RequestId; stored: StoredAnswer }, draft: Draft): Replayed {
  const { stream, include_usage } = draft;
  return { ...found, stream, include_usage };
}

/**
 * What lives as long as the call. The closures see only route and money; otherwise they would keep the prompt in
 * memory.
 */
function termsOf(
  deps: CallDeps,
  incoming: Incoming,
  facts: Pick<Draft, 'catalog' | 'first_event_ms' | 'text_input_bound'> & { route: RoutePlan; money: Money },
): Omit<Terms, 'stream' | 'idempotency' | 'run' | 'keep' | 'plan' | 'prompt_bytes' | 'prompts'> {
  const { catalog, first_event_ms, text_input_bound, route, money } = facts;
  const [first] = money.endpoints;
  if (first === undefined) throw new Error('money is held for an endpoint');
  const candidates = money.hold_input.candidates;
  const { org_id } = incoming.grant;
  return {
    max_attempts: route.max_attempts,
    ...(route.failover === undefined ? {} : { failover: route.failover }),
    times: route.timeouts,
    total_ms: route.timeouts.total_ms,
    chosen: {
      first_event: route.timeouts.first_event_ms < first_event_ms,
      idle: route.timeouts.idle_ms < IDLE_MS,
      total: route.timeouts.total_ms < TOTAL_MS,
    },
    watch: new HoldWatch({
      ledger: deps.ledgers.at(incoming.grant.subject.shard),
      subject: incoming.grant.subject,
      request_id: incoming.request_id,
      output_held: first.output_held,
      step: HOLD_STEP_TOKENS * candidates,
      amount_micro_usd: money.amount_micro_usd,
      cap_micro_usd: incoming.cost_cap_micro_usd ?? null,
      capOf(endpoint) {
        const item = money.endpoints.find((reserved) => isReserveOf(reserved, endpoint));
        return item === undefined ? null : item.output_cap * candidates;
      },
      holdFor: (endpoint, tokens) => holdMicroUsd(endpoint, money.hold_input, tokens),
    }),
    candidates,
    open_input: text_input_bound === null,
    boundOf(endpoint) {
      const item = money.endpoints.find((reserved) => isReserveOf(reserved, endpoint));
      // Hidden reasoning is billed in addition to the cap.
      const cap = endpoint.hidden_reasoning ? undefined : item?.output_cap;
      return {
        input_tokens: text_input_bound ?? endpoint.context_length,
        output_tokens: (cap ?? endpoint.max_output) * candidates,
        search_units: money.hold_input.search_units,
      };
    },
    model_no: (endpoint) => catalog.models.get(endpoint.model_id)?.model_no ?? 0,
    remember(endpoint) {
      const { affinity } = route;
      if (affinity == null || affinity.key === null) return;
      const entry = { endpoint_id: endpoint.id, until_ms: deps.clock.nowMs() + affinity.ttl_ms };
      deps.affinity.keep(org_id, affinity.key, entry);
    },
  };
}
