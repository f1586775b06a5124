// Google's Gemini API as a kind of provider.
import { listModels, type ProviderKind } from '../../../upstream/kind.ts';

export const geminiKind: ProviderKind = {
  kind: 'gemini',
  families: { text: 'gemini', embed: 'embed_rerank', rerank: null },
  hour_writes: false,
  authenticate: (key) => ({ headers: ['x-goog-api-key', key] }),
  // It answers 400 to an unknown key.
  probe: { ...listModels, refuses: (status, body) => status === 400 && body.includes('API_KEY_INVALID') },
};
