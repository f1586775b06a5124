// The money at the end of a call: the call is priced, its answer kept if a replay is possible, and the charge
// settled. The end of the answer is sent only after this has resolved
// (docs/outcomes.md#settled-before-the-last-byte).
import type { Endpoint } from '../../../catalog/index.ts';
import { microUsd } from '../../../kernel/index.ts';
import { fitUsage, type UsageBound, withinBound } from '../../../pricing/index.ts';
import type { ReplyEnd, ReplyMeta, Stop, StreamFault, Usage } from '../../canonical/types.ts';
import type { Kept } from '../attempt/lane.ts';
import { keepBeside } from '../patience.ts';
import { warn } from '../record.ts';
import type { AttemptRecord, CallDeps, CallRecord } from '../types.ts';
import type { HoldWatch } from './hold-watch.ts';
import { type Idempotency, sealAnswer } from './idempotency.ts';
import { type Charge, chargeOf, doubt, unitsOf } from './usage.ts';

/** What was fixed when the money was held. */
export interface HeldTerms {
  /**
   * Present when the call has an Idempotency-Key: the caller will retry, so if it leaves, the answer is drained and
   * kept.
   */
  readonly idempotency: Idempotency | null;
  /** The run whose budget it counts in; null: none. */
  readonly run: string | null;
  readonly watch: HoldWatch;
  /** Answers that were asked for. */
  readonly candidates: number;
  /** The prompt contains something that only the provider can count, so the cost may exceed the hold. */
  readonly open_input: boolean;
  /** The most that an attempt at `endpoint` can have used. */
  boundOf(endpoint: Endpoint): UsageBound;
  model_no(endpoint: Endpoint): number;
}

/** How a call with an attempt ends. */
export interface Ending {
  readonly estimated: boolean;
  readonly stop: Stop | null;
  /** The gateway itself ended the answer; `stop` is the reason that the caller gets. */
  readonly forced?: boolean;
  /** The caller gets this error, and pays (docs/outcomes.md#chosen-time-is-up). */
  readonly fault?: StreamFault;
}

interface Settlement {
  readonly deps: CallDeps;
  readonly record: CallRecord;
  readonly attempt: AttemptRecord;
  /** Monotonic time in ms at which the request arrived. */
  readonly started: number;
  readonly terms: HeldTerms;
  readonly reported: Usage;
  readonly how: Ending;
  readonly meta: ReplyMeta;
  /** The canonical answer for a replay, when it was assembled. */
  readonly kept: Kept | null;
  /** Called when the settle is written: whether the caller has left by then. */
  left(): boolean;
}

/** What a settled call is told. */
interface Settled {
  readonly end: ReplyEnd;
  /** The call was taken for dead, and its Idempotency-Key is another call's: that one has the answer of the key. */
  readonly replaced: boolean;
}

/**
 * Prices and settles the call; fills the record and returns what the caller is sent at the end. A database fault does
 * not make it reject.
 */
export async function settleCall(s: Settlement): Promise<Settled> {
  const { deps, record, attempt, terms, how } = s;
  const { endpoint } = attempt;
  const { usage, cost, insured } = await chargedFor(s);
  record.usage = usage;
  record.stop = how.stop;
  record.cost = cost;
  record.insured = insured;
  attempt.output_tokens = usage.output_tokens;
  if (!how.estimated && usage.source === 'estimate') {
    warn(record, 'usage_estimated', 'The provider reported no usage; it was counted.');
  }
  if (cost.total_micro_usd > terms.watch.amount_micro_usd) {
    warn(record, 'hold_exceeded', 'The call cost more than was held for it; the rest came from the balance.');
  }
  const { warnings } = record;
  const timing = {
    ttft_ms: record.ttft_ms,
    duration_ms: Math.round(s.attempt.clock.monotonicMs() - s.started),
    upstream_ttft_ms: attempt.ttft_ms,
  };
  const facts = { usage, cost, warnings, timing };
  let end: ReplyEnd = how.forced && how.stop !== null ? { ...facts, stop: how.stop } : facts;
  if (terms.idempotency !== null) await keep(s, end);
  const outcome = how.fault === undefined ? 'ok' : 'error';
  const result = await deps.ledgers.at(record.grant.subject.shard).settle({
    ...record.grant.subject,
    request_id: record.request_id,
    cost_micro_usd: microUsd(end.cost.total_micro_usd),
    model_no: terms.model_no(endpoint),
    endpoint_no: endpoint.endpoint_no,
    price_no: endpoint.price.price_no,
    units: unitsOf(usage, record.insured),
    estimated: how.estimated || usage.source === 'estimate',
    outcome: s.left() ? 'cancelled' : outcome,
    ...(terms.idempotency === null ? {} : { claimed: true }),
    ...(terms.run === null ? {} : { run: terms.run }),
  });
  if (result.status === 'refused') {
    deps.log.error({ request_id: record.request_id, cost: end.cost.total_micro_usd }, 'settle refused');
  }
  const replaced = result.status === 'replaced';
  if (replaced) {
    // Of two calls under one key, one is charged: this one was taken for dead, and another one came in its place.
    record.cost = { ...cost, total_micro_usd: 0, lines: [] };
    record.insured = true;
    end = { ...end, cost: record.cost };
  }
  record.charged_micro_usd = result.charged_micro_usd ?? end.cost.total_micro_usd;
  return { end, replaced };
}

