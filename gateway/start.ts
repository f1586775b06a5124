// Puts the parts of a gateway process together and takes them apart again in reverse order.
import { join } from 'node:path';
import { openRequestLog } from '@svc/core/analytics/index.ts';
import { openByokCache } from '@svc/core/byok/index.ts';
import { type CatalogHandle, committedCatalog, openCatalog } from '@svc/core/catalog/index.ts';
import { createPool } from '@svc/core/db/index.ts';
import { openEgress } from '@svc/core/egress/index.ts';
import { signInSettings } from '@svc/core/identity/index.ts';
import { type CallDeps, dialects, questions, rowOf } from '@svc/core/inference/index.ts';
import {
  type Config,
  type Log,
  loadRootKey,
  monotonicMs,
  nowMs,
  openFileMailer,
} from '@svc/core/kernel/index.ts';
import { openKeyRing } from '@svc/core/keys/index.ts';
import { type LedgerClient, openLedger } from '@svc/core/ledger/index.ts';
import { openMemoryLimits, openRedisLimits } from '@svc/core/limits/index.ts';
import { registerJobMetrics, startJobs } from '@svc/core/operations/index.ts';
import { openPayloadLog } from '@svc/core/payloads/index.ts';
import { openPolicyCache } from '@svc/core/policies/index.ts';
import { followClock, openChanges } from '@svc/core/runtime/index.ts';
import { openMoneyIn } from '@svc/core/topups/index.ts';
import { readWorkflowHealth } from '@svc/core/workflow-starts/index.ts';
import { type BindOptions, createApp, openMetrics } from '@svc/http/index.ts';
import { createCallDeps } from './call-deps.ts';
import { countCalls } from './call-metrics.ts';
import { bindGraphql } from './graphql.ts';
import { bindInference } from './inference/routes.ts';
import { bindRest } from './rest/bind.ts';
import type { Telemetry } from './telemetry/telemetry.ts';

export interface Gateway {
  readonly base_url: string;
  readonly metrics_url: string;
  /** Stops taking calls, lets running ones finish for `drain_seconds`, then ends everything. */
  stop(): Promise<void>;
}

export interface GatewayOptions {
  readonly config: Config;
  readonly log: Log;
  /** Given by benchmarks that measure the gateway without its ledger; otherwise opened here. */
  readonly ledger?: LedgerClient;
}

/**
 * Starts a gateway process on `config.host:config.port`.
 * @throws Error when the database, the catalog files or the port cannot be used.
 */
