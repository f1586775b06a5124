// Converts OpenAI-type usage to disjoint counts (docs/fidelity.md#usage). Compatible servers differ in which counts a
// total includes; flags of the endpoint say so.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { Usage } from '../../../canonical/types.ts';

/** Endpoint flags that change the arithmetic. */
export const USAGE_FLAGS = ['reasoning_outside_completion', 'cached_outside_prompt', 'write_outside_prompt'];

function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

function total(object: JsonObject, ...names: string[]): number | null {
  for (const name of names) {
    const value = object[name];
    if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : null;
  }
  return null;
}

/**
 * Canonical usage of a `usage` object, or null when it is none. The prompt total is authoritative: cached and
 * written tokens are clamped to it in that order (more cached than prompt tokens has been seen), and the result is
 * marked `inconsistent`.
 */
export function readUsage(value: unknown, flags: readonly string[]): Usage | null {
  if (!isObject(value)) return null;
  let prompt = total(value, 'prompt_tokens', 'input_tokens');
  let output = total(value, 'completion_tokens', 'output_tokens');
  if (prompt === null || output === null) return null;
  const input_details = isObject(value['prompt_tokens_details']) ? value['prompt_tokens_details'] : {};
  const output_details = isObject(value['completion_tokens_details'])
    ? value['completion_tokens_details']
    : {};
  // DeepSeek and Moonshot report the cached part beside the totals.
  let read =
    count(input_details['cached_tokens']) ||
    count(value['prompt_cache_hit_tokens']) ||
    count(value['cached_tokens']);
  let write = count(input_details['cache_write_tokens']);
  const reasoning = count(output_details['reasoning_tokens']) || count(value['reasoning_tokens']);
  if (flags.includes('cached_outside_prompt')) prompt += read;
  if (flags.includes('write_outside_prompt')) prompt += write;
  if (flags.includes('reasoning_outside_completion')) output += reasoning;
  const fits = read + write <= prompt && reasoning <= output;
  read = Math.min(read, prompt);
  write = Math.min(write, prompt - read);
  const input = prompt - read - write;
  const usage: Usage = {
    input_tokens: input,
    output_tokens: output,
    cache_read_tokens: read,
    cache_write_tokens: write,
    reasoning_tokens: Math.min(reasoning, output),
    source: 'provider',
  };
  if (write > 0) usage.cache_write_30m_tokens = write;
  if (!fits) usage.inconsistent = true;
  if (flags.includes('usage_of_one_choice')) usage.of_one_choice = true;
  part(usage, 'audio_input_tokens', input_details['audio_tokens'], input);
  part(usage, 'audio_output_tokens', output_details['audio_tokens'], output);
  part(usage, 'accepted_prediction_tokens', output_details['accepted_prediction_tokens'], output);
  part(usage, 'rejected_prediction_tokens', output_details['rejected_prediction_tokens'], output);
  return usage;
}

type PartName =
  | 'audio_input_tokens'
  | 'audio_output_tokens'
  | 'accepted_prediction_tokens'
  | 'rejected_prediction_tokens';

function part(usage: Usage, name: PartName, value: unknown, whole: number): void {
  const reported = count(value);
  if (reported > whole) usage.inconsistent = true;
  const n = Math.min(reported, whole);
  if (n > 0) usage[name] = n;
}

/**
 * The usage of an answer or chunk wherever a server puts it: at the top, in a choice (Moonshot), or in `x_groq`.
 * A chunk with choices may carry it as well as the last one without. With the `searches` that were sold, of which no
 * server tells.
 */
export function findUsage(chunk: JsonObject, flags: readonly string[], searches = 0): Usage | null {
  const usage = usageIn(chunk, flags);
  return usage === null || searches === 0 ? usage : { ...usage, search_units: searches };
}

function usageIn(chunk: JsonObject, flags: readonly string[]): Usage | null {
  const top = readUsage(chunk['usage'], flags);
  if (top !== null) return top;
  const groq = chunk['x_groq'];
  if (isObject(groq)) return readUsage(groq['usage'], flags);
  const choices = chunk['choices'];
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  return isObject(first) ? readUsage(first['usage'], flags) : null;
}
