// Writes a refusal for clients of this format (docs/errors.md).
import type { JsonObject, ServiceError } from '../../../../kernel/index.ts';
import { docUrl, factsOf } from '../../../caller/error.ts';
import type { ErrorPlace, StreamFault } from '../../../canonical/types.ts';

/** The error envelope; clients expose the type and `details.error_code`. */
export function messagesError(error: ServiceError | StreamFault, place: ErrorPlace): JsonObject {
  const { type, code, message, param, details, beside } = factsOf(error);
  return {
    type: 'error',
    error: {
      type,
      message,
      code,
      param,
      details: { error_code: code, ...details },
      ...beside,
      doc_url: docUrl(code, place),
    },
    request_id: place.request_id,
  };
}

/** HTTP status of `error`: 529 when a queue is full. */
export function messagesStatus(error: ServiceError): number {
  const full = error.code === 'overloaded' || error.code === 'upstream_overloaded';
  return full ? 529 : error.status;
}
