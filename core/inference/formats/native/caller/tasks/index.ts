// The native surface's tasks beside generation: vectors and rankings.

import { chatError } from '../../../../caller/error.ts';
import { noStream } from '../../../../caller/no-stream.ts';
import type { Dialect } from '../../../../canonical/contract.ts';
import { readEmbed, readRerank } from './read.ts';
import { writeEmbed, writeRerank } from './write.ts';

/** POST /v1/svc/embed. */
export const nativeEmbed: Dialect = {
  name: 'native',
  read: readEmbed,
  write: writeEmbed,
  writer: noStream,
  error: chatError,
};

/** POST /v1/svc/rerank. */
export const nativeRerank: Dialect = {
  name: 'native',
  read: readRerank,
  write: writeRerank,
  writer: noStream,
  error: chatError,
};
