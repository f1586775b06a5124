// Classifies Anthropic's error bodies and error events (docs/outcomes.md#faults-of-a-provider).
import { isObject } from '../../../../kernel/index.ts';
import type { FaultClass, UpstreamFault } from '../../../canonical/types.ts';
import { classOfStatus, generalClass } from '../../../upstream/status.ts';

const MESSAGE_MAX = 2_000;

const byType: Record<string, FaultClass> = {
  invalid_request_error: 'client',
  authentication_error: 'auth',
  permission_error: 'auth',
  billing_error: 'quota',
  not_found_error: 'model_missing',
  request_too_large: 'too_large',
  rate_limit_error: 'rate_limit',
  api_error: 'server',
  timeout_error: 'server',
  overloaded_error: 'overloaded',
};

const CONTEXT =
  /prompt is too long|exceeds? (?:the )?(?:model's )?(?:maximum )?context|context (?:window|limit|length)/i;
const CREDIT = /^your credit balance is too low|^you have reached your specified .{0,20}usage limits/i;
// A refusal of an unknown field quotes the field's name, which the caller chose: it must not be taken for an empty
// account.
const QUOTED = /extra inputs are not permitted/i;
const FILTER = /content filtering policy|blocked by content filter/i;

function empty(message: string): boolean {
  return CREDIT.test(message) && !QUOTED.test(message);
}

interface Reported {
  message: string;
  type?: string;
  code?: string;
}

function reported(body: unknown): Reported {
  const error = isObject(body) ? body['error'] : null;
  if (!isObject(error)) return { message: '' };
  const details = error['details'];
  const code = isObject(details) ? details['error_code'] : undefined;
  return {
    message: typeof error['message'] === 'string' ? error['message'].slice(0, MESSAGE_MAX) : '',
    ...(typeof error['type'] === 'string' ? { type: error['type'] } : {}),
    ...(typeof code === 'string' ? { code } : {}),
  };
}

// The text of a 400 says more than its type: an empty account and a long prompt both arrive as invalid_request_error.
function classOf(status: number, { type, message }: Reported): FaultClass {
  const typed = type === undefined ? undefined : byType[type];
  const first = status >= 200 && status < 300 ? typed : classOfStatus(status);
  const base = first ?? typed ?? generalClass(status);
  if (base === 'client') {
    if (CONTEXT.test(message)) return 'context_length';
    if (FILTER.test(message)) return 'content_filter';
    return empty(message) ? 'quota' : 'client';
  }
  if (base === 'rate_limit' && empty(message)) return 'quota';
  return base === 'server' && typed === 'overloaded' ? 'overloaded' : base;
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}

// Only seconds: a date would need the clock, and this provider sends seconds.
function retryAfter(headers: Readonly<Record<string, string>>): { retry_after_ms?: number } {
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return { retry_after_ms: Math.ceil(ms) };
  const seconds = Number(headers['retry-after'] ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? { retry_after_ms: Math.ceil(seconds * 1_000) } : {};
}

/**
 * Class of a non-2xx answer; header names are lower-case. A body that is not JSON is judged by its status alone. For
 * a 2xx body that is not the requested stream: what its error object says, otherwise `protocol`.
 */
export function classifyAnswer(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
): UpstreamFault {
  const value = parse(body);
  if (status >= 200 && status < 300) {
    const fault = errorIn(value) ?? { class: 'protocol', status, message: 'the answer is not a stream' };
    return { ...fault, ...retryAfter(headers) };
  }
  const words = reported(value);
  return { class: classOf(status, words), status, ...words, ...retryAfter(headers) };
}

/** The fault that a 200 body reports instead of a message; null when it contains no error. */
export function errorIn(value: unknown): UpstreamFault | null {
  return isObject(value) && isObject(value['error']) ? classifyEvent(value) : null;
}

/**
 * The fault of an `error` event inside a 200 stream; `inner` is the class that it would have had as an HTTP answer.
 */
export function classifyEvent(data: unknown): UpstreamFault {
  const words = reported(data);
  return { class: 'stream', inner: classOf(200, words), status: 200, ...words };
}
