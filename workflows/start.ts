// Assembles a worker process, and closes its parts in reverse order.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Analytics, openAnalytics } from '@svc/core/analytics/index.ts';
import { type CatalogHandle, committedCatalog, openCatalog } from '@svc/core/catalog/index.ts';
import { checkAddresses, configuredDatabase, createPool, type Pool } from '@svc/core/db/index.ts';
import { demoApart, openPortal, type Portal } from '@svc/core/e-invoices/index.ts';
import { openEgress } from '@svc/core/egress/index.ts';
import { builtIn } from '@svc/core/inference/index.ts';
import {
  type Config,
  type Context,
  type Figure,
  type Log,
  loadRootKey,
  newRequestId,
  type RootKeyRing,
  readPublicKeys,
  type Services,
} from '@svc/core/kernel/index.ts';
import { openMailTransport } from '@svc/core/mail/index.ts';
import { createContext, type Jobs, registerJobMetrics, startJobs } from '@svc/core/operations/index.ts';
import { followClock } from '@svc/core/runtime/index.ts';
import { certificateSource, storefrontSettings } from '@svc/core/storefronts/index.ts';
import { type MoneyIn, openMoneyIn } from '@svc/core/topups/index.ts';
import { beat } from '@svc/core/workflow-starts/index.ts';
import { autoTopupActivities } from './auto-top-up/activities.ts';
import { bundleWorkflows } from './bundle.ts';
import { tellClockMoves } from './clock-news.ts';
import { converterOf } from './codec/codec.ts';
import { noteKey } from './codec/keys.ts';
import { disputeActivities } from './dispute/activities.ts';
import { erasureActivities } from './erasure/activities.ts';
import { evalRunActivities } from './eval-run/activities.ts';
import { gatewayAt } from './eval-run/gateway.ts';
import { invoiceActivities } from './invoice-issue/activities.ts';
import { type Link, openLink } from './link.ts';
import { type Listening, openListener } from './listener.ts';
import { mandateActivities } from './mandate/activities.ts';
import { noteSteps, startLooks } from './open.ts';
import { closingActivities } from './org-close/activities.ts';
import { orgErasureActivities } from './org-erasure/activities.ts';
import { planPeriodActivities } from './plan-period/activities.ts';
import { refundActivities } from './refund/activities.ts';
import { tellFailures } from './refusals.ts';
import { type Relay, startRelay } from './relay.ts';
import { installRuntime, sdkLogger } from './sdk-log.ts';
import { showSdkMetrics } from './sdk-metrics.ts';
import { securityOf, versionOf } from './security.ts';
import { topUpActivities } from './top-up/activities.ts';

const BEAT_MS = 5_000;

export interface WorkerProgram {
  /** Health and metrics, `http://host:port`. */
  readonly url: string;
  /** Takes no more work, lets running activities end, then closes everything. */
  stop(): Promise<void>;
}

interface Parts {
  readonly config: Config;
  readonly pool: Pool;
  readonly direct_url: string;
  readonly log: Log;
  readonly name: string;
  readonly money_in: MoneyIn;
  readonly portal: Portal | null;
  readonly analytics: Analytics;
  readonly catalog: CatalogHandle;
  /** Makes the links of mails, and seals what goes to Temporal. */
  readonly root_key: RootKeyRing;
}

/** Contexts for activities: no caller's rights, with the rails of this process. */
function contexts({
  config,
  pool,
  log,
  money_in,
  portal,
  catalog,
  root_key,
  analytics,
}: Parts): () => Context {
  // Runs of evaluations read the catalog, and make their calls at a gateway.
  const address = config.gateway_url ?? config.base_url ?? `http://127.0.0.1:${config.port}`;
  const eval_gateway = gatewayAt(address, root_key);
  const own = { money_in, portal, root_key, eval_gateway, catalog: () => catalog.current() };
  const services = { ...own, ...analytics.services } as Services;
  return () => createContext({ request_id: newRequestId(), caller: { kind: 'public' }, pool, log, services });
}

/**
 * Where documents are registered; null when no address is set, and they wait.
 * @throws Error for a file of keys that cannot be read, which stops the start.
 */
