// Embeddings and rankings in the formats of five providers.

import type { Format } from '../format.ts';
import { embedRerank } from './upstream/index.ts';
import { rankingKinds } from './upstream/kinds.ts';

declare module '../../canonical/names.ts' {
  interface Families {
    readonly embed_rerank: true;
  }
}

/** The whole format. */
export const embedRerankFormat: Format = {
  callers: null,
  upstream: embedRerank,
  kinds: rankingKinds,
  raw: null,
};
