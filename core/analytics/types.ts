// One row per call and one per attempt. How a row shows the end of a call is in docs/outcomes.md.
import type { Environment, Id, RequestId } from '../kernel/index.ts';
import type { Route } from '../routing/index.ts';

export const rowStatuses = ['ok', 'error', 'cancelled', 'rejected'] as const;
export type RowStatus = (typeof rowStatuses)[number];
export const attemptOutcomes = ['ok', 'error', 'timeout', 'cancelled', 'hedge_lost'] as const;
export type AttemptOutcome = (typeof attemptOutcomes)[number];

export interface AttemptRow {
  /** From 1. */
  readonly attempt: number;
  /** Start, milliseconds since the epoch. */
  readonly ts_ms: number;
  readonly provider: string;
  readonly endpoint_id: string;
  /** `byok` or the pool's name. */
  readonly pool_id: string;
  /** Of the caller's own provider key only, else "". */
  readonly key_hint: string;
  readonly outcome: AttemptOutcome;
  /** 0 when there was no HTTP answer. */
  readonly http_status: number;
  readonly error_class: string;
  readonly ttft_ms: number | null;
  readonly duration_ms: number | null;
  readonly output_tokens: number;
}

/** A call as the call path reports it at its end; `ts` is the time inside `request_id`. */
export interface RequestRow {
  readonly request_id: RequestId;
  readonly org_id: Id<'org'>;
  readonly environment: Environment;
  readonly project_id: Id<'project'>;
  readonly key_id: Id<'key'>;
  readonly model: string;
  /** "" where no attempt was made; the same for endpoint, region and upstream model. */
  readonly provider: string;
  readonly endpoint_id: string;
  readonly region: string;
  readonly status: RowStatus;
  readonly http_status: number;
  readonly error_code: string;
  readonly stop_reason: string;
  /** Number of attempts; the rows are in `attempt_rows`. */
  readonly attempts: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly reasoning_tokens: number;
  /** provider, estimate, or "" when nothing was metered. */
  readonly usage_source: string;
  readonly cost_micro: number;
  readonly ttft_ms: number | null;
  readonly duration_ms: number | null;
  readonly upstream_ttft_ms: number | null;
  readonly gw_overhead_ms: number | null;
  readonly stream: boolean;
  readonly byok: boolean;
  readonly zdr: boolean;
  readonly logged: boolean;
  readonly app_id: string;
  readonly user_hash: string;
  /** As the caller sent it: of a conversation or of a run of an agent; "" without one. An erasure of the end user empties it. */
  readonly session_id: string;
  readonly cell: string;
  readonly dialect_in: string;
  readonly upstream_model: string;
  readonly price_version_id: string;
  readonly bytes_in: number;
  readonly bytes_out: number;
  readonly tool_calls: number;
  readonly has_images: boolean;
  readonly has_tools: boolean;
  readonly has_schema: boolean;
  readonly tags: Readonly<Record<string, string>>;
  readonly user_agent: string;
  /** Network only: IPv4 /24, IPv6 /48. */
  readonly client_ip_prefix: string;
  /** The route as structure (docs/routing.md#the-trace), or null where nothing was decided. */
  readonly route_trace: Route | null;
  readonly warnings: readonly unknown[];
  readonly attempt_rows: readonly AttemptRow[];
  /** Present: the call was a copy of another one, and what it showed is counted. */
  readonly shadow?: ShadowRun;
}

/** A copy of a call that a policy sent to another endpoint, beside the call itself. */
interface ShadowRun {
  /** Of the policy. */
  readonly name: string;
  readonly version: number;
  readonly shadow_endpoint: string;
  readonly primary_endpoint: string;
  readonly bill: 'org' | 'platform';
  /** They ended for different reasons. */
  readonly stop_mismatch: boolean;
  readonly primary_cost_micro: number;
  readonly shadow_cost_micro: number;
  readonly primary_ttft_ms: number | null;
  readonly shadow_ttft_ms: number | null;
}

/** A row as read back. */
export type StoredRow = Omit<RequestRow, 'attempt_rows' | 'shadow'> & {
  readonly ts: Date;
  /** How often its answer was given again to the same Idempotency-Key. */
  readonly replays: number;
};
export type StoredAttempt = Omit<AttemptRow, 'ts_ms'> & { readonly ts: Date };

/** The writer of request rows of one process. */
export interface RequestLog {
  /** Takes a row; never waits and never fails a call. */
  write(row: RequestRow): void;
  /** Counts a replay of the answer of `request_id`, whose row may not be written yet. Never waits. */
  replayed(request_id: RequestId): void;
  /** Whole seconds between now and the oldest row of this process that cannot be read yet; 0 when none. */
  lag_s(): number;
  /** Rows dropped because the queue was full and the disk refused them. They can be rebuilt from metering. */
  readonly lost: number;
  /** Resolves when what was queued at the call is readable or spooled. */
  flush(): Promise<void>;
  /** Writes or spools what is queued, then ends. */
  close(): Promise<void>;
}

declare module '../kernel/operation/operation.ts' {
  interface Services {
    readonly request_log: RequestLog;
  }
}
