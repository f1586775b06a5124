// Servers with an installation, and ledgers with the places that each can move to. Gateways know all of them, and callers send one
// call after the other.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, type Postgres } from '@svc/cli/tools/postgres.ts';
import { migrate, migrateLedger, withLedgerSchema } from '@svc/core/db/index.ts';
import { verifyLedger } from '@svc/core/ledger/index.ts';
import { expect, onTestFinished } from 'vitest';
import { aCall, EXACT_MICRO } from '../concurrency/money.ts';
import { openCallers, type Seen } from '../crash/caller.ts';
import { crashProviders, startCrashProvider } from '../crash/provider.ts';
import { shardsVariable, ulidOf, withClient } from '../support/books.ts';
import { atFileEnd } from '../support/ends.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway.ts';
import { startTestPostgres } from '../support/postgres.ts';
import { until } from '../support/programs/until.ts';
import { type Provisioned, provision } from '../support/provision.ts';

const CREDIT = 1_000_000_000;
/** Callers that send one call after the other until they are stopped, and how long each waited. */
class Load {
  readonly seen: Seen[] = [];
  longest_ms = 0;
  readonly #running: Promise<void>[];
  #stopped = false;

  constructor(send: () => Promise<Seen>, callers: number) {
    this.#running = Array.from({ length: callers }, async () => {
      while (!this.#stopped) {
        const from = performance.now();
        this.seen.push(await send());
        this.longest_ms = Math.max(this.longest_ms, performance.now() - from);
      }
    });
  }

  more(count: number): Promise<boolean> {
    const aim = this.seen.length + count;
    return until(`${count} answers more`, () => this.seen.length >= aim, 60_000);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#running);
  }
}

/** A ledger with its places, and an organization that has its books there. */
export interface Shard {
  readonly name: string;
  /** Its addresses, in the order of its places. */
  readonly places: readonly string[];
  readonly org: Provisioned;
  load(callers: number): Load;
  /** Every call that had its answer was charged once in the place, whose books are right. */
  expectCharged(place: number, seen: readonly Seen[]): Promise<void>;
}

/** The parts of a world are those of its first shard. */
export interface World extends Shard {
  readonly database_url: string;
  readonly shards_variable: string;
  readonly shards: readonly Shard[];
  readonly servers: readonly Postgres[];
  readonly gateways: readonly GatewayProcess[];
  /** Kills a server, and starts it again after `meanwhile`. */
  restart(server: number, meanwhile?: () => Promise<unknown>): Promise<void>;
}

/** `a` and its further places `a.2`, `a.3`. */
export const placeName = (shard: string, place: number) => (place === 0 ? shard : `${shard}.${place + 1}`);
const schemaOf = (shard: string) => `ledger_${shard}`;

interface WorldOptions {
  readonly gateways: number;
  /** The server of each place of each shard; shards are called `a`, `b` and so on. */
  readonly on: readonly (readonly number[])[];
}

async function startServers(dir: string, count: number) {
  const ports = await Promise.all(Array.from({ length: count }, () => freePort()));
  const start = (i: number) =>
    startTestPostgres({
      ...{ dir: join(dir, `server-${i}`), port: ports[i] as number },
      settings: {
        ...{ wal_level: 'logical', wal_retrieve_retry_interval: '200ms' },
        // A test that fails leaves its workers to nobody else's cost.
        ...{ max_worker_processes: '40', max_logical_replication_workers: '32' },
      },
    });
  const servers: Postgres[] = [];
  for (let i = 0; i < count; i++) servers.push(await start(i));
  return {
    servers,
    async make(server: number, database: string): Promise<string> {
      const { url, urlOf } = servers[server] as Postgres;
      await withClient(url, (client) => client.query(`create database ${database}`));
      return urlOf(database);
    },
    async restart(server: number, meanwhile?: () => Promise<unknown>) {
      await servers[server]?.kill();
      await meanwhile?.();
      servers[server] = await start(server);
    },
  };
}

