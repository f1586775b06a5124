// The rule of exports, shown what keeps it and what breaks it.
import { expect, test } from 'vitest';
import { exportsUsed } from './exports.ts';
import { type Source, shown } from './sources.ts';

const file = (path: string, text: string): Source => ({ path, text });
const faults = (...sources: Source[]) => shown(exportsUsed(sources));

test('an export that stands in no other file is a fault, whatever it is', () => {
  const lonely = file(
    'core/a/b.ts',
    'export const one = 1;\nexport async function two() {}\nexport type Three = 3;\nexport interface Four {}',
  );
  expect(faults(lonely)).toEqual([
    'core/a/b.ts:1 one is exported and used in no other file',
    'core/a/b.ts:2 two is exported and used in no other file',
    'core/a/b.ts:3 Three is exported and used in no other file',
    'core/a/b.ts:4 Four is exported and used in no other file',
  ]);
});

test('a test is a user, a comment is not', () => {
  const one = file('core/a/b.ts', 'export const one = 1;');
  expect(faults(one, file('core/a/b.test.ts', "import { one } from './b.ts';"))).toEqual([]);
  expect(faults(one, file('core/c/d.ts', '// one of them'))).toHaveLength(1);
});

test('what an index passes on to nobody outside its folder is a fault', () => {
  const source = file('core/a/b.ts', 'export const one = 1;');
  const inside = file('core/a/c.ts', "import { one } from './b.ts';");
  const door = file('core/a/index.ts', "export { one } from './b.ts';");
  expect(faults(source, inside, door)).toEqual([
    'core/a/index.ts:1 one is passed on and used by nobody outside',
  ]);
  const outside = file('core/d/e.ts', "import { one } from '../a/index.ts';");
  expect(faults(source, inside, door, outside)).toEqual([]);
});
