import { expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { atFileEnd } from '../../test/support/ends.ts';
import { createPool } from './index.ts';
import { readSchema } from './schema-store.ts';

const HEADER = `-- What all migrations together make, read from the catalog of a migrated database: to be read, never run.
-- Partitions of days and months are left out. \`make schema\` writes it; core/db/schema.test.ts fails where it is not current.

`;

const pool = createPool(await createTestDatabase());
atFileEnd(() => pool.end());

test('schema.sql is what the migrations make', async () => {
  const text = await readSchema(pool, ['catalog', 'ledger', 'public']);
  expect(text).toContain('create table ledger.book (');
  await expect(HEADER + text).toMatchFileSnapshot('schema.sql');
});

test('no temporary table stands in for one that a function with the rights of its owner means', async () => {
  const { rows } = await pool.query<{ name: string }>({
    name: 'test.open_paths',
    // Without it at the end, temporary tables are looked at first.
    text: `select proname as name from pg_proc
            where prosecdef and pronamespace::regnamespace::text in ('public', 'ledger', 'catalog')
              and not exists (select from unnest(proconfig) as set where set like 'search_path=%pg_temp')`,
  });
  expect(rows).toEqual([]);
});
