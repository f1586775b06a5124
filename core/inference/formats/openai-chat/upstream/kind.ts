// OpenAI and the many servers compatible with it, as a kind of provider.
import { bearer, listModels, type ProviderKind } from '../../../upstream/kind.ts';

export const openaiKind: ProviderKind = {
  kind: 'openai',
  families: { text: 'openai_chat', embed: 'embed_rerank', rerank: 'embed_rerank' },
  hour_writes: false,
  authenticate: bearer,
  probe: listModels,
};
