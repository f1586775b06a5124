// Turns anything thrown into the body that a caller sees (docs/errors.md). A refusal keeps its code; a database that
// cannot be reached is 503; everything else is a defect: 500 with the request id and nothing more, logged in full.
import { databaseAway, isDatabaseFault } from '@svc/core/db/index.ts';
import { chatError, type ErrorPlace, type Formats } from '@svc/core/inference/index.ts';
import { type Log, ServiceError } from '@svc/core/kernel/index.ts';

/** The error format of the dialect that a path belongs to; null for paths of no dialect. */
export type EnvelopeAt = Formats['envelopeAt'];

/** The JSON text of a refusal in `envelope`, the error format of a dialect; null or absent: in ours. */
export function errorBody(
  error: ServiceError,
  place: ErrorPlace,
  envelope: ReturnType<EnvelopeAt> = null,
): string {
  return JSON.stringify((envelope ?? chatError)(error, place));
}

/** Headers of a refusal: whether and when to retry, and how to authenticate. */
export function errorHeaders(error: ServiceError): Record<string, string> {
  const headers: Record<string, string> = { 'x-should-retry': error.retry ? 'true' : 'false' };
  const waits = error.status === 429 || error.status === 503;
  const wait_ms = error.retry_after_ms ?? (waits ? 1_000 : null);
  if (wait_ms !== null) {
    headers['retry-after'] = String(Math.ceil(wait_ms / 1000));
    headers['retry-after-ms'] = String(Math.ceil(wait_ms));
  }
  if (error.status === 401) headers['www-authenticate'] = 'Bearer realm="svc"';
  return headers;
}

/** The refusal for an error that Fastify throws before a handler runs. */
function fromFramework(error: Error & { code?: unknown; statusCode?: number }): ServiceError | null {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ServiceError('request_too_large', 'The body is too large.');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ServiceError('unsupported_media_type', 'Send the body as application/json.');
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_ASYNC_CONSTRAINT':
      return new ServiceError('invalid_request', 'The address cannot be decoded.');
    default:
      // Codes of other libraries may be numbers.
      if (typeof error.code !== 'string' || !error.code.startsWith('FST_ERR_')) return null;
      if (error.statusCode === undefined || error.statusCode >= 500) return null;
      return new ServiceError('invalid_request', 'The request is malformed.');
  }
}

/** The refusal for anything thrown. Defects are logged here, once. */
export function refusalOf(error: unknown, request_id: string, log: Log): ServiceError {
  if (error instanceof ServiceError) return error;
  if (isDatabaseFault(error)) {
    log.warn({ error, request_id }, 'the database cannot be asked');
    return databaseAway();
  }
  const framework = error instanceof Error ? fromFramework(error) : null;
  if (framework !== null) return framework;
  log.error({ error, request_id }, 'defect');
  return new ServiceError(
    'internal',
    'Something went wrong on our side. Support can find it by the request id.',
  );
}
