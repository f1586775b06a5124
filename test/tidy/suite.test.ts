// What is written down about test files is about files that are there.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { partOf, readBudgets } from '../suite/budgets.ts';
import { filesIn, filesSharing, ownProcess, root } from '../suite/parts.ts';
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

test('a file that moves the clock, itself or by a helper beside it, has a process of its own', () => {
  const { include, exclude } = filesSharing('test', true);
  const shared = globSync(include, { cwd: root, exclude });
  const moves = (path: string) => /\bshiftClock\(/.test(readFileSync(path, 'utf8'));
  const movers = shared.filter((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const helpers = [...text.matchAll(/from '(\.\.?\/[^']+\.ts)'/g)]
      .map(([, path]) => join(root, dirname(file), path as string))
      // What the product's own index hands on is used by the product.
      .filter((path) => !/\/(index|dev-clock|clock)\.ts$/.test(path) && existsSync(path));
    return [join(root, file), ...helpers].some(moves);
  });
  expect(movers).toEqual([]);
});
