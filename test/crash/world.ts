// What the crash test runs and kills: a PostgreSQL of its own with fsync on, two gateway processes that share a
// database and nothing else, and the provider that nobody kills.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@svc/cli/tools/postgres.ts';
import { inLedgerSchema, ledgerSchemaOf, migrate, type ShardAddress } from '@svc/core/db/index.ts';
import { loadRootKey } from '@svc/core/kernel/index.ts';
import pg from 'pg';
import type { Sim } from '../sim/providers/index.ts';
import type { Replication } from '../standby/servers.ts';
import { ENTRY, type GatewayProcess, startGatewayProcess } from '../support/gateway.ts';
import { type Provisioned, provision } from '../support/provision.ts';
import type { PlanKeys } from './plan.ts';
import { crashProviders, OWN_SECRET, startCrashProvider } from './provider.ts';
import { openDatabase } from './servers.ts';
import { openShards } from './shards.ts';
import { startWorkerProcess, type TopUp, type WorkerProcess } from './worker-process.ts';

/**
 * Short, so that a round can wait for the sweeper: a dead process's holds are free after it. Not so short that a busy
 * machine keeps a living gateway from renewing it, whose holds the worker would then take away.
 */
export const LEASE_SECONDS = 5;
export const RICH_MICRO = 100_000_000;
export const POOR_MICRO = 150_000;
/** What a key with a hard budget may spend in a round: a few dozen calls, so that every round reaches it. */
const BUDGET_MICRO = 8_000;
/** Where several ledgers have twice the keys, each has half the calls. */
const budgetOf = (shards: readonly ShardAddress[]): number => BUDGET_MICRO / (shards.length === 0 ? 1 : 2);

/** One place of the product's sources, changed as it is loaded. */
export interface SourceEdit {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const WORKER = new URL('worker.ts', import.meta.url).pathname;
/** A program with an edit of its sources. */
const EDITED = new URL('../mutations/product/edited.ts', import.meta.url).pathname;

export interface World {
  readonly provider: Sim;
  readonly database_url: string;
  /** The ledgers, each one an address with its schema. */
  readonly ledgers: readonly ShardAddress[];
  readonly plan_keys: PlanKeys;
  /** The live books, each in its ledger. */
  readonly books: readonly Pick<TopUp, 'shard' | 'book_id'>[];
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
  /** Asks the worker once to book a top-up; whether it has acknowledged that. */
  topUp(wanted: TopUp): Promise<boolean>;
  killWorker(): Promise<void>;
  startWorker(): Promise<void>;
  killPostgres(): Promise<void>;
  /** Starts it again, or lets its standby take over where it has one. */
  startPostgres(): Promise<void>;
  /** Runs `work` on a fresh connection to each ledger. */
  withLedgers<T>(work: (client: pg.Client, schema: string) => Promise<T>): Promise<T[]>;
  /** Gateways that ended although nobody killed them, each with its last words. */
  readonly died: readonly string[];
  /** Directory of a gateway's journal. */
  dataDir(gateway: 0 | 1): string;
  output(): string;
  close(): Promise<void>;
}

export interface WorldOptions {
  /** Statements run after the migrations: what a mutation breaks. */
  readonly mutate?: readonly string[];
  /** Ledgers: one, or three in two databases with organizations in each. */
  readonly shards?: 1 | 3;
  /** An edit of the sources of gateways and worker. */
  readonly edit?: SourceEdit;
  /** PostgreSQL has a standby, which takes over when it is killed. */
  readonly standby?: Replication;
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

type Made = Provisioned & { readonly shard: string };

/**
 * An organization that cannot run dry, with a key that has a hard daily budget, and one that will; of several ledgers
 * each has one of them or both.
 */
async function makeOrgs(database_url: string, shards: readonly ShardAddress[]): Promise<Made[]> {
  const isOne = shards.length === 0;
  const rich = (slug: string, shard: string) =>
    provision({
      ...{ database_url, slug, shards, shard, live_micro_usd: RICH_MICRO },
      keys: [
        ...[{ name: 'plain' }, { name: 'second' }, { name: 'client' }],
        { name: 'budget', daily_budget_micro: budgetOf(shards) },
      ],
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

/** Gives the organization of `key` a provider key of its own. */
async function bringOwnKey(origin: string, key: string): Promise<void> {
  const answer = await fetch(`${origin}/v1/byok`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ provider_id: 'crash-own', label: 'own', secret: OWN_SECRET }),
  });
  if (answer.status !== 201) throw new Error(`no own key: ${answer.status} ${await answer.text()}`);
}

/** Brings the world up. The caller closes it. */
export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-crash-'));
  // PostgreSQL runs as another user when the test runs as root: its folder is not under one of ours.
  const server_dir = mkdtempSync(join(tmpdir(), 'svc-crash-postgres-'));
  const postgres = await openDatabase(server_dir, options.standby ?? null);
  const database_url = postgres.urlOf('crash');
  await withClient(postgres.urlOf('postgres'), (client) => client.query('create database crash'));
  await migrate(database_url);
  const provider = await startCrashProvider();
  const further = await openShards(options.shards === 3, postgres.urlOf);
  const { shards } = further;
  const ledgers = [{ name: 'main', url: database_url }, ...shards];
  const made = await makeOrgs(database_url, shards);
  const keys = made.flatMap(({ keys }) => keys);
  const client = keys.find(({ name }) => name === 'client')?.secret as string;
  const all = keys.filter(({ name }) => name !== 'client').map(({ secret }) => secret);
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
  const died: string[] = [];
  const ports = [await freePort(), await freePort()];
  const providers = crashProviders(provider);
  const dataDir = (gateway: 0 | 1) => join(dir, `gateway-${gateway}`);

