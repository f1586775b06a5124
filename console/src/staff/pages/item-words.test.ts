import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ageOf, wordsOf } from './item-words.ts';

const now = new Date('2026-11-23T12:00:00.000Z');

test.each([
  ['2026-11-23T12:00:30.000Z', '0 minutes'],
  ['2026-11-23T11:59:00.000Z', '1 minute'],
  ['2026-11-23T11:00:00.000Z', '1 hour'],
  ['2026-11-21T12:00:01.000Z', '47 hours'],
  ['2026-11-21T12:00:00.000Z', '2 days'],
  ['2026-10-23T12:00:00.000Z', '31 days'],
])('what came at %s has waited %s', (since, text) => {
  expect(ageOf(since, now)).toBe(text);
});

test('a kind without words of its own is shown by its name', () => {
  expect(wordsOf('second_payment').title).toBe('Paid twice');
  expect(wordsOf('rail_is_odd').title).toBe('Rail is odd');
});

test('every kind that the service puts before the staff has words of its own', () => {
  const core = fileURLToPath(new URL('../../../../core/', import.meta.url));
  const sources = readdirSync(core, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.includes('node_modules'))
    .map((name) => readFileSync(join(core, name), 'utf8'))
    .filter((text) => /(?:add|put)StaffItem\(/.test(text));
  const put = sources.flatMap((text) =>
    [...text.matchAll(/(?:add|put)StaffItem\([^;]*?kind: ([^,]+),/g)].flatMap(([, kind]) =>
      [...(kind ?? '').matchAll(/'([a-z_]+)'/g)].map(([, name]) => name as string),
    ),
  );
  expect(new Set(put).size).toBeGreaterThan(9);
  const wordless = put.filter((kind) => wordsOf(kind).why === wordsOf('rail_is_odd').why);
  expect(wordless).toEqual([]);
});
