// Kinds of providers that only have embeddings and rankings.
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

/** A request whose body is refused only after the key was accepted; there is no list of models. */
const emptyRequest: KeyProbe = { ...listModels, method: 'POST', path: '/embeddings', good: [400, 422] };

export const rankingKinds: readonly ProviderKind[] = [
  kindOf('cohere', listModels),
  kindOf('jina', emptyRequest),
  kindOf('voyage', emptyRequest),
];
