// Forward-only migrations: numbered .sql files, each in one transaction with its row in `svc_migration`.
// An advisory lock makes two starters take turns; a changed released file is refused by its checksum.
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import { sha256Hex } from '../kernel/index.ts';

const LOCK = 7_305_118_201;
const folder = new URL('./migrations/', import.meta.url);

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/** All migrations of this release in order. @throws Error on a gap or a doubled number. */
export async function listMigrations(): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  const migrations: Migration[] = [];
  for (const name of names) {
    const version = Number(name.slice(0, 4));
    if (version !== migrations.length + 1) throw new Error(`migration ${name} is out of sequence`);
    const sql = await readFile(new URL(name, folder), 'utf8');
    migrations.push({ version, name, sql, checksum: sha256Hex(sql) });
  }
  return migrations;
}

/**
 * Brings the database at `url` to this release; returns the names applied, none when it was current.
 * @throws Error when a released file changed or the database is newer than this release.
 */
export async function migrate(url: string): Promise<string[]> {
  const migrations = await listMigrations();
  const client = new pg.Client({ connectionString: url, application_name: 'svc-migrate' });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    await client.query(`
      create table if not exists svc_migration (
        version int primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())`);
    const { rows } = await client.query<{ version: number; checksum: string; name: string }>(
      'select version, name, checksum from svc_migration order by version',
    );
    const done = new Map(rows.map((row) => [row.version, row]));
    for (const row of rows) {
      const known = migrations[row.version - 1];
      if (known === undefined) throw new Error(`the database is newer than this release: ${row.name}`);
      if (known.checksum !== row.checksum)
        throw new Error(`migration ${row.name} differs from the one applied`);
    }
    const applied: string[] = [];
    for (const migration of migrations) {
      if (done.has(migration.version)) continue;
      await client.query('begin');
      try {
        await client.query('insert into svc_migration (version, name, checksum) values ($1, $2, $3)', [
          migration.version,
          migration.name,
          migration.checksum,
        ]);
        await client.query(migration.sql);
        await client.query('commit');
      } catch (error) {
        await client.query('rollback');
        throw new Error(`migration ${migration.name}: ${(error as Error).message}`, { cause: error });
      }
      applied.push(migration.name);
    }
    return applied;
  } finally {
    await client.end();
  }
}
