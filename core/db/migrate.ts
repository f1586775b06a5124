// Forward-only migrations: numbered .sql files, each in one transaction with its row in `svc_migration`.
// An advisory lock makes two starters take turns, one migration each; a changed released file is refused by its
// checksum. Nothing is kept by the session, so that the address of a ledger may be a pooler's.
//
// There are two rows of them. Those of a ledger, in the folder `ledger/`, make a schema that may be one of several and
// keeps its own `svc_migration`; all others make what an installation has once.
//
// Programs of the release before run on while a migration is applied, so each file says in its first line which
// programs can: `-- compatible_from: 0017` are those that know migration 17. It is kept with the row, so that `migrate`
// of an older release can tell whether the database is still one that it can work with.
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import { sha256Hex } from '../kernel/index.ts';
import {
  delegateFunctions,
  isCluster,
  isSpread,
  letRolesConnect,
  livingProcesses,
  looseServers,
  prepareFunctions,
  serverOf,
  shareRoles,
  spreadSchema,
} from './citus-store.ts';
import { inLedgerSchema, ledgerSchemaOf } from './shard.ts';

const LOCK = 7_305_118_201;
const LOCK_NOT_AVAILABLE = '55P03';
const COMPATIBLE = /^-- compatible_from: (\d{4})$/m;

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
  /** Programs that know the migrations up to this one go on working after it. */
  readonly compatible_from: number;
}

interface Migrated {
  /** Names in order; none when the database was current. */
  readonly applied: readonly string[];
  /** Names of migrations of a later release, all of which this release can work with. */
  readonly newer: readonly string[];
}

interface MigrateOptions {
  /** Where the files are; those of this release by default. */
  readonly folder?: URL;
  /**
   * A lock that a migration wants is waited for so long and then asked for again after a pause: behind a lock that
   * waits for a reader (a verification reads for minutes), every call would queue.
   */
  readonly lock?: { readonly wait_ms: number; readonly pause_ms: number; readonly tries: number };
}

const FOLDER = new URL('./migrations/', import.meta.url);
const PATIENCE = { wait_ms: 100, pause_ms: 400, tries: 300 };

async function listFolder(folder: URL, prefix: string): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort();
  const migrations: Migration[] = [];
  for (const file of files) {
    const name = prefix + file;
    const version = Number(file.slice(0, 4));
    if (version !== migrations.length + 1) throw new Error(`migration ${name} is out of sequence`);
    const sql = await readFile(new URL(file, folder), 'utf8');
    const compatible_from = Number(COMPATIBLE.exec(sql.slice(0, sql.indexOf('\n')))?.[1]);
    if (!(compatible_from >= 1 && compatible_from <= version))
      throw new Error(
        `migration ${name} does not begin with "-- compatible_from: " and a number up to its own`,
      );
    migrations.push({ version, name, sql, checksum: sha256Hex(sql), compatible_from });
  }
  return migrations;
}

/**
 * All migrations of this release, in order: `installation` once, `ledger` for each ledger.
 * @throws Error on a gap, a doubled number or a first line that says nothing.
 */
export async function listMigrations(
  folder: URL = FOLDER,
): Promise<{ readonly installation: readonly Migration[]; readonly ledger: readonly Migration[] }> {
  return {
    installation: await listFolder(folder, ''),
    ledger: await listFolder(new URL('ledger/', folder), 'ledger/'),
  };
}

/** Text in quotes, and what ends a statement outside of it. */
const PARTS = /'(?:[^']|'')*'|\$(\w*)\$[\s\S]*?\$\1\$|--[^\n]*|;/g;

/** The statements of a migration. */
export function statementsOf(sql: string): string[] {
  const ends = [...sql.matchAll(PARTS)].filter(([part]) => part === ';').map(({ index }) => index + 1);
  const statements = [...ends, sql.length].map((end, i) => sql.slice(ends[i - 1] ?? 0, end));
  return statements.filter((statement) => statement.replace(/--[^\n]*/g, '').trim() !== '');
}

