// The embeddings dialect of OpenAI's clients.
import type { Dialect } from '../../canonical/contract.ts';
import { chatError } from '../shared/error.ts';
import { noStream } from '../shared/no-stream.ts';
import { readEmbeddings } from './read.ts';
import { writeEmbeddings } from './write.ts';

export { readEncoding, readInput } from './read.ts';
export { vectorText } from './write.ts';

/** POST /v1/embeddings. */
export const embeddings: Dialect = {
  name: 'embeddings',
  read: readEmbeddings,
  write: writeEmbeddings,
  writer: noStream,
  error: chatError,
};
