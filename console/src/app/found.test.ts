import { expect, test } from 'vitest';
import { matching, requestIdOf } from './found.ts';

test('every word that is typed must be in the name, and what begins with it comes first', () => {
  const offers = ['Requests', 'Create key', 'Keys', 'Add credits'].map((name) => ({ name }));
  const names = (text: string) => matching(offers, text).map(({ name }) => name);
  expect(names('key')).toEqual(['Keys', 'Create key']);
  expect(names('KEY cre')).toEqual(['Create key']);
  expect(names('')).toHaveLength(4);
  expect(names('nothing')).toEqual([]);
});

test('a pasted request id is known, and nothing else is taken for one', () => {
  expect(requestIdOf(' 01kacz3v8s6t5r4q3p2n1m0k9j ')).toBe('01KACZ3V8S6T5R4Q3P2N1M0K9J');
  expect(requestIdOf('01KACZ3V8S6T5R4Q3P2N1M0K9')).toBeNull();
  expect(requestIdOf('key_01KACZ3V8S6T5R4Q3P2N1M0K9J')).toBeNull();
});
