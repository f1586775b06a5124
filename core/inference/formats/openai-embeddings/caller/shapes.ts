// The request and answer of POST /v1/embeddings, for the OpenAPI document.
import { Type } from 'typebox';
import { named, oneOf } from '../../../../kernel/index.ts';
import {
  type CallShape,
  count,
  may,
  model,
  SvcReply,
  svc,
  svcExample,
  text,
} from '../../../caller/shapes.ts';
import { INPUTS_MAX, TOKEN_MAX } from '../words/input.ts';
import { dimensions, EmbeddingVector, encoding_format } from '../words/shapes.ts';
import { INPUT_TYPES } from './read.ts';

const tokens = Type.Array(Type.Integer({ minimum: 0, maximum: TOKEN_MAX }), { minItems: 1 });
const filled = Type.String({ minLength: 1 });

export const embeddingsShape: CallShape = {
  body: named(
    'EmbeddingsBody',
    Type.Object({
      model,
      input: Type.Union(
        [
          filled,
          Type.Array(filled, { minItems: 1, maxItems: INPUTS_MAX }),
          tokens,
          Type.Array(tokens, { minItems: 1, maxItems: INPUTS_MAX }),
        ],
        { description: 'One text or several, as text or as token ids.' },
      ),
      dimensions,
      encoding_format,
      input_type: may(
        oneOf(Object.keys(INPUT_TYPES), 'EmbeddingsInputType'),
        'What the texts are for; models that tell the kinds apart embed them differently.',
      ),
      user: may(text('Your end user; only a hash of it leaves the gateway.')),
      svc,
    }),
  ),
  answer: named(
    'EmbeddingsAnswer',
    Type.Object({
      object: Type.Literal('list'),
      data: Type.Array(
        named(
          'EmbeddingEntry',
          Type.Object({ object: Type.Literal('embedding'), index: count(), embedding: EmbeddingVector }),
        ),
      ),
      model: text(),
      usage: Type.Object({ prompt_tokens: count(), total_tokens: count() }),
      svc: SvcReply,
    }),
  ),
  examples: {
    request: { texts: { model: 'openai/text-embedding-3-small', input: ['a river', 'the sea'] } },
    answer: {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.01, -0.02] }],
      model: 'openai/text-embedding-3-small',
      usage: { prompt_tokens: 4, total_tokens: 4 },
      svc: svcExample,
    },
  },
};
