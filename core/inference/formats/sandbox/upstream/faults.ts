// The sandbox's errors: a status and body like a provider's, and their classification.
import type { JsonObject } from '../../../../kernel/index.ts';
import { isObject } from '../../../../kernel/index.ts';
import type { FaultClass, UpstreamFault } from '../../../canonical/types.ts';

/** A refused call, before any event. */
export interface Refusal {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

interface Words {
  type: string;
  code: string;
  message: string;
}

/** The statuses of `sandbox/error-*` with the messages that a provider uses for them. */
export const errorWords: Readonly<Record<number, Words>> = {
  400: { type: 'invalid_request_error', code: 'invalid_value', message: 'The request is not valid.' },
  401: { type: 'authentication_error', code: 'invalid_api_key', message: 'The API key is not valid.' },
  403: { type: 'permission_error', code: 'permission_denied', message: 'The key may not use this model.' },
  404: { type: 'not_found_error', code: 'model_not_found', message: 'The model does not exist.' },
  408: { type: 'timeout_error', code: 'request_timeout', message: 'The request took too long to arrive.' },
  413: { type: 'invalid_request_error', code: 'request_too_large', message: 'The request is too large.' },
  422: { type: 'invalid_request_error', code: 'invalid_value', message: 'The request cannot be processed.' },
  429: { type: 'rate_limit_error', code: 'rate_limit_exceeded', message: 'Too many requests.' },
  500: { type: 'api_error', code: 'server_error', message: 'The server had an error.' },
  502: { type: 'api_error', code: 'bad_gateway', message: 'Bad gateway.' },
  503: { type: 'overloaded_error', code: 'service_unavailable', message: 'The service is not available.' },
  504: { type: 'timeout_error', code: 'gateway_timeout', message: 'The model did not answer in time.' },
  529: { type: 'overloaded_error', code: 'overloaded', message: 'The service is overloaded.' },
};

const other: Words = { type: 'api_error', code: 'server_error', message: 'The server had an error.' };

/** The refusal of `status`; `words` overrides what the table says. 429 carries `retry-after: 1`. */
export function refusal(status: number, words: Partial<Words> & { param?: string } = {}): Refusal {
  const { type, code, message } = { ...(errorWords[status] ?? other), ...words };
  const error: JsonObject = { message, type, code, param: words.param ?? null };
  return {
    status,
    headers: {
      'content-type': 'application/json',
      ...(status === 429 && { 'retry-after': '1' }),
    },
    body: Buffer.from(JSON.stringify({ error })),
  };
}

const codeClasses: Readonly<Record<string, FaultClass>> = {
  context_length_exceeded: 'context_length',
  content_filter: 'content_filter',
  insufficient_quota: 'quota',
};

/** The class of a refusal (docs/outcomes.md#faults-of-a-provider): its code first, then its status. */
export function classOf(status: number, code: string | undefined): FaultClass {
  if (code !== undefined && Object.hasOwn(codeClasses, code)) return codeClasses[code] as FaultClass;
  switch (status) {
    case 401:
    case 403:
      return 'auth';
    case 402:
      return 'quota';
    case 404:
      return 'model_missing';
    case 408:
    case 409:
    case 425:
      return 'server';
    case 413:
      return 'too_large';
    case 429:
      return 'rate_limit';
    case 503:
    case 529:
      return 'overloaded';
    default:
      return status >= 500 ? 'server' : 'client';
  }
}

/**
 * The fault that a non-2xx answer reports; for a body that is not the sandbox's own, a fault with only the status.
 */
export function classify(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
): UpstreamFault {
  const error = errorMember(body);
  const code = textMember(error, 'code');
  const type = textMember(error, 'type');
  const param = textMember(error, 'param');
  const retry = Number(headers['retry-after']);
  return {
    class: classOf(status, code),
    status,
    message: (textMember(error, 'message') ?? `The sandbox answered ${status}.`).slice(0, 2_000),
    ...(code !== undefined && { code }),
    ...(type !== undefined && { type }),
    ...(param !== undefined && { param }),
    ...(headers['retry-after'] !== undefined && retry >= 0 && { retry_after_ms: retry * 1_000 }),
  };
}

function errorMember(body: Buffer): JsonObject {
  try {
    const parsed: unknown = JSON.parse(body.toString());
    if (isObject(parsed) && isObject(parsed['error'])) return parsed['error'];
  } catch {
    // Not JSON: only the status is known.
  }
  return {};
}

function textMember(error: JsonObject, name: string): string | undefined {
  const value = error[name];
  return typeof value === 'string' ? value : undefined;
}
