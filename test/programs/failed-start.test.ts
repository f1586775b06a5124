// A program that cannot start leaves nothing behind: no listener, no connection, no open file.
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { startAdmin } from '@svc/admin-graphql/start.ts';
import { freePort } from '@svc/cli/tools/postgres.ts';
import { createPool } from '@svc/core/db/index.ts';
import { closeListener, listenAt, readConfig, silentLog } from '@svc/core/kernel/index.ts';
import { startGateway } from '@svc/gateway/start.ts';
import { startWorker } from '@svc/workflows/start.ts';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { atFileEnd } from '../support/ends.ts';
import { freshDataDir } from '../support/gateway.ts';

const database_url = await createTestDatabase();
const pool = createPool(database_url, { max: 1, application: 'onlooker' });
const taken = createServer();
const taken_port = new URL(await listenAt(taken, { host: '127.0.0.1', port: 0 })).port;
atFileEnd(async () => {
  await closeListener(taken);
  await pool.end();
});

/** Sessions of others in the database; workers of PostgreSQL itself have no name. */
async function sessions(): Promise<string[]> {
  const { rows } = await pool.query<{ application_name: string }>({
    name: 'test.sessions',
    text: `select application_name from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid() and application_name <> ''`,
    values: [],
  });
  return rows.map(({ application_name }) => application_name);
}

/** Sockets and listeners of this process. */
function sockets(): string[] {
  return process
    .getActiveResourcesInfo()
    .filter((kind) => kind.startsWith('TCP'))
    .sort();
}

/** Files in `folder` that this process holds open. */
function filesIn(folder: string): string[] {
  const paths = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      // The one through which the folder was read.
      return '';
    }
  });
  return paths.filter((path) => path.startsWith(folder));
}

const programs = [
  {
    // Everything else is open by then.
    name: 'gateway, whose port is taken',
    start: startGateway,
    settings: () => ({ SVC_PORT: taken_port, SVC_DEV: '1' }),
    fault: /EADDRINUSE/,
  },
  {
    // The listener of customers takes requests by then.
    name: 'admin, whose second port is taken',
    start: startAdmin,
    settings: () => ({ SVC_ADMIN_PORT: '0', SVC_STAFF_PORT: taken_port, SVC_DEV: '1' }),
    fault: /EADDRINUSE/,
  },
  {
    // Its listener and its request log are open by then.
    name: 'worker, whose key file is none',
    start: startWorker,
    settings(data_dir: string) {
      const path = join(data_dir, 'keys.json');
      writeFileSync(path, 'no keys');
      return { SVC_MASTER_KEY_FILE: path, SVC_DEV: '1' };
    },
    fault: /is not valid JSON/,
  },
];

test.each(programs)('a failed start leaves nothing open: $name', async ({ start, settings, fault }) => {
  const data_dir = freshDataDir();
  const metrics_port = String(await freePort());
  await sessions();
  const before = { sessions: await sessions(), sockets: sockets(), files: filesIn(data_dir) };
  const config = readConfig({
    SVC_DATABASE_URL: database_url,
    SVC_DATA_DIR: data_dir,
    SVC_METRICS_PORT: metrics_port,
    ...settings(data_dir),
  });
  await expect(start({ config, log: silentLog })).rejects.toThrow(fault);
  await expect(fetch(`http://127.0.0.1:${metrics_port}/metrics`)).rejects.toThrow();
  const after = async () => ({ sessions: await sessions(), sockets: sockets(), files: filesIn(data_dir) });
  // Well below the 10 s after which a forgotten pool closes its idle connections by itself.
  await expect.poll(after, { timeout: 5_000 }).toEqual(before);
});
