// Scores and order of the endpoints that passed (4.9.5 step 8).
import type { Endpoint } from '../catalog/index.ts';
import { sha256 } from '../kernel/index.ts';
import { ratesFor } from '../pricing/index.ts';
import { isNamed } from './filters.ts';
import type { RankedEndpoint, RouteLoss, SettledInput, Sort } from './types.ts';

const SPREAD = 0.02;
const DEGRADED_BELOW = 0.95;

const weightsOf: {
  readonly [K in Sort]: { price: number; latency: number; throughput: number; uptime: number };
} = {
  price: { price: 1, latency: 0, throughput: 0, uptime: 0 },
  latency: { price: 0, latency: 1, throughput: 0, uptime: 0 },
  throughput: { price: 0, latency: 0, throughput: 1, uptime: 0 },
  uptime: { price: 0, latency: 0, throughput: 0, uptime: 1 },
  balanced: { price: 0.5, latency: 0.3, throughput: 0, uptime: 0.2 },
};

const NO_WEIGHT = { price: 0, latency: 0, throughput: 0, uptime: 0 };

const formatOf: { readonly [family: string]: string } = {
  anthropic_messages: 'anthropic-claude-v1',
  openai_responses: 'openai-responses-v1',
  gemini: 'google-gemini-v1',
};

export interface Passed {
  readonly endpoint: Endpoint;
  readonly losses: readonly RouteLoss[];
}

/** Nano-USD that this request is likely to cost at `endpoint`: a figure for comparison, never a bill. */
export function expectedNano(endpoint: Endpoint, input: SettledInput): number {
  const { input_tokens_bound, expected_output_tokens } = input.features;
  const rates = ratesFor(endpoint.price, input_tokens_bound);
  return input_tokens_bound * rates.input + expected_output_tokens * rates.output + (rates.request ?? 0);
}

/** Shares of the best per candidate, where less is better; what is not known is taken for the best, so that it is tried. */
function leastIsBest(values: readonly (number | null)[]): number[] {
  const known = values.filter((value) => value !== null);
  const best = Math.min(...known);
  return values.map((value) => (value === null ? 1 : (best + 1) / (value + 1)));
}

function mostIsBest(values: readonly (number | null)[]): number[] {
  const known = values.filter((value) => value !== null);
  const best = Math.max(...known);
  return values.map((value) => (value === null || best === 0 ? 1 : value / best));
}

/** A score of 0..1 for each of `passed`. */
export function scores(passed: readonly Passed[], sort: Sort, input: SettledInput): number[] {
  const own = sort === 'balanced' ? input.wish.weights : undefined;
  const weights = own === undefined ? weightsOf[sort] : { ...NO_WEIGHT, ...own };
  // Alone, an endpoint is the best of its kind in everything.
  if (passed.length === 1) return [weights.price + weights.latency + weights.throughput + weights.uptime];
  const { health, now_ms } = input;
  const ids = passed.map(({ endpoint }) => endpoint.id);
  const price = leastIsBest(passed.map(({ endpoint }) => expectedNano(endpoint, input)));
  const latency = leastIsBest(ids.map((id) => health.ttftMs(id, now_ms)?.p50 ?? null));
  const throughput = mostIsBest(ids.map((id) => health.throughput(id, now_ms)));
  const uptime = mostIsBest(ids.map((id) => health.success(id, now_ms)));
  return passed.map(
    (_, i) =>
      weights.price * (price[i] as number) +
      weights.latency * (latency[i] as number) +
      weights.throughput * (throughput[i] as number) +
      weights.uptime * (uptime[i] as number),
  );
}

interface Entry extends RankedEndpoint {
  /** Place in the caller's order; behind all when not in it. */
  readonly place: number;
  readonly rank: number;
  readonly behaviour_losses: number;
  spread: number;
  group: number;
}

const NO_ORDER: readonly string[] = [];

function placeOf(endpoint: Endpoint, order: readonly string[]): number {
  const at = order.findIndex((wanted) => isNamed(endpoint, [wanted]));
  return at === -1 ? order.length : at;
}

const rankOf = { order: 0, score: 0, degraded: 1, slow: 2, signature: 3 } as const;

/** Misses a bound that the policy prefers; what is not known misses nothing. */
function isSlow(endpoint: Endpoint, input: SettledInput): boolean {
  const { prefer } = input.wish;
  if (prefer === undefined) return false;
  const { max_latency_ms = Number.POSITIVE_INFINITY, min_throughput_tps = 0 } = prefer;
  const latency = input.health.ttftMs(endpoint.id, input.now_ms)?.p50 ?? 0;
  const throughput = input.health.throughput(endpoint.id, input.now_ms) ?? Number.POSITIVE_INFINITY;
  return latency > max_latency_ms || throughput < min_throughput_tps;
}

function standing(endpoint: Endpoint, input: SettledInput): 'score' | 'degraded' | 'slow' | 'signature' {
  const signed = input.features.signed_format;
  // The sandbox reads every format, as it answers for every model.
  if (signed !== null && endpoint.family !== 'sandbox' && formatOf[endpoint.family] !== signed) {
    return 'signature';
  }
  if (isSlow(endpoint, input)) return 'slow';
  const success = input.health.success(endpoint.id, input.now_ms);
  return success !== null && success < DEGRADED_BELOW ? 'degraded' : 'score';
}

/** Endpoints within 2 % of the best of their group count as equal; a group ends where the next is worse than that. */
function groupByScore(entries: Entry[]): void {
  entries.sort((a, b) => a.place - b.place || a.rank - b.rank || b.score - a.score);
  let group = 0;
  let head: Entry | undefined;
  for (const entry of entries) {
    const same =
      head !== undefined &&
      entry.place === head.place &&
      entry.rank === head.rank &&
      entry.score >= head.score * (1 - SPREAD);
    if (!same) {
      group++;
      head = entry;
    }
    entry.group = group;
  }
}

/**
 * `passed` in the order in which they are tried: the caller's order first, then healthy before degraded before those
 * that cannot read the conversation's signed reasoning, then by score; about equal ones by fewer behaviour losses and
 * then by a hash of request and endpoint, which spreads load and stays the same for one request.
 */
export function rank(passed: readonly Passed[], sort: Sort, input: SettledInput): RankedEndpoint[] {
  const { endpoints, providers } = input.wish;
  const order =
    endpoints === undefined && providers === undefined
      ? NO_ORDER
      : [...(endpoints?.order ?? []), ...(providers?.order ?? [])];
  const values = scores(passed, sort, input);
  const [only] = passed;
  if (passed.length === 1 && only !== undefined) {
    const { endpoint, losses } = only;
    const reason = placeOf(endpoint, order) < order.length ? 'order' : standing(endpoint, input);
    return [{ endpoint, score: values[0] as number, reason, losses }];
  }
  const entries = passed.map(({ endpoint, losses }, i): Entry => {
    const place = placeOf(endpoint, order);
    const reason = place < order.length ? 'order' : standing(endpoint, input);
    return {
      endpoint,
      losses,
      score: values[i] as number,
      reason,
      place,
      rank: rankOf[reason],
      behaviour_losses: losses.filter((loss) => loss.class === 'behaviour').length,
      spread: passed.length === 1 ? 0 : sha256(`${input.request_id} ${endpoint.id}`).readUInt32BE(),
      group: 0,
    };
  });
  groupByScore(entries);
  entries.sort((a, b) => a.group - b.group || a.behaviour_losses - b.behaviour_losses || a.spread - b.spread);
  return entries.map(({ endpoint, score, reason, losses }) => ({ endpoint, score, reason, losses }));
}
