// Reads the body of POST /v1/embeddings into the canonical request.
import { compact } from '../../../../kernel/index.ts';
import { fail, optionalChoice, optionalNumber, optionalString, restOf } from '../../../caller/read.ts';
import { readStart } from '../../../caller/start.ts';
import type { Headers } from '../../../caller/svc.ts';
import type { CanonicalRequest, EmbedTask, InputType } from '../../../canonical/types.ts';
import { readEncoding, readInput } from '../words/input.ts';

const NAMED = new Set([
  'model',
  'input',
  'encoding_format',
  'dimensions',
  'input_type',
  'user',
  'stream',
  'stream_options',
  'svc',
]);

/** Names for what texts are used for: ours, and those that clients of other providers send. */
export const INPUT_TYPES: Readonly<Record<string, InputType>> = {
  query: 'query',
  document: 'document',
  classification: 'classification',
  clustering: 'clustering',
  search_query: 'query',
  search_document: 'document',
  passage: 'document',
  'retrieval.query': 'query',
  'retrieval.passage': 'document',
};

/** @throws ServiceError invalid_request or unsupported_parameter with `param` */
export function readEmbeddings(value: unknown, headers: Headers): CanonicalRequest {
  const { body, model, stream, svc, warnings } = readStart(value, headers);
  if (stream) fail('stream', 'Embeddings are not streamed.');
  const word = optionalChoice(body['input_type'], 'input_type', Object.keys(INPUT_TYPES));
  const task: EmbedTask = {
    kind: 'embed',
    ...readInput(body['input'], { tokens: true }),
    ...compact({
      input_type: word === undefined ? undefined : INPUT_TYPES[word],
      dimensions: optionalNumber(body['dimensions'], 'dimensions', { min: 1, integer: true }),
    }),
    encoding: readEncoding(body['encoding_format']),
  };
  return {
    model,
    messages: [],
    generation: { max_tokens: 0 },
    task,
    ...compact({ user: optionalString(body['user'], 'user') }),
    ...restOf(body, NAMED),
    stream: false,
    include_usage: false,
    svc,
    dialect: 'embeddings',
    warnings,
  };
}
