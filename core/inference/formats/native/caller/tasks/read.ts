// Reads bodies of POST /v1/svc/embed and POST /v1/svc/rerank into the canonical request. The native routes are
// versioned, so an unknown field is a mistake and not a sign of a newer client.

import { compact, isObject, type JsonObject, ServiceError } from '../../../../../kernel/index.ts';
import {
  fail,
  optionalBoolean,
  optionalChoice,
  optionalNumber,
  optionalString,
  requireString,
} from '../../../../caller/read.ts';
import { type Headers, readOptions } from '../../../../caller/svc.ts';
import type { CanonicalRequest, Task } from '../../../../canonical/types.ts';
import { readEncoding, readInput } from '../../../openai-embeddings/words/input.ts';
import type { Wires } from '../wires.ts';
import { readEmbedContent } from './read-content.ts';

const COMMON = [
  'model',
  'route',
  'metadata',
  'compat',
  'provider_options',
  'app',
  'user',
  'session',
  'budget',
];
const EMBED = new Set([...COMMON, 'input', 'input_type', 'dimensions', 'encoding_format']);
const RERANK = new Set([...COMMON, 'query', 'documents', 'top_n', 'return_documents']);
export const INPUT_TYPES = ['query', 'document', 'classification', 'clustering'] as const;
export const DOCUMENTS_MAX = 1_000;

/** @throws ServiceError invalid_request or unsupported_parameter with `param` */
export function readEmbed(value: unknown, headers: Headers, wires: Wires): CanonicalRequest {
  const body = strictly(value, EMBED);
  return requestOf(body, headers, {
    kind: 'embed',
    ...readInput(body['input'], {
      tokens: false,
      content: (item, param) => readEmbedContent(item, param, wires),
    }),
    ...compact({
      input_type: optionalChoice(body['input_type'], 'input_type', INPUT_TYPES),
      dimensions: optionalNumber(body['dimensions'], 'dimensions', { min: 1, integer: true }),
    }),
    encoding: readEncoding(body['encoding_format']),
  });
}

/** @throws ServiceError invalid_request or unsupported_parameter with `param` */
export function readRerank(value: unknown, headers: Headers): CanonicalRequest {
  const body = strictly(value, RERANK);
  const query = requireString(body['query'], 'query');
  if (query === '') fail('query', "'query' must not be empty.");
  const documents = documentsOf(body['documents']);
  const limits = { min: 1, max: documents.length, integer: true };
  return requestOf(body, headers, {
    kind: 'rerank',
    query,
    documents,
    top_n: optionalNumber(body['top_n'], 'top_n', limits) ?? documents.length,
    return_documents: optionalBoolean(body['return_documents'], 'return_documents') ?? false,
  });
}

function strictly(value: unknown, known: ReadonlySet<string>): JsonObject {
  if (!isObject(value)) throw new ServiceError('invalid_request', 'The body must be a JSON object.');
  for (const key of Object.keys(value)) {
    if (!known.has(key)) fail(key, `Unknown field '${key}'.`);
  }
  return value;
}

function requestOf(body: JsonObject, headers: Headers, task: Task): CanonicalRequest {
  return {
    model: requireString(body['model'], 'model'),
    messages: [],
    generation: { max_tokens: 0 },
    task,
    ...compact({ user: optionalString(body['user'], 'user') }),
    stream: false,
    include_usage: false,
    svc: readOptions(body, '', headers),
    dialect: 'native',
    warnings: [],
  };
}

/** Texts, or objects with a text. A document may be empty, as fields of a database are. */
function documentsOf(value: unknown): string[] {
  if (!Array.isArray(value)) fail('documents', "'documents' must be a list.");
  if (value.length === 0) fail('documents', "'documents' must not be empty.");
  if (value.length > DOCUMENTS_MAX)
    fail('documents', `'documents' must have at most ${DOCUMENTS_MAX} items.`);
  return value.map((item, i) => {
    if (typeof item === 'string') return item;
    const param = `documents[${i}]`;
    if (!isObject(item)) fail(param, `'${param}' must be a string or an object with 'text'.`);
    for (const key of Object.keys(item)) {
      if (key !== 'text') fail(`${param}.${key}`, `Unknown field '${param}.${key}'.`);
    }
    return requireString(item['text'], `${param}.text`);
  });
}
