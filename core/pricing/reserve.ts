// What is held before a call: never less than the call can cost while its usage stays within the bounds, and not so
// much more that an agent's 64k cap locks the balance (docs/money/pricing.md#holds).
import { type Endpoint, type RateKind, stopsWhenLeft } from '../catalog/index.ts';
import { type MicroUsd, microUsd, mulDivCeil, mulDivFloor } from '../kernel/index.ts';
import { rateOf } from './price.ts';

/** What of an endpoint the bounds read. */
export type Reserved = Pick<
  Endpoint,
  | 'id'
  | 'own_key'
  | 'wire'
  | 'price'
  | 'context_length'
  | 'max_output'
  | 'cancel_billing'
  | 'hidden_reasoning'
>;

export interface ReserveInput {
  /** By `inputTokensBound`. */
  readonly input_tokens_bound: number;
  /** The caller's cap, null when none was given. */
  readonly max_tokens: number | null;
  /** max(`n`, `best_of`) × prompts. */
  readonly candidates: number;
  /** Whether the upstream call is a stream (the canonical lane streams wherever it can). */
  readonly upstream_stream: boolean;
  readonly cache_hints: boolean;
  readonly audio_output: boolean;
  readonly image_output: boolean;
  /** Declared uses of priced searches (default 5 each), 0 when no such tool is offered. */
  readonly search_units: number;
  /** Last known balance, null when none is known: then credit lowers no cap and the hold itself decides. */
  readonly available_micro_usd: number | null;
}

export interface EndpointReserve {
  readonly endpoint_id: string;
  /** The caller's own key that it is called with; null: a key of the pool. */
  readonly own_key_id: string | null;
  /** C: tokens the answer may have, per candidate. */
  readonly output_cap: number;
  /** Whether credit, not caller or model, set `output_cap`; it is then sent upstream with `max_tokens_capped`. */
  readonly capped_by_credit: boolean;
  /** Tokens held at first over all candidates; less than the cap where the hold is extended as the stream runs. */
  readonly output_held: number;
  readonly amount_micro_usd: MicroUsd;
}

export type Reserve =
  | {
      readonly status: 'ok';
      readonly amount_micro_usd: MicroUsd;
      readonly endpoints: readonly EndpointReserve[];
    }
  /** Not even 16 tokens are affordable and the caller named no cap. */
  | { readonly status: 'insufficient'; readonly affordable_max_tokens: number };

/** E: output tokens per candidate of a first hold on a stream that stops billing when cancelled, and of each extension. */
export const HOLD_STEP_TOKENS = 4_096;
/** A fee of this is the whole. */
const BPS = 10_000;
const BILL_MAX = 100_000_000_000_000;
const AFFORDABLE_MIN = 16;
const CAP_MIN = 2_048;

interface Side {
  /** Most expensive nano-USD per token that this side of the call can meet. */
  rate: number;
  /** Lines beyond the first, each of which may round up by half a micro-USD. */
  slack: number;
}

/** What the tokens are billed at, by us or, on the caller's own provider key, by the provider. */
function billed(price: Reserved['price']): Pick<Reserved['price'], 'rates' | 'bands'> {
  return price.fee_bps === undefined ? price : (price.list ?? price);
}

/** Most expensive rate over `kinds` in every band that the bound can reach, and the room their rounding needs. */
function side(endpoint: Reserved, bound: number, base: RateKind, others: readonly RateKind[]): Side {
  let rate = 0;
  let lines = 0;
  const { rates, bands } = billed(endpoint.price);
  for (const row of [{ from_prompt_tokens: 0, rates }, ...bands]) {
    if (row.from_prompt_tokens > bound) break;
    let count = 0;
    for (const kind of [base, ...others]) {
      const own = rateOf(row.rates, kind);
      if (own === null) continue;
      count++;
      rate = Math.max(rate, own);
    }
    lines = Math.max(lines, count);
  }
  return { rate, slack: rate === 0 ? 0 : Math.floor(lines / 2) };
}

function inputSide(endpoint: Reserved, call: ReserveInput): Side {
  const others: RateKind[] = ['cache_read', 'audio_input', 'image_input'];
  const writes = call.cache_hints || endpoint.wire.writes_cache_unasked;
  if (writes && (call.cache_hints || billed(endpoint.price).rates.cache_write !== undefined))
    others.push('cache_write');
  if (call.cache_hints) others.push('cache_write_5m', 'cache_write_1h');
  return side(endpoint, call.input_tokens_bound, 'input', others);
}

function outputSide(endpoint: Reserved, call: ReserveInput): Side {
  const others: RateKind[] = ['reasoning'];
  if (call.audio_output) others.push('audio_output');
  if (call.image_output) others.push('image_output');
  return side(endpoint, call.input_tokens_bound, 'output', others);
}

/** Micro-USD of all that is not output: the prompt, declared searches, the request fee. */
function fixedMicroUsd(endpoint: Reserved, call: ReserveInput): number {
  const input = inputSide(endpoint, call);
  let amount = mulDivCeil(call.input_tokens_bound, input.rate, 1000) + input.slack;
  const { rates, bands } = billed(endpoint.price);
  let search = rates.search_unit ?? 0;
  let request = rates.request ?? 0;
  for (const band of bands) {
    search = Math.max(search, band.rates.search_unit ?? 0);
    request = Math.max(request, band.rates.request ?? 0);
  }
  amount += mulDivCeil(call.search_units, search, 1000) + mulDivCeil(1, request, 1000);
  return amount;
}

