// The embeddings dialect of OpenAI's clients.

import { chatError } from '../../../caller/error.ts';
import { noStream } from '../../../caller/no-stream.ts';
import type { Dialect } from '../../../canonical/contract.ts';
import { readEmbeddings } from './read.ts';
import { writeEmbeddings } from './write.ts';

/** POST /v1/embeddings. */
export const embeddings: Dialect = {
  name: 'embeddings',
  read: readEmbeddings,
  write: writeEmbeddings,
  writer: noStream,
  error: chatError,
};
