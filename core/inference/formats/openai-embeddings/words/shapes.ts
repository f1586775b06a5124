// What formats that embed have in common, for the document of the interface.
import { Type } from 'typebox';
import { named, oneOf } from '../../../../kernel/index.ts';
import { may } from '../../../caller/shapes.ts';
import { ENCODINGS } from './input.ts';

export const EmbeddingVector = named(
  'EmbeddingVector',
  Type.Union([Type.Array(Type.Number()), Type.String({ description: 'base64 of little-endian float32' })]),
);
export const dimensions = may(
  Type.Integer({ minimum: 1 }),
  'Length of the vectors, where the model has several.',
);
export const encoding_format = may(oneOf(ENCODINGS, 'EmbeddingEncoding'));
