// Scores of the endpoints that passed (docs/routing.md#scores): per dimension best ÷ own, and their weighted sum.
import type { Endpoint } from '../catalog/index.ts';
import { ratesFor } from '../pricing/index.ts';
import type { Figures } from './health/health.ts';
import type { Passed, SettledInput, Sort } from './types.ts';

interface Weights {
  readonly price: number;
  readonly latency: number;
  readonly throughput: number;
  readonly uptime: number;
}

const NO_WEIGHT: Weights = { price: 0, latency: 0, throughput: 0, uptime: 0 };

const weightsOf: { readonly [K in Sort]: Weights } = {
  price: { ...NO_WEIGHT, price: 1 },
  latency: { ...NO_WEIGHT, latency: 1 },
  throughput: { ...NO_WEIGHT, throughput: 1 },
  uptime: { ...NO_WEIGHT, uptime: 1 },
  balanced: { price: 0.5, latency: 0.3, throughput: 0, uptime: 0.2 },
};

/**
 * The endpoints of one model that passed, column by column. The columns are those of the process and hold until the
 * next model is looked at: made anew for each decision, they would be most of its cost.
 */
export interface Candidates {
  readonly passed: Passed[];
  /** Hashes of the endpoints' ids. */
  readonly hash: Uint32Array;
  /** Median first token in ms; NaN where it is not known. */
  readonly latency: Float64Array;
  /** Tokens per second; NaN where it is not known. */
  readonly throughput: Float64Array;
  /** Share of successes; NaN where nothing was seen. */
  readonly success: Float64Array;
  readonly price: Float64Array;
  readonly scores: Float64Array;
  /** Place in the caller's order and standing in one number (rank.ts). */
  readonly level: Float64Array;
}

function columns(size: number): Omit<Candidates, 'passed'> {
  return {
    hash: new Uint32Array(size),
    latency: new Float64Array(size),
    throughput: new Float64Array(size),
    success: new Float64Array(size),
    price: new Float64Array(size),
    scores: new Float64Array(size),
    level: new Float64Array(size),
  };
}

let shared = columns(16);

/** Room for `size` candidates, none of them there yet. Whatever was made by an earlier call is void. */
export function noCandidates(size: number): Candidates {
  if (shared.hash.length < size) shared = columns(Math.max(size, 2 * shared.hash.length));
  const { hash, latency, throughput, success, price, scores, level } = shared;
  return { passed: [], hash, latency, throughput, success, price, scores, level };
}

/** Puts an endpoint behind the others; `figures` is read now, since the next look overwrites it. */
export function addCandidate(to: Candidates, passed: Passed, hash: number, figures: Figures | null): void {
  const i = to.passed.push(passed) - 1;
  to.hash[i] = hash;
  to.latency[i] = figures?.ttft_ms ?? Number.NaN;
  to.throughput[i] = figures?.tokens_per_s ?? Number.NaN;
  to.success[i] = figures?.success ?? Number.NaN;
}

/** Nano-USD that this request is likely to cost at `endpoint`: a figure for comparison, never a bill. */
export function expectedNano(endpoint: Endpoint, input: Pick<SettledInput, 'features'>): number {
  const { input_tokens_bound, expected_output_tokens, search_units = 0 } = input.features;
  const rates = ratesFor(endpoint.price, input_tokens_bound);
  const tokens = input_tokens_bound * rates.input + expected_output_tokens * rates.output;
  return tokens + search_units * (rates.search_unit ?? 0) + (rates.request ?? 0);
}

/** Adds `weight` × share of the best, where less is better; what is not known is taken for the best, so that it is tried. */
function addLeastIsBest({ passed, scores }: Candidates, values: Float64Array, weight: number): void {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < passed.length; i++) if ((values[i] as number) < best) best = values[i] as number;
  for (let i = 0; i < passed.length; i++) {
    const value = values[i] as number;
    scores[i]! += weight * (Number.isNaN(value) ? 1 : (best + 1) / (value + 1));
  }
}

function addMostIsBest({ passed, scores }: Candidates, values: Float64Array, weight: number): void {
  let best = 0;
  for (let i = 0; i < passed.length; i++) if ((values[i] as number) > best) best = values[i] as number;
  for (let i = 0; i < passed.length; i++) {
    const value = values[i] as number;
    scores[i]! += weight * (Number.isNaN(value) || best === 0 ? 1 : value / best);
  }
}

/** Gives each of `candidates` a score of 0..1 (weights that sum to more give more). */
export function score(candidates: Candidates, sort: Sort, input: SettledInput): void {
  const own = sort === 'balanced' ? input.preferences.weights : undefined;
  const weights: Weights = own === undefined ? weightsOf[sort] : { ...NO_WEIGHT, ...own };
  const { passed, price, latency, throughput, success, scores } = candidates;
  // Alone, an endpoint is the best of its kind in everything.
  if (passed.length === 1) {
    scores[0] = weights.price + weights.latency + weights.throughput + weights.uptime;
    return;
  }
  scores.fill(0, 0, passed.length);
  if (weights.price > 0) {
    for (let i = 0; i < passed.length; i++) price[i] = expectedNano((passed[i] as Passed).endpoint, input);
    addLeastIsBest(candidates, price, weights.price);
  }
  if (weights.latency > 0) addLeastIsBest(candidates, latency, weights.latency);
  if (weights.throughput > 0) addMostIsBest(candidates, throughput, weights.throughput);
  if (weights.uptime > 0) addMostIsBest(candidates, success, weights.uptime);
}