interface Applied {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  readonly compatible_from: number;
}

/**
 * Compares what the database has with what this release knows.
 * @throws Error when a released file changed, or a newer migration is none that this release can work with.
 */
function compare(rows: readonly Applied[], migrations: readonly Migration[]): Applied[] {
  const newer = rows.filter((row) => row.version > migrations.length);
  for (const row of rows) {
    const known = migrations[row.version - 1];
    if (known !== undefined && known.checksum !== row.checksum)
      throw new Error(`migration ${row.name} differs from the one applied`);
    if (known === undefined && row.compatible_from > migrations.length)
      throw new Error(`the database is newer than this release and not compatible with it: ${row.name}`);
  }
  return newer;
}

/** Begins a transaction that no other starter runs beside. */
const BEGIN = `begin; select pg_advisory_xact_lock(${LOCK})`;

/**
 * One try at one migration of `schema`; false when a lock that it needs was not to be had in time, null when another
 * starter has applied it meanwhile.
 */
async function apply(
  client: pg.Client,
  migration: Migration,
  to: { schema: string; statements: readonly string[]; wait_ms: number },
): Promise<boolean | null> {
  await client.query(BEGIN);
  try {
    const { rowCount } = await client.query(`select from ${to.schema}.svc_migration where version = $1`, [
      migration.version,
    ]);
    if (rowCount !== 0) {
      await client.query('rollback');
      return null;
    }
    await client.query(`select set_config('lock_timeout', $1, true)`, [`${to.wait_ms}ms`]);
    await client.query(
      `insert into ${to.schema}.svc_migration (version, name, checksum, compatible_from) values ($1, $2, $3, $4)`,
      [migration.version, migration.name, migration.checksum, migration.compatible_from],
    );
    for (const statement of to.statements) await client.query(statement);
    await client.query('commit');
    return true;
  } catch (error) {
    await client.query('rollback');
    if ((error as pg.DatabaseError).code === LOCK_NOT_AVAILABLE) return false;
    throw new Error(`migration ${migration.name}: ${(error as Error).message}`, { cause: error });
  }
}

/** Brings one schema to `migrations`. */
async function bring(
  client: pg.Client,
  schema: string,
  migrations: readonly Migration[],
  lock: NonNullable<MigrateOptions['lock']>,
): Promise<Migrated> {
  if (await isCluster(client)) await shareRoles(client);
  await client.query(`
    ${BEGIN};
    create schema if not exists ${schema};
    create table if not exists ${schema}.svc_migration (
      version int primary key, name text not null, checksum text not null, compatible_from int not null,
      applied_at timestamptz not null default now());
    commit`);
  const { rows } = await client.query<Applied>(
    `select version, name, checksum, compatible_from from ${schema}.svc_migration order by version`,
  );
  const newer = compare(rows, migrations).map((row) => row.name);
  const done = new Set(rows.map((row) => row.version));
  const applied: string[] = [];
  for (const migration of migrations) {
    if (done.has(migration.version)) continue;
    if (await applyPatiently(client, migration, schema, lock)) applied.push(migration.name);
  }
  return { applied, newer };
}

/** Tries until it is applied, here or by another starter; whether it was here. @throws Error when a lock was never free. */
async function applyPatiently(
  client: pg.Client,
  migration: Migration,
  schema: string,
  lock: NonNullable<MigrateOptions['lock']>,
): Promise<boolean> {
  const sql = inLedgerSchema(migration.sql, schema);
  // Citus sends some statements on as they came, and takes one at a time.
  const statements = (await isSpread(client, schema)) ? statementsOf(sql) : [sql];
  const to = { schema, statements, wait_ms: lock.wait_ms };
  for (let left = lock.tries; left > 0; left--) {
    const applied = await apply(client, migration, to);
    if (applied !== false) return applied === true;
    await new Promise((resolve) => setTimeout(resolve, lock.pause_ms));
  }
  throw new Error(`migration ${migration.name}: something long reads its tables; migrate again after it`);
}

