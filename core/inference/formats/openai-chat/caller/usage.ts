// Writes canonical usage in the chat dialect (docs/fidelity.md#usage).
import type { Usage } from '../../../canonical/types.ts';

/** JSON text of the `usage` object, with every key that OpenAI sends. */
export function usageText(usage: Usage): string {
  const prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
  return JSON.stringify({
    prompt_tokens: prompt,
    completion_tokens: usage.output_tokens,
    total_tokens: prompt + usage.output_tokens,
    prompt_tokens_details: {
      cached_tokens: usage.cache_read_tokens,
      cache_write_tokens: usage.cache_write_tokens,
      audio_tokens: usage.audio_input_tokens ?? 0,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning_tokens,
      audio_tokens: usage.audio_output_tokens ?? 0,
      accepted_prediction_tokens: usage.accepted_prediction_tokens ?? 0,
      rejected_prediction_tokens: usage.rejected_prediction_tokens ?? 0,
    },
  });
}
