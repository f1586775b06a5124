// What the router would make of a call that is only described: nothing is called, held or charged.
import { type Context, orgCaller, type RequestId, ServiceError } from '../kernel/index.ts';
import type { OrgDataPolicy } from '../orgs/index.ts';
import type { CallFacts, Ruling } from '../policies/index.ts';
import type { ReserveInput } from '../pricing/index.ts';
import { createAffinity } from './affinity.ts';
import { createHealth } from './health/health.ts';
import { affordsUnder, refuseDenied, tooExpensive, withinLimits } from './limits.ts';
import { previewRoute } from './plan.ts';
import type { RouteFeatures, RouteInput, RoutePlan } from './types.ts';

const TYPICAL_OUTPUT = 500;

function featuresOf(facts: CallFacts, output_tokens: number | undefined): RouteFeatures {
  return {
    modalities_in: facts.modalities_in,
    tools: facts.has.tools,
    json_schema: facts.has.json_schema,
    images: facts.has.images,
    audio: facts.modalities_in.includes('audio'),
    pdf: false,
    reasoning: facts.has.reasoning,
    server_tools: [],
    stream: facts.stream,
    input_tokens_bound: facts.input_tokens,
    max_tokens: facts.max_tokens,
    expected_output_tokens: output_tokens ?? Math.min(facts.max_tokens ?? TYPICAL_OUTPUT, TYPICAL_OUTPUT),
    signed_format: null,
  };
}

/**
 * The route under the limits of its policy, or why the policy refuses; `ruling` null: the built-in policy.
 * @throws ServiceError model_not_found.
 */
export function tryRoute(context: Context, ruling: Ruling | null, asked: RouteInput) {
  const { features } = asked;
  const asked_for: Omit<ReserveInput, 'available_micro_usd'> = {
    ...{ input_tokens_bound: features.input_tokens_bound, max_tokens: features.max_tokens },
    ...{ candidates: 1, upstream_stream: features.stream, cache_hints: false },
    ...{ audio_output: false, image_output: false, search_units: 0 },
  };
  if (ruling === null) {
    return { route: previewRoute(context.services.catalog(), asked) as RoutePlan, asked_for, refused: null };
  }
  const affords = affordsUnder(ruling, () => asked_for);
  const input = affords === undefined ? asked : { ...asked, affords };
  const choice = previewRoute(context.services.catalog(), input);
  const route: RoutePlan = choice;
  try {
    refuseDenied(ruling, features);
    if (route.plan.length === 0) {
      if (choice.too_expensive === true) throw tooExpensive(ruling);
      return { route, asked_for, refused: null };
    }
    const limited = withinLimits(route, ruling, asked_for);
    const max_tokens = asked_for.max_tokens ?? limited.max_tokens;
    return { route: limited.route, asked_for: { ...asked_for, max_tokens }, refused: null };
  } catch (refusal) {
    if (!(refusal instanceof ServiceError)) throw refusal;
    return { route: { ...route, plan: [], spare: [] }, asked_for, refused: refusal };
  }
}

/** A call that is only described. */
interface DescribedCall {
  readonly request_id: RequestId;
  readonly model: string;
  readonly policy: OrgDataPolicy;
  readonly facts: CallFacts;
  readonly ruling: Ruling | null;
  readonly now_ms: number;
  /** What it will write, where that is known. */
  readonly output_tokens?: number;
}

/** What the router is asked: what a call with these facts would ask it. */
export function routeInputOf(context: Context, call: DescribedCall): RouteInput {
  const { model, facts, ruling, now_ms } = call;
  const { zdr, no_train, regions } = call.policy;
  const { org_id, environment } = orgCaller(context);
  return {
    request_id: call.request_id,
    environment,
    model,
    preferences: {},
    policy: ruling,
    data_policy: { zdr, no_train, regions: regions.length === 0 ? null : regions },
    compat: 'warn',
    features: featuresOf(facts, call.output_tokens),
    losses: () => [],
    health: (context.services.health ?? createHealth()).seenBy({ org_id, path: facts.dialect }),
    affinity: {
      ...{ memory: createAffinity(), org_id, cache_hints: facts.has.cache },
      ...{ cache_ttl_ms: null, value: (kind) => kind },
    },
    now_ms,
  };
}
