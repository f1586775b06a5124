// Usage as it is metered: what a provider reports, checked for plausibility, or an estimate when it reports nothing.

import type { PriceVersion } from '../../../catalog/index.ts';
import type { MeteredUnits, OtherUnit, OtherUnits } from '../../../ledger/index.ts';
import {
  fitUsage,
  type Produced,
  price,
  promptTokens,
  type TokenRatio,
  type UsageBound,
  withinBound,
} from '../../../pricing/index.ts';
import type { Cost, Stop, Usage } from '../../canonical/types.ts';
import { viewerOf } from '../record.ts';
import type { AttemptRecord, CallDeps, CallRecord } from '../types.ts';

/** Larger counts cannot be the usage of one call; the metering record holds 32-bit integers. */
const COUNT_MAX = 2_147_483_647;

const COUNTS = [
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'cache_write_5m_tokens',
  'cache_write_1h_tokens',
  'cache_write_30m_tokens',
  'search_units',
  'audio_input_tokens',
  'audio_output_tokens',
  'image_input_tokens',
  'image_output_tokens',
  'requests',
] as const satisfies readonly (keyof Usage)[];

function isCount(value: number | undefined): boolean {
  return value === undefined || (Number.isInteger(value) && value >= 0 && value <= COUNT_MAX);
}

/**
 * `usage` as reported, or null when it cannot be true (negative, fractional, absurdly large). The figures of a
 * hostile or broken provider are treated as missing, and the text is counted instead
 * (docs/outcomes.md#usage-missing).
 */
export function soundUsage<T extends Partial<Usage>>(usage: T | null): T | null {
  if (usage === null) return null;
  return COUNTS.every((name) => isCount(usage[name])) ? usage : null;
}

/**
 * Usage estimated from the text that was sent and received, as a lower bound. For the input the provider's early
 * figures (Anthropic's message_start) are used when there are any.
 */
export function estimateUsage(
  counts: Partial<Usage> | null,
  seen: { prompt_bytes: number; produced: Produced; ratio: Pick<TokenRatio, 'count' | 'countPrompt'> },
): Usage {
  const early = soundUsage(counts);
  const known = early?.input_tokens !== undefined;
  return {
    input_tokens: known ? (early.input_tokens as number) : seen.ratio.countPrompt(seen.prompt_bytes),
    output_tokens: seen.ratio.count(seen.produced),
    cache_read_tokens: early?.cache_read_tokens ?? 0,
    cache_write_tokens: early?.cache_write_tokens ?? 0,
    ...(early?.cache_write_5m_tokens === undefined
      ? {}
      : { cache_write_5m_tokens: early.cache_write_5m_tokens }),
    ...(early?.cache_write_1h_tokens === undefined
      ? {}
      : { cache_write_1h_tokens: early.cache_write_1h_tokens }),
    reasoning_tokens: 0,
    source: 'estimate',
  };
}

/** Units of a usage that a price may bill in addition to tokens, or as parts of them. */
const counted = [
  'search_units',
  'audio_input_tokens',
  'audio_output_tokens',
  'image_input_tokens',
  'image_output_tokens',
] as const satisfies readonly (OtherUnit & keyof Usage)[];

function otherUnitsOf(usage: Usage, insured: boolean): OtherUnits | undefined {
  let other: { [K in OtherUnit]?: number } | undefined = insured ? { insured: 1 } : undefined;
  for (const name of counted) {
    const count = usage[name];
    if (count === undefined || count === 0) continue;
    other ??= {};
    other[name] = count;
  }
  if (usage.requests === undefined || usage.requests === 1) return other;
  return { ...other, requests: usage.requests };
}

/**
 * The units of the metering record, from which the price of a call is computed. `cache_write_tokens` counts all cache
 * writes; the 5 m and 1 h ones are parts of it.
 */
export function unitsOf(usage: Usage, insured: boolean): MeteredUnits {
  const other = otherUnitsOf(usage, insured);
  return {
    ...(other === undefined ? {} : { other }),
    input_tokens: usage.input_tokens,
    output_tokens: usage.output_tokens,
    cache_read_tokens: usage.cache_read_tokens,
    cache_write_tokens: usage.cache_write_tokens,
    cache_write_5m_tokens: usage.cache_write_5m_tokens ?? 0,
    cache_write_1h_tokens: usage.cache_write_1h_tokens ?? 0,
    reasoning_tokens: usage.reasoning_tokens,
  };
}

