import { expect, test } from 'vitest';
import { hoursFrom, standing } from './words.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');

test('hours become an end, nothing is no end, and what is no number reaches the server as it is', () => {
  expect(hoursFrom('24', NOW)).toBe('2026-11-22T10:00:00.000Z');
  expect(hoursFrom('', NOW)).toBeNull();
  expect(hoursFrom('soon', NOW)).toBe('soon');
});

test('an announcement is shown from its start to its end', () => {
  const word = (startsAt: string, endsAt: string | null) => standing({ startsAt, endsAt }, NOW).word;
  expect(word('2026-11-21T09:00:00Z', null)).toBe('shown');
  expect(word('2026-11-21T11:00:00Z', null)).toBe('not yet shown');
  expect(word('2026-11-21T09:00:00Z', '2026-11-21T10:00:00Z')).toBe('ended');
});
