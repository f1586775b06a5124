import { expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { createPool } from './index.ts';
import { readSchema } from './schema-store.ts';

const HEADER = `-- What all migrations together make, read from the catalog of a migrated database: to be read, never run.
-- Partitions of days and months are left out. \`make schema\` writes it; core/db/schema.test.ts fails where it is not current.

`;

test('schema.sql is what the migrations make', async () => {
  const pool = createPool(await createTestDatabase());
  try {
    const text = await readSchema(pool, ['catalog', 'ledger', 'public']);
    expect(text).toContain('create table ledger.book (');
    await expect(HEADER + text).toMatchFileSnapshot('schema.sql');
  } finally {
    await pool.end();
  }
});
