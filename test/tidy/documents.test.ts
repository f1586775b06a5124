// The rules of what documents name, each shown what keeps it and what breaks it.
import { expect, test } from 'vitest';
import { docsInIndex, filesInReadmes, pathsInDocs } from './documents.ts';
import { type Rule, type Source, shown } from './sources.ts';

const file = (path: string, text: string): Source => ({ path, text });
const faults = (rule: Rule, ...sources: Source[]) => shown(rule(sources));

test('a document that names a file which is not there is a fault, by path or by link', () => {
  const there = [file('core/a/b.ts', ''), file('docs/c.md', '')];
  const good = file('docs/d.md', 'see `core/a`, `core/a/b.ts`, [c](c.md) and [e](https://example.com)');
  const bad = file('docs/d.md', 'see `core/a/x.ts` and [c](x.md)');
  expect(faults(pathsInDocs, ...there, good)).toEqual([]);
  expect(faults(pathsInDocs, ...there, bad)).toEqual([
    'docs/d.md:1 leads nowhere: core/a/x.ts',
    'docs/d.md:1 leads nowhere: docs/x.md',
  ]);
});

test('a document that the index of documents does not link is a fault', () => {
  const index = file('docs/README.md', '[c](c.md), [clients](clients/README.md)');
  const linked = ['docs/c.md', 'docs/clients/README.md', 'docs/clients/x.md', 'docs/legal/tos/1.md'];
  expect(faults(docsInIndex, index, ...linked.map((path) => file(path, '')))).toEqual([]);
  expect(faults(docsInIndex, index, file('docs/operate/d.md', ''))).toEqual([
    'docs/operate/d.md:1 is not linked in docs/README.md',
  ]);
});

test('a README that names a file which is not there is a fault; beside, above and below it are there', () => {
  const there = [file('core/a/b.ts', ''), file('core/a/c/d.sql', ''), file('docs/e.md', '')];
  const good = file(
    'core/a/README.md',
    '`b.ts`, `c/d.sql`, `d.sql`, `a/b.ts`, `docs/e.md`, `../../docs/e.md`',
  );
  const bad = file('core/a/README.md', 'a\n`e.md`, `x/b.ts` and `c/x.sql`');
  expect(faults(filesInReadmes, ...there, good)).toEqual([]);
  expect(faults(filesInReadmes, ...there, bad)).toEqual([
    'core/a/README.md:2 names a file that is not there: e.md',
    'core/a/README.md:2 names a file that is not there: x/b.ts',
    'core/a/README.md:2 names a file that is not there: c/x.sql',
  ]);
});
