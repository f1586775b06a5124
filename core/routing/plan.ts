// The choice (docs/routing.md): catalog, preferences and health in, an ordered plan with reasons out. `planRoute` is what a
// call uses: it finds the models, chooses, and turns an empty plan into the refusal that helps.
import { type Catalog, getNamedModel, type Model } from '../catalog/index.ts';
import { ServiceError } from '../kernel/index.ts';
import type { Ruling } from '../policies/index.ts';
import { OFF, type Wanted, wantedAffinity } from './affinity.ts';
import { type TakenPart, takenPart } from './canary.ts';
import { drawArm, underArm } from './experiments/draw.ts';
import { type EndpointFacts, factsOfModel, hash32 } from './facts.ts';
import {
  cheapReason,
  type Demands,
  demandsOf,
  isLossy,
  isOwnKeyOnly,
  lateReason,
  seenReason,
} from './filters.ts';
import { refuseDenied, tooExpensive } from './limits.ts';
import { type OwnPass, passOwn, shareAttempts } from './own-keys/own-keys.ts';
import { type Ranked, rank } from './rank.ts';
import { nothingLeft } from './refusal.ts';
import { addCandidate, type Candidates as EndpointCandidates, noCandidates } from './score.ts';
import { settle } from './settle.ts';
import {
  type Candidates,
  type Choice,
  type Excluded,
  type ExclusionReason,
  exclusionReasons,
  type Passed,
  type PolicyNamed,
  type RankedEndpoint,
  type RouteAffinity,
  type RouteInput,
  type RouteLoss,
  type RoutePlan,
  type RouteWarning,
  type SettledInput,
  type Sort,
  type Timeouts,
} from './types.ts';

const MAX_ATTEMPTS = 3;
const FALLBACKS_MAX = 5;
const least = { connect_ms: 1_000, first_event_ms: 5_000, idle_ms: 10_000, total_ms: 10_000 };

/**
 * The standard limits of an attempt (docs/routing.md#limits-of-an-attempt), or the policy's; a request may lower
 * them, down to a floor.
 */
function timeoutsOf(input: SettledInput): { timeouts: Timeouts; chosen_deadline: boolean } {
  const standard: Timeouts = {
    connect_ms: 5_000,
    first_event_ms: input.features.reasoning ? 180_000 : 60_000,
    idle_ms: 90_000,
    total_ms: 600_000,
  };
  const preferred = input.preferences.timeouts ?? {};
  const set = input.preferences.ceilings?.timeouts;
  const lower = (key: keyof Timeouts) => {
    const ceiling = set?.[key] ?? standard[key];
    return Math.min(ceiling, Math.max(least[key], preferred[key] ?? ceiling));
  };
  const timeouts = {
    connect_ms: lower('connect_ms'),
    first_event_ms: lower('first_event_ms'),
    idle_ms: lower('idle_ms'),
    total_ms: lower('total_ms'),
  };
  const chosen_deadline = timeouts.idle_ms < standard.idle_ms || timeouts.total_ms < standard.total_ms;
  return { timeouts, chosen_deadline };
}

interface Out {
  readonly excluded: Excluded[];
  readonly lost: RouteLoss[];
  /** `input.affords` left endpoints out. */
  too_expensive: boolean;
  /** What own keys answer, of all models so far; null: the caller has none that this call may use. */
  readonly own: OwnPass | null;
}

const placeOfReason = new Map<ExclusionReason, number>(exclusionReasons.map((reason, i) => [reason, i]));

