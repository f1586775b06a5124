// Which provider families and dialects exist, and which of them meet in a raw lane. A new format is one folder here and
// one line in this file.
import type { Adapter, Dialect, RawLane } from '../canonical/contract.ts';
import type { Family } from '../canonical/types.ts';
import { messagesDialect, messagesRawLane } from './anthropic-messages/caller/index.ts';
import { anthropicMessages } from './anthropic-messages/upstream/index.ts';
import { bedrockConverse } from './bedrock-converse/upstream/index.ts';
import { embedRerank } from './embed-rerank/upstream/index.ts';
import { gemini } from './gemini/upstream/index.ts';
import { native } from './native/caller/index.ts';
import { nativeEmbed, nativeRerank } from './native/caller/tasks/index.ts';
import { chat, rawChat } from './openai-chat/caller/index.ts';
import { openaiChat } from './openai-chat/upstream/index.ts';
import { completions } from './openai-completions/caller/index.ts';
import { rawCompletions } from './openai-completions/raw/index.ts';
import { embeddings } from './openai-embeddings/caller/index.ts';
import { responses } from './openai-responses/caller/index.ts';
import { withResponses } from './openai-responses/caller/on-chat.ts';
import { rawResponses } from './openai-responses/raw/index.ts';
import { openaiResponses } from './openai-responses/upstream/index.ts';
import { sandboxAdapter } from './sandbox/upstream/index.ts';

/** Adapter by provider family. */
export const adapters: ReadonlyMap<Family, Adapter> = new Map(
  [openaiChat, openaiResponses, anthropicMessages, embedRerank, bedrockConverse, gemini, sandboxAdapter].map(
    (adapter) => [adapter.family, adapter],
  ),
);

/** Dialect by the path that speaks it. */
export const dialects: ReadonlyMap<string, Dialect> = new Map([
  ['/v1/chat/completions', withResponses(chat)],
  ['/v1/messages', messagesDialect],
  ['/v1/completions', completions],
  ['/v1/svc/generate', native],
  ['/v1/responses', responses],
  ['/v1/embeddings', embeddings],
  ['/v1/svc/embed', nativeEmbed],
  ['/v1/svc/rerank', nativeRerank],
]);

/** Raw lane by `dialect family`. */
export const rawLanes: ReadonlyMap<string, RawLane> = new Map(
  [rawChat, messagesRawLane, rawResponses, rawCompletions].map((lane) => [
    `${lane.dialect} ${lane.family}`,
    lane,
  ]),
);
