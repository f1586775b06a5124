import { expect, test } from 'vitest';
import { ageOf, wordsOf } from './item-words.ts';

const now = new Date('2026-11-23T12:00:00.000Z');

test.each([
  ['2026-11-23T12:00:30.000Z', '0 minutes'],
  ['2026-11-23T11:59:00.000Z', '1 minute'],
  ['2026-11-23T11:00:00.000Z', '1 hour'],
  ['2026-11-21T12:00:01.000Z', '47 hours'],
  ['2026-11-21T12:00:00.000Z', '2 days'],
  ['2026-10-23T12:00:00.000Z', '31 days'],
])('what came at %s has waited %s', (since, text) => {
  expect(ageOf(since, now)).toBe(text);
});

test('a kind without words of its own is shown by its name', () => {
  expect(wordsOf('second_payment').title).toBe('Paid twice');
  expect(wordsOf('rail_is_odd').title).toBe('Rail is odd');
});
