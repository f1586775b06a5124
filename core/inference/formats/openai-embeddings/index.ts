// OpenAI's embeddings, as callers speak them.

import type { Format } from '../format.ts';
import { embeddings } from './caller/index.ts';

declare module '../../canonical/names.ts' {
  interface Dialects {
    readonly embeddings: true;
  }
}

/** The whole format. */
export const embeddingsFormat: Format = {
  callers: () => ({ routes: [{ path: '/v1/embeddings', dialect: embeddings }], questions: [], guests: [] }),
  upstream: null,
  kinds: [],
  raw: null,
};
