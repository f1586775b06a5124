// The programs of `make up` in addition to the database: how each is started and how to see that it is ready.
import { join } from 'node:path';
import type { Config } from '@svc/core/kernel/index.ts';
import { type Addresses, localAddress } from './addresses.ts';
import { type Program, probeUrl } from './keeper.ts';
import { isFree } from './ports.ts';
import { root } from './start.ts';

/** How long calls may continue after Ctrl-C. A deployment waits longer (SVC_DRAIN_SECONDS). */
const DRAIN_SECONDS = '5';

export interface Facts {
  readonly config: Config;
  readonly dataDir: string;
  readonly addresses: Addresses;
  /** Settings that all programs share. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const logOf = ({ dataDir }: Facts, name: string) => join(dataDir, 'log', `${name}.log`);

/** The gateway's metrics port plus `by`, or a free port when that is taken. */
async function metricsPort({ metrics_host, metrics_port }: Config, by: number): Promise<string> {
  const port = metrics_port + by;
  return metrics_port !== 0 && (await isFree(metrics_host, port)) ? String(port) : '0';
}

export async function gatewayProgram(facts: Facts): Promise<Program> {
  const { config, addresses, env } = facts;
  const health_url = `${localAddress(config, addresses.gateway)}/readyz`;
  return {
    name: 'gateway',
    address: `${config.host}:${addresses.gateway}`,
    health_url,
    child: {
      // With a small young generation an idle stream takes little memory; without pretenuring, ended calls are
      // collected there.
      args: [
        '--max-semi-space-size=16',
        '--no-allocation-site-pretenuring',
        '--v8-pool-size=0',
        join(root, 'gateway/main.ts'),
      ],
      cwd: root,
      log: logOf(facts, 'gateway'),
      env: {
        SVC_DRAIN_SECONDS: DRAIN_SECONDS,
        // Its journal is found again after a restart because the name stays the same.
        SVC_PROCESS_NAME: 'gateway',
        ...env,
        SVC_METRICS_PORT: await metricsPort(config, 0),
      },
    },
    probe: () => probeUrl(health_url),
    // The program itself ends after SVC_DRAIN_SECONDS; a second Ctrl-C ends it at once.
    stop_within_ms: 3_600_000,
  };
}

export async function adminProgram(facts: Facts): Promise<Program> {
  const { config, addresses, env } = facts;
  const [admin_url, staff_url] = [addresses.admin, addresses.staff].map((port) =>
    localAddress(config, port),
  ) as [string, string];
  const health_url = `${admin_url}/readyz`;
  return {
    name: 'admin',
    address: `${config.host}:${addresses.admin}`,
    health_url,
    child: {
      args: [join(root, 'admin-graphql/main.ts')],
      cwd: root,
      log: logOf(facts, 'admin'),
      env: { ...env, SVC_PROCESS_NAME: 'admin', SVC_METRICS_PORT: await metricsPort(config, 1) },
    },
    probe: async () => (await probeUrl(health_url)) ?? (await probeUrl(`${staff_url}/readyz`)),
    fields: { admin_url, staff_url },
    stop_within_ms: 5_000,
  };
}

/**
 * The worker. With `has_temporal` it must become ready; without, it only has to run, until a workflow server appears.
 */
export function workerProgram(facts: Facts, has_temporal: boolean): Program {
  const { addresses, env } = facts;
  const url = `http://127.0.0.1:${addresses.worker}`;
  return {
    name: 'worker',
    address: `127.0.0.1:${addresses.worker}`,
    health_url: `${url}/readyz`,
    child: {
      args: [join(root, 'workflows/main.ts')],
      cwd: root,
      log: logOf(facts, 'worker'),
      env: {
        ...env,
        SVC_PROCESS_NAME: 'worker',
        SVC_METRICS_HOST: '127.0.0.1',
        SVC_METRICS_PORT: String(addresses.worker),
      },
    },
    probe: () => probeUrl(has_temporal ? `${url}/readyz` : `${url}/healthz`),
    stop_within_ms: 5_000,
  };
}

/** One program simulates every rail that is not a real one; null when none is. */
export function railProgram(facts: Facts): Program | null {
  const { config, dataDir, addresses, env } = facts;
  const { a, b } = addresses.rails;
  const first = b ?? a;
  if (first === null) return null;
  const callbacks = `${localAddress(config, addresses.gateway)}/webhooks`;
  const rail_url = `http://127.0.0.1:${first.port}`;
  const rail_b =
    b === null
      ? []
      : [
          ...['--port', String(b.port), '--key', b.key_secret, '--webhook-url', `${callbacks}/rail-b`],
          // Top-ups that were begun before a restart can still be paid after it.
          ...['--webhook-secret', b.webhook_secret, '--state', join(dataDir, 'rails.json')],
        ];
  const rail_a =
    a === null
      ? []
      : [
          ...['--rail-a-port', String(a.port), '--rail-a-key', `${a.key_id}:${a.key_secret}`],
          ...['--rail-a-webhook-url', `${callbacks}/rail-a`, '--rail-a-webhook-secret', a.webhook_secret],
          ...['--rail-a-state', join(dataDir, 'rail-a.json')],
        ];
  return {
    name: 'rails',
    address: `127.0.0.1:${first.port}`,
    health_url: null,
    child: {
      args: [join(root, 'test/sim/rails/main.ts'), ...rail_b, ...rail_a],
      cwd: root,
      log: logOf(facts, 'rails'),
      env,
    },
    // Any answer counts: the simulator has no health address.
    probe: async () => ((await probeUrl(`${rail_url}/`)) === 'no answer' ? 'no answer' : null),
    fields: { rail_url },
    stop_within_ms: 3_000,
  };
}

/** Registers documents of the demo supplier; null where a portal or a supplier is set. */
export function portalProgram(facts: Facts): Program | null {
  const { portal } = facts.addresses;
  if (portal === null) return null;
  const portal_url = `http://127.0.0.1:${portal}`;
  return {
    name: 'portal',
    address: `127.0.0.1:${portal}`,
    health_url: null,
    child: {
      args: [join(root, 'test/sim/e-invoices/main.ts'), '--port', String(portal)],
      cwd: root,
      log: logOf(facts, 'portal'),
      env: facts.env,
    },
    probe: async () => ((await probeUrl(`${portal_url}/`)) === 'no answer' ? 'no answer' : null),
    fields: { portal_url },
    stop_within_ms: 3_000,
  };
}

export function temporalProgram(facts: Facts, program: string): Program {
  const { config, dataDir, addresses } = facts;
  const { temporal, temporal_ui } = addresses;
  const temporal_ui_url = `http://127.0.0.1:${temporal_ui}`;
  // Made by Temporal alone: in a file that exists it makes no tables.
  const file = join(dataDir, 'temporal.db');
  // The UI calls the server behind it, so this address answers only when both run.
  const health_url = `${temporal_ui_url}/api/v1/namespaces/${config.temporal_namespace}`;
  return {
    name: 'temporal',
    address: temporal.address,
    health_url,
    child: {
      program,
      args: [
        ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(temporal.port)],
        ...['--ui-port', String(temporal_ui), '--ui-disable-news-fetch', '--log-level', 'error'],
        ...['--namespace', config.temporal_namespace, '--db-filename', file],
      ],
      cwd: dataDir,
      log: logOf(facts, 'temporal'),
      env: process.env,
    },
    probe: () => probeUrl(health_url),
    fields: { temporal_address: temporal.address, temporal_ui_url },
    stop_within_ms: 5_000,
  };
}
