// The order in which the endpoints of one model are tried (docs/routing.md#how-a-call-finds-its-endpoint). Only as
// many are put in order as can be tried at all: sorting a thousand for an attempt or three would cost more than the
// rest of the decision.
import type { Endpoint } from '../catalog/index.ts';
import type { Trial } from './canary.ts';
import { spreadOf } from './facts.ts';
import { type Candidates, score } from './score.ts';
import type { Passed, RankedEndpoint, RouteLoss, SettledInput, Sort } from './types.ts';

/** Loss of a tool that the provider would run and that is left out at the endpoint. */
const TOOL_DROPPED = 'server_tool_dropped';
/** Scores within 2 % of the best count as equal. */
const SPREAD = 0.02;
const DEGRADED_BELOW = 0.95;

/** Standings, the first to be tried first; an endpoint that the caller's order names stands like a healthy one. */
const tiers = ['affinity', 'score', 'degraded', 'slow', 'server_tool', 'signature'] as const;
const SCORE = 1;

/** How the order comes about beyond the scores. */
interface Ranking {
  readonly sort: Sort;
  /** What spreads equal endpoints: of the request id, or of what keeps calls together. */
  readonly seed: number;
  /** The endpoint to move first; null: none is remembered. */
  readonly keep_at: string | null;
  /** The canary of the policy, whose place is its own; null: there is none. */
  readonly trial: Trial | null;
}

export interface Ranked {
  readonly plan: readonly RankedEndpoint[];
  readonly spare: readonly Passed[];
  /** The side of the canary that the call is on; null: it takes no part. */
  readonly arm: Trial['arm'];
}

const NO_PLACES: ReadonlyMap<string, number> = new Map();

/** Names of the caller's order with their places. */
function placesOf({ endpoints, providers }: SettledInput['preferences']): ReadonlyMap<string, number> {
  if (endpoints?.order === undefined && providers?.order === undefined) return NO_PLACES;
  const places = new Map<string, number>();
  for (const name of [...(endpoints?.order ?? []), ...(providers?.order ?? [])]) {
    if (!places.has(name)) places.set(name, places.size);
  }
  return places;
}

function placeOf(endpoint: Endpoint, places: ReadonlyMap<string, number>): number {
  const unnamed = places.size;
  if (unnamed === 0) return 0;
  return Math.min(places.get(endpoint.id) ?? unnamed, places.get(endpoint.provider) ?? unnamed);
}

/** Place in `tiers` of the `i`th candidate. */
function tierOf(candidates: Candidates, i: number, input: SettledInput, keep_at: string | null): number {
  const { endpoint, losses } = candidates.passed[i] as Passed;
  const { wire } = endpoint;
  const signed = input.features.signed_format;
  // The sandbox reads every format, as it answers for every model.
  if (signed !== null && !wire.in_process && wire.signed_format !== signed) return 5;
  // Those that run every tool that is offered come first, an endpoint to stay at included.
  if (losses.some(({ code }) => code === TOOL_DROPPED)) return 4;
  if (endpoint.id === keep_at) return 0;
  const { prefer } = input.preferences;
  // Misses a bound that the policy prefers; what is not known (NaN) misses nothing.
  if (prefer !== undefined) {
    const { max_latency_ms = Number.POSITIVE_INFINITY, min_throughput_tps = 0 } = prefer;
    if ((candidates.latency[i] as number) > max_latency_ms) return 3;
    if ((candidates.throughput[i] as number) < min_throughput_tps) return 3;
  }
  return (candidates.success[i] as number) < DEGRADED_BELOW ? 2 : SCORE;
}

function behaviourLosses(losses: readonly RouteLoss[]): number {
  let count = 0;
  for (const loss of losses) if (loss.class === 'behaviour') count++;
  return count;
}

/** Levels before and behind those of every order, for a canary. */
const FIRST = -tiers.length;
const LAST = 1_000_000 * tiers.length + SCORE;
/** A level that is behind every other. */
const PICKED = Number.POSITIVE_INFINITY;

/** Behind those of its tier, before the next. */
const BEHIND = 0.5;

/** Whether `endpoint` is of a wire that the caller does not speak while its provider has the model on one that it does. */
function isDetour({ family, other_families: others }: Endpoint, { speaks }: SettledInput): boolean {
  return others !== undefined && speaks !== undefined && !speaks(family) && others.some(speaks);
}

/** Gives each of `candidates` its level: place in the caller's order, then tier; less is earlier. */
function setLevels(candidates: Candidates, keep_at: string | null, input: SettledInput): number {
  const { passed, level } = candidates;
  const places = placesOf(input.preferences);
  const unnamed = places.size;
  for (let i = 0; i < passed.length; i++) {
    const { endpoint } = passed[i] as Passed;
    const place = placeOf(endpoint, places);
    const tier = tierOf(candidates, i, input, keep_at);
    // The caller's order stands as it is; within one of its places the remembered endpoint is first.
    level[i] = place * tiers.length + (place < unnamed ? Math.min(tier, SCORE) : tier);
    if (isDetour(endpoint, input)) level[i] = (level[i] as number) + BEHIND;
  }
  return unnamed;
}