/**
 * The charge: never above what the attempt can have used, and never above the hold unless balance and budgets allow
 * it, except for input that only the provider can count (docs/money/pricing.md#reported-usage).
 */
async function chargedFor(s: Settlement): Promise<Charge> {
  const { how, terms } = s;
  const { endpoint } = s.attempt;
  const { watch } = terms;
  const ordinary = !s.left() && how.fault === undefined && how.forced !== true;
  const chargeFor = (usage: Usage) =>
    chargeOf(usage, how, {
      price: endpoint.price,
      held: watch.amount_micro_usd,
      ordinary,
      task: endpoint.task !== undefined,
    });
  const charge = chargeFor(possible(s));
  const { usage, cost } = charge;
  // Estimated usage has already been limited to the hold.
  if (how.estimated || cost.total_micro_usd <= watch.amount_micro_usd) return charge;
  if (await watch.cover(microUsd(cost.total_micro_usd))) return charge;
  const fitted = fitUsage(usage, endpoint.price, watch.amount_micro_usd);
  if (watch.cap_micro_usd !== null) return cutToCap(s, cost.total_micro_usd, chargeFor(fitted));
  if (!terms.open_input) return chargeFor(fitted);
  const output_tokens = Math.min(usage.output_tokens, watch.covered_tokens);
  return chargeFor({ ...usage, output_tokens: Math.max(output_tokens, fitted.output_tokens) });
}

/** The charge of a call with a cap that its provider's report passes: the rest is ours, and is told and logged. */
function cutToCap({ deps, record }: Settlement, reported_micro_usd: number, charge: Charge): Charge {
  const { cost } = charge;
  const written_off_micro_usd = reported_micro_usd - cost.total_micro_usd;
  const { request_id } = record;
  deps.log.warn({ request_id, written_off_micro_usd }, 'cost above the cap of a call written off');
  warn(record, 'cost_capped', 'The provider reported more than the call may cost; the rest is not charged.');
  return { ...charge, cost: { ...cost, written_off_micro_usd } };
}

/**
 * The usage, limited to what the attempt can have used; when a provider reported more, caller and operators are
 * warned.
 */
function possible({ deps, record, attempt, terms, how, reported }: Settlement): Usage {
  const usage = withinBound(reported, terms.boundOf(attempt.endpoint));
  if (usage !== reported && !how.estimated) {
    warn(
      record,
      'usage_above_bound',
      'The provider reported more than this call can have used; the rest is not charged.',
    );
    doubt(deps, record, attempt, 'above_bound');
  }
  return usage;
}

/** Stores the answer of an idempotent call before its settle, so that every settled call can be replayed. */
async function keep(s: Settlement, end: ReplyEnd): Promise<void> {
  const { deps, record } = s;
  try {
    const sealed_answer = sealed(s, end);
    await keepBeside(
      deps
        .claims(record.grant.subject.shard)
        .store({ request_id: record.request_id, http_status: 200, sealed_answer }),
    );
  } catch (error) {
    // The charge does not depend on it, nor on decoding an answer that only metering could read. A retry then gets
    // the charge instead of the answer.
    deps.log.warn({ request_id: record.request_id, error }, 'answer not kept for replay');
  }
}

/** The answer as it is stored; null when none was assembled. */
function sealed({ record, attempt, terms, kept, meta }: Settlement, end: ReplyEnd): Buffer | null {
  const material = terms.idempotency?.material;
  if (kept === null || attempt.outcome !== 'ok' || material === undefined) return null;
  const answer = kept();
  if (answer === null) return null;
  const facts = { meta, end, region: attempt.endpoint.region, attempts: record.attempts.length };
  return sealAnswer(material, record.request_id, { answer, ...facts });
}
