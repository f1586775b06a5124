// The four forms of a completion's `prompt`: a text, several texts, token ids, several lists of token ids.
import { isObject } from '../../../../kernel/index.ts';
import { fail, present } from '../../../caller/read.ts';
import type { Message } from '../../../canonical/types.ts';

/** Each prompt gets one choice, times `n`. */
export const PROMPTS_MAX = 8;
/** Bytes that a token id counts as, where bytes of text are counted. */
const BYTES_PER_TOKEN = 4;

export interface Prompts {
  /** One message per prompt; token ids are in `ext.prompt_tokens`. */
  readonly messages: Message[];
  /** Number of token ids in all prompts. */
  readonly tokens: number;
  /** Bytes of each prompt, estimated for token ids. */
  readonly bytes: readonly number[];
}

/** @throws ServiceError invalid_request with `param` */
export function readPrompts(value: unknown): Prompts {
  if (typeof value === 'string') return textPrompts([value]);
  if (!present(value)) fail('prompt', "'prompt' is required.");
  if (!Array.isArray(value)) fail('prompt', "'prompt' must be a string or a list.");
  if (value.length === 0) fail('prompt', "'prompt' must not be empty.");
  const [first] = value as unknown[];
  if (typeof first === 'number') return tokenPrompts([tokensOf(value, 'prompt')]);
  if (value.length > PROMPTS_MAX) fail('prompt', `'prompt' must have at most ${PROMPTS_MAX} prompts.`);
  if (Array.isArray(first)) return tokenPrompts(value.map((item, i) => tokensOf(item, `prompt[${i}]`)));
  return textPrompts(
    value.map((item: unknown, i) => {
      if (typeof item === 'string') return item;
      const wanted = isObject(item) ? 'a string' : 'a string, as the first one is';
      return fail(`prompt[${i}]`, `'prompt[${i}]' must be ${wanted}.`);
    }),
  );
}

function textPrompts(texts: readonly string[]): Prompts {
  return {
    messages: texts.map((text) => ({ role: 'user', content: [{ type: 'text', text }] })),
    tokens: 0,
    bytes: texts.map((text) => Buffer.byteLength(text)),
  };
}

function tokenPrompts(lists: readonly number[][]): Prompts {
  return {
    messages: lists.map((ids) => ({ role: 'user', content: [], ext: { prompt_tokens: ids } })),
    tokens: lists.reduce((sum, ids) => sum + ids.length, 0),
    bytes: lists.map((ids) => ids.length * BYTES_PER_TOKEN),
  };
}

function tokensOf(value: unknown, path: string): number[] {
  if (!Array.isArray(value) || value.length === 0) fail(path, `'${path}' must be a list of token ids.`);
  for (let i = 0; i < value.length; i++) {
    const id: unknown = value[i];
    if (typeof id === 'number' && Number.isSafeInteger(id) && id >= 0) continue;
    fail(`${path}[${i}]`, `'${path}[${i}]' must be a token id.`);
  }
  return value as number[];
}
