// What a policy refuses outright: `deny`, and `limits` of a single call (4.9.1).
import type { Endpoint } from '../catalog/index.ts';
import { ServiceError } from '../kernel/index.ts';
import type { Ruling } from '../policies/index.ts';
import { affordableTokens, holdMicroUsd, type ReserveInput } from '../pricing/index.ts';
import type { RouteFeatures, RoutePlan } from './types.ts';

/** Fewer output tokens than this are no answer. */
const TOKENS_MIN = 16;

function denied(ruling: Ruling, message: string, param?: string): ServiceError {
  const { policy, version, rule } = ruling;
  return new ServiceError('policy_denied', message, {
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

/**
 * Holds `route` to the limits of `ruling`: endpoints on which the call could cost more than allowed go, and a call
 * without a cap of its own gets the largest that is allowed on all that are left.
 * @throws ServiceError policy_denied where no endpoint is left.
 */
export function withinLimits(
  route: RoutePlan,
  ruling: Ruling,
  wish: Omit<ReserveInput, 'available_micro_usd'>,
): Limited {
  const { max_tokens, max_cost_micro } = ruling.actions.limits;
  const wanted = wish.max_tokens;
  if (max_cost_micro === null) return { route, max_tokens: wanted === null ? max_tokens : null };
  const full = { ...wish, available_micro_usd: null };
  const affordable = (endpoint: Endpoint) => affordableTokens(endpoint, full, max_cost_micro);
  const least = wanted ?? TOKENS_MIN;
  const plan = route.plan.filter(({ endpoint }) =>
    // Without output, as of embeddings, the rest alone decides; no token is then too few.
    wanted === 0
      ? holdMicroUsd(endpoint, full, 0) <= max_cost_micro
      : affordable(endpoint) >= Math.min(least, endpoint.max_output),
  );
  if (plan.length === 0) {
    const message = `The routing policy allows at most ${max_cost_micro} micro-USD a call, which this could exceed.`;
    throw denied(ruling, message, 'max_tokens');
  }
  const gone = route.plan.filter((item) => !plan.includes(item));
  const excluded = gone.map(({ endpoint }) => ({
    endpoint_id: endpoint.id,
    provider: endpoint.provider,
    reason: 'price' as const,
  }));
  const cap = Math.min(
    max_tokens ?? Number.POSITIVE_INFINITY,
    ...plan.map((item) => affordable(item.endpoint)),
  );
  return {
    route: { ...route, plan, excluded: [...route.excluded, ...excluded] },
    max_tokens: wanted === null ? cap : null,
  };
}
