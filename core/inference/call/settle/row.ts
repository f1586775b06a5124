// The request row of an ended call (docs/outcomes.md#rows).
import type { RequestRow } from '../../../analytics/index.ts';
import { type Environment, type Id, type RequestId, ulidMs } from '../../../kernel/index.ts';
import { appSlug, shownWarnings } from '../../caller/svc.ts';
import { RESTARTING } from '../attempt/outcome.ts';
import { routeSoFar } from '../record.ts';
import type { AttemptRecord, CallRecord, ShadowOf } from '../types.ts';

function attemptRow(attempt: AttemptRecord): RequestRow['attempt_rows'][number] {
  return {
    attempt: attempt.attempt,
    ts_ms: attempt.started_at_ms,
    provider: attempt.endpoint.provider,
    endpoint_id: attempt.endpoint.id,
    pool_id: attempt.endpoint.own_key === undefined ? 'main' : 'byok',
    key_hint: attempt.endpoint.own_key?.hint ?? '',
    outcome: attempt.outcome ?? 'cancelled',
    http_status: attempt.http_status,
    error_class: attempt.error_class,
    ttft_ms: attempt.ttft_ms,
    duration_ms: attempt.duration_ms,
    output_tokens: attempt.output_tokens,
  };
}

/**
 * The row of `record` in the deployment `cell`. Null when the caller's own rate limit refused it
 * (docs/outcomes.md#refused-before-the-hold): those are only counted (`rejected_24h`), because a caller that keeps
 * exceeding a limit must not cost a row each time. Null too for a copy that was refused.
 */
export function rowOf(record: CallRecord, cell: string): RequestRow | null {
  if (record.error_code === 'rate_limit_exceeded') return null;
  const { grant, usage, endpoint, shadow } = record;
  // Nothing was sent, and nobody was refused anything.
  if (shadow !== undefined && record.status === 'rejected') return null;
  return {
    request_id: record.request_id,
    org_id: grant.org_id,
    environment: grant.environment,
    project_id: grant.project_id,
    key_id: grant.key_id,
    model: record.model,
    provider: endpoint?.provider ?? '',
    endpoint_id: endpoint?.id ?? '',
    region: endpoint?.region ?? '',
    status: record.status,
    http_status: record.http_status,
    error_code: record.error_code,
    stop_reason: record.stop?.reason ?? '',
    attempts: record.attempts.length,
    input_tokens: usage?.input_tokens ?? 0,
    output_tokens: usage?.output_tokens ?? 0,
    cache_read_tokens: usage?.cache_read_tokens ?? 0,
    cache_write_tokens: usage?.cache_write_tokens ?? 0,
    reasoning_tokens: usage?.reasoning_tokens ?? 0,
    usage_source: usage?.source ?? '',
    cost_micro: record.charged_micro_usd,
    ttft_ms: record.ttft_ms,
    duration_ms: record.duration_ms,
    upstream_ttft_ms: record.upstream_ttft_ms,
    gw_overhead_ms: record.gw_overhead_ms,
    stream: record.stream,
    byok: endpoint?.own_key !== undefined,
    zdr: record.zdr,
    logged: record.logged,
    app_id: appSlug(record.app),
    user_hash: record.user_hash,
    session_id: record.session_id,
    cell,
    dialect_in: record.dialect_in,
    upstream_model: endpoint?.upstream_model ?? '',
    price_version_id: endpoint?.price.id ?? '',
    bytes_in: record.bytes_in,
    bytes_out: record.bytes_out,
    tool_calls: record.tool_calls,
    has_images: record.has_images,
    has_tools: record.has_tools,
    has_schema: record.has_schema,
    tags: record.tags,
    user_agent: record.user_agent,
    client_ip_prefix: record.client_ip_prefix,
    route_trace: routeSoFar(record),
    warnings: shownWarnings(record.warnings),
    attempt_rows: record.attempts.map(attemptRow),
    ...(shadow === undefined || record.error_code === RESTARTING.code
      ? {}
      : { shadow: shadowRun(record, shadow) }),
  };
}

/** How a copy went beside the call that it was made of. One that ended with its process says nothing. */
function shadowRun(
  { cost, stop, upstream_ttft_ms }: CallRecord,
  { drawn, primary }: ShadowOf,
): NonNullable<RequestRow['shadow']> {
  const { plan, ruling } = drawn;
  return {
    ...{ name: ruling.policy, version: ruling.version, bill: plan.bill },
    ...{ shadow_endpoint: plan.endpoint_id, primary_endpoint: primary.endpoint_id },
    stop_mismatch: (stop?.reason ?? '') !== primary.stop,
    ...{ primary_cost_micro: primary.cost_micro_usd, shadow_cost_micro: cost?.total_micro_usd ?? 0 },
    ...{ primary_ttft_ms: primary.ttft_ms, shadow_ttft_ms: upstream_ttft_ms },
  };
}

function lostAttempt(request_id: RequestId): RequestRow['attempt_rows'][number] {
  return {
    attempt: 1,
    ts_ms: ulidMs(request_id),
    provider: '',
    endpoint_id: '',
    pool_id: 'main',
    key_hint: '',
    outcome: 'error',
    http_status: 0,
    error_class: 'gateway_lost',
    ttft_ms: null,
    duration_ms: null,
    output_tokens: 0,
  };
}

/** The row of a call whose process died; only its owner is known (docs/outcomes.md#gateway-killed). */
export function lostRow(
  owner: { org_id: Id<'org'>; project_id: Id<'project'>; key_id: Id<'key'>; environment: Environment },
  request_id: RequestId,
  cell: string,
): RequestRow {
  return {
    request_id,
    ...owner,
    model: '',
    provider: '',
    endpoint_id: '',
    region: '',
    status: 'error',
    http_status: 0,
    error_code: 'internal',
    stop_reason: '',
    attempts: 1,
    input_tokens: 0,
    output_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    usage_source: '',
    cost_micro: 0,
    ttft_ms: null,
    duration_ms: null,
    upstream_ttft_ms: null,
    gw_overhead_ms: null,
    stream: false,
    byok: false,
    zdr: false,
    logged: false,
    app_id: '',
    user_hash: '',
    session_id: '',
    cell,
    dialect_in: '',
    upstream_model: '',
    price_version_id: '',
    bytes_in: 0,
    bytes_out: 0,
    tool_calls: 0,
    has_images: false,
    has_tools: false,
    has_schema: false,
    tags: {},
    user_agent: '',
    client_ip_prefix: '',
    route_trace: null,
    warnings: [],
    attempt_rows: [lostAttempt(request_id)],
  };
}
