// The catalogue names tests that are there; they themselves run with the rest of `make test`.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../suite/parts.ts';
import { scenarios } from './catalogue.ts';
import { words } from './words.ts';

/** How often a file has a test of that name, alone or of a table. */
function timesIn(file: string, name: string): number {
  const source = readFileSync(join(root, file), 'utf8');
  return source.split(`'${name}'`).length - 1;
}

test('every scenario has an id of its own, and is played by tests that exist or says why not', () => {
  expect(new Set(scenarios.map(({ id }) => id)).size).toBe(scenarios.length);
  for (const scenario of scenarios) {
    if ('reason' in scenario) {
      expect([scenario.id, scenario.reason]).not.toEqual([scenario.id, '']);
      continue;
    }
    expect([scenario.id, scenario.tests.length]).not.toEqual([scenario.id, 0]);
    for (const [file, name] of scenario.tests)
      expect([scenario.id, name, timesIn(file, name)]).toEqual([scenario.id, name, 1]);
  }
});

test('no number is left out: ORD-01 to ORD-22 and BP-01 to BP-37', () => {
  const ids = scenarios.map(({ id }) => id);
  for (const [prefix, last] of [
    ['ORD', 22],
    ['BP', 37],
  ] as const)
    for (let n = 1; n <= last; n++) expect(ids).toContain(`${prefix}-${String(n).padStart(2, '0')}`);
});

test('every word of trouble is played by a test over each rail', () => {
  for (const { word, 'rail-a': a, 'rail-b': b } of words) {
    for (const [file, name] of [a, b]) expect([word, name, timesIn(file, name)]).toEqual([word, name, 1]);
  }
});
