import { expect, test } from 'vitest';
import { foundIn, piecesOf } from './preview.ts';

test('markers stand apart, and the pieces together are the text', () => {
  const text = 'a [REDACTED:email]b\n[REDACTED:pattern_12][REDACTED:x';
  const pieces = piecesOf(text);
  expect(pieces.map(({ text }) => text).join('')).toBe(text);
  expect(pieces.filter(({ is_marker }) => is_marker)).toEqual([
    { at: 2, text: '[REDACTED:email]', is_marker: true },
    { at: 20, text: '[REDACTED:pattern_12]', is_marker: true },
  ]);
  expect(piecesOf('')).toEqual([]);
});

test('what was found is counted by kind, own patterns by their text, and markers of the sample are none', () => {
  const output =
    '[REDACTED:email] [REDACTED:email] [REDACTED:pattern_2] [REDACTED:card] [REDACTED:unscanned]';
  expect(foundIn('[REDACTED:card] and more', output, ['x', 'PRJ-\\d+'])).toEqual([
    { what: 'E-mail addresses', count: 2 },
    { what: 'PRJ-\\d+', count: 1 },
    { what: 'unscanned', count: 1 },
  ]);
  expect(foundIn('[REDACTED:email]', '[REDACTED:email]', [])).toEqual([]);
});
