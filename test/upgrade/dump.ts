// A database as text: its rows as statements, and the number of migrations that its tables had. The tables themselves
// are what those migrations make, which never change once released: their checksums are among the rows.
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { listMigrations, migrate } from '@svc/core/db/index.ts';
import type pg from 'pg';
import { withClient } from '../support/books.ts';

const MIGRATIONS = new URL('../../core/db/migrations/', import.meta.url);
const HEADER = /^-- migrations: (\d+), of the ledger: (\d+)$/m;

const TABLES = `
  select format('%I.%I', n.nspname, c.relname) as name,
         (select string_agg(quote_ident(a.attname), ', ' order by a.attnum) from pg_attribute a
           where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
         (select string_agg(format('quote_nullable(%I::text)', a.attname), E' || '', '' || ' order by a.attnum)
            from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as literals
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where c.relkind in ('r', 'p') and not c.relispartition and n.nspname !~ '^pg_|^information_schema$'
   order by 1`;

const SEQUENCES = `
  select format('%I.%I', schemaname, sequencename) as name, last_value::text as last from pg_sequences
   where last_value is not null order by 1`;

/** Every row of every table of `client`'s database. Times are in UTC and numbers whole. */
export async function dumpRows(client: pg.Client): Promise<string> {
  await client.query(`set timezone = 'UTC'`);
  const known = await listMigrations();
  const parts = [
    '-- Rows of a database of this release, written by `make upgrade-dump`; later releases are tested to take it on.',
    `-- migrations: ${known.installation.length}, of the ledger: ${known.ledger.length}`,
    'set session_replication_role = replica;',
    `set timezone = 'UTC';`,
  ];
  const tables = await client.query<{ name: string; columns: string; literals: string }>(TABLES);
  for (const { name, columns, literals } of tables.rows) {
    const { rows } = await client.query<{ row: string }>(
      `select '(' || ${literals} || ')' as row from ${name} order by 1`,
    );
    parts.push(`delete from ${name};`);
    if (rows.length === 0) continue;
    const values = rows.map(({ row }) => `  ${row}`).join(',\n');
    parts.push(`insert into ${name} (${columns}) overriding system value values\n${values};`);
  }
  const sequences = await client.query<{ name: string; last: string }>(SEQUENCES);
  parts.push(...sequences.rows.map(({ name, last }) => `select setval('${name}', ${last});`));
  return `${parts.join('\n')}\n`;
}

/** Makes the empty database at `url` what the dump was taken of, in the tables of its release. */
export async function restoreRows(url: string, dump: string): Promise<void> {
  const [, installation, ledger] = HEADER.exec(dump)!;
  const known = await listMigrations();
  const then = [
    ...known.installation.slice(0, Number(installation)),
    ...known.ledger.slice(0, Number(ledger)),
  ];
  const folder = mkdtempSync(join(tmpdir(), 'svc-release-'));
  try {
    mkdirSync(join(folder, 'ledger'));
    for (const { name } of then) cpSync(new URL(name, MIGRATIONS), join(folder, name));
    await migrate(url, { folder: pathToFileURL(`${folder}/`) });
  } finally {
    rmSync(folder, { recursive: true });
  }
  await withClient(url, (client) => client.query(dump));
}
