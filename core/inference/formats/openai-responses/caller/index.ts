// The responses dialect of OpenAI's newer clients and agents.

import { readingBy } from '../../../../kernel/index.ts';
import { openaiAnswers, openaiSpared } from '../../../caller/openai.ts';
import type { Dialect } from '../../../canonical/contract.ts';
import { COVERAGE } from './coverage.ts';
import { readResponses } from './read.ts';
import { writeResponse } from './write.ts';
import { ResponsesWriter } from './writer.ts';

/** POST /v1/responses. */
export const responses: Dialect = {
  name: 'responses',
  coverage: COVERAGE,
  ...readingBy(readResponses),
  write: writeResponse,
  writer: (meta) => new ResponsesWriter(meta),
  ...openaiAnswers,
  spared: openaiSpared,
  account: null,
  repeats: true,
  operation: 'chat',
};
