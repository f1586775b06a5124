// Classifies faults of OpenAI-type servers: HTTP errors, and error objects in a 200 stream
// (docs/outcomes.md#faults-of-a-provider).
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { FaultClass, UpstreamFault } from '../../../canonical/types.ts';

/** Limit of a provider's text. */
const MESSAGE_MAX = 2_000;

const CONTEXT =
  /context_length_exceeded|maximum context length|context window|context length|prompt is too long|too many (?:input )?tokens|input is too long|string_above_max_length|reduce the length of the (?:messages|prompt)/i;
const FILTER =
  /content_filter|content_policy_violation|content management policy|responsibleai|safety system|invalid_prompt|moderation_blocked/i;
const QUOTA =
  /insufficient_quota|billing_hard_limit|billing_not_active|exceeded your current quota|insufficient[_ ]balance|insufficient[_ ]credits?|credit balance/i;
const MODEL =
  /model_not_found|model_not_supported|model_not_available|invalid_model|deploymentnotfound|does not exist/i;
/**
 * A request above the allowance of a whole minute: reported as throttling, but waiting does not help, and other calls
 * are unaffected.
 */
const TOO_LARGE = /\brequest too large\b/i;
const OVERLOADED = /overloaded|server_busy|engine is currently|over capacity|no_available/i;

interface ErrorText {
  message: string;
  code?: string;
  type?: string;
  param?: string;
}

function text(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  return typeof value === 'number' ? String(value) : undefined;
}

/** The content of an error object, in the forms that OpenAI-type servers use. */
function errorText(value: unknown): ErrorText {
  const outer = Array.isArray(value) ? value[0] : value;
  if (!isObject(outer)) return { message: '' };
  const inner = outer['error'];
  if (typeof inner === 'string') return { message: bounded(text(outer['message']) ?? inner) };
  const error: JsonObject = isObject(inner) ? inner : outer;
  const found: ErrorText = { message: bounded(text(error['message']) ?? detailText(error['detail']) ?? '') };
  const code = text(error['code']);
  const type = text(error['type']) ?? text(error['status']);
  const param = text(error['param']);
  if (code !== undefined) found.code = code;
  if (type !== undefined) found.type = type;
  if (param !== undefined) found.param = param;
  return found;
}

/** FastAPI servers: `detail` is a sentence, or a list of {loc, msg}. */
function detailText(detail: unknown): string | undefined {
  if (Array.isArray(detail)) {
    const lines = detail.map((item) => (isObject(item) ? text(item['msg']) : text(item)));
    return lines.filter((line) => line !== undefined).join('; ') || undefined;
  }
  return text(detail);
}

function bounded(message: string): string {
  return message.slice(0, MESSAGE_MAX);
}

/** Class by HTTP status alone. */
function classOfStatus(status: number): FaultClass {
  if (status === 401 || status === 403) return 'auth';
  if (status === 402) return 'quota';
  if (status === 413) return 'too_large';
  if (status === 429) return 'rate_limit';
  if (status === 503 || status === 529) return 'overloaded';
  if (status === 408 || status === 409 || status === 425 || status >= 500) return 'server';
  return 'client';
}

function classOf(status: number, found: ErrorText): FaultClass {
  const words = `${found.code ?? ''} ${found.type ?? ''} ${found.message}`;
  const marks = `${found.code ?? ''} ${found.type ?? ''}`;
  const refusal = status === 400 || status === 404 || status === 413 || status === 422;
  if (refusal && CONTEXT.test(words)) return 'context_length';
  if ((refusal || status === 403) && FILTER.test(words)) return 'content_filter';
  if ((status === 429 || status === 403 || status === 402) && QUOTA.test(words)) return 'quota';
  if (status === 429 && TOO_LARGE.test(found.message)) return 'too_large';
  if (status === 404 && (found.param === undefined || found.param === 'model')) return 'model_missing';
  if (status === 400 && MODEL.test(marks)) return 'model_missing';
  if (status >= 500 && OVERLOADED.test(words)) return 'overloaded';
  return classOfStatus(status);
}

/** Milliseconds to wait as the provider says (`retry-after-ms`, `retry-after` in seconds), or undefined. */
export function retryAfterMs(headers: Readonly<Record<string, string>>): number | undefined {
  const ms = Number(headers['retry-after-ms']);
  if (headers['retry-after-ms'] !== undefined && Number.isFinite(ms) && ms >= 0) return Math.ceil(ms);
  const seconds = Number(headers['retry-after']);
  if (headers['retry-after'] !== undefined && Number.isFinite(seconds) && seconds >= 0) {
    return Math.ceil(seconds * 1_000);
  }
  return undefined;
}

/**
 * Class and texts of a non-2xx answer. For a 2xx body that is not the requested stream: what its error object says,
 * otherwise `protocol`. A body that is not JSON (a proxy's HTML page) gives no text.
 */
export function classify(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
): UpstreamFault {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    value = null;
  }
  const fault = status >= 200 && status < 300 ? (errorIn(value) ?? noStream(status)) : refused(status, value);
  const wait = retryAfterMs(headers);
  if (wait !== undefined) fault.retry_after_ms = wait;
  return fault;
}

function refused(status: number, value: unknown): UpstreamFault {
  const found = errorText(value);
  return { class: classOf(status, found), status, ...found };
}

function noStream(status: number): UpstreamFault {
  return { class: 'protocol', status, message: 'the answer is not a stream' };
}

const statusOfWord: readonly (readonly [RegExp, number])[] = [
  [/rate_limit|too_many_requests/i, 429],
  [OVERLOADED, 503],
  [/timeout/i, 504],
  [/authentication|permission|invalid_api_key/i, 401],
  [/invalid_request|bad_request/i, 400],
];

/** The fault that a 200 body reports instead of an answer; null when it contains no error. */
export function errorIn(value: unknown): UpstreamFault | null {
  const outer = Array.isArray(value) ? value[0] : value;
  if (!isObject(outer)) return null;
  const { error } = outer;
  return error === undefined || error === null ? null : streamFault(outer);
}

/**
 * The fault of an error object inside a 200 stream; `inner` is the class that it would have had as an HTTP answer.
 */
export function streamFault(value: unknown): UpstreamFault {
  const found = errorText(value);
  const words = `${found.code ?? ''} ${found.type ?? ''}`;
  const numeric = Number(found.code);
  let status = numeric >= 400 && numeric < 600 ? numeric : 500;
  if (status === 500) status = statusOfWord.find(([word]) => word.test(words))?.[1] ?? 500;
  const refusal = CONTEXT.test(`${words} ${found.message}`) || FILTER.test(words);
  return { class: 'stream', status: 200, ...found, inner: classOf(refusal ? 400 : status, found) };
}
