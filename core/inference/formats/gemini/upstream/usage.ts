// The family's usage (docs/fidelity.md#usage): the prompt count includes cached tokens, thoughts are counted apart
// from the candidates, and counts of 0 are left out.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { Usage } from '../../../canonical/types.ts';

/** A count as sent; undefined for anything that no honest server sends. */
function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function ofModality(details: unknown, modality: string): number {
  if (!Array.isArray(details)) return 0;
  let sum = 0;
  for (const item of details) {
    if (isObject(item) && item['modality'] === modality) sum += count(item['tokenCount']) ?? 0;
  }
  return sum;
}

/** Tokens of `modality` that are billed as input, without those from the cache. */
function inputOf(wire: JsonObject, modality: string): number {
  const all =
    ofModality(wire['promptTokensDetails'], modality) +
    ofModality(wire['toolUsePromptTokensDetails'], modality);
  return Math.max(0, all - ofModality(wire['cacheTokensDetails'], modality));
}

interface InputSide {
  input_tokens: number;
  cache_read_tokens: number;
  inconsistent: boolean;
}

// The prompt's total is authoritative: the number of cached tokens is limited to it.
function inputSide(wire: JsonObject, prompt: number): InputSide {
  const reported = count(wire['cachedContentTokenCount']) ?? 0;
  const cached = Math.min(reported, prompt);
  const tools = count(wire['toolUsePromptTokenCount']) ?? 0;
  return {
    input_tokens: prompt - cached + tools,
    cache_read_tokens: cached,
    inconsistent: reported > prompt,
  };
}

/** Canonical usage of a `usageMetadata` object; null when it lacks the prompt count. */
export function readUsage(wire: unknown): Usage | null {
  if (!isObject(wire)) return null;
  const prompt = count(wire['promptTokenCount']);
  if (prompt === undefined) return null;
  const { inconsistent, ...input } = inputSide(wire, prompt);
  const thoughts = count(wire['thoughtsTokenCount']) ?? 0;
  const tools = count(wire['toolUsePromptTokenCount']) ?? 0;
  const total = count(wire['totalTokenCount']) ?? 0;
  // When a server reports only the total, the output is computed from it.
  const candidates = count(wire['candidatesTokenCount']) ?? Math.max(0, total - prompt - tools - thoughts);
  if (wire['candidatesTokenCount'] !== undefined && count(wire['candidatesTokenCount']) === undefined)
    return null;
  const usage: Usage = {
    ...input,
    output_tokens: candidates + thoughts,
    cache_write_tokens: 0,
    reasoning_tokens: thoughts,
    source: 'provider',
  };
  if (inconsistent) usage.inconsistent = true;
  if (tools > 0) usage.tool_prompt_tokens = tools;
  const parts = [
    ['audio_input_tokens', Math.min(inputOf(wire, 'AUDIO'), usage.input_tokens)],
    ['image_input_tokens', Math.min(inputOf(wire, 'IMAGE'), usage.input_tokens)],
    ['audio_output_tokens', Math.min(ofModality(wire['candidatesTokensDetails'], 'AUDIO'), candidates)],
    ['image_output_tokens', Math.min(ofModality(wire['candidatesTokensDetails'], 'IMAGE'), candidates)],
  ] as const;
  for (const [name, tokens] of parts) if (tokens > 0) usage[name] = tokens;
  return usage;
}

/** Input counts in a first chunk; null when it has none. */
export function readEarlyUsage(wire: unknown): Partial<Usage> | null {
  if (!isObject(wire)) return null;
  const prompt = count(wire['promptTokenCount']);
  if (prompt === undefined) return null;
  const { input_tokens, cache_read_tokens } = inputSide(wire, prompt);
  return { input_tokens, cache_read_tokens, cache_write_tokens: 0 };
}