/** The endpoints of `model` that pass every filter with a key of the pool; the others go into `out` with their reasons. */
function pass(model: Model, input: SettledInput, demands: Demands, out: Out): EndpointCandidates {
  const all = factsOfModel(model);
  const found = noCandidates(all.length);
  const { health, now_ms } = input;
  for (const facts of all) {
    const { endpoint } = facts;
    const state = out.own?.states.get(endpoint.id);
    let reason = state?.reason ?? cheapReason(facts, demands, false);
    if (reason === null) {
      const losses = input.losses(endpoint);
      if (isLossy(losses, input)) {
        reason = 'lossy';
        out.lost.push(...losses);
      } else reason = lateReason(facts, input, demands);
      if (reason === null && (out.own?.strict === true || isOwnKeyOnly(endpoint, demands))) reason = 'byok';
      if (reason === null) {
        const figures = health.figures(endpoint.id, now_ms);
        const rests = input.rests !== undefined && input.rests(endpoint) > 0;
        reason = seenReason(figures, demands, rests);
        if (reason === null) {
          const passed = passedOf(facts, losses, demands);
          if (input.affords === undefined || input.affords(passed.endpoint)) {
            addCandidate(found, passed, facts.hash, figures);
            continue;
          }
          out.too_expensive = true;
          reason = 'price';
        }
      }
    }
    // Answered with an own key: the pool's part in it is no exclusion.
    if (state?.answers === true) continue;
    out.excluded.push(facts.excluded[placeOfReason.get(reason) as number] as Excluded);
  }
  return found;
}

/** The endpoint at the price of the tier that is asked for. */
function passedOf(facts: EndpointFacts, losses: readonly RouteLoss[], demands: Demands): Passed {
  const { endpoint } = facts;
  const price = demands.tier === null ? undefined : endpoint.tiers?.[demands.tier];
  if (price !== undefined) return { endpoint: { ...endpoint, price }, losses };
  return losses.length === 0 ? facts.passed : { endpoint, losses };
}

const NO_WARNINGS: readonly RouteWarning[] = [];

/** The policy of `ruling`, as a route names it. */
export function named({ policy, version, rule }: Ruling): PolicyNamed {
  return { name: policy, version, rule };
}

/**
 * Chooses among the endpoints of `candidates.models`. Pure: equal input, equal choice. Every endpoint is in `plan`,
 * in `spare`, or in `excluded` with the first reason that applies.
 */
export function choose(candidates: Candidates, input: RouteInput): Choice {
  return chooseSettled(candidates, settle(input, candidates.catalog));
}

function hasChoice(models: readonly Model[]): boolean {
  return models.length > 1 || (models[0]?.endpoints.length ?? 0) > 1;
}

function attemptsOf({ preferences }: SettledInput): number {
  if (preferences.fallbacks === false) return 1;
  const ceiling = preferences.ceilings?.max_attempts ?? MAX_ATTEMPTS;
  return Math.max(1, Math.min(ceiling, preferences.max_attempts ?? ceiling));
}

function chooseSettled(candidates: Candidates, input: SettledInput): Choice {
  const demands = demandsOf(input, candidates.catalog);
  const sort: Sort = input.preferences.sort ?? 'balanced';
  const { own_keys } = demands;
  const out: Out = {
    excluded: [],
    lost: [],
    too_expensive: false,
    own: own_keys === null ? null : { states: new Map(), strict: false, too_expensive: false },
  };
  const max_attempts = attemptsOf(input);
  // The digest of a prompt is the most expensive step of the choice: not made where there is nothing to choose from.
  const wanted = hasChoice(candidates.models) ? wantedAffinity(input) : OFF;
  const ranking = {
    ...{ sort, seed: hash32(wanted.key ?? input.request_id), keep_at: wanted.endpoint_id },
    trial: input.trial ?? null,
  };
  let canary: TakenPart | null = null;
  let plan: readonly RankedEndpoint[] = [];
  let spare: readonly Passed[] = [];
  for (const model of candidates.models) {
    const room = max_attempts - plan.length;
    let ranked: Ranked;
    if (out.own === null) ranked = rank(pass(model, input, demands, out), ranking, input, room);
    else {
      const own = rank(passOwn(model, input, demands, out.own), ranking, input, room);
      ranked = shareAttempts(own, rank(pass(model, input, demands, out), ranking, input, room), room);
    }
    if (ranked.arm !== null && plan.length === 0) canary = takenPart(input, ranked.arm);
    plan = plan.length === 0 ? ranked.plan : [...plan, ...ranked.plan];
    spare = spare.length === 0 ? ranked.spare : [...spare, ...ranked.spare];
  }
  const { failover } = input.preferences;
  return {
    plan,
    spare,
    excluded: out.excluded,
    lost: out.lost,
    sort,
    ...(canary === null ? {} : { canary }),
    // A call of the canary is remembered nowhere: the calls that belong to it stay where they are.
    affinity: affinityOf(canary?.arm === 'canary' ? OFF : wanted, plan[0]),
    ...(failover === undefined ? {} : { failover }),
    ...(out.too_expensive || out.own?.too_expensive === true ? { too_expensive: true as const } : {}),
    max_attempts,
    ...timeoutsOf(input),
    warnings: input.policy_warnings ?? NO_WARNINGS,
    ...(input.policy == null ? {} : { policy: named(input.policy) }),
  };
}

