// The sandbox as a kind of provider; no catalog file may name it.
import type { ProviderKind } from '../../../upstream/kind.ts';

export const sandboxKind: ProviderKind = {
  kind: 'sandbox',
  families: { text: 'sandbox', embed: 'sandbox', rerank: 'sandbox' },
  hour_writes: false,
  authenticate: () => ({ headers: [] }),
  probe: null,
};
