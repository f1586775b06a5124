// Assembles a gateway process, and closes its parts in reverse order.
import { join } from 'node:path';
import { type ByokCache, openByokCache } from '@svc/core/byok/index.ts';
import { builtIn, type CallDeps, type Formats, questionsOf, rowOf } from '@svc/core/inference/index.ts';
import { type Config, type Log, monotonicMs } from '@svc/core/kernel/index.ts';
import { type Ledgers, openLedgers } from '@svc/core/ledger/index.ts';
import { subjectOf } from '@svc/core/limits/index.ts';
import { openMailTransport } from '@svc/core/mail/index.ts';
import { registerJobMetrics, startJobs } from '@svc/core/operations/index.ts';
import { openPayloadLog, type PayloadLog } from '@svc/core/payloads/index.ts';
import { openPolicyCache, type PolicyCache } from '@svc/core/policies/index.ts';
import { certificateSource } from '@svc/core/storefronts/index.ts';
import { readWorkflowHealth } from '@svc/core/workflow-starts/index.ts';
import {
  analyticsChecks,
  type Base,
  bindHostRule,
  type Check,
  createApp,
  type HttpParts,
  hostOf,
  openBase,
} from '@svc/http/index.ts';
import { createCallDeps } from './call-deps.ts';
import { logCall } from './call-log.ts';
import { bindGraphql } from './graphql.ts';
import { bindInference } from './inference/routes.ts';
import { runAdmission } from './inference/runs.ts';
import { sessionAdmission } from './inference/sessions.ts';
import { countCalls } from './metrics/calls.ts';
import { watchEngine } from './metrics/engine.ts';
import { bindRest } from './rest/bind.ts';
import type { Telemetry } from './telemetry/telemetry.ts';
import { listenTls, prepareTls, type TlsPorts } from './tls/open.ts';

export interface Gateway extends TlsPorts {
  readonly base_url: string;
  readonly metrics_url: string;
  /** Accepts no more calls, lets running ones finish for `drain_seconds`, then closes everything. */
  stop(): Promise<void>;
}

export interface GatewayOptions {
  readonly config: Config;
  readonly log: Log;
  /** Given by benchmarks that measure the gateway without its ledger; otherwise opened here. */
  readonly ledgers?: Ledgers;
  /** Wire formats that the gateway supports; absent: those of the product. */
  readonly formats?: Formats;
}

/** The parts that run calls, in addition to those that every program with listeners opens. */
interface Engine {
  readonly ledgers: Ledgers;
  readonly policies: PolicyCache;
  readonly byok: ByokCache;
  readonly payloads: PayloadLog;
  readonly calls: CallDeps;
}

/** Opens the engine and starts the periodic jobs of the installation. `opened` closes the engine before the base. */
async function openEngine(
  opened: AsyncDisposableStack,
  base: Base,
  { config, log, ledgers: given, formats = builtIn }: GatewayOptions,
): Promise<Engine> {
  const { pool, direct_url, name, catalog, changes, metrics, base_url } = base;
  const { root_key, egress, request_log, money_in, storefronts } = base.services;
  const telemetry = await openOwnTelemetry(config, base);
  opened.defer(() => telemetry?.close());
  const policies = opened.adopt(openPolicyCache({ changes, log, process_name: name }), (it) => it.close());
  const byok = opened.adopt(openByokCache({ changes, log, root_key }), (it) => it.close());
  const ledgers = given ?? opened.adopt(await openOwnLedgers(config, base), (it) => it.close());
  const payloads = opened.adopt(openPayloadLog({ db: pool, log, root_key }), (it) => it.close());
  const countCall = countCalls(metrics.registry);
  const calls = createCallDeps({
    ...{ base_url, db: pool, catalog, ledgers, policies, byok, payloads, log, formats, egress },
    enter: (grant) => base.rate.limits.enter(subjectOf(grant)),
    record(record) {
      if (config.log === 'calls') logCall(log, record);
      // Copies are no calls of anybody: they count as shadows alone.
      if (record.shadow === undefined) {
        countCall(record);
        telemetry?.call(record);
      }
      const row = rowOf(record, config.cell);
      if (row !== null) request_log.write(row);
    },
    replayed: (request_id) => request_log.replayed(request_id),
  });
  opened.defer(async () => {
    calls.ticker.stop();
    await calls.tokens.close();
    await calls.transport.close();
  });
  const mail = opened.adopt(await openMailTransport(config), (it) => it.close());
  const { cell, public_min_orgs } = config;
  const certificates = certificateSource(config);
  const jobs = startJobs({
    ...{ pool, direct_url, log, request_log, money_in, cell, root_key, egress, mail, public_min_orgs },
    ...(storefronts === undefined ? {} : { storefronts }),
    ...(certificates === null ? {} : { certificates }),
    rows: base.analytics.services,
  });
  opened.defer(() => jobs.stop());
  registerJobMetrics(metrics.registry, jobs);
  return { ledgers, policies, byok, payloads, calls };
}

