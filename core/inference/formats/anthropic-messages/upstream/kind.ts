// Anthropic and servers compatible with it, as a kind of provider.
import { listModels, type ProviderKind } from '../../../upstream/kind.ts';

export const anthropicKind: ProviderKind = {
  kind: 'anthropic',
  families: { text: 'anthropic_messages', embed: null, rerank: null },
  hour_writes: true,
  authenticate: (key) => ({ headers: ['x-api-key', key] }),
  probe: { ...listModels, headers: ['anthropic-version', '2023-06-01'] },
};
