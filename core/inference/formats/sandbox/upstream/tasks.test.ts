import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CanonicalAnswer, EmbedTask, RerankTask } from '../../../canonical/types.ts';
import { taskAnswer } from './tasks.ts';

const call = { model: 'sandbox/embed', attempt: 1, fail: 0, status: undefined };
const embed = (input: EmbedTask['input'], dimensions?: number) => {
  const task = { kind: 'embed', input, single: false, encoding: 'float' } as const;
  const preferences: EmbedTask = dimensions === undefined ? task : { ...task, dimensions };
  return taskAnswer(preferences, call);
};
type Made = ReturnType<typeof taskAnswer>;
/** The answer that all pieces make together. */
const answerOf = (made: Made) => {
  if ('status' in made) throw new Error(made.body.toString());
  return JSON.parse([...made].join('')) as CanonicalAnswer;
};
const vectorsOf = (made: Made) =>
  (answerOf(made).vectors ?? []).map(({ text }) => JSON.parse(text) as number[]);
const refusedAs = (made: Made) => ('status' in made ? [made.status, made.body.toString()] : null);
const dot = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);

test("a model of OpenAI's has as many numbers as there, unless fewer are asked for", () => {
  const task = { kind: 'embed', input: ['x'], single: true, encoding: 'float' } as const;
  const lengthOf = (asked: EmbedTask) =>
    vectorsOf(taskAnswer(asked, { ...call, model: 'openai/text-embedding-3-small' }))[0]?.length;
  expect(lengthOf(task)).toBe(1_536);
  expect(lengthOf({ ...task, dimensions: 64 })).toBe(64);
});

test('every text has a unit vector of the length asked for, and the same text the same one', () => {
  const text = fc.string({ minLength: 1, maxLength: 80, unit: 'grapheme' });
  fc.assert(
    fc.property(text, fc.integer({ min: 8, max: 1_536 }), (input, dimensions) => {
      const [one, two] = vectorsOf(embed([input, input], dimensions)) as [number[], number[]];
      expect(one).toHaveLength(dimensions);
      expect(two).toEqual(one);
      expect(dot(one, one)).toBeCloseTo(1, 5);
    }),
    { numRuns: 50 },
  );
});

test('token ids are words of their own', () => {
  const [a, b, c] = vectorsOf(
    embed([
      [1, 2, 3],
      [1, 2, 3],
      [9, 8, 7],
    ]),
  ) as [number[], number[], number[]];
  expect(b).toEqual(a);
  expect(c).not.toEqual(a);
});

test('dimensions beyond 8 to 1536 are refused by name', () => {
  for (const dimensions of [7, 1_537]) {
    expect(refusedAs(embed(['x'], dimensions))).toEqual([
      400,
      expect.stringContaining('"param":"dimensions"'),
    ]);
  }
});

test('a document with all words of the query comes before one with some, and that before one with none', () => {
  const task: RerankTask = {
    kind: 'rerank',
    query: 'Green apple',
    documents: ['grey stone', 'an apple', 'apple, green'],
    top_n: 3,
    return_documents: false,
  };
  const answer = answerOf(taskAnswer(task, call));
  const scores = (answer.ranking ?? []).map(({ relevance_score }) => relevance_score);
  expect(scores[2]).toBeGreaterThan(scores[1] as number);
  expect(scores[1]).toBeGreaterThan(scores[0] as number);
  expect(scores.every((score) => score >= 0 && score <= 1)).toBe(true);
  expect(answer.usage).toMatchObject({ input_tokens: 3 * 4 + 4 + 3 + 4, search_units: 1 });
});

test('a vector as base64 has the same numbers', () => {
  const task = { kind: 'embed', input: ['rain on the river', 'a'], single: false } as const;
  const numbers = vectorsOf(taskAnswer({ ...task, encoding: 'float' }, call));
  const packed = (answerOf(taskAnswer({ ...task, encoding: 'base64' }, call)).vectors ?? []).map(
    ({ text }) => {
      const bytes = Buffer.from(text, 'base64');
      return Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(i * 4));
    },
  );
  expect(packed).toEqual(numbers.map((vector) => vector.map(Math.fround)));
});

test('inputs beyond what a call takes are refused together, and documents too', () => {
  const words = 'word '.repeat(30_000);
  const refused = [400, expect.stringContaining('"param":"input"')];
  expect(refusedAs(embed([words, words, words, words, words]))).toBeNull();
  expect(refusedAs(embed([words, words, words, words, words, words, words]))).toEqual(refused);
  const task = {
    kind: 'rerank',
    query: 'word',
    documents: [words, words, words, words, words, words, words],
  } as const;
  expect(refusedAs(taskAnswer({ ...task, top_n: 1, return_documents: false }, call))).toEqual(refused);
});
