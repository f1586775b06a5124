// OpenAI's chat completions, which most servers and clients speak.

import type { Format } from '../format.ts';
import { chat, rawChat } from './caller/index.ts';
import { openaiChat } from './upstream/index.ts';
import { openaiKind } from './upstream/kind.ts';

declare module '../../canonical/names.ts' {
  interface Families {
    readonly openai_chat: true;
  }
  interface Dialects {
    readonly chat: true;
  }
}

/** The whole format. */
export const openaiChatFormat: Format = {
  callers: () => ({ routes: [{ path: '/v1/chat/completions', dialect: chat }], questions: [], guests: [] }),
  upstream: openaiChat,
  kinds: [openaiKind],
  raw: rawChat,
};
