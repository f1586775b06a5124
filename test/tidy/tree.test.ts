// The rules over the whole repository. A failure lists file, line and what is wrong with it.
import { expect, test } from 'vitest';
import { concepts } from './imports.ts';
import { rules } from './list.ts';
import { sqlElsewhere, sqlIn } from './rules.ts';
import { readSources, shown } from './sources.ts';

const sources = readSources();

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
