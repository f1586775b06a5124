// Finish reasons of the family (docs/compatibility.md#answers).
import type { Stop, StopReason } from '../../../canonical/types.ts';

const reasonOf: Record<string, StopReason> = {
  STOP: 'end_turn',
  FINISH_REASON_UNSPECIFIED: 'end_turn',
  MAX_TOKENS: 'max_tokens',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  LANGUAGE: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  MODEL_ARMOR: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
  IMAGE_PROHIBITED_CONTENT: 'content_filter',
  IMAGE_RECITATION: 'content_filter',
  CONTINUATION: 'pause',
  MALFORMED_FUNCTION_CALL: 'malformed',
  MALFORMED_RESPONSE: 'malformed',
  MISSING_THOUGHT_SIGNATURE: 'malformed',
  UNEXPECTED_TOOL_CALL: 'malformed',
  TOO_MANY_TOOL_CALLS: 'malformed',
  NO_IMAGE: 'malformed',
  OTHER: 'malformed',
  IMAGE_OTHER: 'malformed',
};

/**
 * The stop reason of a candidate that has `called` tools or not; null while there is none. An unknown value ends the
 * turn as well and is kept in `raw`.
 */
export function readStop(wire: Record<string, unknown>, called: boolean): Stop | null {
  const raw = wire['finishReason'];
  if (typeof raw !== 'string' || raw === '') return null;
  const reason = Object.hasOwn(reasonOf, raw) ? (reasonOf[raw] as StopReason) : 'end_turn';
  const stop: Stop = { reason: reason === 'end_turn' && called ? 'tool_use' : reason, raw };
  if (typeof wire['finishMessage'] === 'string') stop.detail = wire['finishMessage'];
  return stop;
}

/** Whether the candidate ended without a reason that the provider can name; without content that is an error. */
export function isUnspecified(wire: Record<string, unknown>): boolean {
  return wire['finishReason'] === 'FINISH_REASON_UNSPECIFIED';
}
