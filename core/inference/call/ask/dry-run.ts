// POST /v1/svc/dry_run: the decision of a call without the call (docs/routing.md). The same code decides that admits
// calls, up to the hold; nothing is held, tried, counted as tokens or recorded.
import { type JsonObject, ServiceError } from '../../../kernel/index.ts';
import { holdMicroUsd, price, type Reserved } from '../../../pricing/index.ts';
import { type RoutePlan, routeLine, routeOf } from '../../../routing/index.ts';
import { scopeOf, tellCap } from '../admit/admit.ts';
import { type Decision, decideCall } from '../admit/draft.ts';
import { TYPICAL_OUTPUT } from '../admit/features.ts';
import { type HoldPreview, previewHold } from '../admit/hold.ts';
import { plannedOf } from '../admit/plan.ts';
import { lostOn } from '../attempt/losses.ts';
import type { Planned } from '../attempt/terms.ts';
import { newRecord, tellLost, warn } from '../record.ts';
import type { CallDeps, CallRecord, Incoming } from '../types.ts';

const BYTES_PER_TOKEN = 4;
/** The minimum that a call without an output cap holds for (pricing/reserve.ts). */
const TOKENS_MIN = 16;

/** The answer to a dry run as JSON; the parameters of warnings have their canonical names. */
export interface DryRun {
  readonly object: 'dry_run';
  readonly model: string;
  readonly plan: readonly JsonObject[];
  readonly excluded: readonly JsonObject[];
  /** Micro-USD that a call with this body would hold now. */
  readonly reserve_micro: number;
  readonly price_version: string;
  readonly warnings: CallRecord['warnings'];
  readonly trace: string;
}

/**
 * What a call with this body would be tried on, and what it would hold.
 * @throws ServiceError every refusal that the call itself would get before its hold; insufficient credit is a
 * warning.
 */
export async function dryRun(deps: CallDeps, incoming: Incoming): Promise<DryRun> {
  const { 'idempotency-key': _ignored, ...headers } = incoming.headers;
  const asked: Incoming = { ...incoming, headers };
  const record = newRecord(asked, 0);
  const scope = await scopeOf(deps, incoming.grant);
  const { draft, endpoints, request } = await decideCall(deps, asked, record, scope);
  const { route } = draft;
  if (route instanceof ServiceError) throw route;
  const preview = await previewHold(deps, asked, draft, endpoints);
  const { wanted } = preview;
  const planned = wanted.status === 'ok' ? plannedOf(endpoints, wanted.endpoints, draft.cap_given) : [];
  const first = planned[0]?.endpoint ?? endpoints[0];
  if (first !== undefined) tellLost(record, lostOn(deps, request, first));
  tellCap(record, planned[0]);
  const reserve_micro = wanted.status === 'ok' ? wanted.amount_micro_usd : leastHold(endpoints, preview);
  if (wanted.status !== 'ok' || reserve_micro > preview.available_micro_usd) {
    warn(record, 'insufficient_credits', 'The balance does not cover this call now.');
  }
  return {
    object: 'dry_run',
    model: record.model,
    plan: planOf(route, wanted.status === 'ok' ? planned : null, draft),
    excluded: excludedOf(route, wanted.status === 'ok' ? planned : null),
    reserve_micro,
    price_version: (planned[0]?.endpoint ?? endpoints[0])?.price.id ?? '',
    warnings: record.warnings,
    trace: routeLine(
      routeOf(
        { route, catalog: draft.catalog.version, reserve_micro_usd: reserve_micro },
        { attempts: null, winner: null },
      ),
    ),
  };
}

function leastHold(endpoints: readonly Reserved[], { hold_input }: HoldPreview): number {
  return Math.max(
    ...endpoints.map((endpoint) => holdMicroUsd(endpoint, hold_input, TOKENS_MIN * hold_input.candidates)),
  );
}

function isTried(planned: readonly Planned[] | null, endpoint_id: string): boolean {
  return planned === null || planned.some(({ endpoint }) => endpoint.id === endpoint_id);
}

function planOf(
  route: RoutePlan,
  planned: readonly Planned[] | null,
  draft: Decision['draft'],
): JsonObject[] {
  const { hold_input, prompt_bytes } = draft;
  const usage = {
    input_tokens: Math.min(hold_input.input_tokens_bound, Math.ceil(prompt_bytes / BYTES_PER_TOKEN)),
    output_tokens: Math.min(hold_input.max_tokens ?? TYPICAL_OUTPUT, TYPICAL_OUTPUT) * hold_input.candidates,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    source: 'estimate' as const,
  };
  return route.plan
    .filter(({ endpoint }) => isTried(planned, endpoint.id))
    .map(({ endpoint, score, reason }) => ({
      endpoint_id: endpoint.id,
      provider: endpoint.provider,
      region: endpoint.region,
      model: endpoint.model_id,
      score: Number(score.toFixed(3)),
      est_cost_micro: price(usage, endpoint.price).total_micro_usd,
      reason,
    }));
}

/** The endpoints that filters excluded, and those that the balance does not cover while it covers others. */
function excludedOf(route: RoutePlan, planned: readonly Planned[] | null): JsonObject[] {
  const expensive = route.plan.filter(({ endpoint }) => !isTried(planned, endpoint.id));
  return [
    ...route.excluded.map(({ endpoint_id, provider, reason }) => ({ endpoint_id, provider, reason })),
    ...expensive.map(({ endpoint: { id, provider } }) => ({ endpoint_id: id, provider, reason: 'price' })),
  ];
}
