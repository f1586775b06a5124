// `POST {base_url}/responses/input_tokens`: the body of a response without the members that concern its answer.
import type { PromptCounting } from '../../../canonical/contract.ts';
import { countIn, pickMembers } from '../../../wire/pick.ts';
import { RESPONSES_PATH } from './encode.ts';

/** The members that the count accepts; it refuses any other. */
const TAKEN: ReadonlySet<string> = new Set([
  ...['model', 'input', 'instructions', 'tools', 'tool_choice', 'parallel_tool_calls', 'reasoning', 'text'],
  ...['truncation', 'personality'],
]);

/** OpenAI's own token count, which most compatible servers do not have. */
export const counting: PromptCounting = {
  request: ({ headers, body }) => ({
    path: `${RESPONSES_PATH}/input_tokens`,
    headers,
    body: Buffer.from(`{${pickMembers(body, TAKEN).join(',')}}`),
  }),
  read: (body) => ({ input_tokens: countIn(body, 'input_tokens').count }),
};