function portalOf(config: Config): Portal | null {
  const { einvoice_url: url, einvoice_demo_url, einvoice_token: token, einvoice_keys: file } = config;
  const keys = file === null ? null : readPublicKeys(readFileSync(file, 'utf8'));
  const real = url === null ? null : openPortal({ url, token, keys });
  // The simulated one is given neither the token nor a document of somebody real.
  const demo =
    einvoice_demo_url === null ? null : openPortal({ url: einvoice_demo_url, token: null, keys: null });
  return real === null && demo === null ? null : demoApart(demo, real);
}

/** What the gateways' catalog says too: runs set aside what a call can cost by its prices. */
function openOwnCatalog(config: Config, db: Pool, log: Log): Promise<CatalogHandle> {
  const files = [committedCatalog, ...(config.providers_file === null ? [] : [config.providers_file])];
  const { insecure_upstreams } = config;
  return openCatalog({ db, files, log, formats: builtIn.catalog, insecure_upstreams });
}

/** Where storefronts are, for the links of mails. */
function storefrontsOf(config: Config) {
  const base_url = config.base_url ?? `http://127.0.0.1:${config.port}`;
  return storefrontSettings(config, { base_url, console_origins: config.console_origins ?? [] });
}

/** Where certificates of storefronts come from, unless it is from outside. */
function certificatesOf(config: Config) {
  const certificates = certificateSource(config);
  return certificates === null ? {} : { certificates };
}

async function openJobs(parts: Parts, opened: AsyncDisposableStack): Promise<Jobs> {
  const { config, pool, log } = parts;
  // A spool of its own, because a gateway on the same data directory uses the other one.
  const spool_dir = join(config.data_dir, 'spool-worker');
  const { analytics } = parts;
  const request_log = opened.adopt(await analytics.openLog({ db: pool, log, spool_dir }), (it) => it.close());
  const mail = opened.adopt(await openMailTransport(config), (it) => it.close());
  const jobs = startJobs({
    ...parts,
    ...{ request_log, mail, rows: analytics.services },
    cell: config.cell,
    public_min_orgs: config.public_min_orgs,
    egress: openEgress(config),
    storefronts: storefrontsOf(config),
    ...certificatesOf(config),
  });
  opened.defer(() => jobs.stop());
  return jobs;
}

/**
 * Records every few seconds that this worker lives and whether it reaches Temporal. Call the returned function to
 * stop.
 */
function keepBeating(parts: {
  pool: Pool;
  name: string;
  link: Link;
  log: Log;
  /** Under which payloads are sealed; null: they are not. */
  seals: RootKeyRing | null;
}): () => Promise<void> {
  const { pool, name, link, log, seals } = parts;
  let running: Promise<void> | null = null;
  const turn = async () => {
    try {
      await beat(pool, { worker: name, temporal: await link.ask() });
      if (seals !== null) await noteKey(pool, seals);
    } catch (error) {
      log.debug({ error }, 'could not write the beat');
    }
  };
  const tick = () => {
    running ??= turn().finally(() => {
      running = null;
    });
  };
  const timer = setInterval(tick, BEAT_MS);
  tick();
  return async () => {
    clearInterval(timer);
    await running;
  };
}

/** The part that needs Temporal; null when none is configured. */
async function openWorkflows(
  parts: Parts,
  listener: Listening,
  opened: AsyncDisposableStack,
): Promise<{ link: Link; relay: Relay } | null> {
  const { config, pool, direct_url, log, name } = parts;
  const { temporal_address: address, temporal_namespace: namespace } = config;
  if (address === null) {
    log.warn({}, 'SVC_TEMPORAL_ADDRESS is not set: jobs run, workflows wait');
    return null;
  }
  const security = securityOf(config);
  const { temporal_encrypt: encrypt } = config;
  const dataConverter = converterOf({ root_key: parts.root_key, encrypt });
  if (encrypt) await noteKey(pool, parts.root_key);
  installRuntime(log);
  opened.defer(showSdkMetrics(listener.registry));
  const link = openLink({
    address,
    namespace,
    identity: name,
    log,
    security,
    search: config.temporal_search,
    worker: {
      ...versionOf(config),
      dataConverter,
      workflowBundle: await bundleWorkflows(sdkLogger(log), dataConverter),
      activities: {
        ...topUpActivities(contexts(parts)),
        ...refundActivities(contexts(parts)),
        ...disputeActivities(contexts(parts)),
        ...planPeriodActivities(contexts(parts)),
        ...closingActivities(contexts(parts)),
        ...erasureActivities(contexts(parts)),
        ...orgErasureActivities(contexts(parts)),
        ...mandateActivities(contexts(parts)),
        ...autoTopupActivities(contexts(parts)),
        ...invoiceActivities(contexts(parts)),
        ...evalRunActivities(contexts(parts)),
      },
      interceptors: { activity: [noteSteps(pool, log), tellFailures(log, listener.activity)] },
    },
  });
  opened.defer(() => link.stop());
  const client = () => link.client();
  const relay = startRelay({ pool, direct_url, log, client, searchable: () => link.searchable });
  opened.defer(() => relay.stop());
  const { root_key } = parts;
  opened.defer(keepBeating({ pool, name, link, log, seals: encrypt ? root_key : null }));
  const looks = startLooks({ pool, log, client, root_key });
  opened.defer(() => looks.stop());
  if (config.dev) {
    const news = tellClockMoves({ log, client });
    opened.defer(() => news.stop());
  }
  return { link, relay };
}