function affinityOf({ kind, key, ttl_ms, endpoint_id }: Wanted, first?: RankedEndpoint): RouteAffinity {
  if (key === null) return { kind, state: '-', key, ttl_ms };
  const state = endpoint_id !== null && first?.endpoint.id === endpoint_id ? 'hit' : 'miss';
  return { kind, state, key, ttl_ms };
}

/** The model asked for and its fallbacks. @throws ServiceError model_not_found with what may have been meant. */
export function modelsOf(catalog: Catalog, input: SettledInput): Model[] {
  const get = (name: string, param: string) =>
    getNamedModel(catalog, { name, environment: input.environment, param });
  if (input.preferences.fallback_models === undefined) return [get(input.model, 'model')];
  const fallbacks = input.preferences.fallback_models.slice(0, FALLBACKS_MAX);
  const wanted = [...new Set([input.model, ...fallbacks])];
  return wanted.map((id, i) =>
    get(id, i === 0 ? 'model' : `svc.route.fallback_models[${fallbacks.indexOf(id)}]`),
  );
}

/**
 * What would be tried of a call and why, without taking anything: dry runs.
 * @throws ServiceError model_not_found.
 */
export function previewRoute(catalog: Catalog, input: RouteInput): Choice {
  return route(catalog, settle(input, catalog)).choice;
}

/** A choice, and what it was made among. */
interface Routed {
  readonly models: readonly Model[];
  readonly choice: Choice;
}

/** The choice under one arm; null where nothing could serve the call there. */
function inArm(catalog: Catalog, input: SettledInput): Routed | null {
  try {
    const models = modelsOf(catalog, input);
    const choice = chooseSettled({ catalog, models }, input);
    return choice.plan.length === 0 ? null : { models, choice };
  } catch (refusal) {
    if (refusal instanceof ServiceError && refusal.code === 'model_not_found') return null;
    throw refusal;
  }
}

/**
 * The choice for a call: in its arm where the policy compares two and either could serve the call, so that chance alone
 * decides which; else as if there were no experiment.
 */
function route(catalog: Catalog, settled: SettledInput): Routed {
  const drawn = settled.policy == null ? null : drawArm(settled.policy, settled);
  if (drawn !== null) {
    const { name, arms } = drawn.plan;
    const both = arms.map((arm) => inArm(catalog, underArm(settled, name, arm)));
    const taken = both[arms.findIndex((arm) => arm.name === drawn.taken.arm)];
    if (taken != null && !both.includes(null)) {
      return { ...taken, choice: { ...taken.choice, experiment: drawn.taken } };
    }
  }
  const models = modelsOf(catalog, settled);
  return { models, choice: chooseSettled({ catalog, models }, settled) };
}

/**
 * The plan of a call. It takes nothing: the probe of a half-open circuit is the attempt's that is made there, or calls
 * that are refused behind the plan, and such as never come to their second endpoint, would keep it from all others.
 * @throws ServiceError model_not_found; no_endpoint_available (503 when waiting can help, else 400),
 * unsupported_parameter, context_length_exceeded or invalid_request when no endpoint is left; policy_denied.
 */
export function planRoute(catalog: Catalog, input: RouteInput): RoutePlan {
  if (input.policy != null) refuseDenied(input.policy, input.features);
  const settled = settle(input, catalog);
  const { models, choice } = route(catalog, settled);
  if (choice.plan.length === 0) {
    const refusal = nothingLeft({ catalog, models }, choice, settled);
    // Waiting helps where an endpoint that is out for a while is not too expensive.
    const denied = choice.too_expensive === true && input.policy != null && refusal.status !== 503;
    throw denied ? tooExpensive(input.policy as Ruling, refusal.beside) : refusal;
  }
  const { lost: _, too_expensive: __, ...planned } = choice;
  return planned;
}
