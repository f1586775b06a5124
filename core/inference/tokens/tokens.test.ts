// Counting tokens in a worker: exact where it says so, bounded whatever the text is.
import fc from 'fast-check';
import { countTokens as cl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as o200k } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, describe, expect, test } from 'vitest';
import { createTokenCounter, type Tokens } from './counter.ts';
import { piecesOf } from './cut.ts';
import type { Tokenizer } from './worker.ts';

const plain = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };
const whole = {
  o200k_base: (text: string) => o200k(text, plain),
  cl100k_base: (text: string) => cl100k(text, plain),
};
const counter = createTokenCounter();
afterAll(() => counter.close());

/** Asks until the worker, which may have to start first, has an answer in time. */
async function counted(tokenizer: Tokenizer, texts: readonly string[]): Promise<Tokens> {
  for (let i = 0; i < 20; i++) {
    const found = await counter.count(tokenizer, texts);
    if (found !== null) return found;
  }
  throw new Error('never counted');
}

const words = fc.constantFrom(
  ...[
    'the ',
    'Word',
    "don't ",
    'é',
    'naïve,',
    '漢字',
    '仮名。',
    '12345',
    ' 67',
    '\n\n',
    '   ',
    '\t',
    '--',
    '...',
    '’s ',
  ],
  ...['😀', '👩‍👧', 'e\u0301', '<|endoftext|>', 'HTTPServer', "'LL", '\r\n/', '\ud83d', 'ǅ', 'नमस्ते ', '٣٤'],
);

describe('pieces', () => {
  test('put together are the text, none too long, whatever the text is', () => {
    fc.assert(
      fc.property(fc.array(words, { maxLength: 2_000 }), (list) => {
        const text = list.join('');
        const pieces = [...piecesOf(text)];
        expect(pieces.map((piece) => piece.text).join('')).toBe(text);
        expect(Math.max(0, ...pieces.map((piece) => piece.text.length))).toBeLessThanOrEqual(2_000);
      }),
      { numRuns: 50 },
    );
  });

  test.each(['o200k_base', 'cl100k_base'] as const)('count in %s what the text counts at once', (name) => {
    fc.assert(
      fc.property(fc.array(words, { minLength: 500, maxLength: 3_000 }), (list) => {
        const text = list.join('');
        const pieces = [...piecesOf(text)];
        fc.pre(pieces.every((piece) => !piece.forced));
        expect(pieces.length).toBeGreaterThan(0);
        expect(pieces.reduce((sum, piece) => sum + whole[name](piece.text), 0)).toBe(whole[name](text));
      }),
      { numRuns: 40 },
    );
  });
});

describe('the worker', () => {
  test('counts as the tokenizer does, control tokens as the text they are', async () => {
    const text = 'Hello <|endoftext|> world, wie geht’s? 漢字 '.repeat(100);
    for (const name of ['o200k_base', 'cl100k_base'] as const) {
      expect(await counted(name, [text, '', 'more'])).toEqual({
        tokens: whole[name](text) + whole[name]('more'),
        exact: true,
      });
    }
  });

  test('of a megabyte of one letter has an answer in bounds, and this thread goes on meanwhile', async () => {
    await counted('o200k_base', ['warm']);
    // Counted on this thread, both answers would be there before the event loop turns once.
    let turns = 0;
    let turning = setImmediate(function turn() {
      turns++;
      turning = setImmediate(turn);
    });
    const began = performance.now();
    const [long, short] = await Promise.all([
      counter.count('o200k_base', ['a'.repeat(1_000_000)]),
      counter.count('o200k_base', ['short']),
    ]);
    clearImmediate(turning);
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(turns).toBeGreaterThan(0);
    // Cut within the run, so it is no exact count; or there was no time.
    expect(long?.exact ?? false).toBe(false);
    if (short !== null) expect(short).toEqual({ tokens: 1, exact: true });
  });

  test('refuses what is more than may wait, at once, and answers what came before', async () => {
    const big = 'x y '.repeat(1_500_000);
    const list = Array.from({ length: 5 }, () => counter.count('o200k_base', [big]));
    const began = performance.now();
    expect(await list[4]).toBeNull();
    expect(performance.now() - began).toBeLessThan(1_000);
    await Promise.all(list);
    expect(await counted('o200k_base', ['again'])).toEqual({ tokens: 1, exact: true });
  });

  test('closed, answers what waits and what comes', async () => {
    const own = createTokenCounter();
    const waiting = [own.count('o200k_base', ['one']), own.count('o200k_base', ['two'])];
    await own.close();
    expect(await Promise.all(waiting)).toEqual([null, null]);
    expect(await own.count('o200k_base', ['three'])).toBeNull();
  });
});
