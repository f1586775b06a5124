// Bodies of the routes of embeddings and rankings for the OpenAPI document.
import type { InferenceShape } from './inference-shapes.ts';

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };
const anObject = { type: 'object' };
const model = { type: 'string', description: 'vendor/model' };
const vector = {
  anyOf: [
    { type: 'array', items: { type: 'number' } },
    { type: 'string', description: 'base64 of little-endian float32' },
  ],
};
/** Texts and images with one vector. */
const content = {
  type: 'object',
  required: ['content'],
  properties: {
    content: {
      type: 'array',
      minItems: 1,
      items: {
        anyOf: [
          { type: 'object', required: ['type', 'text'], properties: { type: { const: 'text' }, text } },
          {
            type: 'object',
            required: ['type', 'src'],
            properties: {
              type: { const: 'image' },
              src: { type: 'object', properties: { base64: text, media_type: text, url: text } },
            },
          },
        ],
      },
    },
  },
};
const form = {
  dimensions: { type: 'integer', minimum: 1 },
  encoding_format: { type: 'string', enum: ['float', 'base64'] },
};
/** What `svc` holds elsewhere stands at the top of native bodies. */
const native = {
  route: anObject,
  metadata: { type: 'object', additionalProperties: text },
  compat: { type: 'string', enum: ['strict', 'warn', 'drop'] },
  provider_options: anObject,
  app: { type: 'string', maxLength: 64 },
  user: text,
  session: { type: 'string', maxLength: 128 },
};
const tail = {
  resolved: { type: 'object', properties: { provider: text, endpoint_id: text, upstream_model: text } },
  cost: { type: 'object', properties: { total_micro_usd: count } },
  warnings: { type: 'array', items: anObject },
};
const whole = { answer: 'The answer', streams: false, keyed: true };

function listOf(properties: Record<string, unknown>) {
  return { type: 'array', items: { type: 'object', properties } };
}

/** By path. */
export const taskShapes: readonly (readonly [string, InferenceShape])[] = [
  [
    '/v1/embeddings',
    {
      ...whole,
      required: ['model', 'input'],
      members: {
        model,
        input: { description: 'a text, 1 to 2,048 texts, or the token ids of a text or of several' },
        ...form,
        input_type: text,
        svc: { type: 'object', description: 'route, metadata, compat, provider_options' },
      },
      reply: {
        type: 'object',
        required: ['object', 'data', 'model', 'usage', 'svc'],
        properties: {
          object: { const: 'list' },
          data: listOf({ object: { const: 'embedding' }, index: count, embedding: vector }),
          model: text,
          usage: { type: 'object', properties: { prompt_tokens: count, total_tokens: count } },
          svc: anObject,
        },
      },
    },
  ],
  [
    '/v1/svc/embed',
    {
      ...whole,
      strict: true,
      required: ['model', 'input'],
      members: {
        model,
        input: {
          anyOf: [
            text,
            content,
            { type: 'array', minItems: 1, maxItems: 2_048, items: { anyOf: [text, content] } },
          ],
        },
        ...form,
        input_type: { type: 'string', enum: ['query', 'document', 'classification', 'clustering'] },
        ...native,
      },
      reply: {
        type: 'object',
        required: ['object', 'id', 'model', 'data', 'usage', 'resolved', 'cost', 'warnings', 'request_id'],
        properties: {
          object: { const: 'list' },
          id: text,
          model: text,
          data: listOf({ index: count, embedding: vector, dimensions: count }),
          usage: { type: 'object', properties: { input_tokens: count, total_tokens: count, source: text } },
          request_id: text,
          ...tail,
        },
      },
    },
  ],
  [
    '/v1/svc/rerank',
    {
      ...whole,
      strict: true,
      required: ['model', 'query', 'documents'],
      members: {
        model,
        query: text,
        documents: {
          type: 'array',
          minItems: 1,
          maxItems: 1_000,
          items: { anyOf: [text, { type: 'object', required: ['text'], properties: { text } }] },
        },
        top_n: { type: 'integer', minimum: 1 },
        return_documents: { type: 'boolean' },
        ...native,
      },
      reply: {
        type: 'object',
        required: ['object', 'id', 'model', 'results', 'usage', 'resolved', 'cost', 'warnings', 'request_id'],
        properties: {
          object: { const: 'rerank' },
          id: text,
          model: text,
          results: listOf({
            index: count,
            relevance_score: { type: 'number' },
            document: { type: ['object', 'null'], properties: { text } },
          }),
          usage: { type: 'object', properties: { input_tokens: count, search_units: count, source: text } },
          request_id: text,
          ...tail,
        },
      },
    },
  ],
];
