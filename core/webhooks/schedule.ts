// What follows from an attempt, as data and pure functions: when the next one is due, and when an endpoint is disabled
// (docs/webhooks.md#answering).
import type { EgressFault } from '../egress/index.ts';

/** Seconds after the failure of attempt 1, 2, ...: ten attempts in about three days. */
export const RETRY_SECONDS = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400] as const;
export const ATTEMPTS_MAX = RETRY_SECONDS.length + 1;
/** Random shift in either direction, so that deliveries that failed together are not retried together. */
const JITTER = 0.1;
const RETRY_AFTER_MS_MAX = 24 * 3_600_000;
const FAILING_MS_MAX = 5 * 24 * 3_600_000;
const FAILURES_MIN = 10;

/** One attempt as its log shows it. */
export interface AttemptResult {
  /** HTTP status, 0 when there was none. */
  readonly code: number;
  readonly latency_ms: number;
  readonly error: '' | EgressFault | 'redirect';
  /** What `Retry-After` asked for; null when it said nothing usable. */
  readonly retry_after_ms: number | null;
}

/** Whether the receiver took the event: any 2xx. */
function isTaken(result: AttemptResult): boolean {
  return result.error === '' && result.code >= 200 && result.code < 300;
}

/**
 * Milliseconds that `header` of an answer with `status` asks to wait: of 429 and 503 alone, seconds or a date, at most
 * 24 hours; null when it asks for nothing.
 */
export function readRetryAfter(status: number, header: unknown, now_ms: number): number | null {
  if ((status !== 429 && status !== 503) || typeof header !== 'string') return null;
  const text = header.trim();
  const wait_ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now_ms;
  return wait_ms >= 0 && wait_ms <= RETRY_AFTER_MS_MAX ? wait_ms : null;
}

/** Milliseconds from the failure of attempt `attempt` (from 1) to the next; `unit` is uniform in [0, 1). */
export function retryDelayMs(attempt: number, unit: number, retry_after_ms: number | null): number {
  const seconds = RETRY_SECONDS[Math.min(attempt, RETRY_SECONDS.length) - 1] as number;
  const planned_ms = Math.round(seconds * 1_000 * (1 - JITTER + 2 * JITTER * unit));
  return Math.max(planned_ms, retry_after_ms ?? 0);
}

type DeliveryVerdict =
  | { readonly status: 'delivered' }
  | { readonly status: 'queued'; readonly delay_ms: number }
  | { readonly status: 'failed' }
  | { readonly status: 'dropped' };

/** The state of a delivery after its attempt `attempt`; `is_active` says whether its endpoint is still active. */
export function judgeDelivery(
  result: AttemptResult,
  delivery: { readonly attempt: number; readonly attempts_max: number; readonly is_active: boolean },
  unit: number,
): DeliveryVerdict {
  if (isTaken(result)) return { status: 'delivered' };
  if (delivery.attempt >= delivery.attempts_max) return { status: 'failed' };
  if (!delivery.is_active) return { status: 'dropped' };
  return { status: 'queued', delay_ms: retryDelayMs(delivery.attempt, unit, result.retry_after_ms) };
}

export interface EndpointHealth {
  readonly failing_since: Date | null;
  readonly failed_attempts: number;
}

/** The health of an endpoint after an attempt at `at`, and why it is to be disabled; null: it is not. */
export function judgeEndpoint(
  result: AttemptResult,
  before: EndpointHealth,
  at: Date,
): EndpointHealth & { readonly disable: 'gone' | 'failing' | null } {
  if (isTaken(result)) return { failing_since: null, failed_attempts: 0, disable: null };
  const failing_since = before.failing_since ?? at;
  const failed_attempts = before.failed_attempts + 1;
  const has_failed_long = at.getTime() - failing_since.getTime() >= FAILING_MS_MAX;
  const gone = result.code === 410 && result.error === '';
  const failing = has_failed_long && failed_attempts >= FAILURES_MIN ? 'failing' : null;
  const disable = gone ? 'gone' : failing;
  return { failing_since, failed_attempts, disable };
}