function watch(listener: Listening, running: { link: Link; relay: Relay } | null): void {
  const gauge = (name: string, help: string, read: () => number): Figure => ({
    ...{ name: `svc_${name}`, help, read },
    type: 'gauge',
  });
  const counter = (name: string, help: string, read: () => number): Figure => ({
    ...{ name: `svc_${name}_total`, help, read },
    type: 'counter',
  });
  listener.watch([
    gauge('temporal_reached', '1 while the worker reaches Temporal, else 0.', () =>
      Number(running?.link.reached ?? false),
    ),
    counter(
      'workflow_starts_delivered',
      'Workflows started at Temporal.',
      () => running?.relay.counts.starts ?? 0,
    ),
    counter(
      'workflow_signals_delivered',
      'Signals sent to workflows.',
      () => running?.relay.counts.signals ?? 0,
    ),
    counter(
      'workflow_rows_left',
      'Starts and signals of workflows that could not be delivered; should be 0.',
      () => running?.relay.counts.left ?? 0,
    ),
    gauge('activities_running', 'Activities under way.', () => running?.link.activities() ?? 0),
  ]);
}

/**
 * Starts a worker process: jobs under the leader lock, and workflows when Temporal is configured, whether it can be
 * reached or not. @throws Error when the database or the metrics port cannot be used, or the configuration is
 * incomplete; nothing is left open then.
 */
export async function startWorker({ config, log }: { config: Config; log: Log }): Promise<WorkerProgram> {
  const database = configuredDatabase(config);
  if (database === null) throw new Error('SVC_DATABASE_URL is not set.');
  const name = config.process_name ?? `worker-${process.pid}`;
  const money_in = openMoneyIn(config);
  await using opening = new AsyncDisposableStack();
  const { ledger_shards: shards, ledger_shards_open: open } = config;
  await checkAddresses(database);
  const { database_connections: max, ledger_connections: shard_max } = config;
  const as = { application: name, role: 'svc_runtime', shards, open, max, shard_max };
  const pool = opening.adopt(createPool(database.url, as), (it) => it.end());
  await pool.ping();
  if (config.dev) opening.adopt(await followClock(pool, log), (it) => it.stop());
  let running: { link: Link; relay: Relay } | null = null;
  const listener = await openListener({
    host: config.metrics_host,
    port: config.metrics_port,
    ready: async () => {
      if (config.temporal_address === null) return null;
      return running !== null && (await running.link.ask()) ? null : 'temporal';
    },
  });
  opening.defer(() => listener.close());
  const { direct_url } = database;
  const root_key = loadRootKey(config.master_key_file ?? join(config.data_dir, 'keyring.json'));
  const catalog = opening.adopt(await openOwnCatalog(config, pool, log), (it) => it.close());
  const portal = portalOf(config);
  const analytics = opening.adopt(openAnalytics(config), (it) => it.close());
  const parts: Parts = {
    config,
    pool,
    direct_url,
    log,
    name,
    money_in,
    portal,
    catalog,
    root_key,
    analytics,
  };
  registerJobMetrics(listener.registry, await openJobs(parts, opening));
  running = await openWorkflows(parts, listener, opening);
  watch(listener, running);
  const opened = opening.move();
  return { url: listener.url, stop: () => opened.disposeAsync() };
}
