// The PostgreSQL of the crash test: one server that comes back after it was killed, or a primary whose standby takes over.
import { freePort, type Postgres } from '@svc/cli/tools/postgres.ts';
import { type Replication, startServers } from '../standby/servers.ts';
import { startTestPostgres } from '../support/postgres.ts';

/** How long the primary lives on without its standby before it is killed. */
const ALONE_MS = 300;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export interface Database {
  /** Address of a database, which stays the same whichever server is behind it. */
  urlOf(database: string): string;
  kill(): Promise<void>;
  /** Where it was killed: brings service back, by the same server or by its standby. */
  start(): Promise<void>;
  close(): Promise<void>;
}

async function openOne(dir: string): Promise<Database> {
  const port = await freePort();
  const start = () => startTestPostgres({ dir, port });
  let server: Postgres | null = await start();
  const { urlOf } = server;
  const kill = async () => {
    const running = server;
    server = null;
    await running?.kill();
  };
  return {
    urlOf,
    kill,
    async start() {
      server ??= await start();
    },
    close: async () => server?.stop(),
  };
}

async function openTwo(dir: string, replication: Replication): Promise<Database> {
  const servers = await startServers(dir);
  await servers.addStandby(replication);
  let is_killed = false;
  const at = new URL(servers.address.url);
  return {
    urlOf(database) {
      at.pathname = database;
      return at.href;
    },
    async kill() {
      is_killed = true;
      // As where a machine loses its network before its power: what is committed now, only this server has.
      servers.cutStream();
      await pause(ALONE_MS);
      await servers.killPrimary();
    },
    async start() {
      if (!is_killed) return;
      is_killed = false;
      await servers.failOver();
      // While calls go on; the next kill finds it.
      await servers.addStandby(replication);
    },
    close: servers.close,
  };
}

/** In `dir`, which the caller removes; `replication` null: one server alone. */
export function openDatabase(dir: string, replication: Replication | null): Promise<Database> {
  return replication === null ? openOne(dir) : openTwo(dir, replication);
}
