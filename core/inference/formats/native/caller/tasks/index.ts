// The native routes for other tasks than generation: embeddings and rankings.

import { noStream } from '../../../../caller/no-stream.ts';
import { openaiAnswers } from '../../../../caller/openai.ts';
import type { Dialect } from '../../../../canonical/contract.ts';
import { nativeTraits } from '../traits.ts';
import type { Wires } from '../wires.ts';
import { readEmbed, readRerank } from './read.ts';
import { writeEmbed, writeRerank } from './write.ts';

/** POST /v1/svc/embed; callers may refer to files of the formats in `wires`. */
export const nativeEmbedOf = (wires: Wires): Dialect => ({
  name: 'native',
  coverage: null,
  read: (value, headers) => readEmbed(value, headers, wires),
  readInSteps: null,
  write: writeEmbed,
  writer: noStream,
  ...openaiAnswers,
  ...nativeTraits,
});

/** POST /v1/svc/rerank. */
export const nativeRerank: Dialect = {
  name: 'native',
  coverage: null,
  read: readRerank,
  readInSteps: null,
  write: writeRerank,
  writer: noStream,
  ...openaiAnswers,
  ...nativeTraits,
};
