// Providers of embeddings and rankings alone, as kinds of providers.
import { bearer, type KeyProbe, listModels, type ProviderKind } from '../../../upstream/kind.ts';

const FAMILY = 'embed_rerank';

function kindOf(kind: string, probe: KeyProbe): ProviderKind {
  return {
    kind,
    families: { text: null, embed: FAMILY, rerank: FAMILY },
    hour_writes: false,
    authenticate: bearer,
    probe,
  };
}

/** A request that is refused for its body once the key was found good: there is no list of models. */
const emptyRequest: KeyProbe = { ...listModels, method: 'POST', path: '/embeddings', good: [400, 422] };

export const rankingKinds: readonly ProviderKind[] = [
  kindOf('cohere', listModels),
  kindOf('jina', emptyRequest),
  kindOf('voyage', emptyRequest),
];
