// The rules over the whole repository. A failure lists file, line and what is wrong with it.
import { expect, test } from 'vitest';
import { clientsTakeTypes, conceptReadmes, concepts, importOrder, surfacesByIndex } from './imports.ts';
import { migrationsInOrder } from './migrations.ts';
import { inferenceRooms } from './rooms.ts';
import {
  documentedExports,
  fileLength,
  noMachinePaths,
  noSkippedTests,
  pathsInDocs,
  plainModules,
  pureOutsideKernel,
  sqlElsewhere,
  sqlIn,
  sqlInStores,
} from './rules.ts';
import { foldersExplained, invariantsOnce } from './shape.ts';
import { type Rule, readSources, shown } from './sources.ts';

const sources = readSources();

const rules: readonly (readonly [string, Rule])[] = [
  ['imports follow the order of the house and go through index files', importOrder],
  ['rooms of inference use those above them', inferenceRooms],
  ['surfaces use a concept through its index file alone', surfacesByIndex],
  ['the operator takes types alone from core', clientsTakeTypes],
  ['every concept has a README that says what it uses', conceptReadmes],
  ['SQL stands only in stores and migrations', sqlInStores],
  ['clock, randomness, environment and crypto stand only in core/kernel', pureOutsideKernel],
  ['modules are plain: no export *, default export, enum or namespace', plainModules],
  ['every exported function of core has a docstring', documentedExports],
  ['no file is longer than 450 lines', fileLength],
  ['migrations are numbered without a gap', migrationsInOrder],
  ['no file names a path of one machine', noMachinePaths],
  ['no test is switched off', noSkippedTests],
  ['README and docs name only files that exist', pathsInDocs],
  ['a folder of more than five files says what it is', foldersExplained],
  ['an invariant has a name of its own', invariantsOnce],
];

test.each(rules)('%s', (_name, rule) => {
  expect(shown(rule(sources))).toEqual([]);
});

test('the rules saw the repository', () => {
  const paths = new Set(sources.map(({ path }) => path));
  expect(paths).toContain('core/kernel/money.ts');
  expect(paths).toContain('core/db/migrations/0001_settings.sql');
  expect(paths).toContain('README.md');
  expect(concepts.length).toBeGreaterThan(20);
});

test('every file that may hold SQL beside the stores does', () => {
  const holding = sources.filter((source) => source.path in sqlElsewhere && sqlIn(source).length > 0);
  expect(holding.map(({ path }) => path).sort()).toEqual(Object.keys(sqlElsewhere).sort());
});
