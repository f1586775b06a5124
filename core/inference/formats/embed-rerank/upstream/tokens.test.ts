import fc from 'fast-check';
import { encode } from 'gpt-tokenizer/encoding/cl100k_base';
import { expect, test } from 'vitest';
import { isBundled, textOfTokens } from './tokens.ts';

test('any text comes back from its tokens, also where a token cuts a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
      expect(textOfTokens(encode(text), 'cl100k_base', 'input')).toBe(text);
    }),
    { numRuns: 60 },
  );
});

test('a character that was cut off in one call does not begin the text of the next', () => {
  const [half] = encode('👩‍🚀');
  textOfTokens([half as number], 'cl100k_base', 'input');
  expect(textOfTokens(encode('clean'), 'cl100k_base', 'input')).toBe('clean');
});

test('an id that the vocabulary lacks is refused at its place', () => {
  expect(() => textOfTokens([1, 100_257], 'cl100k_base', 'input[3]')).toThrowError(
    expect.objectContaining({ code: 'invalid_request', param: 'input[3][1]' }),
  );
});

test('only vocabularies that are here count as bundled', () => {
  expect(['cl100k_base', 'o200k_base', 'llama3', undefined].map((name) => isBundled(name))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
