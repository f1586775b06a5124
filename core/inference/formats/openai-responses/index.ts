// OpenAI's Responses API, always stateless.

import type { Format } from '../format.ts';
import { responses } from './caller/index.ts';
import { withResponses } from './caller/on-chat.ts';
import { rawResponses } from './raw/index.ts';
import { openaiResponses } from './upstream/index.ts';
import { responsesKind } from './upstream/kind.ts';

declare module '../../canonical/names.ts' {
  interface Families {
    readonly openai_responses: true;
  }
  interface Dialects {
    readonly responses: true;
  }
}

/** The whole format. */
export const responsesFormat: Format = {
  callers: () => ({
    routes: [{ path: '/v1/responses', dialect: responses }],
    questions: [
      {
        path: '/v1/responses/input_tokens',
        dialect: responses,
        asks: 'count',
        reply: ({ input_tokens }) => ({ object: 'response.input_tokens', input_tokens }),
      },
    ],
    guests: [{ path: '/v1/chat/completions', welcome: withResponses }],
  }),
  upstream: openaiResponses,
  kinds: [responsesKind],
  raw: rawResponses,
};
