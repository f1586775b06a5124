// Which provider families and dialects exist, and which of them meet in a raw lane. A new provider is one line here
// and one folder under providers/.
import type { Adapter, Dialect, RawLane } from './canonical/contract.ts';
import type { Family } from './canonical/types.ts';
import { chat, rawChat } from './dialects/chat/index.ts';
import { messagesDialect, messagesRawLane } from './dialects/messages/index.ts';
import { anthropicMessages } from './providers/anthropic-messages/index.ts';
import { openaiChat } from './providers/openai-chat/index.ts';
import { sandboxAdapter } from './providers/sandbox/index.ts';

/** Adapter by provider family. */
export const adapters: ReadonlyMap<Family, Adapter> = new Map(
  [openaiChat, anthropicMessages, sandboxAdapter].map((adapter) => [adapter.family, adapter]),
);

/** Dialect by the path that speaks it. */
export const dialects: ReadonlyMap<string, Dialect> = new Map([
  ['/v1/chat/completions', chat],
  ['/v1/messages', messagesDialect],
]);

/** Raw lane by `dialect family`. */
export const rawLanes: ReadonlyMap<string, RawLane> = new Map(
  [rawChat, messagesRawLane].map((lane) => [`${lane.dialect} ${lane.family}`, lane]),
);
