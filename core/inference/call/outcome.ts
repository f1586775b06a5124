// From a provider's fault to what the caller is told (decisions 4.6 table 2, 4.8 rows 5 to 11).
import type { Endpoint } from '../../catalog/index.ts';
import { type ErrorCode, type JsonObject, nowMs, ServiceError } from '../../kernel/index.ts';
import type { FaultClass, StreamFault, UpstreamFault } from '../canonical/types.ts';
import type { AttemptRecord, CallDeps } from './types.ts';

const codeOf: Record<FaultClass, ErrorCode> = {
  context_length: 'context_length_exceeded',
  content_filter: 'content_filtered',
  client: 'invalid_request',
  auth: 'upstream_error',
  quota: 'upstream_error',
  model_missing: 'upstream_error',
  server: 'upstream_error',
  too_large: 'request_too_large',
  rate_limit: 'upstream_rate_limited',
  overloaded: 'upstream_overloaded',
  network: 'upstream_error',
  timeout: 'upstream_timeout',
  protocol: 'upstream_invalid_response',
  stream: 'upstream_error',
  truncated: 'upstream_incomplete',
  idle: 'upstream_timeout',
};

const sentenceOf: Partial<Record<ErrorCode, string>> = {
  upstream_error: 'The provider failed to answer. Nothing was charged; try again.',
  upstream_rate_limited:
    'Every endpoint of this model is throttled at the moment. Try again after the time given.',
  upstream_overloaded: 'The provider is overloaded. Nothing was charged; try again shortly.',
  upstream_timeout: 'The provider did not answer in time. Nothing was charged; try again.',
  upstream_invalid_response:
    'The provider answered in a form that cannot be read. Nothing was charged; try again.',
  upstream_incomplete: 'The answer was cut off by the provider. Nothing was charged; try again.',
};

/** What a caller is told whose call the process could not finish before its end (4.8 row 20). */
export const RESTARTING: StreamFault = {
  code: 'overloaded',
  message: 'The gateway is restarting. Nothing was charged.',
};

/** What a caller is told whose call, or whose wait for the next event, took longer than allowed (4.8 row 26). */
export const TIME_IS_UP: StreamFault = {
  code: 'deadline_exceeded',
  message: 'The time allowed for this call is used up.',
};

/** What a caller is told whose running answer the gateway ended itself (4.8 rows 17 and 18). */
export const CUT = {
  credit: {
    code: 'credit_limit_reached',
    message: 'The balance allows no longer answer; it was ended here.',
  },
  cap: { code: 'cap_enforced', message: 'The provider passed the output cap; the answer was ended here.' },
} as const;

/** Classes whose own text helps the caller and tells nothing of our accounts. */
const told: ReadonlySet<FaultClass> = new Set(['client', 'context_length', 'content_filter', 'too_large']);

const SECRETS = [
  /\b(?:sk|pk|rk|svc|gsk|xai|key|org|proj|req|acct|user)[-_][A-Za-z0-9_-]{6,}/g,
  /\bhttps?:\/\/[^\s"'<>)]+/g,
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi,
];

/** A provider's text with keys, account ids, addresses and request ids replaced; at most 2,000 characters. */
export function redact(text: string): string {
  let clean = text;
  for (const pattern of SECRETS) clean = clean.replace(pattern, '[redacted]');
  return clean.length > 2_000 ? `${clean.slice(0, 2_000)}…` : clean;
}

/** What `fault` would have been as an HTTP refusal: of an error inside a 200 the class that it tells of. */
export function effectiveClass(fault: UpstreamFault): FaultClass {
  return fault.class === 'stream' && fault.inner !== undefined ? fault.inner : fault.class;
}

/**
 * Whether another endpoint may be tried after `fault`; `raw` is the lane of the failed attempt. A client fault in
 * the canonical lane gets one more endpoint, because our translation may be at fault.
 */
export function mayFailOver(fault: UpstreamFault, raw: boolean, clientFaultsBefore: number): boolean {
  switch (effectiveClass(fault)) {
    case 'client':
      return !raw && clientFaultsBefore === 0;
    case 'content_filter':
    case 'context_length':
    case 'too_large':
      return false;
    default:
      return true;
  }
}

/** The refusal that ends a call whose attempts all failed; `faults` in the order of attempts, at least one. */
export function refusalOf(
  faults: readonly { fault: UpstreamFault; endpoint: Endpoint }[],
  attempts: readonly AttemptRecord[],
): ServiceError {
  const last = faults[faults.length - 1] as { fault: UpstreamFault; endpoint: Endpoint };
  // Throttling is told only when it is the whole truth: one other failure means that waiting may not help.
  const throttled = faults.every(({ fault }) => effectiveClass(fault) === 'rate_limit');
  const lastOther = faults.findLast(({ fault }) => effectiveClass(fault) !== 'rate_limit');
  const { fault, endpoint } = throttled || lastOther === undefined ? last : lastOther;
  const kind = effectiveClass(fault);
  const code = codeOf[kind];
  const details: JsonObject = { upstream: upstreamDetails(fault, endpoint) };
  if (attempts.length > 1) {
    details['attempts'] = attempts.map((attempt) => ({
      provider: attempt.endpoint.provider,
      outcome: attempt.error_class === '' ? attempt.outcome : attempt.error_class,
      http_status: attempt.http_status,
    }));
  }
  const waits = faults
    .map((item) => item.fault.retry_after_ms)
    .filter((ms): ms is number => ms !== undefined);
  const message = told.has(kind)
    ? redact(fault.message)
    : (sentenceOf[code] ?? 'The provider failed to answer.');
  return new ServiceError(code, message || 'The provider refused the request.', {
    details,
    ...(told.has(kind) && fault.param !== undefined ? { param: fault.param } : {}),
    ...(code === 'upstream_rate_limited'
      ? { retry_after_ms: waits.length > 0 ? Math.min(...waits) : 5_000 }
      : {}),
  });
}

function upstreamDetails(fault: UpstreamFault, endpoint: Endpoint): JsonObject {
  const details: JsonObject = { provider: endpoint.provider, status: fault.status };
  if (told.has(effectiveClass(fault))) {
    if (fault.code !== undefined) details['code'] = redact(fault.code);
    if (fault.type !== undefined) details['type'] = redact(fault.type);
  }
  return details;
}

/** The in-stream error after content has gone out; there is no failover any more (4.8 rows 9 to 11). */
export function streamFaultOf(fault: UpstreamFault): StreamFault {
  const code = codeOf[effectiveClass(fault)];
  return {
    code,
    message: sentenceOf[code] ?? 'The provider ended the answer with an error. Nothing was charged.',
  };
}

/** Word of the attempt row for `fault`. */
export function attemptOutcome(fault: UpstreamFault): 'error' | 'timeout' {
  return fault.class === 'timeout' || fault.class === 'idle' ? 'timeout' : 'error';
}

/** Counts `fault` against the endpoint's health and lets a refused or throttled provider key rest. */
export function blame(
  deps: CallDeps,
  endpoint: Endpoint,
  credential: string | null,
  fault: UpstreamFault,
): void {
  const kind = effectiveClass(fault);
  deps.health.failed(endpoint.id, kind, nowMs());
  if (credential !== null) deps.credentials.report(credential, kind, fault.retry_after_ms, nowMs());
}
