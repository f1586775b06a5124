// Classifies faults of the Responses API: HTTP errors like those of chat, and errors inside a 200 answer
// (docs/outcomes.md#faults-of-a-provider).
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { FaultClass, UpstreamFault } from '../../../canonical/types.ts';
import { classify, streamFault } from '../../openai-chat/words/classify.ts';

/** The connection closed before the event that ends a response (docs/outcomes.md#cut-without-finish). */
export const TRUNCATED: UpstreamFault = {
  class: 'truncated',
  status: 200,
  message: 'The stream ended before the response did.',
};

/** Codes of `response.error` that do not determine the class by themselves. */
const classOfCode: readonly (readonly [RegExp, FaultClass])[] = [
  [/policy|^invalid_prompt$/, 'content_filter'],
  [/image|data_residency_mismatch/, 'client'],
  [/^insufficient_quota$/, 'quota'],
];

/** The fault of a response's `error`, of an `error` event, or of any object with an `error` member. */
export function responseFault(value: unknown): UpstreamFault {
  const outer: JsonObject = isObject(value) ? value : {};
  const error: JsonObject = isObject(outer['error']) ? outer['error'] : outer;
  const { type, ...rest } = error;
  // The event's own type is not an error type.
  const fault = streamFault({ error: type === 'error' ? rest : error });
  const known = classOfCode.find(([code]) => code.test(fault.code ?? ''));
  return known === undefined ? fault : { ...fault, inner: known[1] };
}

/** The fault that a parsed 200 body reports instead of an answer; null when it contains none. */
export function faultIn(value: unknown): UpstreamFault | null {
  if (!isObject(value)) return null;
  const { error, status } = value;
  if (error !== undefined && error !== null) return responseFault(error);
  if (status !== 'failed' && status !== 'cancelled') return null;
  return { class: 'stream', status: 200, message: `The response ended as '${status}'.`, inner: 'server' };
}

/** Class and texts of a non-2xx answer, or of a 2xx body that is not the requested stream. */
export function classifyAnswer(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
): UpstreamFault {
  if (status >= 200 && status < 300) {
    const fault = faultIn(parsed(body));
    if (fault !== null) return fault;
  }
  return classify(status, headers, body);
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}
