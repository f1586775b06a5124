// The rules of exports and of the names of formats, shown what keeps them and what breaks them.
import { expect, test } from 'vitest';
import { exportsUsed } from './exports.ts';
import { formatNames, formatsNamedAtHome, namesElsewhere } from './formats.ts';
import { readSources, type Source, shown } from './sources.ts';

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

const gemini = {
  path: 'core/inference/formats/gemini/index.ts',
  text: 'declare module "x" {\n  interface Families {\n    gemini: true;\n  }\n}',
};
const named = (path: string, text: string) => shown(formatsNamedAtHome([gemini, { path, text }]));

test('a name of a format in code outside the formats is a fault', () => {
  expect(named('core/inference/call/a.ts', "if (family === 'gemini') a();")).toEqual([
    "core/inference/call/a.ts:1 the name of a wire format: 'gemini'",
  ]);
  expect(named('gateway/a.ts', 'const a = `gemini`;')).toHaveLength(1);
});

test('comments, tests, other words and the formats themselves are none', () => {
  expect(named('core/a/b.ts', "// 'gemini' is one\nconst a = 'gemini-3';")).toEqual([]);
  expect(named('core/a/b.test.ts', "const a = 'gemini';")).toEqual([]);
  expect(named('core/inference/formats/gemini/upstream/a.ts', "const a = 'gemini';")).toEqual([]);
});

test('the names are those that the formats declare, and each exception is still needed', () => {
  const sources = readSources();
  const names = formatNames(sources);
  expect(names).toEqual(expect.arrayContaining(['chat', 'openai_chat', 'native', 'bedrock_converse']));
  const needed = Object.keys(namesElsewhere).filter((entry) =>
    sources.some(
      ({ path, text }) => path.startsWith(entry) && names.some((name) => text.includes(`'${name}'`)),
    ),
  );
  expect(needed).toEqual(Object.keys(namesElsewhere));
});
