// What a policy refuses outright: `deny`, and `limits` of a single call (docs/policies.md#keys).
import type { Endpoint } from '../catalog/index.ts';
import { ServiceError } from '../kernel/index.ts';
import type { Ruling } from '../policies/index.ts';
import { affordableTokens, holdMicroUsd, type ReserveInput } from '../pricing/index.ts';
import type { RouteFeatures, RoutePlan } from './types.ts';

/** Fewer output tokens than this are no answer. */
const TOKENS_MIN = 16;

function denied(
  ruling: Ruling,
  message: string,
  param?: string,
  beside: ServiceError['beside'] = {},
): ServiceError {
  const { policy, version, rule } = ruling;
  return new ServiceError('policy_denied', message, {
    beside,
    ...(param === undefined ? {} : { param }),
    details: { policy, version, rule },
  });
}

/**
 * Passes a call that `ruling` lets through. The prompt is judged by its upper estimate, as everywhere before the call.
 * @throws ServiceError policy_denied naming policy and rule.
 */
export function refuseDenied(ruling: Ruling, features: RouteFeatures): void {
  if (ruling.deny !== null) throw denied(ruling, ruling.deny);
  const { max_tokens, max_input_tokens } = ruling.actions.limits;
  if (max_tokens !== null && features.max_tokens !== null && features.max_tokens > max_tokens) {
    const message = `The routing policy allows at most ${max_tokens} output tokens a call.`;
    throw denied(ruling, message, 'max_tokens');
  }
  if (max_input_tokens !== null && features.input_tokens_bound > max_input_tokens) {
    const message =
      `The routing policy allows at most ${max_input_tokens} input tokens a call; ` +
      `this one is estimated at up to ${features.input_tokens_bound}.`;
    throw denied(ruling, message);
  }
}

/** A route and the output cap that its policy puts on a call that named none. */
export interface Limited {
  readonly route: RoutePlan;
  /** null: the policy sets no cap. */
  readonly max_tokens: number | null;
}

/** The refusal of a call that costs more than `ruling` allows wherever it could be answered. */
export function tooExpensive(ruling: Ruling, beside: ServiceError['beside'] = {}): ServiceError {
  const { max_cost_micro } = ruling.actions.limits;
  const message = `The routing policy allows at most ${max_cost_micro} micro-USD a call, which this could exceed.`;
  return denied(ruling, message, 'max_tokens', beside);
}

type CallBounds = Omit<ReserveInput, 'available_micro_usd'>;

function affordableOn(endpoint: Endpoint, bounds: CallBounds, max_cost_micro: number): number {
  return affordableTokens(endpoint, { ...bounds, available_micro_usd: null }, max_cost_micro);
}

/**
 * Whether a call of `bounds` surely costs no more on an endpoint than `ruling` allows, as `RouteInput.affords`; undefined
 * where it allows any cost.
 */
export function affordsUnder(
  ruling: Ruling | null,
  bounds: () => CallBounds,
): ((endpoint: Endpoint) => boolean) | undefined {
  const max_cost_micro = ruling?.actions.limits.max_cost_micro ?? null;
  if (max_cost_micro === null) return undefined;
  const asked = bounds();
  return (endpoint) => {
    // Without output, as of embeddings, the rest alone decides; no token is then too few.
    if (asked.max_tokens === 0) {
      return holdMicroUsd(endpoint, { ...asked, available_micro_usd: null }, 0) <= max_cost_micro;
    }
    const least = Math.min(asked.max_tokens ?? TOKENS_MIN, endpoint.max_output);
    return affordableOn(endpoint, asked, max_cost_micro) >= least;
  };
}

/**
 * Puts the cap of `ruling` on a call that names none: the largest that it pays for on all endpoints of `route`, which
 * was planned with `affordsUnder`. It may be more than a smaller one of them writes at most (`outputCap` minds that);
 * one that lowers nothing is none.
 */
export function withinLimits(route: RoutePlan, ruling: Ruling, bounds: CallBounds): Limited {
  const { max_tokens, max_cost_micro } = ruling.actions.limits;
  if (bounds.max_tokens !== null) return { route, max_tokens: null };
  const endpoints = route.plan.map(({ endpoint }) => endpoint);
  const largest = Math.max(...endpoints.map(({ max_output }) => max_output));
  if (max_cost_micro === null) {
    return { route, max_tokens: max_tokens === null || max_tokens >= largest ? null : max_tokens };
  }
  let cap = Math.min(max_tokens ?? largest, largest);
  for (const endpoint of endpoints) {
    const affordable = affordableOn(endpoint, bounds, max_cost_micro);
    if (affordable < endpoint.max_output) cap = Math.min(cap, affordable);
  }
  return { route, max_tokens: cap };
}