/** The installation is on the first server, each place in a database of its own on the server that `on` names. */
export async function startWorld({ gateways: count, on }: WorldOptions): Promise<World> {
  const dir = mkdtempSync('/var/tmp/svc-shards-');
  chmodSync(dir, 0o755);
  const { servers, make, restart } = await startServers(dir, Math.max(...on.flat()) + 1);
  atFileEnd(async () => {
    await Promise.all(servers.map((server) => server.kill()));
    rmSync(dir, { recursive: true, force: true });
  });
  const database_url = await make(0, 'money');
  await migrate(database_url);
  const listed: { readonly name: string; readonly url: string }[] = [];
  for (const [i, places] of on.entries()) {
    const shard = String.fromCharCode('a'.charCodeAt(0) + i);
    for (const [n, server] of places.entries()) {
      const url = withLedgerSchema(await make(server, `shard_${shard}_${n + 1}`), schemaOf(shard));
      await migrateLedger(url);
      listed.push({ name: placeName(shard, n), url });
    }
  }
  const shards_variable = shardsVariable(listed);
  const provider = await startCrashProvider();
  const callers = openCallers();
  const gateways = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      startGatewayProcess({
        ...{ database_url, providers: crashProviders(provider), name: `shards-${i}` },
        env: { CRASH_API_KEY: 'sk-crash', SVC_LEDGER_SHARDS: shards_variable },
      }),
    ),
  );
  atFileEnd(async () => {
    await callers.close();
    await Promise.all(gateways.map((gateway) => gateway.kill()));
    await provider.close();
  });
  const shards: Shard[] = [];
  for (const { name } of listed.filter((one) => !one.name.includes('.'))) {
    const org = await provision({
      ...{ database_url, slug: `acme-${name}`, shard: name, live_micro_usd: CREDIT },
      shards: listed,
    });
    const places = listed.filter((one) => one.name.split('.')[0] === name).map(({ url }) => url);
    shards.push(openShard({ name, places, org }, { callers, gateways }));
  }
  return {
    ...(shards[0] as Shard),
    ...{ database_url, shards_variable, shards, servers, gateways, restart },
  };
}

function openShard(
  { name, places, org }: Pick<Shard, 'name' | 'places' | 'org'>,
  { callers, gateways }: { callers: ReturnType<typeof openCallers>; gateways: readonly GatewayProcess[] },
): Shard {
  let sent = 0;
  return {
    ...{ name, places, org },
    load(count) {
      const load = new Load(async () => {
        const { base_url } = gateways[sent++ % gateways.length] as GatewayProcess;
        return (await callers.send(base_url, aCall(org.live_key, { stream: sent % 3 === 0 }))).seen;
      }, count);
      onTestFinished(() => load.stop());
      return load;
    },
    async expectCharged(place, seen) {
      const url = places[place] as string;
      const answered = seen.flatMap((one) => (one.kind === 'final' ? [one.request_id] : []));
      const text = `select request_id, -amount as amount from ${schemaOf(name)}.entry where kind = 1 and book_id = $1`;
      const charged = async () => {
        const { rows } = await withClient(url, (client) => client.query(text, [org.live_book_id]));
        return rows.map((row) => ulidOf(row.request_id as string));
      };
      await until('every answered call is charged', async () => {
        const ids = new Set(await charged());
        return answered.every((id) => ids.has(id));
      });
      const ids = await charged();
      expect(new Set(ids).size).toBe(ids.length);
      const { rows } = await withClient(url, (client) =>
        client.query(`select available, held from ${schemaOf(name)}.book where book_id = $1`, [
          org.live_book_id,
        ]),
      );
      expect(Number(rows[0].available) + Number(rows[0].held)).toBe(CREDIT - ids.length * EXACT_MICRO);
      expect((await verifyLedger({ url })).findings).toEqual([]);
    },
  };
}
