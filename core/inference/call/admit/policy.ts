// Applies the active routing policy to a call: which rule matches, and the limits and the trace that follow.
import type { Endpoint } from '../../../catalog/index.ts';
import { ServiceError } from '../../../kernel/index.ts';
import { type CallFacts, decide, type OrgPolicies, type Ruling } from '../../../policies/index.ts';
import {
  type Decided,
  type Excluded,
  named,
  type RouteFeatures,
  type RoutePlan,
  withinLimits,
} from '../../../routing/index.ts';
import type { CanonicalRequest } from '../../canonical/types.ts';
import type { CallRecord, Incoming } from '../types.ts';
import type { HoldInput } from './plan.ts';
import { modalitiesOut } from './task.ts';

/**
 * What the policy of the call's scope says about it; null when the built-in policy applies, which takes one look-up.
 */
export function rulingOf(
  policies: OrgPolicies,
  incoming: Incoming,
  request: CanonicalRequest,
  seen: { features: RouteFeatures; hasCacheHints: () => boolean; hasOwnKey: () => boolean; now_ms: number },
): Ruling | null {
  const { grant } = incoming;
  const policy = policies.of(grant.project_id);
  if (policy === null) return null;
  const { features, now_ms } = seen;
  const facts: CallFacts = {
    model: request.model,
    project_id: grant.project_id,
    key_id: grant.key_id,
    environment: grant.environment,
    dialect: request.task?.kind === 'rerank' ? 'rerank' : incoming.dialect.name,
    modalities_in: features.modalities_in,
    modalities_out: modalitiesOut(request),
    stream: features.stream,
    has: {
      tools: features.tools,
      json_schema: features.json_schema,
      images: features.images,
      reasoning: features.reasoning,
      cache: seen.hasCacheHints(),
      byok: seen.hasOwnKey(),
    },
    input_tokens: features.input_tokens_bound,
    max_tokens: features.max_tokens,
    metadata: request.svc.metadata,
    app: request.svc.app ?? '',
    now_ms,
  };
  return decide(policy, facts, request.svc.route.fallback_models);
}

/** The route of a call without a plan: its row names policy, rule, and why each endpoint was excluded. */
function refusedRoute(ruling: Ruling | null, refusal: ServiceError, catalog: string): Decided {
  const excluded = (refusal.beside['excluded_by'] ?? []) as readonly Excluded[];
  const route = {
    plan: [],
    spare: [],
    excluded,
    sort: ruling?.actions.sort ?? 'balanced',
    ...(ruling === null ? {} : { policy: named(ruling) }),
  } as const;
  return { route, catalog, reserve_micro_usd: 0 };
}

/** `found`, limited by `ruling`, with the call's output cap: the caller's, otherwise the policy's, otherwise null. */
export function underPolicy(
  ruling: Ruling | null,
  found: RoutePlan | ServiceError,
  { record, catalog }: { readonly record: CallRecord; readonly catalog: string },
  holdInputOf: (endpoints: readonly Endpoint[]) => HoldInput,
): { route: RoutePlan | ServiceError; max_tokens: number | null } {
  if (ruling === null) {
    const excluded = found instanceof ServiceError && found.beside['excluded_by'] !== undefined;
    if (excluded) record.decided = refusedRoute(null, found, catalog);
    return { route: found, max_tokens: null };
  }
  record.zdr ||= ruling.actions.zdr;
  let refusal: ServiceError;
  try {
    if (found instanceof ServiceError) throw found;
    const limited = withinLimits(found, ruling, holdInputOf(found.plan.map((item) => item.endpoint)));
    const { max_tokens } = limited;
    if (max_tokens !== null) {
      const message = `The routing policy allows at most ${max_tokens} output tokens.`;
      record.warnings.push({ code: 'max_tokens_capped', message });
    }
    return limited;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    refusal = error;
  }
  record.decided = refusedRoute(ruling, refusal, catalog);
  return { route: refusal, max_tokens: null };
}
