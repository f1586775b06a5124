// Which installation a command works on: the database of SVC_DATABASE_URL, or else the one that `make up` runs on the
// data directory.
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  configuredDatabase,
  createPool,
  type Pool,
  type ShardAddress,
  type ShardPlaces,
  shardPlaces,
} from '@svc/core/db/index.ts';
import { type Config, loadRootKey, type RootKeyRing, readConfig } from '@svc/core/kernel/index.ts';
import { checkpointSigner } from '@svc/core/ledger/index.ts';
import { readUpFile, type UpFile } from './up/up-file.ts';

/** The top folder of the repository. */
export const root = fileURLToPath(new URL('../', import.meta.url));

/** No installation was found; the message says how to start or name one. */
export class NoInstallation extends Error {}

interface Installation {
  readonly config: Config;
  readonly data_dir: string;
  /** What `make up` currently runs there, or null. */
  readonly up: UpFile | null;
  /** Without a pooler: commands are few, and some need a session. */
  readonly database_url: string | null;
}

/** Reads the environment and the data directory. @throws ConfigError for a setting that cannot be used. */
export function findInstallation(): Installation {
  const config = readConfig();
  const data_dir = resolve(root, config.data_dir);
  const up = readUpFile(data_dir);
  const database_url = configuredDatabase(config)?.direct_url ?? up?.database_url ?? null;
  return { config, data_dir, up, database_url };
}

/** The address of the database. @throws NoInstallation when there is none to find. */
export function databaseUrl(): string {
  const { database_url, data_dir } = findInstallation();
  if (database_url !== null) return database_url;
  throw new NoInstallation(
    `No database: nothing runs on ${data_dir} and SVC_DATABASE_URL is not set. Start with \`make up\`.`,
  );
}

/** The shards of the installation, `main` first, with all places. @throws NoInstallation, or Error on faults of the list. */
export function ledgerPlaces(): readonly ShardPlaces[] {
  return shardPlaces(databaseUrl(), findInstallation().config.ledger_shards ?? []);
}

/** The ledgers of the installation, `main` first, where they are now; asked only of what has more than one place. */
export async function shards(): Promise<readonly ShardAddress[]> {
  const all = ledgerPlaces();
  if (all.every(({ places }) => places.length === 1)) return all.map(({ places }) => places[0]);
  return withDatabase(async (pool) => {
    const { placements } = pool.shards;
    await Promise.all(placements.map((placement) => placement.ready()));
    return placements.map(({ shard, url }) => ({ name: shard, url }));
  });
}

/** The file of the installation's key ring. */
export function keyRingFile(): string {
  const { config, data_dir } = findInstallation();
  return config.master_key_file ?? join(data_dir, 'keyring.json');
}

/** The installation's key ring. */
export function rootKey(): RootKeyRing {
  return loadRootKey(keyRingFile());
}

/** What signs the checkpoints of the ledger. */
export function ledgerSigner(): ReturnType<typeof checkpointSigner> {
  return checkpointSigner(rootKey());
}

/** Runs `work` with a pool on the installation's database and closes it afterwards. */
export async function withDatabase<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
  const { ledger_shards, ledger_shards_open: open } = findInstallation().config;
  const as = { max: 2, application: 'svcctl', shards: ledger_shards, open };
  const pool = createPool(databaseUrl(), as);
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

/**
 * Like `withDatabase`, but only for an installation of `make up` or one with SVC_DEV=1, so that no real
 * installation's clock is moved.
 */
export async function developmentDatabase<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
  const { config, up, database_url } = findInstallation();
  if (!config.dev && (up === null || database_url !== up.database_url))
    throw new NoInstallation('Only a development installation has a clock to move: `make up`, or SVC_DEV=1.');
  return withDatabase(work);
}
