// What the crash test runs and kills: a PostgreSQL of its own with fsync on, two gateway processes that share a
// database and nothing else, and the provider that nobody kills.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, type Postgres } from '@svc/cli/tools/postgres.ts';
import {
  inLedgerSchema,
  ledgerSchemaOf,
  migrate,
  migrateLedger,
  type ShardAddress,
  withLedgerSchema,
} from '@svc/core/db/index.ts';
import pg from 'pg';
import type { Sim } from '../sim/providers/index.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway.ts';
import { startTestPostgres } from '../support/postgres.ts';
import { type Provisioned, provision } from '../support/provision.ts';
import { crashProviders, startCrashProvider } from './provider.ts';

/** Short, so that a round can wait for the sweeper: a dead process's holds are free after it. */
export const LEASE_SECONDS = 2;
export const RICH_MICRO = 100_000_000;
export const POOR_MICRO = 150_000;
/** What a key with a hard budget may spend in a round: a few dozen calls, so that every round reaches it. */
export const BUDGET_MICRO = 8_000;

/** One place of the gateway's sources, changed as it is loaded. */
export interface SourceEdit {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** The gateway with an edit of its sources. */
const EDITED = new URL('../mutations/product/edited.ts', import.meta.url).pathname;

export interface World {
  readonly provider: Sim;
  readonly database_url: string;
  /** The ledgers, each one an address with its schema. */
  readonly ledgers: readonly ShardAddress[];
  /** Secrets of the keys that calls are sent with. */
  readonly keys: readonly string[];
  /** Secrets of those with a hard daily budget. */
  readonly budget_keys: readonly string[];
  /** Lets each of them spend a little more than it has spent. */
  tightenBudgets(): Promise<void>;
  /** Address of a gateway, also while it is down. */
  address(gateway: 0 | 1): string;
  /** Address of a gateway; of the other one while it is down, as a load balancer would have it. */
  origin(gateway: 0 | 1): string;
  killGateway(gateway: 0 | 1): Promise<void>;
  startGateway(gateway: 0 | 1): Promise<void>;
  killPostgres(): Promise<void>;
  startPostgres(): Promise<void>;
  /** Runs `work` on a fresh connection to each ledger. */
  withLedgers<T>(work: (client: pg.Client, schema: string) => Promise<T>): Promise<T[]>;
  /** Directory of a gateway's journal. */
  dataDir(gateway: 0 | 1): string;
  output(): string;
  close(): Promise<void>;
}

export interface WorldOptions {
  /** Statements run after the migrations: what a mutation breaks. */
  readonly mutate?: readonly string[];
  /** Ledgers: one, or three in two databases with organisations in each. */
  readonly shards?: 1 | 3;
  /** An edit of the gateway's sources. */
  readonly edit?: SourceEdit;
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Two ledgers more, one beside the installation's own and one in a database that holds nothing else. */
async function makeShards(postgres: Postgres): Promise<ShardAddress[]> {
  await withClient(postgres.url, (client) => client.query('create database crash_two'));
  const shards = [
    { name: 'a', url: withLedgerSchema(postgres.urlOf('crash'), 'ledger_a') },
    { name: 'b', url: withLedgerSchema(postgres.urlOf('crash_two'), 'ledger_b') },
  ];
  for (const { url } of shards) await migrateLedger(url);
  return shards;
}

type Made = Provisioned & { readonly shard: string };

/**
 * An organisation that cannot run dry, with a key that has a hard daily budget, and one that will; of several ledgers
 * each has one of them or both.
 */
async function makeOrgs(database_url: string, shards: readonly ShardAddress[]): Promise<Made[]> {
  const isOne = shards.length === 0;
  const rich = (slug: string, shard: string) =>
    provision({
      ...{ database_url, slug, shards, shard, live_micro_usd: RICH_MICRO },
      keys: [{ name: 'plain' }, { name: 'second' }, { name: 'budget', daily_budget_micro: BUDGET_MICRO }],
    });
  const poor = (slug: string, shard: string) =>
    provision({ database_url, slug, shards, shard, live_micro_usd: POOR_MICRO });
  const first = isOne ? 'main' : 'a';
  const made: Made[] = [
    { ...(await rich('rich', first)), shard: first },
    { ...(await poor('poor', 'main')), shard: 'main' },
  ];
  if (!isOne) {
    made.push({ ...(await rich('rich-b', 'b')), shard: 'b' }, { ...(await poor('poor-b', 'b')), shard: 'b' });
  }
  return made;
}

/** Brings the world up. The caller closes it. */
export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-crash-'));
  // PostgreSQL runs as another user when the test runs as root: its folder is not under one of ours.
  const server_dir = mkdtempSync(join(tmpdir(), 'svc-crash-postgres-'));
  const port = await freePort();
  const start = () => startTestPostgres({ dir: server_dir, port });
  let postgres: Postgres | null = await start();
  const database_url = postgres.urlOf('crash');
  await withClient(postgres.url, (client) => client.query('create database crash'));
  await migrate(database_url);
  const provider = await startCrashProvider();
  const shards = options.shards === 3 ? await makeShards(postgres) : [];
  const ledgers = [{ name: 'main', url: database_url }, ...shards];
  const made = await makeOrgs(database_url, shards);
  const keys = made.flatMap(({ keys }) => keys.map((key) => key.secret));
  const budgets = made.flatMap(({ keys, live_book_id, shard }) =>
    keys.filter(({ name }) => name === 'budget').map((key) => ({ ...key, book_id: live_book_id, shard })),
  );
  const withLedgers = async <T>(work: (client: pg.Client, schema: string) => Promise<T>): Promise<T[]> => {
    const all: T[] = [];
    for (const { url } of ledgers)
      all.push(await withClient(url, (client) => work(client, ledgerSchemaOf(url))));
    return all;
  };
  await withLedgers(async (client, schema) => {
    for (const statement of options.mutate ?? []) await client.query(inLedgerSchema(statement, schema));
  });
  const gateways: (GatewayProcess | null)[] = [null, null];
  const ports = [await freePort(), await freePort()];
  const providers = crashProviders(provider);
  const dataDir = (gateway: 0 | 1) => join(dir, `gateway-${gateway}`);

