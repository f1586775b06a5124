// What is written down about test files is about files that are there.
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { partOf, readBudgets } from '../suite/budgets.ts';
import { filesIn, ownProcess, root } from '../suite/parts.ts';
import { longest } from '../suite/sequencer.ts';

test('the order of a fresh clone, test/suite/longest.json, names only test files that exist', () => {
  const files = new Set(filesIn('test'));
  expect(Object.keys(longest).filter((file) => !files.has(file))).toEqual([]);
});

test('every test file belongs to a part with a budget, test/README.md, and every part is a folder', () => {
  const budgets = readBudgets();
  expect(filesIn('test').filter((file) => partOf(file, budgets) === null)).toEqual([]);
  expect([...budgets.keys()].filter((part) => !existsSync(join(root, part)))).toEqual([]);
});

test('what has a process of its own, ownProcess of test/suite/parts.ts, is there', () => {
  const empty = ownProcess.filter(
    (pattern) => globSync(pattern, { cwd: root, exclude: ['**/node_modules/**'] }).length === 0,
  );
  expect(empty).toEqual([]);
});
