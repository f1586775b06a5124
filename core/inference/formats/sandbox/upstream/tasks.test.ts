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
const vectorsOf = (body: Buffer) =>
  ((JSON.parse(body.toString()) as CanonicalAnswer).vectors ?? []).map(
    ({ text }) => JSON.parse(text) as number[],
  );
const dot = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);

test("a model of OpenAI's has as many numbers as there, unless fewer are asked for", () => {
  const task = { kind: 'embed', input: ['x'], single: true, encoding: 'float' } as const;
  const lengthOf = (asked: EmbedTask) =>
    vectorsOf(taskAnswer(asked, { ...call, model: 'openai/text-embedding-3-small' }).body)[0]?.length;
  expect(lengthOf(task)).toBe(1_536);
  expect(lengthOf({ ...task, dimensions: 64 })).toBe(64);
});

test('every text has a unit vector of the length asked for, and the same text the same one', () => {
  const text = fc.string({ minLength: 1, maxLength: 80, unit: 'grapheme' });
  fc.assert(
    fc.property(text, fc.integer({ min: 8, max: 1_536 }), (input, dimensions) => {
      const [one, two] = vectorsOf(embed([input, input], dimensions).body) as [number[], number[]];
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
    ]).body,
  ) as [number[], number[], number[]];
  expect(b).toEqual(a);
  expect(c).not.toEqual(a);
});

test('dimensions beyond 8 to 1536 are refused by name', () => {
  for (const dimensions of [7, 1_537]) {
    const refused = embed(['x'], dimensions);
    expect(refused.status).toBe(400);
    expect(refused.body.toString()).toContain('"param":"dimensions"');
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
  const answer = JSON.parse(taskAnswer(task, call).body.toString()) as CanonicalAnswer;
  const scores = (answer.ranking ?? []).map(({ relevance_score }) => relevance_score);
  expect(scores[2]).toBeGreaterThan(scores[1] as number);
  expect(scores[1]).toBeGreaterThan(scores[0] as number);
  expect(scores.every((score) => score >= 0 && score <= 1)).toBe(true);
  expect(answer.usage).toMatchObject({ input_tokens: 3 * 4 + 4 + 3 + 4, search_units: 1 });
});
