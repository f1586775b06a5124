// Rules of the console that review alone would not hold: where numbers, times and colours may be turned into text or
// style, and what sends mutations.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('./', import.meta.url));
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter(
    (name) =>
      /\.(?:tsx?|css)$/.test(name) && !name.startsWith(join('api', 'gen')) && !name.includes('.test.'),
  )
  .map((name) => ({ name, text: readFileSync(join(root, name), 'utf8') }));

function offenders(pattern: RegExp, allowed: RegExp): string[] {
  return files.filter(({ name, text }) => !allowed.test(name) && pattern.test(text)).map(({ name }) => name);
}

test('there is something to look at', () => {
  expect(files.length).toBeGreaterThan(40);
});

test('numbers and dates become text in src/ui alone', () => {
  const made = /\.toLocale\w*String\(|Intl\.\w+Format\(|\.toFixed\(/;
  // An axis names its ticks, an amount field knows the places of its currency.
  const allowed = /^ui\/|route-card\.tsx$|credits\/amount\.ts$/;
  expect(offenders(made, allowed)).toEqual([]);
});

test('mutations are sent by one hook', () => {
  expect(offenders(/\.mutation[<(]|useMutation\(/, /^api\/send\.ts$/)).toEqual([]);
});

test('colours are tokens', () => {
  expect(offenders(/#[0-9a-fA-F]{3,8}\b(?!["']?\s*\/)|\brgba?\(|\bhsla?\(/, /tokens\.css$/)).toEqual([]);
});

test('no page builds HTML from text, and none keeps a secret', () => {
  expect(offenders(/dangerouslySetInnerHTML|\.innerHTML|insertAdjacentHTML|document\.write/, /^$/)).toEqual(
    [],
  );
  expect(offenders(/sessionStorage|indexedDB|document\.cookie/, /^$/)).toEqual([]);
  expect(offenders(/localStorage/, /^app\/place\.ts$/)).toEqual([]);
});