/** The charge of a call, and the usage it follows from. */
export interface Charge {
  readonly usage: Usage;
  readonly cost: Cost;
  /** An empty answer that did not end properly, which is free. */
  readonly insured: boolean;
}

/**
 * What a call costs. Estimated usage is limited to the hold. An answer without output that did not end properly is
 * insured and costs nothing (docs/outcomes.md#empty-answer-is-free).
 */
export function chargeOf(
  reported: Usage,
  how: { estimated: boolean; stop: Stop | null },
  terms: { price: PriceVersion; held: number; ordinary: boolean; task?: boolean },
): Charge {
  const usage = how.estimated ? fitUsage(reported, terms.price, terms.held) : reported;
  const empty = usage.output_tokens === 0;
  const improper = how.stop === null || how.stop.reason === 'malformed' || how.stop.reason === 'error';
  const insured = terms.ordinary && empty && improper;
  const full: Cost = insured
    ? { total_micro_usd: 0, lines: [], price_version: terms.price.id }
    : price(usage, terms.price);
  // Only generation always has lines for input and output.
  const cost = terms.task === true ? { ...full, lines: full.lines.filter(({ units }) => units > 0) } : full;
  return { usage, cost: how.estimated ? { ...cost, estimated: true } : cost, insured };
}

/** What a complete answer says of its endpoint. */
interface Lesson {
  readonly usage: Usage | null;
  readonly produced: Produced;
  /** Of a prompt of text; null where it holds what only the provider can count. */
  readonly prompt_bytes: number | null;
  /** The most that the attempt can have used. */
  readonly bound: UsageBound;
}

/**
 * Records what a successful attempt of `call` shows: the health of its endpoint, how its tokens are counted when plausible
 * usage was reported, and for operators whether it is plausible (docs/outcomes.md#usage-missing).
 */
export function learn(
  deps: CallDeps,
  call: Pick<CallRecord, 'request_id' | 'grant' | 'dialect_in'>,
  attempt: AttemptRecord,
  { usage, produced, prompt_bytes, bound }: Lesson,
): void {
  const { endpoint, ttft_ms, duration_ms } = attempt;
  if (usage === null) doubt(deps, call, attempt, 'missing');
  else if (usage.inconsistent === true) doubt(deps, call, attempt, 'inconsistent');
  const output_tokens = usage?.output_tokens ?? 0;
  const facts = { ttft_ms, duration_ms: duration_ms ?? 0, output_tokens };
  deps.health.succeeded(endpoint.id, viewerOf(call), facts, deps.clock.nowMs());
  if (usage === null || withinBound(usage, bound) !== usage) return;
  const ratio = deps.ratioOf(endpoint.id);
  // Hidden reasoning is no part of what is counted.
  ratio.observe(produced, endpoint.hidden_reasoning ? output_tokens - usage.reasoning_tokens : output_tokens);
  if (prompt_bytes !== null) ratio.observePrompt(prompt_bytes, promptTokens(usage));
}

const doubts = {
  too_few: 'usage_inconsistent: the text is longer than the reported tokens can hold',
  inconsistent: 'usage_inconsistent: the counts contradict each other and were cut to fit',
  above_bound: 'usage_above_bound: more was reported than the call can have used',
};

/** Logs implausible usage, and flags an endpoint that reports it too often. */
export function doubt(
  deps: CallDeps,
  { request_id }: Pick<CallRecord, 'request_id'>,
  { endpoint }: AttemptRecord,
  why: keyof typeof doubts | 'missing',
): void {
  const facts = { request_id, endpoint_id: endpoint.id, provider: endpoint.provider };
  if (why !== 'missing') deps.log.warn(facts, doubts[why]);
  if (why !== 'inconsistent' && deps.health.unmetered(endpoint.id, deps.clock.nowMs())) {
    deps.log.warn(
      facts,
      'endpoint flagged: three answers within an hour came without usage that can be believed',
    );
  }
}