  const ledger_shards = shards.map(({ name, url }) => `${name}=${url}`).join(' ');
  /** `entry`, and what its environment needs so that it runs with the edit. */
  const edited = (entry: string) =>
    options.edit === undefined
      ? { entry, env: {} }
      : { entry: EDITED, env: { CRASH_ENTRY: entry, CRASH_EDIT: JSON.stringify(options.edit) } };
  let worker: WorkerProcess | null = null;
  const startWorker = async (): Promise<void> => {
    const { entry, env } = edited(WORKER);
    worker = await startWorkerProcess(entry, {
      ...{ SVC_DATABASE_URL: database_url, SVC_DATA_DIR: join(dir, 'worker') },
      ...{ SVC_LEDGER_SHARDS: ledger_shards, ...env },
    });
  };
  const killWorker = async (): Promise<void> => {
    const running = worker;
    worker = null;
    await running?.kill();
  };
  const startGateway = async (gateway: 0 | 1): Promise<void> => {
    const { entry, env } = edited(ENTRY);
    const running = await startGatewayProcess({
      database_url,
      providers,
      data_dir: dataDir(gateway),
      name: `crash-${gateway}`,
      port: ports[gateway] as number,
      entry,
      env: {
        ...{ CRASH_API_KEY: 'sk-crash', SVC_MASTER_KEY_FILE: join(dir, 'keyring.json'), ...env },
        SVC_LEDGER_LEASE_SECONDS: String(LEASE_SECONDS),
        SVC_LEDGER_SHARDS: ledger_shards,
      },
    });
    gateways[gateway] = running;
    void running.ended.then(() => {
      if (gateways[gateway] === running)
        died.push(`gateway ${gateway} ended: ${running.output().slice(-2_000)}`);
    });
  };
  const killGateway = async (gateway: 0 | 1): Promise<void> => {
    const running = gateways[gateway];
    gateways[gateway] = null;
    await running?.kill();
  };
  // Made before two gateways would make it at once.
  loadRootKey(join(dir, 'keyring.json'));
  await Promise.all([startWorker(), startGateway(0), startGateway(1)]);
  await bringOwnKey(`http://127.0.0.1:${ports[0]}`, client);

  return {
    provider,
    database_url,
    ledgers,
    plan_keys: { all, client },
    books: made.map(({ shard, live_book_id }) => ({ shard, book_id: live_book_id })),
    topUp: (wanted) => worker?.book(wanted) ?? Promise.resolve(false),
    killWorker,
    startWorker,
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
          const cap = Number(rows[0]?.spent) + budgetOf(shards);
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
    async killPostgres() {
      await Promise.all([postgres.kill(), further.cut()]);
    },
    startPostgres: postgres.start,
    withLedgers,
    died,
    dataDir,
    output: () =>
      gateways
        .map((gateway, i) => `gateway ${i}:\n${gateway?.output().slice(-2_000) ?? '(not running)'}`)
        .join('\n'),
    close: async () => {
      await Promise.all([killGateway(0), killGateway(1), killWorker()]);
      await provider.close();
      await Promise.all([postgres.close(), further.close()]);
      for (const each of [dir, server_dir]) rmSync(each, { recursive: true, force: true });
    },
  };
}
