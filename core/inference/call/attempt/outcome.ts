// Turns a provider's fault into the error that the caller gets (docs/outcomes.md#faults-of-a-provider).
import type { Endpoint } from '../../../catalog/index.ts';
import { type ErrorCode, type JsonObject, ServiceError } from '../../../kernel/index.ts';
import type { Viewer } from '../../../routing/index.ts';
import type { FaultClass, StreamFault, UpstreamFault } from '../../canonical/types.ts';
import { redact } from '../../upstream/said.ts';
import type { AttemptRecord, CallDeps } from '../types.ts';
import type { Attempt } from './attempt.ts';
import type { AttemptTerms } from './terms.ts';

/** The error code of a call whose last fault has this class. */
export const codeOf: Readonly<Record<FaultClass, ErrorCode>> = {
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

/** The fault when the process stops before the call has finished (docs/outcomes.md#gateway-stops). */
export const RESTARTING: StreamFault = {
  code: 'overloaded',
  message: 'The gateway is restarting. Nothing was charged.',
};

/**
 * The fault when the call, or the wait for its next event, took longer than allowed (docs/outcomes.md#time-is-up).
 */
export const TIME_IS_UP: StreamFault = {
  code: 'deadline_exceeded',
  message: 'The time allowed for this call is used up.',
};

/** The fault when another call has the Idempotency-Key by the time that this one ends (docs/outcomes.md#gateway-stood-still). */
export const REPLACED: StreamFault = {
  code: 'idempotency_in_progress',
  message:
    'The gateway stood still for so long that another call has this Idempotency-Key: repeat the request for its answer. ' +
    'Nothing was charged for this one.',
  retry_after_ms: 1_000,
};

/** The fault when a running answer met a defect of ours. */
export const GATEWAY_FAILED: StreamFault = {
  code: 'internal',
  message: 'The gateway failed. Nothing was charged.',
};

/** The faults when the gateway itself ended a running answer (docs/outcomes.md#money-ends). */
export const CUT = {
  credit: {
    code: 'credit_limit_reached',
    message: 'The balance does not pay for a longer answer, so it was ended here.',
  },
  budget: {
    code: 'credit_limit_reached',
    message:
      'A budget of the key, its project or the run does not allow a longer answer, so it was ended here.',
  },
  cap: {
    code: 'cap_enforced',
    message: 'The provider exceeded the output cap, so the answer was ended here.',
  },
} as const;

/** Classes whose provider text helps the caller and reveals nothing about our accounts. */
const shown_classes: ReadonlySet<FaultClass> = new Set([
  'client',
  'context_length',
  'content_filter',
  'too_large',
]);

/** The class that `fault` would have had as an HTTP error; for an error within a 200, the class that it reports. */
export function effectiveClass(fault: UpstreamFault): FaultClass {
  return fault.class === 'stream' && fault.inner !== undefined ? fault.inner : fault.class;
}

/** Whether `fault` concerns the request itself, whichever endpoint and key it is sent to. */
export function isOfRequest(fault: UpstreamFault): boolean {
  return shown_classes.has(effectiveClass(fault));
}

/** `fault` as it may be shown: for a call with an own key, without that key, which callers need not know. */
function withoutKey(
  deps: Pick<CallDeps, 'own_keys'>,
  endpoint: Endpoint,
  fault: UpstreamFault,
): UpstreamFault {
  if (endpoint.own_key === undefined) return fault;
  const hide = (text: string) => deps.own_keys.hide(endpoint, text);
  return {
    ...fault,
    message: hide(fault.message),
    ...(fault.code === undefined ? {} : { code: hide(fault.code) }),
    ...(fault.type === undefined ? {} : { type: hide(fault.type) }),
  };
}

/** Classes that we determined ourselves; there is no text from the provider. */
const found: ReadonlySet<FaultClass> = new Set(['network', 'timeout', 'idle', 'protocol', 'truncated']);

/** Whether `fault` is the provider's message to the caller's own account. */
function isOwnFault(fault: UpstreamFault, { own_key }: Endpoint): boolean {
  return own_key !== undefined && !found.has(effectiveClass(fault));
}

/**
 * The refusal that ends a call whose attempts have all failed; `faults` in the order of the attempts, at least one.
 */
export function refusalOf(
  deps: Pick<CallDeps, 'own_keys'>,
  faults: readonly { fault: UpstreamFault; endpoint: Endpoint }[],
  attempts: readonly AttemptRecord[],
): ServiceError {
  const last = faults[faults.length - 1] as { fault: UpstreamFault; endpoint: Endpoint };
  // Throttling is reported only when every attempt was throttled; otherwise waiting may not help.
  const throttled = faults.every(({ fault }) => effectiveClass(fault) === 'rate_limit');
  const lastOther = faults.findLast(({ fault }) => effectiveClass(fault) !== 'rate_limit');
  const { fault: said, endpoint } = throttled || lastOther === undefined ? last : lastOther;
  const fault = withoutKey(deps, endpoint, said);
  const kind = effectiveClass(fault);
  const own = isOwnFault(fault, endpoint);
  const code = own && kind === 'auth' ? 'byok_key_rejected' : codeOf[kind];
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
  const shown = own || shown_classes.has(kind);
  const message = shown ? redact(fault.message) : (sentenceOf[code] ?? 'The provider failed to answer.');
  return new ServiceError(code, message || 'The provider refused the request.', {
    details,
    ...(shown && fault.param !== undefined ? { param: fault.param } : {}),
    ...(code === 'upstream_rate_limited'
      ? { retry_after_ms: waits.length > 0 ? Math.min(...waits) : 5_000 }
      : {}),
  });
}

function upstreamDetails(fault: UpstreamFault, endpoint: Endpoint): JsonObject {
  const details: JsonObject = { provider: endpoint.provider, status: fault.status };
  if (isOwnFault(fault, endpoint) || shown_classes.has(effectiveClass(fault))) {
    if (fault.code !== undefined) details['code'] = redact(fault.code);
    if (fault.type !== undefined) details['type'] = redact(fault.type);
  }
  return details;
}

/**
 * The error event after content has been sent; failover is no longer possible
 * (docs/outcomes.md#provider-fault-after-content).
 */
export function streamFaultOf(
  deps: Pick<CallDeps, 'own_keys'>,
  said: UpstreamFault,
  endpoint: Endpoint,
): StreamFault {
  const fault = withoutKey(deps, endpoint, said);
  const code = codeOf[effectiveClass(fault)];
  const own = isOwnFault(fault, endpoint) ? redact(fault.message) : '';
  return {
    code,
    message: own || (sentenceOf[code] ?? 'The provider ended the answer with an error. Nothing was charged.'),
  };
}

/** The outcome of the attempt row for `fault`. */
export function attemptOutcome(fault: UpstreamFault): 'error' | 'timeout' {
  return fault.class === 'timeout' || fault.class === 'idle' ? 'timeout' : 'error';
}

/**
 * Whether a limit that the caller lowered ended `attempt` after the provider had received it
 * (docs/outcomes.md#chosen-time-is-up).
 */
export function isChosenLimit(
  attempt: Pick<Attempt, 'expired' | 'sent'>,
  fault: UpstreamFault,
  { chosen }: Pick<AttemptTerms, 'chosen'>,
): boolean {
  return attempt.expired && attempt.sent && (fault.class === 'idle' ? chosen.idle : chosen.first_event);
}

/** Classes that may be caused by the state of the account that the key belongs to. */
const ofAccount: ReadonlySet<FaultClass> = new Set([
  'auth',
  'quota',
  'rate_limit',
  'overloaded',
  'model_missing',
]);

/**
 * Counts `fault` against the endpoint's health, and lets a refused or throttled provider key rest. An overloaded
 * endpoint that gives a time rests for that time. None of this applies to the sandbox, which fails on request: one
 * tenant's experiments must not affect others.
 */
export function blame(
  deps: CallDeps,
  viewer: Viewer,
  met: {
    readonly endpoint: Endpoint;
    readonly credential: string | null;
    readonly fault: UpstreamFault;
  },
): void {
  const { endpoint, credential, fault } = met;
  if (endpoint.wire.in_process) return;
  const kind = effectiveClass(fault);
  const now = deps.clock.nowMs();
  if (endpoint.own_key !== undefined) {
    deps.own_keys.report(endpoint, kind, fault.retry_after_ms, now);
    // A fault of one account says nothing about the endpoint for all others.
    if (!ofAccount.has(kind)) deps.health.failed(endpoint.id, viewer, kind, now);
    return;
  }
  deps.health.failed(endpoint.id, viewer, kind, now);
  if (kind === 'model_missing' && deps.health.missing(endpoint.id, now)) {
    const { id: endpoint_id, provider, model_id, upstream_model } = endpoint;
    deps.log.warn(
      { alert: 'endpoint_model_missing', endpoint_id, provider, model: model_id, upstream_model },
      'the provider does not know the model of an endpoint',
    );
  }
  if (kind === 'overloaded' && fault.retry_after_ms !== undefined) {
    deps.health.rest(endpoint.id, fault.retry_after_ms, now);
  }
  if (credential !== null) {
    deps.credentials.report(credential, kind, fault.retry_after_ms, now, endpoint.id);
  }
}
