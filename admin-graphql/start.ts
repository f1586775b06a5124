// Puts the parts of the admin program together: the listener of customers, the listener of staff, one pool behind
// both.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openRequestFeed, openRequestLog } from '@svc/core/analytics/index.ts';
import { committedCatalog, openCatalog } from '@svc/core/catalog/index.ts';
import { createPool } from '@svc/core/db/index.ts';
import { openEgress } from '@svc/core/egress/index.ts';
import { signInSettings } from '@svc/core/identity/index.ts';
import { type Config, type Log, loadRootKey } from '@svc/core/kernel/index.ts';
import { openKeyRing } from '@svc/core/keys/index.ts';
import { openMemoryLimits, openRedisLimits } from '@svc/core/limits/index.ts';
import { followClock, openChanges } from '@svc/core/runtime/index.ts';
import { openMoneyIn } from '@svc/core/topups/index.ts';
import { openMetrics } from '@svc/http/index.ts';
import { readPages } from './pages.ts';
import { createStaffApp } from './staff.ts';
import { Streams } from './streams.ts';
import { createTenantApp } from './tenant.ts';

export interface Admin {
  readonly admin_url: string;
  readonly staff_url: string;
  readonly metrics_url: string;
  /** Ends streams, lets running requests finish, then ends everything. */
  stop(): Promise<void>;
}

/** Where `console/build.ts` puts the console. */
const CONSOLE = fileURLToPath(new URL('../console/dist', import.meta.url));

/**
 * Starts both listeners on `config.host`.
 * @throws Error when the database, the catalog files or a port cannot be used.
 */
export async function startAdmin({ config, log }: { config: Config; log: Log }): Promise<Admin> {
  const url = config.database_url;
  if (url === null) throw new Error('SVC_DATABASE_URL is not set; `make up` starts a database and sets it.');
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  const base_url = config.base_url ?? `http://${host}:${config.port}`;
  const sign_in = signInSettings(config, base_url);
  const name = config.process_name ?? `admin-${process.pid}`;
  const pool = createPool(url, { application: name, role: 'svc_runtime' });
  const clock = config.dev ? await followClock(pool, log) : null;
  const files = [committedCatalog, ...(config.providers_file === null ? [] : [config.providers_file])];
  const catalog = await openCatalog({ db: pool, files, log, insecure_upstreams: config.insecure_upstreams });
  const changes = await openChanges({ url, log });
  const keys = openKeyRing({ changes, log });
  // Nothing is called here, so nothing is written; operations ask it for the lag of rows.
  const spool_dir = join(config.data_dir, 'spool-admin');
  const request_log = await openRequestLog({ db: pool, log, spool_dir });
  const limits =
    config.redis_url === null ? openMemoryLimits() : await openRedisLimits({ url: config.redis_url, log });
  const metrics = await openMetrics({
    host: config.metrics_host,
    port: config.metrics_port,
    program: 'admin',
  });
  const feed = openRequestFeed({ db: pool, log });
  const streams = new Streams();
  metrics.watch({ streams_open: () => streams.size });
  let draining = false;
  const parts = {
    ...{ pool, catalog, keys, request_log, sign_in, log, base_url, metrics },
    root_key: loadRootKey(config.master_key_file ?? join(config.data_dir, 'keyring.json')),
    rate: { limits, management_rpm: config.management_rpm, public_rpm: config.public_rpm },
    money_in: openMoneyIn(config),
    egress: openEgress(config),
    draining: () => draining,
  };
  const pages = readPages(CONSOLE);
  if (pages === null) log.warn({ dir: CONSOLE }, 'no console was built; only the API is served');
  const persisted_only = config.graphql_persisted_only;
  const tenant = createTenantApp(parts, { feed, streams, pages, persisted_only });
  const staff = createStaffApp(parts, { introspection: config.dev });
  await tenant.listen({ host: config.host, port: config.admin_port });
  await staff.listen({ host: config.host, port: config.staff_port });
  const address = (app: typeof tenant) => `http://${host}:${(app.server.address() as { port: number }).port}`;
  return {
    admin_url: address(tenant),
    staff_url: address(staff),
    metrics_url: metrics.url,
    async stop() {
      draining = true;
      streams.close();
      feed.close();
      await Promise.all([tenant.close(), staff.close()]);
      await request_log.close();
      await limits.close();
      await keys.close();
      await changes.close();
      catalog.close();
      clock?.stop();
      await metrics.close();
      await pool.end();
    },
  };
}
