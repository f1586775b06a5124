// Where something of the canonical form stands in the body that the caller wrote.
import type { CanonicalRequest, DialectName } from '../../canonical/types.ts';

const MESSAGE = /^messages\[(\d+)\]/;

/** Fields by the words of chat, which shared code uses, where a dialect has others; native has its own table. */
const WORDS: Partial<Record<DialectName, ReadonlyMap<string, string>>> = {
  messages: new Map([
    ['stop', 'stop_sequences'],
    ['user', 'metadata.user_id'],
    ['response_format', 'output_config.format'],
    ['reasoning', 'thinking'],
    ['parallel_tool_calls', 'tool_choice.disable_parallel_tool_use'],
    ['cache', 'cache_control'],
  ]),
  responses: new Map([
    ['max_tokens', 'max_output_tokens'],
    ['logprobs', 'top_logprobs'],
    ['response_format', 'text.format'],
    ['verbosity', 'text.verbosity'],
  ]),
};

/**
 * `param`, a path of the canonical form, in the caller's words: of a dialect that has its messages elsewhere the message
 * or item alone, since its parts are not where the canonical form has them.
 */
export function callersPath(request: Pick<CanonicalRequest, 'paths' | 'dialect'>, param: string): string {
  const { paths, dialect } = request;
  const at = paths === undefined ? null : MESSAGE.exec(param);
  if (at !== null) return paths?.[Number(at[1])] ?? param;
  return WORDS[dialect]?.get(param) ?? param;
}