  const startGateway = async (gateway: 0 | 1): Promise<void> => {
    gateways[gateway] = await startGatewayProcess({
      database_url,
      providers,
      data_dir: dataDir(gateway),
      name: `crash-${gateway}`,
      port: ports[gateway] as number,
      ...(options.edit === undefined ? {} : { entry: EDITED }),
      env: {
        CRASH_API_KEY: 'sk-crash',
        ...(options.edit === undefined ? {} : { CRASH_EDIT: JSON.stringify(options.edit) }),
        SVC_LEDGER_LEASE_SECONDS: String(LEASE_SECONDS),
        SVC_LEDGER_SHARDS: shards.map(({ name, url }) => `${name}=${url}`).join(' '),
      },
    });
  };
  const killGateway = async (gateway: 0 | 1): Promise<void> => {
    const running = gateways[gateway];
    gateways[gateway] = null;
    await running?.kill();
  };
  await Promise.all([startGateway(0), startGateway(1)]);

  return {
    provider,
    database_url,
    ledgers,
    keys,
    origin: (gateway) => {
      const up = gateways[gateway] === null && gateways[1 - gateway] !== null ? 1 - gateway : gateway;
      return `http://127.0.0.1:${ports[up]}`;
    },
    budget_keys: budgets.map(({ secret }) => secret),
    async tightenBudgets() {
      for (const { book_id, key_no, shard } of budgets) {
        const { url } = ledgers.find(({ name }) => name === shard) as ShardAddress;
        await withClient(url, async (client) => {
          const schema = ledgerSchemaOf(url);
          const { rows } = await client.query<{ spent: number }>(
            `select coalesce(sum(spent), 0)::bigint as spent from ${schema}.win where kind = 1 and subject = $1`,
            [key_no],
          );
          const cap = Number(rows[0]?.spent) + BUDGET_MICRO;
          await client.query(
            `select ${schema}.set_budget($1, 1::smallint, $2, $3, true, '{}'::smallint[], $4, null)`,
            [book_id, key_no, cap, new Date().toISOString().slice(0, 10)],
          );
        });
      }
    },
    address: (gateway) => `http://127.0.0.1:${ports[gateway]}`,
    killGateway,
    startGateway,
    killPostgres: async () => {
      const running = postgres;
      postgres = null;
      await running?.kill();
    },
    startPostgres: async () => {
      postgres ??= await start();
    },
    withLedgers,
    dataDir,
    output: () =>
      gateways
        .map((gateway, i) => `gateway ${i}:\n${gateway?.output().slice(-2_000) ?? '(not running)'}`)
        .join('\n'),
    close: async () => {
      await Promise.all([killGateway(0), killGateway(1)]);
      await provider.close();
      await postgres?.stop();
      for (const each of [dir, server_dir]) rmSync(each, { recursive: true, force: true });
    },
  };
}
