// `POST {base_url}/messages/count_tokens`: the body of a message without the members that concern its answer.
import type { PromptCounting } from '../../../canonical/contract.ts';
import { countIn, pickMembers } from '../../../wire/pick.ts';

/** The members that the count accepts; it refuses any other. */
const TAKEN: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking', 'output_config', 'output_format'],
  ...['cache_control', 'context_management', 'compaction', 'mcp_servers', 'speed'],
]);

/** Anthropic's own token count. */
export const counting: PromptCounting = {
  request: ({ headers, body }) => ({
    path: '/messages/count_tokens',
    headers,
    body: Buffer.from(`{${pickMembers(body, TAKEN).join(',')}}`),
  }),
  read(body) {
    const { count, reply } = countIn(body, 'input_tokens');
    const { context_management } = reply;
    return { input_tokens: count, ...(context_management == null ? {} : { more: { context_management } }) };
  },
};