/** What /readyz checks in addition to the database. */
function checksOf({ pool, rate, analytics }: Base, { ledgers }: Engine): Check[] {
  return [
    {
      name: 'limits',
      critical: false,
      run: async () =>
        rate.limits.mode === 'exact'
          ? null
          : 'Redis cannot be reached: each process enforces its share of the limits',
    },
    {
      // Payments are booked without Temporal; receipts, expiry and lost callbacks have to wait.
      name: 'workflows',
      critical: false,
      run: async () => (await readWorkflowHealth(pool)).trouble,
    },
    {
      name: 'ledger',
      critical: true,
      run: async () => (ledgers.healthy ? null : 'the last flush did not reach PostgreSQL'),
    },
    ...(pool.shards.names.length > 1 ? [shardsCheck(ledgers)] : []),
    ...analyticsChecks(analytics),
  ];
}

/**
 * One ledger of several cannot be reached. This is not critical: organizations in the other ledgers can still call.
 */
function shardsCheck(ledgers: Ledgers): Check {
  return {
    name: 'shards',
    critical: false,
    run: async () => (ledgers.away.length === 0 ? null : `no flush reaches ${ledgers.away.join(', ')}`),
  };
}

/**
 * Starts a gateway process on `config.host:config.port`.
 * @throws Error when the database, the catalog files or a port cannot be used; nothing is left open then.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, log, formats = builtIn } = options;
  await using opening = new AsyncDisposableStack();
  const base = await openBase(opening, { config, log, formats, program: 'gateway', spool: 'spool' });
  const engine = await openEngine(opening, base, options);
  watchEngine(base, engine);
  const { calls, policies, byok } = engine;
  let draining = false;
  const app = opening.adopt(createApp({ ...base, formats }), (it) => it.close());
  bindHostRule(app, base.services);
  const tls = { config, base, app };
  prepareTls(tls, opening);
  const parts: HttpParts = {
    ...base,
    services: { ...base.services, policies, byok, health: calls.health },
    checks: checksOf(base, engine),
    draining: () => draining,
  };
  bindInference(app, {
    calls,
    keys: base.services.key_ring,
    limits: base.rate.limits,
    log,
    max_body_bytes: config.max_body_bytes,
    max_calls: config.max_calls,
    dialects: formats.dialects,
    questions: questionsOf(formats.questions),
    bySession: (path, request) => sessionAdmission(parts, path, request),
    byRun: (credential) => runAdmission({ db: base.pool, root_key: base.services.root_key }, credential),
    draining: () => draining,
  });
  bindRest(app, parts);
  bindGraphql(app, parts);
  await app.listen({ host: config.host, port: config.port });
  const ports = await listenTls(tls, opening);
  opening.defer(async () => {
    draining = true;
    await drain(calls, config.drain_seconds * 1_000);
  });
  const { port } = app.server.address() as { port: number };
  const opened = opening.move();
  return {
    base_url: config.base_url ?? `http://${hostOf(config)}:${port}`,
    metrics_url: base.metrics.url,
    ...ports,
    stop: () => opened.disposeAsync(),
  };
}

function openOwnLedgers(config: Config, { pool, name, log }: Base): Promise<Ledgers> {
  return openLedgers(pool.shards.placements, {
    process_name: name,
    journal_dir: join(config.data_dir, 'journal'),
    log,
    sync_holds: config.ledger_sync_holds,
    lease_seconds: config.ledger_lease_seconds,
  });
}

/** The telemetry libraries are loaded only when a collector is configured. */
async function openOwnTelemetry(
  config: Config,
  { name: process_name, log, catalog }: Base,
): Promise<Telemetry | null> {
  const { otlp_endpoint: endpoint, otlp_sample_percent: sample_percent, cell } = config;
  if (endpoint === null) return null;
  const { openTelemetry } = await import('./telemetry/telemetry.ts');
  return openTelemetry({
    ...{ endpoint, sample_percent, process_name, cell, log },
    provider: ({ provider }) => catalog.provider(provider),
  });
}

/**
 * Waits for running calls. Those still running after `patience_ms` end uncharged with `overloaded`; nobody waits for shadows.
 */
async function drain(calls: CallDeps, patience_ms: number): Promise<void> {
  calls.shadows.stop();
  const deadline = monotonicMs() + patience_ms;
  while (calls.ticker.size > 0 && monotonicMs() < deadline) await pause(20);
  calls.ticker.shutDown();
  while (calls.ticker.size > 0) await pause(20);
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
