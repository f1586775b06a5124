// Error envelopes of the surfaces (docs/errors.md).
import { codes, type ErrorCode, type ErrorType, type JsonObject, ServiceError } from '../../kernel/index.ts';
import type { DialectName, StreamFault } from '../canonical/types.ts';

interface Facts {
  type: ErrorType;
  code: ErrorCode;
  message: string;
  param: string | null;
  details: JsonObject;
  beside: JsonObject;
}

function factsOf(error: ServiceError | StreamFault): Facts {
  if (error instanceof ServiceError) {
    const { type, code, message, param, details, beside } = error;
    return { type, code, message, param, details, beside };
  }
  const { code, message, details } = error;
  return { type: codes[code].type, code, message, param: null, details: details ?? {}, beside: {} };
}

/** Page that explains `code`, below the service's own address. */
function docUrl(code: ErrorCode): string {
  return `/docs/errors#${code}`;
}

/** Envelope of chat, completions, embeddings, responses and native; openai clients expose code, type and param. */
export function chatError(error: ServiceError | StreamFault, request_id: string): JsonObject {
  const { type, code, message, param, details, beside } = factsOf(error);
  return { error: { message, type, code, param, request_id, details, ...beside, doc_url: docUrl(code) } };
}

/** Envelope of the messages routes; anthropic clients expose type and `details.error_code`. */
export function messagesError(error: ServiceError | StreamFault, request_id: string): JsonObject {
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
      doc_url: docUrl(code),
    },
    request_id,
  };
}

/** HTTP status of `error` on a dialect: the messages routes say 529 where a queue is full. */
export function statusOn(dialect: DialectName, error: ServiceError): number {
  const full = error.code === 'overloaded' || error.code === 'upstream_overloaded';
  return dialect === 'messages' && full ? 529 : error.status;
}
