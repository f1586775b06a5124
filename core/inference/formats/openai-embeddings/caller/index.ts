// The embeddings dialect of OpenAI's clients.

import { noStream } from '../../../caller/no-stream.ts';
import { openaiAnswers, openaiSpared } from '../../../caller/openai.ts';
import type { Dialect } from '../../../canonical/contract.ts';
import { readEmbeddings } from './read.ts';
import { writeEmbeddings } from './write.ts';

/** POST /v1/embeddings. */
export const embeddings: Dialect = {
  name: 'embeddings',
  coverage: null,
  read: readEmbeddings,
  readInSteps: null,
  write: writeEmbeddings,
  writer: noStream,
  ...openaiAnswers,
  spared: openaiSpared,
  account: null,
  repeats: false,
  operation: 'embeddings',
};
