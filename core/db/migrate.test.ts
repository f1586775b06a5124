import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../test/support/database.ts';
import { createPool, listMigrations, migrate, migrateLedger, withLedgerSchema } from './index.ts';
import { readSchema } from './schema-store.ts';

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
  mkdirSync(join(folder, 'ledger'), { recursive: true });
  texts.forEach((text, i) => {
    writeFileSync(join(folder, `000${i + 1}_step.sql`), text);
  });
  return pathToFileURL(`${folder}/`);
}

test('a migrated database has every migration of the release and nothing left to do', async () => {
  const { installation, ledger } = await listMigrations();
  const names = async (schema: string) =>
    (await client.query(`select name from ${schema}.svc_migration order by version`)).rows.map(
      (row) => row.name,
    );
  expect(await names('public')).toEqual(installation.map((migration) => migration.name));
  expect(await names('ledger')).toEqual(ledger.map((migration) => migration.name));
  expect(await migrate(url)).toEqual({ applied: [], newer: [] });
});

test('every migration says which programs it is compatible with', async () => {
  await expect(listMigrations(release('silent', 'select 1;\n'))).rejects.toThrow(
    '0001_step.sql does not begin',
  );
  await expect(listMigrations(release('later', '-- compatible_from: 0002\n'))).rejects.toThrow(
    '0001_step.sql',
  );
  const {
    installation: [only],
  } = await listMigrations(release('said', '-- compatible_from: 0001\nselect 1;\n'));
  expect(only).toMatchObject({ version: 1, compatible_from: 1 });
});

test('an older release leaves a newer database as it is when that is compatible, and refuses it when not', async () => {
  const rows = (await listMigrations()).installation.length;
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

test('ledgers in schemas of their own are migrated beside each other, in a database without the rest', async () => {
  const name = `t_${randomUUID().replaceAll('-', '').slice(0, 20)}`;
  await client.query(`create database ${name}`);
  const at = Object.assign(new URL(url), { pathname: `/${name}` }).href;
  const other = new pg.Client({ connectionString: at });
  await other.connect();
  try {
    const { ledger } = await listMigrations();
    const first = withLedgerSchema(at, 'ledger_a');
    expect(await migrateLedger(first)).toEqual({ applied: ledger.map((one) => one.name), newer: [] });
    await migrateLedger(withLedgerSchema(at, 'ledger_b'));
    expect((await migrateLedger(first)).applied).toEqual([]);
    const pool = createPool(at);
    const [a, b] = [await readSchema(pool, ['ledger_a']), await readSchema(pool, ['ledger_b'])];
    const whole = createPool(url);
    const usual = await readSchema(whole, ['ledger']);
    await Promise.all([pool.end(), whole.end()]);
    expect(a.replaceAll('ledger_a', 'ledger')).toBe(usual);
    expect(b.replaceAll('ledger_b', 'ledger')).toBe(usual);
    const { rows } = await other.query(
      `select to_regnamespace('ledger') as ledger, to_regclass('org') as org`,
    );
    expect(rows).toEqual([{ ledger: null, org: null }]);
    await expect(async () => migrateLedger(withLedgerSchema(at, 'a; drop'))).rejects.toThrow('ledger_schema');
  } finally {
    await other.end();
    await client.query(`drop database ${name} with (force)`);
  }
});
