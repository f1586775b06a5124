// Stop reasons of Converse (docs/compatibility.md#answers).
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { CanonicalRequest, Stop, StopReason } from '../../../canonical/types.ts';

const reasonOf: Readonly<Record<string, StopReason>> = {
  end_turn: 'end_turn',
  max_tokens: 'max_tokens',
  stop_sequence: 'stop_sequence',
  tool_use: 'tool_use',
  content_filtered: 'content_filter',
  guardrail_intervened: 'content_filter',
  model_context_window_exceeded: 'context_window',
  malformed_model_output: 'malformed',
  malformed_tool_use: 'malformed',
  // Not in the API's list, but Anthropic's models end with it; Converse passes their values on.
  refusal: 'refusal',
  pause_turn: 'pause',
};

/** Where Anthropic's models report which sequence stopped them, in whole answers and in streams. */
export const SEQUENCE_PATHS = ['/stop_sequence', '/delta/stop_sequence'];

function sequenceIn(fields: unknown): string | null {
  if (!isObject(fields)) return null;
  const { delta } = fields;
  const said = fields['stop_sequence'] ?? (isObject(delta) ? delta['stop_sequence'] : undefined);
  return typeof said === 'string' && said !== '' ? said : null;
}

/**
 * The stop reason of a whole answer or of `messageStop`; null while there is none. An unknown value is an ordinary
 * end.
 */
export function readStop(wire: JsonObject, request: CanonicalRequest): Stop | null {
  const raw = wire['stopReason'];
  if (typeof raw !== 'string') return null;
  const stop: Stop = { reason: Object.hasOwn(reasonOf, raw) ? reasonOf[raw]! : 'end_turn', raw };
  if (stop.reason !== 'stop_sequence') return stop;
  const { stop: asked = [] } = request.generation;
  // Other makers do not report which one; with a single sequence it is clear.
  const sequence =
    sequenceIn(wire['additionalModelResponseFields']) ?? (asked.length === 1 ? asked[0] : null);
  if (typeof sequence === 'string') stop.sequence = sequence;
  return stop;
}
