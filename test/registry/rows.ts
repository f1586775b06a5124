// Request rows for tests.
import type { RequestRow } from '@svc/core/analytics/index.ts';
import { type Id, newRequestId } from '@svc/core/kernel/index.ts';
import type { Tenant } from './harness.ts';

/** A row of a call that went well, with whatever a test wants otherwise. */
export function rowOf(tenant: Tenant, other: Partial<RequestRow> = {}): RequestRow {
  return {
    request_id: newRequestId(),
    org_id: tenant.org.id,
    environment: 'live',
    project_id: tenant.live.id,
    key_id: tenant.key_id,
    model: 'acme/fast-1',
    provider: 'acme',
    endpoint_id: 'ep_4Q3P2N1M0K9J01KACZ3V8S6T5R',
    region: 'eu-west',
    status: 'ok',
    http_status: 200,
    error_code: '',
    stop_reason: 'end_turn',
    attempts: 1,
    input_tokens: 21,
    output_tokens: 120,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    usage_source: 'provider',
    cost_micro: 1_253,
    ttft_ms: 210.5,
    duration_ms: 1_430.25,
    upstream_ttft_ms: 208,
    gw_overhead_ms: 2.5,
    stream: true,
    byok: false,
    zdr: false,
    logged: false,
    app_id: '',
    user_hash: '',
    session_id: '',
    cell: 'local',
    dialect_in: 'chat',
    upstream_model: 'fast-1',
    price_version_id: '',
    bytes_in: 412,
    bytes_out: 6_120,
    tool_calls: 0,
    has_images: false,
    has_tools: false,
    has_schema: false,
    tags: {},
    user_agent: 'test',
    client_ip_prefix: '203.0.113.0/24',
    route_trace: null,
    warnings: [],
    attempt_rows: [
      {
        attempt: 1,
        ts_ms: Date.now(),
        provider: 'acme',
        endpoint_id: 'ep_4Q3P2N1M0K9J01KACZ3V8S6T5R',
        pool_id: 'main',
        key_hint: '',
        outcome: 'ok',
        http_status: 200,
        error_class: '',
        ttft_ms: 208,
        duration_ms: 1_428,
        output_tokens: 120,
      },
    ],
    ...other,
  };
}

/** What a row of a canary says: on which side the call was, where its first attempt went, and how that ended. */
export function canaryRow(
  tenant: Tenant,
  call: {
    readonly policy: string;
    readonly version: number;
    /** On trial. */
    readonly endpoint_id: string;
    readonly arm: 'canary' | 'control';
    readonly outcome: 'ok' | 'error' | 'cancelled';
    /** Where the first attempt went; absent: where the side asks. */
    readonly at?: string;
  },
): RequestRow {
  const { policy, version, endpoint_id, arm, outcome } = call;
  const row = rowOf(tenant);
  const [attempt] = row.attempt_rows;
  if (attempt === undefined) throw new Error('a row without an attempt');
  const at = (call.at ?? (arm === 'canary' ? endpoint_id : attempt.endpoint_id)) as Id<'endpoint'>;
  return {
    ...row,
    route_trace: {
      ...{ policy, version, rule: '-', sort: 'balanced', affinity: '-', catalog: 'v', candidates: 2 },
      ...{ plan: [], excluded: [], excluded_hidden: 0, attempts: [], winner: null, reserve_micro: 0 },
      canary: { endpoint_id, arm },
    },
    attempt_rows: [{ ...attempt, endpoint_id: at, outcome }],
  };
}

/** What a row of an experiment says: the arm of the call, and how it went. */
export function armRow(
  tenant: Tenant,
  call: {
    readonly policy: string;
    readonly version: number;
    readonly experiment: string;
    readonly arm: 'control' | 'candidate';
    readonly bucket: number;
  },
  other: Partial<RequestRow> = {},
): RequestRow {
  const { policy, version, experiment: name, arm, bucket } = call;
  return rowOf(tenant, {
    route_trace: {
      ...{ policy, version, rule: '-', sort: 'balanced', affinity: '-', catalog: 'v', candidates: 2 },
      ...{ plan: [], excluded: [], excluded_hidden: 0, attempts: [], winner: null, reserve_micro: 0 },
      experiment: { name, arm, bucket },
    },
    ...other,
  });
}

/** The row of a copy that was made for a shadow, of a call at `call.primary_endpoint`; `over` says how both went. */
export function shadowRow(
  tenant: Tenant,
  call: { readonly name: string; readonly shadow_endpoint: string; readonly primary_endpoint: string },
  over: Partial<NonNullable<RequestRow['shadow']>> = {},
  other: Partial<RequestRow> = {},
): RequestRow {
  return rowOf(tenant, {
    ...other,
    shadow: {
      ...call,
      bill: 'org',
      ...{ version: 1, stop_mismatch: false, primary_cost_micro: 100, shadow_cost_micro: 100 },
      ...{ primary_ttft_ms: 200, shadow_ttft_ms: 200 },
      ...over,
    },
  });
}
