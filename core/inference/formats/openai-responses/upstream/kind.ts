// Servers with OpenAI's Responses API, as a kind of provider.
import { bearer, listModels, type ProviderKind } from '../../../upstream/kind.ts';

export const responsesKind: ProviderKind = {
  kind: 'openai-responses',
  families: { text: 'openai_responses', embed: 'embed_rerank', rerank: null },
  hour_writes: false,
  authenticate: bearer,
  probe: listModels,
};
