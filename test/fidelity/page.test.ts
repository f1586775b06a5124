import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { meanings } from './codes.ts';
import { groups } from './features/index.ts';
import { PAGE, pageText } from './page.ts';
import type { Cell } from './types.ts';

const page = pageText();

test('docs/compatibility.md is what `node test/fidelity/write.ts` writes', () => {
  expect(readFileSync(PAGE, 'utf8')).toBe(page);
});

test('every link to a code has its meaning on the page', () => {
  const links = [...page.matchAll(/\(#([a-z_]+)\)/g)].map((match) => match[1]);
  expect(links.length).toBeGreaterThan(100);
  for (const code of links) expect(page).toContain(`<a id="${code}"></a>`);
});

const folder = new URL('../../core/inference/', import.meta.url);
/** Source of everything that finds losses. */
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => /^(formats|canonical)\/.*\.ts$/.test(name) && !name.endsWith('.test.ts'))
  .map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') }));
const sources = files.map(({ text }) => text).join('\n');
const generating = files
  .filter(({ name }) => !name.includes('embed-rerank'))
  .map(({ text }) => text)
  .join('\n');

/** Kinds of parts that make a code by their name. */
const PARTS = ['image', 'audio', 'video', 'document', 'search_result'];

test('the page knows every loss that an adapter can tell, with its class', () => {
  const reported = [
    ...sources.matchAll(/\b(?:lose|say)\(\s*'(hint|behaviour|content)',\s*'([a-z_]+)'/g),
    // Tasks have no row on this page, and their losses are written the same way.
    ...generating.matchAll(/\bclass: '(hint|behaviour|content)',\s*code: '([a-z_]+)'/g),
  ];
  expect(reported.length).toBeGreaterThan(80);
  for (const [, kind, code] of reported) {
    // One code of the table is a preference in one place and content in another: `audio` of a message.
    if (code === 'unknown_parameter_dropped') continue;
    expect({ code, kind: meanings[code as string]?.class }).toEqual({ code, kind });
  }
});

test('the page names no loss that nothing tells', () => {
  const made = new Set(PARTS.flatMap((part) => [`${part}_unsupported`, `${part}_format_unsupported`]));
  for (const code of Object.keys(meanings)) {
    expect(sources.includes(`'${code}'`) || made.has(code), code).toBe(true);
  }
});

test('every loss of the matrix is of the class that the page tells', () => {
  const cells = groups.flatMap(({ features }) =>
    features.flatMap(({ at, raw }) => [...Object.values(at), ...Object.values(raw ?? {})]),
  );
  const losses = cells.flatMap((cell: Cell & { listed?: Cell }) => [
    ...(cell.lost ?? []),
    ...(cell.listed?.lost ?? []),
  ]);
  for (const loss of losses) {
    const [kind, code = ''] = loss.split(':');
    expect({ code, kind: meanings[code]?.class }).toEqual({ code, kind });
  }
});
