import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { listMigrations, migrate } from './index.ts';

const url = await createTestDatabase();
const client = new pg.Client({ connectionString: url });
await client.connect();
const dir = mkdtempSync(join(tmpdir(), 'svc-migrations-'));
afterAll(async () => {
  await client.end();
  rmSync(dir, { recursive: true });
});

/** A release that has the migrations of these texts, in a folder of its own. */
function release(name: string, ...texts: readonly string[]): URL {
  const folder = join(dir, name);
  mkdirSync(folder);
  texts.forEach((text, i) => {
    writeFileSync(join(folder, `000${i + 1}_step.sql`), text);
  });
  return pathToFileURL(`${folder}/`);
}

test('a migrated database has every migration of the release and nothing left to do', async () => {
  const known = await listMigrations();
  const { rows } = await client.query('select name from svc_migration order by version');
  expect(rows.map((row) => row.name)).toEqual(known.map((migration) => migration.name));
  expect(await migrate(url)).toEqual({ applied: [], newer: [] });
});

test('every migration says which programs it is compatible with', async () => {
  await expect(listMigrations(release('silent', 'select 1;\n'))).rejects.toThrow(
    '0001_step.sql does not begin',
  );
  await expect(listMigrations(release('later', '-- compatible_from: 0002\n'))).rejects.toThrow(
    '0001_step.sql',
  );
  const [only] = await listMigrations(release('said', '-- compatible_from: 0001\nselect 1;\n'));
  expect(only).toMatchObject({ version: 1, compatible_from: 1 });
});

test('an older release leaves a newer database as it is when that is compatible, and refuses it when not', async () => {
  const rows = (await listMigrations()).length;
  const add = (version: number, compatible_from: number) =>
    client.query(
      'insert into svc_migration (version, name, checksum, compatible_from) values ($1, $2, $3, $4)',
      [version, `${version}_newer.sql`, 'x', compatible_from],
    );
  await add(rows + 1, rows);
  await add(rows + 2, 1);
  expect(await migrate(url)).toEqual({
    applied: [],
    newer: [`${rows + 1}_newer.sql`, `${rows + 2}_newer.sql`],
  });
  await add(rows + 3, rows + 1);
  await expect(migrate(url)).rejects.toThrow(`not compatible with it: ${rows + 3}_newer.sql`);
  await client.query('delete from svc_migration where version > $1', [rows]);
});

test('a released migration that changed afterwards is refused by name', async () => {
  await client.query(`update svc_migration set checksum = 'other' where version = 1`);
  await expect(migrate(url)).rejects.toThrow('0001_settings.sql differs from the one applied');
});
