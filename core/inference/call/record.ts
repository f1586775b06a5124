import { type Route, routeOf, type Viewer } from '../../routing/index.ts';
import type { Warning } from '../canonical/types.ts';
import type { AttemptRecord, CallDeps, CallRecord, Incoming } from './types.ts';

/** What a record is created from; a request that is refused early has no place under the limits. */
type Beginning = Omit<Incoming, 'place' | 'in_slices' | 'members' | 'top'> & {
  readonly place: CallRecord['place'];
};

const USER_AGENT_MAX = 256;

/** A new record; `received_at_ms` is the time of admission. */
export function newRecord(incoming: Beginning, received_at_ms: number): CallRecord {
  return {
    request_id: incoming.request_id,
    grant: incoming.grant,
    dialect_in: incoming.dialect.name,
    operation: incoming.dialect.operation,
    received_at_ms,
    traceparent: incoming.headers['traceparent'] ?? '',
    place: incoming.place,
    status: 'error',
    http_status: 0,
    error_code: '',
    model: '',
    endpoint: null,
    stop: null,
    usage: null,
    cost: null,
    charged_micro_usd: 0,
    stream: false,
    asked: {},
    zdr: incoming.grant.data_policy.zdr,
    logged: false,
    app: '',
    user_hash: '',
    session_id: '',
    tags: {},
    user_agent: (incoming.headers['user-agent'] ?? '').slice(0, USER_AGENT_MAX),
    client_ip_prefix: incoming.client_ip_prefix,
    bytes_in: incoming.body.length,
    bytes_out: 0,
    tool_calls: 0,
    has_images: false,
    has_tools: false,
    has_schema: false,
    ttft_ms: null,
    upstream_ttft_ms: null,
    duration_ms: 0,
    gw_overhead_ms: 0,
    decided: null,
    left: null,
    insured: false,
    warnings: redactionWarnings(incoming),
    attempts: [],
    ...(incoming.shadow === undefined ? {} : { shadow: incoming.shadow }),
  };
}

/** Whose view of endpoint health applies: that of the call's organization, for the API it used. */
export function viewerOf({ grant, dialect_in }: Pick<CallRecord, 'grant' | 'dialect_in'>): Viewer {
  return { org_id: grant.org_id, path: dialect_in };
}

/** Warnings about redaction: nothing is removed silently. */
export function redactionWarnings({ redacted }: Pick<Incoming, 'redacted'>): Warning[] {
  const warnings: Warning[] = [];
  if (redacted === undefined) return warnings;
  const { redactions, unscanned } = redacted;
  if (redactions > 0) {
    const message = `The organization's data policy redacted ${redactions} places of the request.`;
    warnings.push({ code: 'content_redacted', message });
  }
  if (unscanned > 0) {
    const message = `${unscanned} characters behind the redaction budget were dropped from the request.`;
    warnings.push({ code: 'content_unscanned', message });
  }
  return warnings;
}

/**
 * Adds a warning about the call as a whole. After twenty others it is put first, because only twenty warnings are
 * shown and a long list of losses would hide it.
 */
export function warn(record: CallRecord, code: string, message: string): void {
  const { warnings } = record;
  if (warnings.length < 20) warnings.push({ code, message });
  else warnings.unshift({ code, message });
}

/** Replaces the losses of the previous attempt's endpoint by those of the next one. */
export function tellLost(record: CallRecord, now: readonly Warning[]): void {
  const { lost = [], warnings } = record;
  const before = new Set(lost);
  record.warnings = [...(before.size === 0 ? warnings : warnings.filter((one) => !before.has(one))), ...now];
  record.lost = now;
}

/**
 * Gives the call's place under the limits back, and corrects its token count to what was used (nothing when nothing
 * was).
 */
export function leavePlace({ place, usage }: CallRecord): void {
  if (place === null) return;
  place.settle(usage === null ? 0 : usage.input_tokens + usage.output_tokens);
  place.leave();
}

/** Records how the call ended, as its row will say it. From now on it counts against no limit. */
export function endRecord(
  record: CallRecord,
  status: CallRecord['status'],
  http_status: number,
  error_code: string,
): void {
  record.status = status;
  record.http_status = http_status;
  record.error_code = error_code;
  leavePlace(record);
}

/**
 * Drops the last attempt: nothing of it reached a provider, so it does not count
 * (docs/outcomes.md#left-before-anything-was-sent).
 */
export function forgetAttempt(record: CallRecord): void {
  record.attempts.pop();
  record.endpoint = record.attempts.at(-1)?.endpoint ?? null;
}

/**
 * Sets the timings of an ended call that took `total_ms`: what the attempts did not take is the gateway's overhead.
 */
export function timeTaken(record: CallRecord, total_ms: number): void {
  record.duration_ms = Math.round(total_ms);
  record.upstream_ttft_ms = record.attempts.at(-1)?.ttft_ms ?? null;
  const upstream = record.attempts.reduce((sum, attempt) => sum + (attempt.duration_ms ?? 0), 0);
  record.gw_overhead_ms = Math.max(0, record.duration_ms - upstream);
}

/** The route of the call so far; null when none was decided. */
export function routeSoFar(record: Pick<CallRecord, 'decided' | 'attempts' | 'left'>): Route | null {
  const { decided, attempts, left } = record;
  if (decided === null) return null;
  const ended = attempts.filter((attempt) => attempt.outcome !== null);
  return routeOf(decided, {
    attempts: ended.map((attempt) => ({
      endpoint_id: attempt.endpoint.id,
      outcome: attempt.error_class || (attempt.outcome ?? ''),
      http_status: attempt.http_status,
      ms: Math.round(attempt.ttft_ms ?? attempt.duration_ms ?? 0),
    })),
    winner: attempts.find((attempt) => attempt.outcome === 'ok')?.endpoint.id ?? null,
    left,
  });
}

/**
 * Marks the attempt as started: its time counts from sending, not from preparing. At a half-open circuit it is the
 * probe, unless it uses the caller's own key, whose result may say nothing about the endpoint for others.
 */
export function startNow(attempt: AttemptRecord, viewer: Viewer, health: CallDeps['health']): void {
  attempt.started_at_ms = attempt.clock.nowMs();
  attempt.started = attempt.clock.monotonicMs();
  const { id, own_key } = attempt.endpoint;
  if (own_key !== undefined) return;
  const { started_at_ms } = attempt;
  if (health.seenBy(viewer).circuit(id, started_at_ms) === 'half_open')
    health.probe(id, viewer, started_at_ms);
}

/** Completes an attempt's record with its outcome and duration. */
export function endAttempt(
  record: AttemptRecord,
  outcome: AttemptRecord['outcome'],
  error_class: AttemptRecord['error_class'],
): void {
  record.outcome = outcome;
  record.error_class = error_class;
  record.duration_ms = Math.round(record.clock.monotonicMs() - record.started);
}
