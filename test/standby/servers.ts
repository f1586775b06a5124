// Two PostgreSQL servers as people run them: a primary and a standby that streams from it, and an address that follows the
// primary. The primary can be killed, or cut off from its standby, and the standby takes over.
import { spawn } from 'node:child_process';
import { chmodSync, createReadStream, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { ARCHIVE, baseFolder } from '@svc/cli/backup/folder.ts';
import { handOver } from '@svc/cli/backup/recovery.ts';
import { takeBackup } from '@svc/cli/backup/take.ts';
import { freePort, type Postgres } from '@svc/cli/tools/postgres.ts';
import { type Proxy as Forwarder, startProxy } from '../../core/ledger/testing/proxy.ts';
import { withClient } from '../support/books.ts';
import { startTestPostgres } from '../support/postgres.ts';
import { until } from '../support/programs/until.ts';

/** What a commit of the primary waits for: `synchronous`, until its standby has it on disk too; else for nothing. */
export type Replication = 'synchronous' | 'asynchronous';

const NAME = 'standby';

export interface Servers {
  /** Leads to whichever server the address is moved to; connections that are open stay where they are. */
  readonly address: Forwarder;
  readonly primary: Postgres;
  /** Null between a fail-over and the next `addStandby`. */
  readonly standby: Postgres | null;
  /** Makes a standby of the primary, and waits until commits wait for it where they should. */
  addStandby(replication: Replication): Promise<void>;
  /** Ends the primary as a power cut would. */
  killPrimary(): Promise<void>;
  /** Cuts the standby off from the primary, for good. */
  cutStream(): void;
  /** Makes the standby the primary, which nobody tells what was the primary, and leaves the address where it is. */
  promote(): Promise<void>;
  /** Makes the standby the primary and moves the address to it. */
  failOver(): Promise<void>;
  /** Takes the place of a server that was killed or replaced: starts it on its own files again. */
  startOld(): Promise<Postgres>;
  close(): Promise<void>;
}

/** Unpacks a backup of `url` into `data`. */
async function copyServer(url: string, work: string, data: string): Promise<void> {
  mkdirSync(data, { recursive: true, mode: 0o700 });
  await takeBackup({ url, dir: work, name: 'copy' }, () => {});
  const tar = spawn('tar', ['-x', '-f', '-', '-C', data, '--no-same-owner'], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const ended = new Promise((done) => tar.once('close', done));
  await pipeline(
    createReadStream(join(baseFolder(work, 'copy'), ARCHIVE)),
    createZstdDecompress(),
    tar.stdin,
  );
  if ((await ended) !== 0) throw new Error('the copy of the primary cannot be unpacked');
  rmSync(work, { recursive: true, force: true });
}

async function isReplicating(primary: Postgres, wanted: Replication): Promise<boolean> {
  const { rows } = await withClient(primary.url, (client) =>
    client.query<{ sync_state: string }>(
      `select sync_state from pg_stat_replication where application_name = '${NAME}' and state = 'streaming'`,
    ),
  );
  return rows[0]?.sync_state === (wanted === 'synchronous' ? 'sync' : 'async');
}

/** A primary without a standby in `dir`; the caller adds one, and closes all of them. */
export async function startServers(
  dir: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Servers> {
  let copies = 0;
  // Servers run as another user when the test runs as root.
  chmodSync(dir, 0o755);
  const running = new Set<Postgres>();
  const places = new Map<Postgres, string>();
  const open = async (at: string, port: number, follows?: string): Promise<Postgres> => {
    const server = await startTestPostgres({
      ...{ dir: at, port, standby: follows !== undefined },
      // A copy is made without a slot.
      settings: {
        wal_keep_size: '256MB',
        ...settings,
        ...(follows && { primary_conninfo: follows }),
      },
    });
    running.add(server);
    places.set(server, at);
    void server.ended.then(() => running.delete(server));
    return server;
  };
  let primary = await open(join(dir, 'server-0'), await freePort());
  let standby: Postgres | null = null;
  let old: Postgres | null = null;
  /** What the standby follows the primary through. */
  let stream: Forwarder | null = null;
  const address = await startProxy(primary.url);
  const promote = async () => {
    const next = standby;
    if (next === null) throw new Error('there is no standby');
    await withClient(next.url, (client) => client.query('select pg_promote(true, 60)'));
    [old, primary, standby] = [primary, next, null];
  };
  return {
    address,
    get primary() {
      return primary;
    },
    get standby() {
      return standby;
    },
    async addStandby(replication) {
      const at = join(dir, `server-${++copies}`);
      const data = join(at, 'data');
      await copyServer(primary.url, join(dir, 'copying'), data);
      writeFileSync(join(data, 'standby.signal'), '');
      handOver(at);
      stream?.close();
      stream = await startProxy(primary.url);
      const conninfo = `host=127.0.0.1 port=${new URL(stream.url).port} user=svc application_name=${NAME}`;
      standby = await open(at, await freePort(), conninfo);
      await withClient(primary.url, async (client) => {
        const names = replication === 'synchronous' ? NAME : '';
        await client.query(`alter system set synchronous_standby_names = '${names}'`);
        await client.query('select pg_reload_conf()');
      });
      await until('the standby streams', () => isReplicating(primary, replication), 30_000);
    },
    async killPrimary() {
      await primary.kill();
    },
    cutStream: () => stream?.close(),
    promote,
    async failOver() {
      await promote();
      address.moveTo(primary.url);
    },
    async startOld() {
      if (old === null) throw new Error('there was no fail-over');
      const { port } = old;
      if (running.has(old)) await old.kill();
      old = await open(places.get(old) as string, port);
      return old;
    },
    async close() {
      address.close();
      stream?.close();
      await Promise.all([...running].map((server) => server.kill()));
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
