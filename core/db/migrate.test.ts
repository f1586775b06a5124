import pg from 'pg';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { listMigrations, migrate } from './index.ts';

const url = await createTestDatabase();

test('a migrated database has every migration of the release and nothing left to do', async () => {
  const known = await listMigrations();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query('select name from svc_migration order by version');
  await client.end();
  expect(rows.map((row) => row.name)).toEqual(known.map((migration) => migration.name));
  expect(await migrate(url)).toEqual([]);
});

test('a released migration that changed afterwards is refused by name', async () => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`update svc_migration set checksum = 'other' where version = 1`);
  await expect(migrate(url)).rejects.toThrow('0001_settings.sql differs from the one applied');
  await client.end();
});
