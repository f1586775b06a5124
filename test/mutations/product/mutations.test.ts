// Every mutation still finds the place that it breaks. The full run (`make mutations`) takes many minutes; this keeps the
// list from going stale in between.
import { existsSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { faultKinds } from '../../crash/faults.ts';
import { createTestDatabase } from '../../support/database.ts';
import { mutations } from './mutations.ts';

const ROOT = new URL('../../../', import.meta.url);
const url = await createTestDatabase();
const client = new pg.Client({ connectionString: url });
beforeAll(() => client.connect());
afterAll(() => client.end());

test('there are twenty at least, each with a name of its own', () => {
  expect(mutations.length).toBeGreaterThanOrEqual(20);
  expect(new Set(mutations.map(({ name }) => name)).size).toBe(mutations.length);
});

describe.each(mutations.map((mutation) => [mutation.name, mutation] as const))('%s', (_, mutation) => {
  const { mutate, edit, sabotage } = mutation.broken;

  test('breaks something that is there', async () => {
    expect([mutate, edit, sabotage].some((one) => one !== undefined)).toBe(true);
    for (const kind of mutation.kinds ?? []) expect(faultKinds).toContain(kind);
    if (edit !== undefined) {
      const file = new URL(edit.file, ROOT);
      expect(existsSync(file), edit.file).toBe(true);
      expect(readFileSync(file, 'utf8').split(edit.from), edit.from).toHaveLength(2);
      expect(edit.to).not.toBe(edit.from);
    }
    if (mutate === undefined) return;
    await client.query('begin');
    try {
      for (const statement of mutate) await client.query(statement);
    } finally {
      await client.query('rollback');
    }
  });
});
