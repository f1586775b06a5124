// Usage of a response into disjoint buckets (docs/fidelity.md#usage).
import { isObject } from '../../../../kernel/index.ts';
import type { Usage } from '../../../canonical/types.ts';
import { readUsage as readChatUsage } from '../../openai-chat/words/usage.ts';

/**
 * Canonical usage of a response's `usage`, or null when it is none; with the `searches` of its output, of which it tells
 * nothing. The arithmetic, its clamps and its flags are those
 * of chat: the objects differ only in their names.
 */
export function readUsage(value: unknown, flags: readonly string[], searches: number): Usage | null {
  if (!isObject(value)) return null;
  const usage = readChatUsage(
    {
      prompt_tokens: value['input_tokens'],
      completion_tokens: value['output_tokens'],
      prompt_tokens_details: value['input_tokens_details'],
      completion_tokens_details: value['output_tokens_details'],
    },
    flags,
  );
  return usage === null || searches === 0 ? usage : { ...usage, search_units: searches };
}
