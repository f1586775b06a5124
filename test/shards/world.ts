// Servers with an installation, and a ledger `a` with the places that it can move to. Gateways know all of them, and callers send
// one call after the other.
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
const SCHEMA = 'ledger_a';

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

export interface World {
  readonly database_url: string;
  readonly shards_variable: string;
  /** The addresses of `a`, in the order of its places. */
  readonly places: readonly string[];
  readonly org: Provisioned;
  readonly servers: readonly Postgres[];
  readonly gateways: readonly GatewayProcess[];
  load(callers: number): Load;
  /** Kills a server and starts it again. */
  restart(server: number): Promise<void>;
  /** Every call that had its answer was charged once in the place, whose books are right. */
  expectCharged(place: number, seen: readonly Seen[]): Promise<void>;
}

/** The installation is on the first server, each place of `a` in a database of its own on the server that `on` names. */
export async function startWorld(options: { gateways: number; on: readonly number[] }): Promise<World> {
  const dir = mkdtempSync('/var/tmp/svc-shards-');
  chmodSync(dir, 0o755);
  const count = Math.max(...options.on) + 1;
  const ports = await Promise.all(Array.from({ length: count }, () => freePort()));
  const start = (i: number) =>
    startTestPostgres({
      ...{ dir: join(dir, `server-${i}`), port: ports[i] as number },
      settings: { wal_level: 'logical', wal_retrieve_retry_interval: '200ms' },
    });
  const servers: Postgres[] = [];
  for (let i = 0; i < count; i++) servers.push(await start(i));
  atFileEnd(async () => {
    await Promise.all(servers.map((server) => server.kill()));
    rmSync(dir, { recursive: true, force: true });
  });
  const make = async (server: number, database: string): Promise<string> => {
    const { url, urlOf } = servers[server] as Postgres;
    await withClient(url, (client) => client.query(`create database ${database}`));
    return urlOf(database);
  };
  const database_url = await make(0, 'money');
  const places: string[] = [];
  for (const [n, server] of options.on.entries())
    places.push(withLedgerSchema(await make(server, `shard_a_${n + 1}`), SCHEMA));
  await migrate(database_url);
  for (const url of places) await migrateLedger(url);
  const named = places.map((url, i) => ({ name: i === 0 ? 'a' : `a.${i + 1}`, url }));
  const shards_variable = shardsVariable(named);
  const org = await provision({
    ...{ database_url, slug: 'acme', shard: 'a', live_micro_usd: CREDIT },
    shards: named,
  });
  const provider = await startCrashProvider();
  const callers = openCallers();
  const gateways = await Promise.all(
    Array.from({ length: options.gateways }, (_, i) =>
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
  let sent = 0;
  return {
    ...{ database_url, shards_variable, places, org, servers, gateways },
    load(count) {
      const load = new Load(async () => {
        const { base_url } = gateways[sent++ % gateways.length] as GatewayProcess;
        return (await callers.send(base_url, aCall(org.live_key, { stream: sent % 3 === 0 }))).seen;
      }, count);
      onTestFinished(() => load.stop());
      return load;
    },
    async restart(server) {
      await servers[server]?.kill();
      servers[server] = await start(server);
    },
    async expectCharged(place, seen) {
      const url = places[place] as string;
      const answered = seen.flatMap((one) => (one.kind === 'final' ? [one.request_id] : []));
      const text = `select request_id, -amount as amount from ${SCHEMA}.entry where kind = 1 and book_id = $1`;
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
        client.query(`select available, held from ${SCHEMA}.book where book_id = $1`, [org.live_book_id]),
      );
      expect(Number(rows[0].available) + Number(rows[0].held)).toBe(CREDIT - ids.length * EXACT_MICRO);
      expect((await verifyLedger({ url })).findings).toEqual([]);
    },
  };
}
