// The completions dialect of older OpenAI clients, also served by models that answer messages.

import { openaiAnswers, openaiSpared } from '../../../caller/openai.ts';
import type { Dialect } from '../../../canonical/contract.ts';
import { COVERAGE } from './coverage.ts';
import { readCompletions } from './read.ts';
import { writeCompletion } from './write.ts';
import { CompletionsWriter } from './writer.ts';

/** POST /v1/completions. */
export const completions: Dialect = {
  name: 'completions',
  coverage: COVERAGE,
  read: readCompletions,
  readInSteps: null,
  write: writeCompletion,
  writer: (meta) => new CompletionsWriter(meta),
  ...openaiAnswers,
  spared: openaiSpared,
  account: null,
  repeats: false,
  operation: 'text_completion',
};
