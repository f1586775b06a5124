// Classifies Google's error bodies, and error objects in a stream (docs/outcomes.md#faults-of-a-provider).
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { FaultClass, UpstreamFault } from '../../../canonical/types.ts';
import { classOfStatus, generalClass } from '../../../upstream/status.ts';

const MESSAGE_MAX = 2_000;

/** By `error.status`, Google's canonical code. */
const byWord: Record<string, FaultClass> = {
  INVALID_ARGUMENT: 'client',
  OUT_OF_RANGE: 'client',
  // The region or billing of the account, not the request, is at fault.
  FAILED_PRECONDITION: 'auth',
  UNAUTHENTICATED: 'auth',
  PERMISSION_DENIED: 'auth',
  NOT_FOUND: 'model_missing',
  RESOURCE_EXHAUSTED: 'rate_limit',
  CANCELLED: 'server',
  ABORTED: 'server',
  UNKNOWN: 'server',
  INTERNAL: 'server',
  UNIMPLEMENTED: 'server',
  DATA_LOSS: 'server',
  DEADLINE_EXCEEDED: 'server',
  UNAVAILABLE: 'overloaded',
};

const CONTEXT =
  /input token count|exceeds the maximum (?:number of tokens|context)|context (?:window|length)/i;
const TOO_LARGE = /request payload size exceeds/i;
const FILTER = /responsible ai practices|prohibited use policy|blocked due to (?:safety|prohibited)/i;
const EMPTY = /credits? (?:are|is) depleted|billing (?:account|is disabled)|insufficient (?:funds|balance)/i;

interface Reported {
  message: string;
  type?: string;
  code?: string;
  status?: number;
  details: readonly JsonObject[];
}

function reported(body: unknown): Reported {
  // Without `alt=sse` a stream is one array, and so is its error.
  const holder: unknown = Array.isArray(body) ? body[0] : body;
  const error = isObject(holder) ? holder['error'] : null;
  if (!isObject(error)) return { message: '', details: [] };
  const details = Array.isArray(error['details']) ? error['details'].filter(isObject) : [];
  const reason = details.find((item) => typeof item['reason'] === 'string')?.['reason'];
  return {
    message: typeof error['message'] === 'string' ? error['message'].slice(0, MESSAGE_MAX) : '',
    details,
    ...(typeof error['status'] === 'string' ? { type: error['status'] } : {}),
    ...(typeof error['code'] === 'number' ? { status: error['code'] } : {}),
    ...(typeof reason === 'string' ? { code: reason } : {}),
  };
}

// A daily quota does not come back within the seconds for which a throttled key rests.
function isDaily({ details }: Reported): boolean {
  return details.some((item) => {
    const violations = item['violations'];
    return (
      Array.isArray(violations) &&
      violations.some((each) => isObject(each) && /PerDay/.test(String(each['quotaId'] ?? '')))
    );
  });
}

// The text of an error says more than its status: a wrong key and a long prompt both arrive as INVALID_ARGUMENT.
function classOf(status: number, words: Reported): FaultClass {
  const { message, type, code } = words;
  const typed = type !== undefined && Object.hasOwn(byWord, type) ? byWord[type] : undefined;
  const numbered = classOfStatus(status >= 200 && status < 300 ? (words.status ?? 0) : status);
  // Google answers 400 to an account that it does not serve; there `error.status` is more precise.
  const base = (numbered === 'client' ? typed : undefined) ?? numbered ?? typed ?? generalClass(status);
  if (
    code === 'API_KEY_INVALID' ||
    code === 'API_KEY_EXPIRED' ||
    /^API key (?:not valid|expired)/i.test(message)
  )
    return 'auth';
  if (base === 'client') {
    if (CONTEXT.test(message)) return 'context_length';
    if (TOO_LARGE.test(message)) return 'too_large';
    return FILTER.test(message) ? 'content_filter' : 'client';
  }
  if (base === 'rate_limit' && (EMPTY.test(message) || isDaily(words))) return 'quota';
  if (base === 'auth' && EMPTY.test(message)) return 'quota';
  return base === 'server' && typed === 'overloaded' ? 'overloaded' : base;
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}

/** Milliseconds to wait: from the header in seconds, otherwise `RetryInfo.retryDelay` (`32s`, `0.5s`). */
function retryAfter(
  headers: Readonly<Record<string, string>>,
  { details }: Reported,
): { retry_after_ms?: number } {
  const seconds = Number(headers['retry-after'] ?? Number.NaN);
  if (Number.isFinite(seconds) && seconds >= 0) return { retry_after_ms: Math.ceil(seconds * 1_000) };
  const delay = details.find((item) => typeof item['retryDelay'] === 'string')?.['retryDelay'];
  const match = /^(\d{1,7}(?:\.\d{1,9})?)s$/.exec(typeof delay === 'string' ? delay : '');
  return match === null ? {} : { retry_after_ms: Math.ceil(Number(match[1]) * 1_000) };
}

function faultOf(words: Reported): Pick<UpstreamFault, 'message' | 'type' | 'code'> {
  const { message, type, code } = words;
  return { message, ...(type === undefined ? {} : { type }), ...(code === undefined ? {} : { code }) };
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
  const words = reported(value);
  if (status >= 200 && status < 300) {
    const fault =
      errorIn(value) ??
      blockIn(value) ??
      ({ class: 'protocol', status, message: 'the answer is not a stream' } as const);
    return { ...fault, ...retryAfter(headers, words) };
  }
  return { class: classOf(status, words), status, ...faultOf(words), ...retryAfter(headers, words) };
}

/**
 * The fault that a 200 body, or an event of a 200 stream, reports instead of an answer; null when it contains no
 * error.
 */
export function errorIn(value: unknown): UpstreamFault | null {
  const holder: unknown = Array.isArray(value) ? value[0] : value;
  if (!isObject(holder) || !isObject(holder['error'])) return null;
  const words = reported(holder);
  return {
    class: 'stream',
    inner: classOf(200, words),
    status: 200,
    ...faultOf(words),
    ...retryAfter({}, words),
  };
}

/** The fault of a prompt that the provider refuses to answer, or null (docs/outcomes.md#prompt-blocked). */
export function blockIn(value: unknown): UpstreamFault | null {
  const feedback = isObject(value) ? value['promptFeedback'] : undefined;
  const reason = isObject(feedback) ? feedback['blockReason'] : undefined;
  if (!isObject(feedback) || typeof reason !== 'string' || reason === 'BLOCKED_REASON_UNSPECIFIED')
    return null;
  const reported = feedback['blockReasonMessage'];
  const message =
    typeof reported === 'string' && reported !== ''
      ? reported
      : `The provider blocked the prompt (${reason}).`;
  return { class: 'content_filter', status: 200, message: message.slice(0, MESSAGE_MAX), code: reason };
}
