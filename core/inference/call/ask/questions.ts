// Which questions there are, by path.
import type { JsonObject } from '../../../kernel/index.ts';
import type { Dialect } from '../../canonical/contract.ts';
import { countedMessages } from '../../formats/anthropic-messages/caller/index.ts';
import { native, nativeWarnings } from '../../formats/native/caller/index.ts';
import { responses } from '../../formats/openai-responses/caller/index.ts';
import { type Counted, countTokens } from './count.ts';
import { dryRun } from './dry-run.ts';
import type { Question } from './question.ts';

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
