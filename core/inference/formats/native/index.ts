// The service's own format: the canonical form as a wire format.

import type { Format } from '../format.ts';
import { nativeOf, nativeWarnings } from './caller/index.ts';
import { nativeEmbedOf, nativeRerank } from './caller/tasks/index.ts';
import { wiresOf } from './caller/wires.ts';

declare module '../../canonical/names.ts' {
  interface Dialects {
    readonly native: true;
  }
}

/** The whole format. */
export const nativeFormat: Format = {
  callers(adapters) {
    const wires = wiresOf(adapters);
    const native = nativeOf(wires);
    return {
      routes: [
        { path: '/v1/svc/generate', dialect: native },
        { path: '/v1/svc/embed', dialect: nativeEmbedOf(wires) },
        { path: '/v1/svc/rerank', dialect: nativeRerank },
      ],
      questions: [
        {
          path: '/v1/svc/dry_run',
          dialect: native,
          asks: 'dry_run',
          warnings: (warnings) => nativeWarnings(warnings),
        },
        {
          path: '/v1/svc/count_tokens',
          dialect: native,
          asks: 'count',
          reply: ({ model, input_tokens, source, tokenizer }) => {
            return { object: 'token_count', model, input_tokens, source, tokenizer };
          },
        },
      ],
      guests: [],
    };
  },
  upstream: null,
  kinds: [],
  raw: null,
};
