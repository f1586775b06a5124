// Opens the parts that every program with listeners needs.
import { join } from 'node:path';
import { type Analytics, openAnalytics } from '@svc/core/analytics/index.ts';
import { type CatalogHandle, committedCatalog, openCatalog } from '@svc/core/catalog/index.ts';
import { checkAddresses, configuredDatabase, createPool, type Pool } from '@svc/core/db/index.ts';
import { openEgress } from '@svc/core/egress/index.ts';
import { FiguresMemory, figureServices } from '@svc/core/figures/index.ts';
import { signInSettings } from '@svc/core/identity/index.ts';
import { createProviderKeys, type Formats } from '@svc/core/inference/index.ts';
import {
  byLabel,
  type Config,
  type Figure,
  type Log,
  loadRootKey,
  type Services,
} from '@svc/core/kernel/index.ts';
import { openKeyRing } from '@svc/core/keys/index.ts';
import { openMemoryLimits, openRedisLimits } from '@svc/core/limits/index.ts';
import { returnHostOf } from '@svc/core/mail/index.ts';
import { type Changes, followClock, openChanges } from '@svc/core/runtime/index.ts';
import { HostMemory, storefrontSettings } from '@svc/core/storefronts/index.ts';
import { openMoneyIn } from '@svc/core/topups/index.ts';
import { openMetrics } from './metrics.ts';
import type { HttpParts } from './parts.ts';

interface BaseOptions {
  readonly config: Config;
  readonly log: Log;
  /** Wire formats that catalog files may use. */
  readonly formats: Formats;
  /** Label of the program's metrics and, with the process id, its name in the database. */
  readonly program: string;
  /** Folder in the data directory for rows that wait for the database; each program has its own. */
  readonly spool: string;
}

/** The parts of `HttpParts` that `openBase` opens, and others that a program builds on. */
export interface Base extends Required<Omit<HttpParts, 'checks' | 'draining' | 'services'>> {
  readonly services: Services & Required<Pick<Services, 'egress' | 'limits' | 'money_in'>>;
  readonly catalog: CatalogHandle;
  readonly changes: Changes;
  /** Where rows of calls are kept. */
  readonly analytics: Analytics;
  /** URL of the database for what needs a session. */
  readonly direct_url: string;
  /** Name of this process. */
  readonly name: string;
}

/** The host of `config` as it is written in a URL. */
export function hostOf({ host }: Pick<Config, 'host'>): string {
  return host.includes(':') ? `[${host}]` : host;
}

/**
 * Opens the parts; `opened` closes them in reverse order.
 * @throws Error when the database, the catalog files or the metrics port cannot be used.
 */
export async function openBase(opened: AsyncDisposableStack, options: BaseOptions): Promise<Base> {
  const { config, log, program } = options;
  const database = configuredDatabase(config);
  if (database === null)
    throw new Error('SVC_DATABASE_URL is not set; `make up` starts a database and sets it.');
  const base_url = config.base_url ?? `http://${hostOf(config)}:${config.port}`;
  const sign_in = signInSettings(config, base_url);
  const money_in = openMoneyIn(config);
  const name = config.process_name ?? `${program}-${process.pid}`;
  const { ledger_shards: shards, ledger_shards_open: open } = config;
  await checkAddresses(database);
  const { database_connections: max, ledger_connections: shard_max } = config;
  const as = { application: name, role: 'svc_runtime', shards, open, max, shard_max };
  const pool = opened.adopt(createPool(database.url, as), (it) => it.end());
  const at = { host: config.metrics_host, port: config.metrics_port };
  const metrics = opened.adopt(await openMetrics({ ...at, program }), (it) => it.close());
  metrics.watch([connectionsOf(pool)]);
  if (config.dev) opened.adopt(await followClock(pool, log), (it) => it.stop());
  const catalog = opened.adopt(await openOwnCatalog(pool, options), (it) => it.close());
  const changes = opened.adopt(
    await openChanges({ ...database, max: config.lookup_connections, log }),
    (it) => it.close(),
  );
  const root_key = loadRootKey(config.master_key_file ?? join(config.data_dir, 'keyring.json'));
  const key_ring = opened.adopt(openKeyRing({ changes, log, root_key }), (it) => it.close());
  const limits = opened.adopt(await openLimits(options), (it) => it.close());
  const spool_dir = join(config.data_dir, options.spool);
  const analytics = opened.adopt(openAnalytics(config), (it) => it.close());
  const request_log = opened.adopt(await analytics.openLog({ db: pool, log, spool_dir }), (it) => it.close());
  const { management_rpm, scim_rpm, public_rpm } = config;
  return {
    ...{ pool, log, metrics, base_url, catalog, changes, name, direct_url: database.direct_url },
    analytics,
    rate: { limits, management_rpm, scim_rpm, public_rpm },
    services: {
      catalog: () => catalog.current(),
      ...{ key_ring, request_log, sign_in, money_in, limits },
      root_key,
      ...figureServices(new FiguresMemory()),
      ...analytics.services,
      egress: openEgress(config),
      storefronts: storefrontSettings(config, { base_url, console_origins: sign_in.console_origins }),
      ...sellerHosts(pool, config),
      mail_return_host: returnHostOf(config),
      provider_keys: createProviderKeys(options.formats.kinds),
    },
  };
}

function sellerHosts(pool: Pool, { storefront_base }: Config): Pick<Services, 'seller_hosts'> {
  return storefront_base === null ? {} : { seller_hosts: new HostMemory(pool, storefront_base) };
}

/** Connections of the pool that serves requests; the ledger's and the listeners' are their own. */
function connectionsOf(pool: Pool): Figure {
  return {
    name: 'svc_database_connections',
    help: 'Connections of the pool by state, and under `waiting` the statements that wait for one.',
    type: 'gauge',
    read: () => byLabel('state', Object.entries(pool.connections)),
  };
}

function openOwnCatalog(
  db: HttpParts['pool'],
  { config, log, formats }: BaseOptions,
): Promise<CatalogHandle> {
  const files = [committedCatalog, ...(config.providers_file === null ? [] : [config.providers_file])];
  const { insecure_upstreams } = config;
  return openCatalog({ db, files, log, formats: formats.catalog, insecure_upstreams });
}

async function openLimits({ config, log }: BaseOptions) {
  const { redis_url, limits_lease_seconds } = config;
  if (redis_url === null) return openMemoryLimits();
  return openRedisLimits({ url: redis_url, log, lease_ms: limits_lease_seconds * 1_000 });
}
