// Which provider families and dialects exist, and which of them meet in a raw lane. A new provider is one line here
// and one folder under providers/.
import type { JsonObject } from '../kernel/index.ts';
import { type Counted, countTokens } from './call/count.ts';
import { dryRun } from './call/dry-run.ts';
import type { Question } from './call/question.ts';
import type { Adapter, Dialect, RawLane } from './canonical/contract.ts';
import type { Family } from './canonical/types.ts';
import { chat, rawChat } from './dialects/chat/index.ts';
import { completions } from './dialects/completions/index.ts';
import { rawCompletions } from './dialects/completions/raw.ts';
import { embeddings } from './dialects/embeddings/index.ts';
import { countedMessages, messagesDialect, messagesRawLane } from './dialects/messages/index.ts';
import { native, nativeWarnings } from './dialects/native/index.ts';
import { nativeEmbed, nativeRerank } from './dialects/native-tasks/index.ts';
import { responses } from './dialects/responses/index.ts';
import { rawResponses } from './dialects/responses/raw.ts';
import { anthropicMessages } from './providers/anthropic-messages/index.ts';
import { bedrockConverse } from './providers/bedrock-converse/index.ts';
import { embedRerank } from './providers/embed-rerank/index.ts';
import { gemini } from './providers/gemini/index.ts';
import { openaiChat } from './providers/openai-chat/index.ts';
import { openaiResponses } from './providers/openai-responses/index.ts';
import { sandboxAdapter } from './providers/sandbox/index.ts';

/** Adapter by provider family. */
export const adapters: ReadonlyMap<Family, Adapter> = new Map(
  [openaiChat, openaiResponses, anthropicMessages, embedRerank, bedrockConverse, gemini, sandboxAdapter].map(
    (adapter) => [adapter.family, adapter],
  ),
);

/** Dialect by the path that speaks it. */
export const dialects: ReadonlyMap<string, Dialect> = new Map([
  ['/v1/chat/completions', chat],
  ['/v1/messages', messagesDialect],
  ['/v1/completions', completions],
  ['/v1/svc/generate', native],
  ['/v1/responses', responses],
  ['/v1/embeddings', embeddings],
  ['/v1/svc/embed', nativeEmbed],
  ['/v1/svc/rerank', nativeRerank],
]);

/** A count for callers of `dialect`; what it says by `reply`, who counted by a header. */
function counting(dialect: Dialect, reply: (counted: Counted) => JsonObject): Question {
  return {
    dialect,
    async answer(deps, incoming, headers) {
      const counted = await countTokens(deps, incoming);
      headers.push('x-svc-count-source', counted.source);
      return reply(counted);
    },
  };
}

/** What may be asked about a call, by path. */
export const questions: ReadonlyMap<string, Question> = new Map([
  [
    '/v1/svc/dry_run',
    {
      dialect: native,
      async answer(deps, incoming) {
        const told = await dryRun(deps, incoming);
        return { ...told, warnings: nativeWarnings(told.warnings) };
      },
    },
  ],
  [
    '/v1/svc/count_tokens',
    counting(native, ({ model, input_tokens, source, tokenizer }) => {
      return { object: 'token_count', model, input_tokens, source, tokenizer };
    }),
  ],
  [
    '/v1/messages/count_tokens',
    counting(countedMessages, ({ input_tokens, more }) => ({ input_tokens, ...more })),
  ],
  [
    '/v1/responses/input_tokens',
    counting(responses, ({ input_tokens }) => ({ object: 'response.input_tokens', input_tokens })),
  ],
]);

/** Raw lane by `dialect family`. */
export const rawLanes: ReadonlyMap<string, RawLane> = new Map(
  [rawChat, messagesRawLane, rawResponses, rawCompletions].map((lane) => [
    `${lane.dialect} ${lane.family}`,
    lane,
  ]),
);