/**
 * Puts the canary first for its share of the calls and behind all others for the rest, whatever order is asked for: it
 * is there where nothing else is left. Returns the side that the call is on; null where the choice was none, because one
 * side could not have served it as well.
 */
function placeTrial(candidates: Candidates, trial: Trial, input: SettledInput): Trial['arm'] {
  const { passed, level } = candidates;
  const at = passed.findIndex(({ endpoint }) => endpoint.id === trial.endpoint_id);
  if (at < 0) return null;
  level[at] = LAST;
  const fits = passed.length > 1 && tierOf(candidates, at, input, null) < tiers.indexOf('server_tool');
  if (trial.arm === null || !fits) return null;
  if (trial.arm === 'canary') level[at] = FIRST;
  return trial.arm;
}

/** Of those not picked the one with the lowest level, and among these with the highest score. */
function bestOf({ passed, level, scores }: Candidates): number {
  let best = 0;
  for (let i = 1; i < passed.length; i++) {
    const difference = (level[i] as number) - (level[best] as number);
    if (difference < 0 || (difference === 0 && (scores[i] as number) > (scores[best] as number))) best = i;
  }
  return best;
}

/** Among equals: fewer behaviour losses first, then by hash. */
function orderOf({ passed, hash }: Candidates, i: number, seed: number): number {
  const { losses } = passed[i] as Passed;
  const spread = spreadOf(seed, hash[i] as number);
  return losses.length === 0 ? spread : behaviourLosses(losses) * 0x1_0000_0000 + spread;
}

function pick(candidates: Candidates, i: number, unnamed: number): RankedEndpoint {
  const { passed, level, scores } = candidates;
  const { endpoint, losses } = passed[i] as Passed;
  const at = level[i] as number;
  level[i] = PICKED;
  if (at === FIRST) return { endpoint, score: scores[i] as number, reason: 'canary', losses };
  const tier = Math.floor(at) % tiers.length;
  const named = at < unnamed * tiers.length;
  const reason = named && tier === SCORE ? 'order' : (tiers[tier] as RankedEndpoint['reason']);
  return { endpoint, score: scores[i] as number, reason, losses };
}

/** Adds the next endpoints of about equal score to `plan`, until it has `most`. */
function addGroup(plan: RankedEndpoint[], candidates: Candidates, seed: number, of: Wanted): void {
  const { passed, level, scores } = candidates;
  const head = bestOf(candidates);
  const at = level[head] as number;
  const least = (scores[head] as number) * (1 - SPREAD);
  const group: number[] = [];
  const order: number[] = [];
  for (let i = 0; i < passed.length; i++) {
    if (level[i] !== at || (scores[i] as number) < least) continue;
    group.push(i);
    order.push(orderOf(candidates, i, seed));
  }
  // Few are wanted of maybe many: looking through them again for each is cheaper than sorting them.
  for (let left = group.length; left > 0 && plan.length < of.most; left--) {
    let first = 0;
    for (let j = 1; j < order.length; j++) if ((order[j] as number) < (order[first] as number)) first = j;
    order[first] = Number.POSITIVE_INFINITY;
    plan.push(pick(candidates, group[first] as number, of.unnamed));
  }
}

/** How many endpoints are wanted, and which places in the caller's order are none. */
interface Wanted {
  readonly most: number;
  readonly unnamed: number;
}

/**
 * The first `most` of `candidates` in the order in which they are tried, and the rest: a canary for its share of the
 * calls, then the caller's order, then the endpoint to keep to, then healthy before degraded before slow before those that cannot read the conversation's
 * signed reasoning, then by score; about equal ones by fewer behaviour losses and then by a hash, which spreads load
 * and stays the same for one request.
 */
export function rank(candidates: Candidates, ranking: Ranking, input: SettledInput, most: number): Ranked {
  const { passed, level } = candidates;
  if (most <= 0 || passed.length === 0) return { plan: [], spare: passed, arm: null };
  score(candidates, ranking.sort, input);
  const unnamed = setLevels(candidates, ranking.keep_at, input);
  const arm = ranking.trial === null ? null : placeTrial(candidates, ranking.trial, input);
  const plan: RankedEndpoint[] = [];
  const wanted = Math.min(most, passed.length);
  while (plan.length < wanted) addGroup(plan, candidates, ranking.seed, { most: wanted, unnamed });
  if (plan.length === passed.length) return { plan, spare: [], arm };
  return { plan, spare: passed.filter((_, i) => level[i] !== PICKED), arm };
}
