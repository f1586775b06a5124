import { expect, test } from 'vitest';
import { differenceOf, diffText } from './diff-words.ts';

test('a difference has its sign and every digit', () => {
  expect(['-3290', '100000', '0'].map(differenceOf)).toEqual(['−$0.003290', '+$0.100000', '$0']);
});

test('a sentence says what moves, what is refused, and what it costs', () => {
  const say = (compared: number, moved: number, newlyRefused: number, differenceMicroUsd: string) =>
    diffText({ compared, moved, newlyRefused, differenceMicroUsd });
  expect(say(0, 0, 0, '0')).toBe('No call was answered in this time.');
  expect(say(33, 0, 0, '0')).toBe('None of 33 calls goes elsewhere.');
  expect(say(33, 30, 0, '-98700')).toBe('30 of 33 calls go elsewhere: −$0.098700.');
  expect(say(1_000, 1, 1, '-210')).toBe('1 of 1,000 calls goes elsewhere, 1 of them refused: −$0.000210.');
});
