// Token ids back into text, for endpoints that take text only.
import { createRequire } from 'node:module';
import { ServiceError } from '../../../../kernel/index.ts';

/** Vocabularies that are bundled; a model names its own in the catalog (`tokenizer`). */
const bundled = ['o200k_base', 'cl100k_base', 'p50k_base', 'r50k_base'] as const;
type Vocabulary = readonly (string | readonly number[])[];

const load = createRequire(import.meta.url);
const loaded = new Map<string, Vocabulary>();

/** Whether token ids of `tokenizer` can be decoded here. */
export function isBundled(tokenizer: string | undefined): boolean {
  return (bundled as readonly (string | undefined)[]).includes(tokenizer);
}

/**
 * The text of `tokens` in `tokenizer`, one of the bundled. Only its table is used, loaded at the first call (some
 * 40 ms, 23 MB): the package's own decoder keeps the bytes of a character that was cut off and puts them before
 * the next text it decodes, which may be another caller's. Linear in the number of tokens.
 * @throws ServiceError invalid_request with `param` for an id that the vocabulary does not have.
 */
export function textOfTokens(tokens: readonly number[], tokenizer: string, param: string): string {
  const vocabulary = vocabularyOf(tokenizer);
  const pieces: Buffer[] = [];
  for (const [i, token] of tokens.entries()) {
    const piece = vocabulary[token];
    if (piece === undefined) {
      const message = `'${param}[${i}]' is no token of ${tokenizer}.`;
      throw new ServiceError('invalid_request', message, { param: `${param}[${i}]` });
    }
    pieces.push(typeof piece === 'string' ? Buffer.from(piece) : Buffer.from(piece));
  }
  return Buffer.concat(pieces).toString('utf8');
}

function vocabularyOf(tokenizer: string): Vocabulary {
  let vocabulary = loaded.get(tokenizer);
  if (vocabulary === undefined) {
    ({ default: vocabulary } = load(`gpt-tokenizer/bpeRanks/${tokenizer}`) as { default: Vocabulary });
    loaded.set(tokenizer, vocabulary);
  }
  return vocabulary;
}
