// The chat completions dialect of OpenAI's clients, and of the many that copied them.

import { readingBy } from '../../../../kernel/index.ts';
import { openaiAnswers, openaiSpared } from '../../../caller/openai.ts';
import type { Dialect, RawLane } from '../../../canonical/contract.ts';
import { rawChatRelay } from '../raw/relay.ts';
import { rawRequest } from '../raw/request.ts';
import { rawWhole } from '../raw/whole.ts';
import { COVERAGE } from './coverage.ts';
import { readChat } from './read.ts';
import { writeChat } from './write.ts';
import { ChatWriter } from './writer.ts';

/** POST /v1/chat/completions. */
export const chat: Dialect = {
  name: 'chat',
  coverage: COVERAGE,
  ...readingBy(readChat),
  write: writeChat,
  writer: (meta) => new ChatWriter(meta),
  ...openaiAnswers,
  spared: openaiSpared,
  account: null,
  repeats: false,
  operation: 'chat',
};

/** The raw lane between chat callers and endpoints of family `openai_chat`. */
export const rawChat: RawLane = {
  dialect: 'chat',
  family: 'openai_chat',
  request: rawRequest,
  whole: rawWhole,
  relay: rawChatRelay,
};
