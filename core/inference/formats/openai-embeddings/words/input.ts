// The inputs of an embed task and the encoding of its vectors, as callers of all routes give them.
import { isObject } from '../../../../kernel/index.ts';
import { fail, optionalChoice, present } from '../../../caller/read.ts';
import type { EmbedContent, EmbedTask } from '../../../canonical/types.ts';

export const INPUTS_MAX = 2_048;
/** Above any vocabulary; a larger number is not a token id. */
export const TOKEN_MAX = 10_000_000;

export const ENCODINGS = ['float', 'base64'] as const;

/** Encoding of the vectors: numbers unless base64 is requested. @throws ServiceError invalid_request */
export function readEncoding(value: unknown): EmbedTask['encoding'] {
  return optionalChoice(value, 'encoding_format', ENCODINGS) ?? 'float';
}

/**
 * `input` of either surface: a text, 1..2048 texts, and with `tokens` the token ids of one text or of several; or, with
 * a reader of them, objects that hold texts and images.
 * @throws ServiceError invalid_request with the path of what is wrong.
 */
export function readInput(
  value: unknown,
  { tokens, content }: { tokens: boolean; content?: (value: unknown, param: string) => EmbedContent },
): Pick<EmbedTask, 'input' | 'single'> {
  if (!present(value)) fail('input', "'input' is required.");
  if (typeof value === 'string') return { input: [textOf(value, 'input')], single: true };
  if (content !== undefined && isObject(value)) return { input: [content(value, 'input')], single: true };
  if (!Array.isArray(value)) fail('input', "'input' must be a string or a list.");
  if (value.length === 0) fail('input', "'input' must not be empty.");
  if (tokens && typeof value[0] === 'number') return { input: [tokensOf(value, 'input')], single: true };
  if (value.length > INPUTS_MAX) fail('input', `'input' must have at most ${INPUTS_MAX} items.`);
  // One kind throughout: a list that mixes kinds is a mistake of the caller.
  const list = tokens && Array.isArray(value[0]);
  return {
    input: value.map((item, i) => {
      const param = `input[${i}]`;
      if (list) return tokensOf(item, param);
      return content !== undefined && isObject(item) ? content(item, param) : textOf(item, param);
    }),
    single: false,
  };
}

function textOf(value: unknown, param: string): string {
  if (typeof value !== 'string') fail(param, `'${param}' must be a string.`);
  if (value === '') fail(param, `'${param}' must not be empty.`);
  return value;
}

function tokensOf(value: unknown, param: string): number[] {
  if (!Array.isArray(value) || value.length === 0) fail(param, `'${param}' must be a list of token ids.`);
  for (let i = 0; i < value.length; i++) {
    const token: unknown = value[i];
    if (!Number.isInteger(token) || (token as number) < 0 || (token as number) > TOKEN_MAX) {
      fail(`${param}[${i}]`, `'${param}[${i}]' must be a token id.`);
    }
  }
  return value as number[];
}
