// Stop reasons, in both directions (docs/compatibility.md#answers).
import { isObject } from '../../../../kernel/index.ts';
import type { Stop, StopReason } from '../../../canonical/types.ts';

const reasonOf: Record<string, StopReason> = {
  end_turn: 'end_turn',
  max_tokens: 'max_tokens',
  stop_sequence: 'stop_sequence',
  tool_use: 'tool_use',
  pause_turn: 'pause',
  refusal: 'refusal',
  model_context_window_exceeded: 'context_window',
  compaction: 'compaction',
};

const wordOf: Record<StopReason, string> = {
  end_turn: 'end_turn',
  max_tokens: 'max_tokens',
  stop_sequence: 'stop_sequence',
  tool_use: 'tool_use',
  content_filter: 'refusal',
  refusal: 'refusal',
  pause: 'pause_turn',
  context_window: 'model_context_window_exceeded',
  compaction: 'compaction',
  malformed: 'end_turn',
  error: 'end_turn',
};

/**
 * The stop reason of a message or of `message_delta.delta`; null while there is none. An unknown value ends the turn
 * as well and is kept in `raw`.
 */
export function readStop(wire: Record<string, unknown>): Stop | null {
  const raw = wire['stop_reason'];
  if (typeof raw !== 'string') return null;
  const stop: Stop = { reason: reasonOf[raw] ?? 'end_turn', raw };
  if (typeof wire['stop_sequence'] === 'string') stop.sequence = wire['stop_sequence'];
  if (isObject(wire['stop_details'])) stop.detail = wire['stop_details'];
  return stop;
}

/** The members `stop_reason`, `stop_sequence`, `stop_details` as JSON text without braces. */
export function writeStop(stop: Stop | null): string {
  if (stop === null) return '"stop_reason":null,"stop_sequence":null,"stop_details":null';
  const sequence = stop.reason === 'stop_sequence' && stop.sequence !== undefined ? stop.sequence : null;
  const word = wordOf[stop.reason];
  const text = JSON.stringify(sequence);
  return `"stop_reason":"${word}","stop_sequence":${text},"stop_details":${details(stop)}`;
}

function details(stop: Stop): string {
  if (stop.reason !== 'refusal') return 'null';
  if (isObject(stop.detail) && stop.detail['type'] === 'refusal') return JSON.stringify(stop.detail);
  return '{"type":"refusal","category":null,"explanation":null}';
}
