// The catalogue names tests that are there; they themselves run with the rest of `make test`.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../suite/parts.ts';
import { scenarios } from './catalogue.ts';

test('every scenario has an id of its own and is played by tests that exist', () => {
  expect(new Set(scenarios.map(({ id }) => id)).size).toBe(scenarios.length);
  for (const { id, tests } of scenarios) {
    expect([id, tests.length]).not.toEqual([id, 0]);
    for (const [file, name] of tests) {
      const source = readFileSync(join(root, file), 'utf8');
      expect([id, name, source.split(`test('${name}'`).length - 1]).toEqual([id, name, 1]);
    }
  }
});
