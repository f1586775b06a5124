import { expect, test } from 'vitest';
import { kindName, lookText } from './words.ts';

test('a kind that this release does not know keeps its name', () => {
  expect([kindName('topUp'), kindName('tidyUp')]).toEqual(['Top-ups', 'tidyUp']);
});

test('a look says when none was made, and when it did not see all', () => {
  expect(lookText({ lookedAt: null, complete: true })).toBe('No worker has asked Temporal yet.');
  const at = '2026-11-21T10:00:00.000Z';
  expect(lookText({ lookedAt: at, complete: true })).toBe('As a worker saw them');
  expect(lookText({ lookedAt: at, complete: false })).toMatch(/^More are open/);
});
