// Anthropic's Messages API.

import type { Format } from '../format.ts';
import { countedMessages, messagesDialect, messagesRawLane } from './caller/index.ts';
import { anthropicMessages } from './upstream/index.ts';
import { anthropicKind } from './upstream/kind.ts';

declare module '../../canonical/names.ts' {
  interface Families {
    readonly anthropic_messages: true;
  }
  interface Dialects {
    readonly messages: true;
  }
}

/** The whole format. */
export const messagesFormat: Format = {
  callers: () => ({
    routes: [{ path: '/v1/messages', dialect: messagesDialect }],
    questions: [
      {
        path: '/v1/messages/count_tokens',
        dialect: countedMessages,
        asks: 'count',
        reply: ({ input_tokens, more }) => ({ input_tokens, ...more }),
      },
    ],
    guests: [],
  }),
  upstream: anthropicMessages,
  kinds: [anthropicKind],
  raw: messagesRawLane,
};