export async function startGateway({ config, log, ledger: given }: GatewayOptions): Promise<Gateway> {
  const url = config.database_url;
  if (url === null) throw new Error('SVC_DATABASE_URL is not set; `make up` starts a database and sets it.');
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  const base_url = config.base_url ?? `http://${host}:${config.port}`;
  const sign_in = signInSettings(config, base_url);
  const money_in = openMoneyIn(config);
  const name = config.process_name ?? `gateway-${process.pid}`;
  const pool = createPool(url, { application: name, role: 'svc_runtime' });
  const clock = config.dev ? await followClock(pool, log) : null;
  const files = [committedCatalog, ...(config.providers_file === null ? [] : [config.providers_file])];
  const catalog = await openCatalog({ db: pool, files, log, insecure_upstreams: config.insecure_upstreams });
  const ledger = given ?? (await openOwnLedger(config, { url, name, log }));
  const changes = await openChanges({ url, log });
  const keys = openKeyRing({ changes, log });
  const policies = openPolicyCache({ changes, log, process_name: name });
  const request_log = await openRequestLog({ db: pool, log, spool_dir: join(config.data_dir, 'spool') });
  const limits =
    config.redis_url === null ? openMemoryLimits() : await openRedisLimits({ url: config.redis_url, log });
  const metrics = await openMetrics({
    host: config.metrics_host,
    port: config.metrics_port,
    program: 'gateway',
  });
  const countCall = countCalls(metrics.registry);
  const root_key = loadRootKey(config.master_key_file ?? join(config.data_dir, 'keyring.json'));
  const payloads = openPayloadLog({ db: pool, log, root_key });
  const byok = openByokCache({ changes, log, root_key });
  const egress = openEgress(config);
  const { cell } = config;
  const mailer = openFileMailer(join(config.data_dir, 'mail'));
  const jobs = startJobs({ pool, url, log, request_log, money_in, cell, root_key, egress, mailer });
  registerJobMetrics(metrics.registry, jobs);
  const telemetry = await openOwnTelemetry(config, { name, log, catalog });
  let draining = false;

  const calls = createCallDeps({
    db: pool,
    catalog,
    ledger,
    policies,
    byok,
    payloads,
    log,
    egress,
    record(record) {
      countCall(record);
      if (telemetry !== null) telemetry.call(record);
      const row = rowOf(record, config.cell);
      if (row !== null) request_log.write(row);
    },
    replayed: (request_id) => request_log.replayed(request_id),
  });
  metrics.watch({
    calls_running: () => calls.ticker.size,
    settles_pending: () => ledger.pending,
    upstream_connections: () => calls.transport.connections(),
    rows_lost: () => request_log.lost,
    payloads_dropped: () => payloads.dropped,
    payloads_waiting_bytes: () => payloads.waiting_bytes,
    limits_local_share: () => (limits.mode === 'exact' ? 0 : 1),
    limit_processes: () => limits.processes,
    endpoints_without_usage: () => calls.health.flagged(nowMs()).length,
    endpoints_without_model: () => calls.health.withoutModel(nowMs()).length,
  });
  const app = createApp({ log, base_url });
  bindInference(app, {
    calls,
    keys,
    limits,
    log,
    max_body_bytes: config.max_body_bytes,
    max_calls: config.max_calls,
    dialects,
    questions,
    draining: () => draining,
  });
  const parts: BindOptions = {
    pool,
    keys,
    catalog,
    policies,
    byok,
    health: calls.health,
    request_log,
    root_key,
    egress,
    sign_in,
    rate: { limits, management_rpm: config.management_rpm, public_rpm: config.public_rpm },
    money_in,
    log,
    base_url,
    metrics,
    checks: [
      {
        name: 'limits',
        critical: false,
        run: async () => (limits.mode === 'exact' ? null : 'Redis is away: each process keeps to its share'),
      },
      {
        // Payments are booked without them; receipts, expiry and lost callbacks wait.
        name: 'workflows',
        critical: false,
        run: async () => (await readWorkflowHealth(pool)).trouble,
      },
      {
        name: 'ledger',
        critical: true,
        run: async () => (ledger.healthy ? null : 'the last flush did not reach PostgreSQL'),
      },
    ],
    draining: () => draining,
  };
  bindRest(app, parts);
  bindGraphql(app, parts);
  await app.listen({ host: config.host, port: config.port });
  const { port } = app.server.address() as { port: number };

  return {
    base_url: config.base_url ?? `http://${host}:${port}`,
    metrics_url: metrics.url,
    async stop() {
      draining = true;
      await drain(calls, config.drain_seconds * 1_000);
      await app.close();
      await jobs.stop();
      calls.ticker.stop();
      await calls.tokens.close();
      await payloads.close();
      await request_log.close();
      if (given === undefined) await ledger.close();
      await limits.close();
      await keys.close();
      await policies.close();
      await byok.close();
      await changes.close();
      catalog.close();
      clock?.stop();
      await calls.transport.close();
      await telemetry?.close();
      await metrics.close();
      await pool.end();
    },
  };
}

function openOwnLedger(
  config: Config,
  facts: { url: string; name: string; log: Log },
): Promise<LedgerClient> {
  return openLedger({
    url: facts.url,
    process_name: facts.name,
    journal_dir: join(config.data_dir, 'journal'),
    log: facts.log,
    sync_holds: config.ledger_sync_holds,
    lease_seconds: config.ledger_lease_seconds,
  });
}

/** Its libraries are loaded only where there is a collector. */
async function openOwnTelemetry(
  config: Config,
  facts: { name: string; log: Log; catalog: CatalogHandle },
): Promise<Telemetry | null> {
  const { otlp_endpoint: endpoint, otlp_sample_percent: sample_percent, cell } = config;
  if (endpoint === null) return null;
  const { openTelemetry } = await import('./telemetry/telemetry.ts');
  const { name: process_name, log, catalog } = facts;
  return openTelemetry({
    ...{ endpoint, sample_percent, process_name, cell, log },
    provider: ({ provider }) => catalog.provider(provider),
  });
}

/** Waits for running calls; what is left after `patience_ms` ends uncharged with `overloaded`. */
async function drain(calls: CallDeps, patience_ms: number): Promise<void> {
  const deadline = monotonicMs() + patience_ms;
  while (calls.ticker.size > 0 && monotonicMs() < deadline) await pause(20);
  calls.ticker.shutDown();
  while (calls.ticker.size > 0) await pause(20);
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
