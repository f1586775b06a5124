// Stored rows as callers see them. Pure.
import { isRequestId, rowTime } from '../kernel/index.ts';
import type { PayloadState } from '../payloads/index.ts';
import { routeLine } from '../routing/index.ts';
import type { ListedRow } from './engine/types.ts';
import type { RowDetail, RowView } from './schema.ts';
import type { StoredAttempt, StoredRow } from './types.ts';

/** The tag of a copy's row: the call that was copied. */
const SHADOW_OF = 'shadow_of';

/** The row of the activity feed. */
export function viewRow(row: ListedRow): RowView {
  return {
    request_id: row.request_id,
    ts: rowTime(row.ts.getTime()),
    project_id: row.project_id,
    key_id: row.key_id,
    model: row.model,
    provider: row.provider,
    endpoint_id: row.endpoint_id,
    region: row.region,
    status: row.status,
    http_status: row.http_status,
    error_code: row.error_code,
    stop_reason: row.stop_reason,
    attempts: row.attempts,
    input_tokens: row.input_tokens,
    cache_read_tokens: row.cache_read_tokens,
    output_tokens: row.output_tokens,
    usage_source: row.usage_source,
    cost_micro: row.cost_micro,
    ttft_ms: row.ttft_ms,
    duration_ms: row.duration_ms,
    stream: row.stream,
    byok: row.byok,
    zdr: row.zdr,
    logged: row.logged,
    app_id: row.app_id,
    user_hash: row.user_hash,
    session_id: row.session_id,
  };
}

/** The detail view: the row, everything measured, and its attempts. */
export function viewDetail(
  row: StoredRow,
  attempts: readonly StoredAttempt[],
  shadows: readonly string[],
  payload_state: PayloadState = 'none',
): RowDetail {
  const of = row.tags[SHADOW_OF] ?? '';
  return {
    ...viewRow(row),
    cell: row.cell,
    dialect_in: row.dialect_in,
    upstream_model: row.upstream_model,
    price_version_id: row.price_version_id,
    upstream_ttft_ms: row.upstream_ttft_ms,
    gw_overhead_ms: row.gw_overhead_ms,
    bytes_in: row.bytes_in,
    bytes_out: row.bytes_out,
    tool_calls: row.tool_calls,
    has_images: row.has_images,
    has_tools: row.has_tools,
    has_schema: row.has_schema,
    cache_write_tokens: row.cache_write_tokens,
    reasoning_tokens: row.reasoning_tokens,
    tags: { ...row.tags },
    shadow_of: isRequestId(of) ? of : null,
    shadows: [...shadows],
    user_agent: row.user_agent,
    client_ip_prefix: row.client_ip_prefix,
    replays: row.replays,
    route: row.route_trace,
    route_trace: row.route_trace === null ? null : routeLine(row.route_trace),
    warnings: [...row.warnings],
    timing: {
      ttft_ms: row.ttft_ms,
      duration_ms: row.duration_ms,
      gw_overhead_ms: row.gw_overhead_ms,
      upstream_ttft_ms: row.upstream_ttft_ms,
    },
    usage: {
      source: row.usage_source,
      normalised: {
        input_tokens: row.input_tokens,
        output_tokens: row.output_tokens,
        cache_read_tokens: row.cache_read_tokens,
        cache_write_tokens: row.cache_write_tokens,
        reasoning_tokens: row.reasoning_tokens,
      },
    },
    attempt_rows: attempts.map((attempt) => ({ ...attempt, ts: rowTime(attempt.ts.getTime()) })),
    payload_state,
  };
}