/**
 * Brings the database at `url` to this release, with the ledger that is in it. One that is ahead of it is left as it
 * is, when all that is newer is compatible with this release.
 * @throws Error when a released file changed, the database is too new, or a lock could not be had.
 */
export function migrate(url: string, options: MigrateOptions = {}): Promise<Migrated> {
  return connected(url, async (client) => {
    const { installation, ledger } = await listMigrations(options.folder);
    const lock = options.lock ?? PATIENCE;
    const first = await bring(client, 'public', installation, lock);
    const second = await bringLedger(client, url, ledger, lock);
    return { applied: [...first.applied, ...second.applied], newer: [...first.newer, ...second.newer] };
  });
}

/** The same for a ledger alone, in a database that may hold others and nothing else of an installation. */
export function migrateLedger(url: string, options: MigrateOptions = {}): Promise<Migrated> {
  return connected(url, async (client) => {
    const { ledger } = await listMigrations(options.folder);
    return bringLedger(client, url, ledger, options.lock ?? PATIENCE);
  });
}

async function bringLedger(
  client: pg.Client,
  url: string,
  migrations: readonly Migration[],
  lock: NonNullable<MigrateOptions['lock']>,
): Promise<Migrated> {
  const schema = ledgerSchemaOf(url);
  if (await isLeftPlace(client, schema)) return { applied: [], newer: [] };
  const migrated = await bring(client, schema, migrations, lock);
  if (await isSpread(client, schema)) {
    await prepareFunctions(client, schema);
    await delegateFunctions(client, schema);
  }
  return migrated;
}

/** Whether the ledger of `schema` has moved to another place: what it left is not written to again. */
async function isLeftPlace(client: pg.Client, schema: string): Promise<boolean> {
  const { rows } = await client.query(`select to_regclass($1) is not null as known`, [`${schema}.moved`]);
  if (rows[0].known !== true) return false;
  const { rowCount } = await client.query(`select from ${schema}.moved`);
  return rowCount !== 0;
}

/**
 * Brings the ledger at `url`, the coordinator of a Citus cluster, to this release and its tables to one of the cluster's servers.
 * Returns which one; null when they were there already, or the ledger has left the place. @throws Error when it is no such cluster.
 */
export function spreadLedger(url: string, options: MigrateOptions = {}): Promise<string | null> {
  return connected(url, async (client) => {
    if (!(await isCluster(client)))
      throw new Error('the database is no coordinator of a Citus cluster that has servers for data');
    const [loose] = await looseServers(client);
    if (loose !== undefined)
      throw new Error(`${loose} has synchronous_commit=off: a charge that was confirmed could be lost there`);
    const { ledger } = await listMigrations(options.folder);
    await bringLedger(client, url, ledger, options.lock ?? PATIENCE);
    await letRolesConnect(client);
    const schema = ledgerSchemaOf(url);
    if ((await isSpread(client, schema)) || (await isLeftPlace(client, schema))) return null;
    const living = await livingProcesses(client, schema);
    if (living.length > 0)
      throw new Error(
        `programs use it, stop them first and wait for their leases to end: ${living.join(', ')}`,
      );
    await prepareFunctions(client, schema);
    await spreadSchema(client, schema);
    await delegateFunctions(client, schema);
    return serverOf(client, schema);
  });
}

/** The server of a Citus cluster that has the tables of the ledger at `url`; null: it is in a database like any other. */
export function serverOfLedger(url: string): Promise<string | null> {
  return connected(url, async (client) => {
    const schema = ledgerSchemaOf(url);
    return (await isSpread(client, schema)) ? serverOf(client, schema) : null;
  });
}

async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'svc-migrate' });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
