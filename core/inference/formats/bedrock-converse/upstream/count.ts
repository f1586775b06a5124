// `POST {base_url}/model/{id}/count-tokens`, which takes the part of a request that is prompt.
import type { PromptCounting } from '../../../canonical/contract.ts';
import { countIn, pickMembers } from '../../../wire/pick.ts';

/** What the count takes; it refuses any other member. */
const TAKEN: ReadonlySet<string> = new Set([
  'messages',
  'system',
  'toolConfig',
  'additionalModelRequestFields',
]);
/** What a path of this family ends with. */
const METHOD = /\/converse(?:-stream)?$/;

/** Bedrock's own count, which it has of some models only. */
export const counting: PromptCounting = {
  request: ({ path, headers, body }) => ({
    path: path.replace(METHOD, '/count-tokens'),
    headers,
    body: Buffer.from(`{"input":{"converse":{${pickMembers(body, TAKEN).join(',')}}}}`),
  }),
  read: (body) => ({ input_tokens: countIn(body, 'inputTokens').count }),
};
