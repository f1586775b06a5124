// The requests and answers of the native routes for embeddings and rankings, for the OpenAPI document.
import { Type } from 'typebox';
import { named, nullable, oneOf } from '../../../../../kernel/index.ts';
import {
  CallCost,
  type CallShape,
  costExample,
  count,
  exampleIds,
  flag,
  may,
  model,
  optionMembers,
  text,
  Warning,
} from '../../../../caller/shapes.ts';
import { INPUTS_MAX } from '../../../openai-embeddings/words/input.ts';
import { dimensions, EmbeddingVector, encoding_format } from '../../../openai-embeddings/words/shapes.ts';
import { Resolved } from '../shapes.ts';
import { DOCUMENTS_MAX, INPUT_TYPES } from './read.ts';

const closed = { additionalProperties: false } as const;
const filled = Type.String({ minLength: 1 });
const ImageSource = named(
  'EmbedImageSource',
  Type.Union([
    Type.Object(
      {
        base64: Type.String({ pattern: '^[A-Za-z0-9+/_-]*={0,2}$' }),
        media_type: Type.String({ pattern: '^image/' }),
      },
      closed,
    ),
    Type.Object(
      { url: Type.String({ pattern: '^(?:https://|data:image/)' }), media_type: may(text()) },
      closed,
    ),
  ]),
);
const Content = named(
  'EmbedContent',
  Type.Object(
    {
      content: Type.Array(
        Type.Union([
          Type.Object({ type: Type.Literal('text'), text: filled }, closed),
          Type.Object({ type: Type.Literal('image'), src: ImageSource }, closed),
        ]),
        { minItems: 1 },
      ),
    },
    { ...closed, description: 'Texts and images that together give one vector.' },
  ),
);
const user = may(text('Your end user; only a hash of it leaves the gateway.'));
const tail = {
  resolved: Resolved,
  cost: CallCost,
  warnings: Type.Array(Warning),
  request_id: text(),
};
const ended = {
  resolved: { provider: 'openai', endpoint_id: 'ep_01KACZ3V8S6T5R4Q3P2N1M0K9J' },
  cost: costExample,
  warnings: [],
  request_id: exampleIds.request_id,
};
const source = oneOf(['provider', 'estimate'], 'UsageSource');

export const embedShape: CallShape = {
  body: named(
    'EmbedBody',
    Type.Object(
      {
        model,
        input: Type.Union([
          filled,
          Content,
          Type.Array(Type.Union([filled, Content]), { minItems: 1, maxItems: INPUTS_MAX }),
        ]),
        input_type: may(oneOf(INPUT_TYPES, 'EmbedInputType'), 'What the texts are for.'),
        dimensions,
        encoding_format,
        user,
        ...optionMembers,
      },
      closed,
    ),
  ),
  answer: named(
    'EmbedAnswer',
    Type.Object({
      object: Type.Literal('list'),
      id: text(),
      model: text(),
      data: Type.Array(
        named(
          'EmbedVector',
          Type.Object({ index: count(), embedding: EmbeddingVector, dimensions: count() }),
        ),
      ),
      usage: Type.Object({ input_tokens: count(), total_tokens: count(), source }),
      ...tail,
    }),
  ),
  examples: {
    request: { texts: { model: 'openai/text-embedding-3-small', input: ['a river', 'the sea'] } },
    answer: {
      object: 'list',
      id: exampleIds.request_id,
      model: 'openai/text-embedding-3-small',
      data: [{ index: 0, embedding: [0.01, -0.02], dimensions: 2 }],
      usage: { input_tokens: 4, total_tokens: 4, source: 'provider' },
      ...ended,
    },
  },
};

const Document = named('RerankDocument', Type.Object({ text: text() }, closed));

export const rerankShape: CallShape = {
  body: named(
    'RerankBody',
    Type.Object(
      {
        model,
        query: filled,
        documents: Type.Array(Type.Union([Type.String(), Document]), {
          minItems: 1,
          maxItems: DOCUMENTS_MAX,
        }),
        top_n: may(Type.Integer({ minimum: 1 }), 'How many results to return; default: all.'),
        return_documents: may(flag()),
        user,
        ...optionMembers,
      },
      closed,
    ),
  ),
  answer: named(
    'RerankAnswer',
    Type.Object({
      object: Type.Literal('rerank'),
      id: text(),
      model: text(),
      results: Type.Array(
        named(
          'RerankResult',
          Type.Object({ index: count(), relevance_score: Type.Number(), document: nullable(Document) }),
        ),
      ),
      usage: Type.Object({ input_tokens: count(), search_units: count(), source }),
      ...tail,
    }),
  ),
  examples: {
    request: {
      documents: {
        model: 'sandbox/rerank',
        query: 'a river',
        documents: ['the sea', 'the Ganges'],
        top_n: 1,
      },
    },
    answer: {
      object: 'rerank',
      id: exampleIds.request_id,
      model: 'sandbox/rerank',
      results: [{ index: 1, relevance_score: 0.93, document: null }],
      usage: { input_tokens: 12, search_units: 1, source: 'provider' },
      ...ended,
    },
  },
};
