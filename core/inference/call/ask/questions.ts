// How each question about a call is answered, in its own format.
import type { JsonObject } from '../../../kernel/index.ts';
import type { Asked } from '../../formats/format.ts';
import { countTokens } from './count.ts';
import { dryRun } from './dry-run.ts';
import type { Question } from './question.ts';

function questionOf(asked: Asked): Question {
  const { dialect } = asked;
  if (asked.asks === 'dry_run') {
    return {
      dialect,
      async answer(deps, incoming): Promise<JsonObject> {
        const reported = await dryRun(deps, incoming);
        return { ...reported, warnings: asked.warnings(reported.warnings) };
      },
    };
  }
  return {
    dialect,
    async answer(deps, incoming, headers) {
      const counted = await countTokens(deps, incoming);
      headers.push('x-svc-count-source', counted.source);
      return asked.reply(counted);
    },
  };
}

/** The questions that can be asked about a call, by path. */
export function questionsOf(asked: ReadonlyMap<string, Asked>): ReadonlyMap<string, Question> {
  return new Map([...asked].map(([path, one]) => [path, questionOf(one)]));
}
