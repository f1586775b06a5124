// Error envelopes of the surfaces (docs/errors.md).
import { codes, type ErrorCode, type ErrorType, type JsonObject, ServiceError } from '../../kernel/index.ts';
import type { ErrorPlace, StreamFault } from '../canonical/types.ts';

/** What every error envelope contains. */
export interface ErrorFacts {
  type: ErrorType;
  code: ErrorCode;
  message: string;
  param: string | null;
  details: JsonObject;
  beside: JsonObject;
}

/** The parts of `error` that callers see. */
export function factsOf(error: ServiceError | StreamFault): ErrorFacts {
  if (error instanceof ServiceError) {
    const { type, code, message, param, details, beside } = error;
    return { type, code, message, param, details, beside };
  }
  const { code, message, details } = error;
  return { type: codes[code].type, code, message, param: null, details: details ?? {}, beside: {} };
}

/** Address of the documentation of `code`. */
export function docUrl(code: ErrorCode, { base_url }: Pick<ErrorPlace, 'base_url'>): string {
  return `${base_url}/docs/errors#${code}`;
}

/**
 * Error envelope of chat, completions, embeddings, responses and native; OpenAI's clients expose code, type and
 * param.
 */
export function chatError(error: ServiceError | StreamFault, place: ErrorPlace): JsonObject {
  const { type, code, message, param, details, beside } = factsOf(error);
  const doc_url = docUrl(code, place);
  const { request_id } = place;
  return { error: { message, type, code, param, request_id, details, ...beside, doc_url } };
}
