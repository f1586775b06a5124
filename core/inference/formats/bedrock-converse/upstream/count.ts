// `POST {base_url}/model/{id}/count-tokens`, which accepts the prompt part of a request.
import type { PromptCounting } from '../../../canonical/contract.ts';
import { countIn, pickMembers } from '../../../wire/pick.ts';

/** The members that the count accepts; it refuses any other. */
const TAKEN: ReadonlySet<string> = new Set([
  'messages',
  'system',
  'toolConfig',
  'additionalModelRequestFields',
]);
/** What a path of this family ends with. */
const METHOD = /\/converse(?:-stream)?$/;

/** Bedrock's own token count, which exists for some models only. */
export const counting: PromptCounting = {
  request: ({ path, headers, body }) => ({
    path: path.replace(METHOD, '/count-tokens'),
    headers,
    body: Buffer.from(`{"input":{"converse":{${pickMembers(body, TAKEN).join(',')}}}}`),
  }),
  read: (body) => ({ input_tokens: countIn(body, 'inputTokens').count }),
};