/**
 * Micro-USD that cover the prompt's bound and `output_tokens` (all candidates together) on `endpoint`: the hold, and
 * with a larger count the new total of an extension.
 */
export function holdMicroUsd(endpoint: Reserved, call: ReserveInput, output_tokens: number): MicroUsd {
  const output = outputSide(endpoint, call);
  const amount = mulDivCeil(output_tokens, output.rate, 1000) + output.slack;
  const total = fixedMicroUsd(endpoint, call) + amount;
  const { fee_bps } = endpoint.price;
  return microUsd(fee_bps === undefined ? total : mulDivCeil(total, fee_bps, BPS));
}

/** A balance may be any safe integer; beyond this no call's bill goes. */
function mostBilled(budget_micro_usd: number, fee_bps: number): number {
  return mulDivFloor(Math.max(0, Math.min(budget_micro_usd, BILL_MAX)), BPS, fee_bps);
}

/** Output tokens per candidate that `budget_micro_usd` pays for on `endpoint` after the prompt; 0 when none. */
export function affordableTokens(endpoint: Reserved, call: ReserveInput, budget_micro_usd: number): number {
  const output = outputSide(endpoint, call);
  const { fee_bps } = endpoint.price;
  if (fee_bps === 0) return budget_micro_usd < 0 ? 0 : endpoint.max_output;
  // Of the provider's bill, the largest whose fee the budget pays for.
  const budget = fee_bps === undefined ? budget_micro_usd : mostBilled(budget_micro_usd, fee_bps);
  const left = budget - fixedMicroUsd(endpoint, call) - output.slack;
  if (left < 0) return 0;
  if (output.rate === 0) return endpoint.max_output;
  // A balance may be any safe integer, so the product with 1,000 goes through the exact division.
  const tokens = mulDivFloor(left, 1000, output.rate * call.candidates);
  return Math.min(tokens, endpoint.max_output);
}

function naturalCap(endpoint: Reserved, call: ReserveInput): number {
  // The bound overshoots: a prompt that seems to fill the context usually leaves room for an answer.
  const left = Math.max(CAP_MIN, endpoint.context_length - call.input_tokens_bound);
  return Math.min(endpoint.max_output, left);
}

/**
 * The output cap C (docs/money/pricing.md#holds) for one endpoint: the caller's cap, else the smallest of the model's
 * maximum, what the context leaves and what credit affords (half of the balance, but at least min(2,048, all of it)).
 */
function outputCap(endpoint: Reserved, call: ReserveInput): { tokens: number; by_credit: boolean } {
  // A cap of the caller's is no larger: the route leaves other endpoints out. One of its policy may be.
  if (call.max_tokens !== null) {
    return { tokens: Math.min(call.max_tokens, endpoint.max_output), by_credit: false };
  }
  const natural = naturalCap(endpoint, call);
  const available = call.available_micro_usd;
  if (available === null) return { tokens: natural, by_credit: false };
  const half = affordableTokens(endpoint, call, Math.floor(available / 2));
  const all = Math.min(CAP_MIN, affordableTokens(endpoint, call, available));
  const affordable = Math.max(half, all);
  return affordable < natural
    ? { tokens: affordable, by_credit: true }
    : { tokens: natural, by_credit: false };
}

function reserveOn(endpoint: Reserved, call: ReserveInput): EndpointReserve {
  const cap = outputCap(endpoint, call);
  const stepped = call.upstream_stream && stopsWhenLeft(endpoint);
  const held = (stepped ? Math.min(cap.tokens, HOLD_STEP_TOKENS) : cap.tokens) * call.candidates;
  return {
    endpoint_id: endpoint.id,
    own_key_id: endpoint.own_key?.id ?? null,
    output_cap: cap.tokens,
    capped_by_credit: cap.by_credit,
    output_held: held,
    amount_micro_usd: holdMicroUsd(endpoint, call, held),
  };
}

/** Whether `reserved` is that of `endpoint`, called with the same key. */
export function isReserveOf(reserved: EndpointReserve, endpoint: Pick<Reserved, 'id' | 'own_key'>): boolean {
  return reserved.endpoint_id === endpoint.id && reserved.own_key_id === (endpoint.own_key?.id ?? null);
}

/**
 * The hold of a call in micro-USD: the most expensive of its plan's endpoints, with each endpoint's own cap and hold.
 * `insufficient` only where the caller named no cap and fewer than 16 tokens are affordable on every endpoint; a
 * balance that is too small otherwise is the ledger's to refuse. An endpoint whose credit cap is below 16 while others
 * fare better is left out of `endpoints`: it cannot be tried.
 * @throws RangeError when `plan` is empty (a defect: no plan, no call).
 */
export function reserve(plan: readonly Reserved[], call: ReserveInput): Reserve {
  if (plan.length === 0) throw new RangeError('reserve of an empty plan');
  const endpoints = plan.map((endpoint) => reserveOn(endpoint, call));
  const usable = endpoints.filter((e) => !e.capped_by_credit || e.output_cap >= AFFORDABLE_MIN);
  if (usable.length === 0) {
    return { status: 'insufficient', affordable_max_tokens: Math.max(...endpoints.map((e) => e.output_cap)) };
  }
  const amount = Math.max(...usable.map((e) => e.amount_micro_usd));
  return { status: 'ok', amount_micro_usd: microUsd(amount), endpoints: usable };
}
