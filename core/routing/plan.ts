// The choice: catalog, wishes and health in, an ordered plan with reasons out (decisions 4.9.5). `planRoute` is what a
// call uses: it finds the models, chooses, and turns an empty plan into the refusal that helps.
import { type Catalog, type Endpoint, findModel, type Model } from '../catalog/index.ts';
import type { Ruling } from '../policies/index.ts';
import { cheapReason, type Demands, demandsOf, isLossy, lateReason } from './filters.ts';
import type { Health } from './health.ts';
import { refuseDenied } from './limits.ts';
import { modelNotFound, nothingLeft } from './refusal.ts';
import { type Passed, rank } from './score.ts';
import { settle } from './settle.ts';
import type {
  Candidates,
  Choice,
  Excluded,
  RankedEndpoint,
  RouteInput,
  RouteLoss,
  RoutePlan,
  RouteWarning,
  SettledInput,
  Sort,
  Timeouts,
} from './types.ts';

const MAX_ATTEMPTS = 3;
const FALLBACKS_MAX = 5;
const least = { connect_ms: 1_000, first_event_ms: 5_000, idle_ms: 10_000, total_ms: 10_000 };

/** Attempt limits of 4.8, or the policy's; a request may lower them, down to a floor. */
export function timeoutsOf(input: SettledInput): { timeouts: Timeouts; chosen_deadline: boolean } {
  const standard: Timeouts = {
    connect_ms: 5_000,
    first_event_ms: input.features.reasoning ? 180_000 : 60_000,
    idle_ms: 90_000,
    total_ms: 600_000,
  };
  const wished = input.wish.timeouts ?? {};
  const set = input.wish.ceilings?.timeouts;
  const lower = (key: keyof Timeouts) => {
    const ceiling = set?.[key] ?? standard[key];
    return Math.min(ceiling, Math.max(least[key], wished[key] ?? ceiling));
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

function pass(
  model: Model,
  catalog: Catalog,
  input: SettledInput,
  demands: Demands,
  out: { excluded: Excluded[]; lost: RouteLoss[] },
): Passed[] {
  const passed: Passed[] = [];
  for (const endpoint of model.endpoints) {
    let reason = cheapReason(endpoint, input, demands);
    let losses: readonly RouteLoss[] = [];
    if (reason === null) {
      losses = input.losses(endpoint);
      if (isLossy(losses, input)) {
        reason = 'lossy';
        out.lost.push(...losses);
      } else {
        reason = lateReason(endpoint, catalog.providers.get(endpoint.provider), input, demands);
      }
    }
    if (reason === null) passed.push({ endpoint: priced(endpoint, demands), losses });
    else out.excluded.push({ endpoint_id: endpoint.id, provider: endpoint.provider, reason });
  }
  return passed;
}

/** The endpoint at the price of the tier that is asked for. */
function priced(endpoint: Endpoint, demands: Demands): Endpoint {
  const price = demands.tier === null ? undefined : endpoint.tiers?.[demands.tier];
  return price === undefined ? endpoint : { ...endpoint, price };
}

const NO_WARNINGS: readonly RouteWarning[] = [];

function warningsOf(input: SettledInput): readonly RouteWarning[] {
  const { affinity } = input.wish;
  const policys = input.policy_warnings ?? NO_WARNINGS;
  if (affinity === undefined || affinity === 'off') return policys;
  const message = 'Affinity is not offered yet; the route was chosen without it.';
  return [...policys, { code: 'route_option_ignored', param: 'svc.route.affinity', message }];
}

function named({ policy, version, rule }: Ruling): NonNullable<RoutePlan['policy']> {
  return { name: `${policy}/${version}`, rule };
}

/**
 * Chooses among the endpoints of `candidates.models`. Pure: equal input, equal choice. Every endpoint is in `plan`,
 * in `spare`, or in `excluded` with the first reason that applies.
 */
export function choose(candidates: Candidates, input: RouteInput): Choice {
  return chooseSettled(candidates, settle(input, candidates.catalog));
}

function chooseSettled(candidates: Candidates, input: SettledInput): Choice {
  const demands = demandsOf(input);
  const sort: Sort = input.wish.sort ?? 'balanced';
  const out = { excluded: [] as Excluded[], lost: [] as RouteLoss[] };
  const ranked: RankedEndpoint[] = [];
  for (const model of candidates.models) {
    const passed = pass(model, candidates.catalog, input, demands, out);
    ranked.push(...rank(passed, sort, input));
  }
  const ceiling = input.wish.ceilings?.max_attempts ?? MAX_ATTEMPTS;
  const wished = Math.max(1, Math.min(ceiling, input.wish.max_attempts ?? ceiling));
  const max_attempts = input.wish.fallbacks === false ? 1 : wished;
  return {
    plan: ranked.slice(0, max_attempts),
    spare: ranked.slice(max_attempts),
    excluded: out.excluded,
    lost: out.lost,
    sort,
    max_attempts,
    ...timeoutsOf(input),
    warnings: warningsOf(input),
    ...(input.policy == null ? {} : { policy: named(input.policy) }),
  };
}

/** The model asked for and its fallbacks. @throws ServiceError model_not_found with what may have been meant. */
export function modelsOf(catalog: Catalog, input: SettledInput): Model[] {
  if (input.wish.fallback_models === undefined) return [modelOf(catalog, input, input.model, 'model')];
  const fallbacks = input.wish.fallback_models.slice(0, FALLBACKS_MAX);
  const wanted = [input.model, ...fallbacks.filter((id) => id !== input.model)];
  return wanted.map((id, i) =>
    modelOf(catalog, input, id, i === 0 ? 'model' : `svc.route.fallback_models[${fallbacks.indexOf(id)}]`),
  );
}

function modelOf(catalog: Catalog, input: SettledInput, id: string, param: string): Model {
  const model = findModel(catalog, id, input.environment);
  if (model !== null) return model;
  throw modelNotFound(catalog, id, param);
}

/**
 * What would be tried of a call and why, without taking anything: dry runs.
 * @throws ServiceError model_not_found.
 */
export function previewRoute(catalog: Catalog, input: RouteInput): Choice {
  const settled = settle(input, catalog);
  return chooseSettled({ catalog, models: modelsOf(catalog, settled) }, settled);
}

/**
 * The plan of a call; takes the probe of a half-open circuit that it will try.
 * @throws ServiceError model_not_found; no_endpoint_available (503 when waiting can help, else 400),
 * unsupported_parameter, context_length_exceeded or invalid_request when no endpoint is left; policy_denied.
 */
export function planRoute(catalog: Catalog, input: RouteInput & { readonly health: Health }): RoutePlan {
  if (input.policy != null) refuseDenied(input.policy, input.features);
  const settled = settle(input, catalog);
  const models = modelsOf(catalog, settled);
  const choice = chooseSettled({ catalog, models }, settled);
  if (choice.plan.length === 0) throw nothingLeft(models, choice, settled);
  const { lost: _, ...route } = choice;
  for (const { endpoint } of route.plan) {
    if (input.health.circuit(endpoint.id, input.now_ms) === 'half_open') {
      input.health.probe(endpoint.id, input.now_ms);
    }
  }
  return route;
}
