// The rules of sizes, each shown what keeps it and what breaks it.
import { describe, expect, test } from 'vitest';
import { fileLengthBut, folderSize, functionLength } from './sizes.ts';
import { type Source, shown } from './sources.ts';

const file = (path: string, text = ''): Source => ({ path, text });
const lines = (path: string, count: number) => file(path, 'x\n'.repeat(count));

describe('files', () => {
  const none = fileLengthBut(new Set());

  test('400 lines pass and 401 are a fault, in pages of the console and in tests as well', () => {
    const kinds = ['ts', 'tsx', 'test.ts'];
    expect(none(kinds.map((kind) => lines(`core/a/a.${kind}`, 400)))).toEqual([]);
    expect(shown(none(kinds.map((kind) => lines(`core/a/a.${kind}`, 401))))).toEqual([
      'core/a/a.ts:401 401 lines, 400 at most',
      'core/a/a.tsx:401 401 lines, 400 at most',
      'core/a/a.test.ts:401 401 lines, 400 at most',
    ]);
  });

  test('recorded data may be long', () => {
    expect(none([lines('core/a/fixtures/b.ts', 401)])).toEqual([]);
  });

  test('a file on the list of those that wait passes while it is long, and must then leave the list', () => {
    const waiting = fileLengthBut(new Set(['core/a/a.ts']));
    const struck =
      'core/a/a.ts:1 not longer than 400 lines any more: strike it from stillLonger of test/tidy/sizes.ts';
    expect(waiting([lines('core/a/a.ts', 401)])).toEqual([]);
    expect(shown(waiting([lines('core/a/a.ts', 400)]))).toEqual([struck]);
    expect(shown(waiting([]))).toEqual([struck]);
  });
});

describe('folders', () => {
  const many = (folder: string, count: number) =>
    Array.from({ length: count }, (_, at) => file(`${folder}/${at}.${at === 0 ? 'md' : 'ts'}`));

  test('25 files pass and 26 are a fault, whatever they are', () => {
    expect(folderSize(many('docs', 25))).toEqual([]);
    expect(shown(folderSize(many('docs', 26)))).toEqual(['docs:1 26 files, 25 at most']);
  });

  test('files of the rooms below do not count, nor does recorded data', () => {
    expect(folderSize([...many('core/a', 20), ...many('core/a/b', 20)])).toEqual([]);
    expect(folderSize(many('core/a/fixtures', 40))).toEqual([]);
  });

  test('migrations may be many, since none is ever taken away; what lies beside them counts', () => {
    const numbered = Array.from({ length: 40 }, (_, at) =>
      file(`core/db/migrations/${1_000 + at}_change.sql`),
    );
    expect(folderSize([...numbered, ...many('core/db/migrations', 25)])).toEqual([]);
    expect(folderSize([...numbered, ...many('core/db/migrations', 26)])).toHaveLength(1);
  });
});

test('a function may have 60 lines, without blank lines and comments', () => {
  const page = (path: string, count: number) => {
    const body = [...Array.from({ length: count - 2 }, () => '  look();'), '', '      // why'];
    return file(path, ['', 'export function Page() {', ...body, '}', ''].join('\n'));
  };
  for (const path of ['console/src/a/page.tsx', 'core/a/a.ts', 'cli/a.ts']) {
    expect(functionLength([page(path, 60)])).toEqual([]);
    expect(shown(functionLength([page(path, 61)]))).toEqual([`${path}:2 Page has 61 lines, 60 at most`]);
  }
  expect(functionLength([page('core/a/a.test.ts', 61), page('test/a.ts', 61)])).toEqual([]);
});
