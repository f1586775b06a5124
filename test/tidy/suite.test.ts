// What is written down about test files is about files that are there.
import { expect, test } from 'vitest';
import { filesIn } from '../suite/parts.ts';
import { longest } from '../suite/sequencer.ts';

test('the order of a fresh clone, test/suite/longest.json, names only test files that exist', () => {
  const files = new Set(filesIn('test'));
  expect(Object.keys(longest).filter((file) => !files.has(file))).toEqual([]);
});
