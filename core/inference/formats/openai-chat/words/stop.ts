// Finish reasons of OpenAI-type servers (docs/compatibility.md#answers).
import type { Stop, StopReason, UpstreamFault } from '../../../canonical/types.ts';

const reasons: Readonly<Record<string, StopReason>> = {
  stop: 'end_turn',
  eos: 'end_turn',
  end_turn: 'end_turn',
  stop_sequence: 'stop_sequence',
  length: 'max_tokens',
  max_tokens: 'max_tokens',
  model_length: 'context_window',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  tool_use: 'tool_use',
  content_filter: 'content_filter',
};

/**
 * The canonical stop reason for `raw`. `seen` says what the answer contained: a refusal turns `stop` into a refusal,
 * and calls turn it into `tool_use` (with a forced tool choice OpenAI finishes with `stop`). Unknown values are an
 * ordinary end; the provider's own value is kept.
 */
export function stopOf(raw: string, seen: { refusal: boolean; calls: boolean }): Stop {
  const reason = reasons[raw] ?? 'end_turn';
  if (reason !== 'end_turn') return { reason, raw };
  if (seen.refusal) return { reason: 'refusal', raw };
  return { reason: seen.calls ? 'tool_use' : reason, raw };
}

/**
 * The fault that a finish reason stands for, or null: some servers end a failed answer with a finish reason instead
 * of an error.
 */
export function finishFault(raw: string): UpstreamFault | null {
  if (raw !== 'error' && raw !== 'insufficient_system_resource') return null;
  const inner = raw === 'error' ? 'server' : 'overloaded';
  return { class: 'stream', status: 200, message: `The answer ended with finish reason '${raw}'.`, inner };
}
