// The most that an attempt can have used. What a provider reports above it is a fault of the provider's, and is not
// charged (docs/money/pricing.md#reported-usage).
import type { PromptSize, Usage } from './types.ts';

const MESSAGE_TOKENS = 16;
/** What a provider adds to a prompt by itself, for tools above all. */
const ADDED_TOKENS = 1_024;

export interface UsageBound {
  /** Input of all kinds: read anew, from a cache and into one. */
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly search_units: number;
}

/** The most input tokens that a prompt of text can have: no tokenizer makes more than one of a byte. */
export function textInputBound({
  text_bytes,
  messages,
}: Pick<PromptSize, 'text_bytes' | 'messages'>): number {
  return text_bytes + messages * MESSAGE_TOKENS + ADDED_TOKENS;
}

/** `usage` with what lies above `bound` taken off, new input before writes and reads of a cache; itself where nothing does. */
export function withinBound(usage: Usage, bound: UsageBound): Usage {
  let above = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens - bound.input_tokens;
  const { search_units = 0 } = usage;
  if (above <= 0 && usage.output_tokens <= bound.output_tokens && search_units <= bound.search_units) {
    return usage;
  }
  const cut = { ...usage, output_tokens: Math.min(usage.output_tokens, bound.output_tokens) };
  for (const kind of ['input_tokens', 'cache_write_tokens', 'cache_read_tokens'] as const) {
    const less = Math.max(0, Math.min(above, cut[kind]));
    cut[kind] -= less;
    above -= less;
  }
  if (search_units > bound.search_units) cut.search_units = bound.search_units;
  return cut;
}
