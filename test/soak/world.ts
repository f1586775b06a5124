// What a soak runs: a PostgreSQL with fsync on, Temporal, two gateways, a worker, a loader of calls, both simulated rails and a
// simulated provider. All programs are the real ones and follow one clock, which the soak moves (core/runtime/dev-clock.ts).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@svc/cli/tools/postgres.ts';
import { createPool, migrate, type Pool } from '@svc/core/db/index.ts';
import { loadRootKey } from '@svc/core/kernel/index.ts';
import { advanceClock } from '@svc/core/runtime/index.ts';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { crashProviders, startCrashProvider } from '../crash/provider.ts';
import { pause } from '../crash-money/ask.ts';
import type { Sim } from '../sim/providers/index.ts';
import { type RailASim, type RailSim, startRailASim, startRailSim } from '../sim/rails/index.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway.ts';
import { startTestPostgres } from '../support/postgres.ts';
import { until } from '../support/programs/until.ts';
import { startWorkerProgram, type WorkerProcess } from '../support/programs/worker.ts';
import { startTemporal } from '../support/temporal-server.ts';
import { type Customer, makeCustomers } from './customers.ts';
import { HOOK_SETTINGS } from './hooks.ts';
import { type Loader, startLoader } from './loader.ts';

export type Part = 'gateway 0' | 'gateway 1' | 'worker';

export interface World {
  readonly sim_a: RailASim;
  readonly sim_b: RailSim;
  readonly provider: Sim;
  readonly customers: readonly Customer[];
  readonly database_url: string;
  readonly keyring: string;
  readonly temporal: Client;
  readonly loader: Loader;
  /** Address of a gateway that takes requests, in turn, as a load balancer would have it. */
  origin(): string;
  /** Ends a program by SIGTERM and starts the next release of it; a gateway gets no new requests meanwhile. */
  deploy(part: Part): Promise<void>;
  /** Milliseconds since the epoch, by the clock of the installation. */
  nowMs(): number;
  /** Moves the clocks of the installation and of rail-a. */
  pass(ms: number): Promise<void>;
  /** Process id of each program that runs. */
  pids(): Readonly<Record<string, number>>;
  /** The program that does the jobs of the installation; null while nobody says so. */
  leader(): Promise<string | null>;
  rows<T>(text: string, values?: unknown[]): Promise<T[]>;
  readonly pool: Pool;
  /** Programs that ended although nobody ended them, or with another code than 0, with their last words. */
  readonly died: readonly string[];
  output(): string;
  close(): Promise<void>;
}

export interface WorldOptions {
  /** Where the clock of the installation begins. */
  readonly starts_ms: number;
  readonly customers: number;
}

const SECRETS = { a: 'rail-a-of-the-soak', b: 'whsec_of_the_soak' };
/**
 * From a gateway's last request to its SIGTERM: what was given to it must have reached it. The chart waits so in `preStop`; it is a
 * wait in real time, because nobody can see from outside what is on its way.
 */
const OUT_OF_ROTATION_MS = 500;
/** Programs look at the clock each half second. */
const SEEN_MS = 60_000;

async function query<T>(url: string, text: string, values: unknown[] = []): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text, values)).rows as T[];
  } finally {
    await client.end();
  }
}

function settingsOf(parts: {
  readonly dir: string;
  readonly temporal: string;
  readonly sim_a: RailASim;
  readonly sim_b: RailSim;
}): Record<string, string> {
  return {
    SVC_DEV: '1',
    SVC_LOG_LEVEL: 'info',
    SVC_MASTER_KEY_FILE: join(parts.dir, 'keyring.json'),
    SVC_TEMPORAL_ADDRESS: parts.temporal,
    SVC_TEMPORAL_ENCRYPT: '1',
    ...HOOK_SETTINGS,
    CRASH_API_KEY: 'sk-crash',
    SVC_RAIL_A_BASE_URL: parts.sim_a.url,
    SVC_RAIL_A_KEY_ID: 'rzp_test_soak',
    SVC_RAIL_A_KEY_SECRET: 'secret-of-rail-a',
    SVC_RAIL_A_WEBHOOK_SECRET: SECRETS.a,
    SVC_RAIL_B_BASE_URL: parts.sim_b.url,
    SVC_RAIL_B_KEY_SECRET: 'sk_test_soak',
    SVC_RAIL_B_WEBHOOK_SECRET: SECRETS.b,
  };
}

/** The gateways and the worker, each of which is replaced now and then. */
class Programs {
  readonly died: string[] = [];
  readonly ports: readonly [number, number];
  readonly #gateways: (GatewayProcess | null)[] = [null, null];
  readonly #start: { gateway(at: 0 | 1): Promise<GatewayProcess>; worker(): Promise<WorkerProcess> };
  #worker: WorkerProcess | null = null;
  #turn = 0;
  #closing = false;

  constructor(
    ports: readonly [number, number],
    start: { gateway(at: 0 | 1): Promise<GatewayProcess>; worker(): Promise<WorkerProcess> },
  ) {
    this.ports = ports;
    this.#start = start;
  }

  async startGateway(at: 0 | 1): Promise<void> {
    const running = await this.#start.gateway(at);
    this.#gateways[at] = running;
    void running.ended.then(() => {
      if (this.#gateways[at] === running && !this.#closing)
        this.died.push(`gateway ${at} ended: ${running.output().slice(-2_000)}`);
    });
  }

  async startWorker(): Promise<void> {
    this.#worker = await this.#start.worker();
  }

  async #end(name: string, program: GatewayProcess | WorkerProcess | null): Promise<void> {
    const code = (await program?.stop()) ?? 0;
    if (code !== 0) this.died.push(`${name} ended with ${code}: ${program?.output().slice(-2_000)}`);
  }

  async deploy(part: Part): Promise<void> {
    if (part === 'worker') {
      const running = this.#worker;
      this.#worker = null;
      await this.#end(part, running);
      return this.startWorker();
    }
    const at = part === 'gateway 0' ? 0 : 1;
    const running = this.#gateways[at] ?? null;
    this.#gateways[at] = null;
    await pause(OUT_OF_ROTATION_MS);
    await this.#end(part, running);
    return this.startGateway(at);
  }

  origin(): string {
    const at = this.#turn++ % 2;
    const up = this.#gateways[at] === null && this.#gateways[1 - at] !== null ? 1 - at : at;
    return `http://127.0.0.1:${this.ports[up]}`;
  }

  /** Those that run, by name. */
  running(): Readonly<Record<string, GatewayProcess | WorkerProcess>> {
    const all = { 'gateway 0': this.#gateways[0], 'gateway 1': this.#gateways[1], worker: this.#worker };
    return Object.fromEntries(Object.entries(all).flatMap(([name, one]) => (one ? [[name, one]] : [])));
  }

  output(): string {
    return Object.entries(this.running())
      .map(([name, program]) => `${name}:\n${program.output().slice(-3_000)}`)
      .join('\n---\n');
  }

  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all(Object.values(this.running()).map((program) => program.kill()));
  }
}

/** The program, by name, of whose figures one says that it does the jobs. */
async function leaderOf(ports: Readonly<Record<string, number>>): Promise<string | null> {
  for (const [name, port] of Object.entries(ports)) {
    const text = await fetch(`http://127.0.0.1:${port}/metrics`)
      .then((reply) => reply.text())
      .catch(() => '');
    if (/^svc_jobs_leading(\{.*\})? 1$/m.test(text)) return name;
  }
  return null;
}

async function startRails(port: number) {
  const callbacks = `http://127.0.0.1:${port}/webhooks`;
  return {
    sim_a: await startRailASim({ webhook_url: `${callbacks}/rail-a`, webhook_secrets: [SECRETS.a] }),
    sim_b: await startRailSim({ webhook_url: `${callbacks}/rail-b`, webhook_secrets: [SECRETS.b] }),
  };
}

/** Brings everything up, with the clock at `starts_ms`. The caller closes it. */
export async function openWorld(options: WorldOptions): Promise<World> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-soak-'));
  // PostgreSQL runs as another user when the test runs as root: its folder is not under one of ours.
  const server_dir = mkdtempSync(join(tmpdir(), 'svc-soak-postgres-'));
  const postgres = await startTestPostgres({ dir: server_dir, port: await freePort() });
  await query(postgres.url, 'create database soak');
  const database_url = postgres.urlOf('soak');
  await migrate(database_url);
  const pool = createPool(database_url, { max: 4 });
  let shift_ms = options.starts_ms - Date.now();
  await advanceClock(pool, shift_ms);
  const temporal = await startTemporal({ db_file: join(dir, 'temporal.db'), unsynced: true });
  const ports = [await freePort(), await freePort()] as const;
  const figures = { 'gateway 0': await freePort(), 'gateway 1': await freePort(), worker: await freePort() };
  const { sim_a, sim_b } = await startRails(ports[0]);
  sim_a.turn({ clock_shift_ms: shift_ms });
  const provider = await startCrashProvider();
  const env = settingsOf({ dir, temporal: temporal.address, sim_a, sim_b });
  const keyring = env['SVC_MASTER_KEY_FILE'] as string;
  // Made before several programs would make it at once.
  loadRootKey(keyring);
  const customers = await makeCustomers(database_url, options);
  const loader = await startLoader({ database_url, dir: join(dir, 'loader') });
  const providers = crashProviders(provider);
  const programs = new Programs(ports, {
    gateway: (at) =>
      startGatewayProcess({
        ...{ database_url, providers, port: ports[at], name: `soak-${at}` },
        data_dir: join(dir, `gateway-${at}`),
        env: { ...env, SVC_METRICS_PORT: String(figures[`gateway ${at}`]) },
      }),
    worker: () =>
      startWorkerProgram({
        ...env,
        ...{ SVC_DATABASE_URL: database_url, SVC_DATA_DIR: join(dir, 'worker') },
        ...{ SVC_PROCESS_NAME: 'worker', SVC_METRICS_PORT: String(figures.worker) },
      }),
  });
  await Promise.all([programs.startGateway(0), programs.startGateway(1), programs.startWorker()]);
  const connection = Connection.lazy({ address: temporal.address });
  return {
    ...{ sim_a, sim_b, provider, customers, database_url, keyring, loader, pool, died: programs.died },
    temporal: new Client({ connection, namespace: temporal.namespace }),
    origin: () => programs.origin(),
    deploy: (part) => programs.deploy(part),
    nowMs: () => Date.now() + shift_ms,
    async pass(ms) {
      shift_ms += ms;
      // The rail's clock goes first: it refuses a debit whose day is not over there.
      sim_a.turn({ clock_shift_ms: shift_ms });
      await advanceClock(pool, ms);
      const note = `"shift_ms":${shift_ms},`;
      const began = Object.entries(programs.running());
      const blind = () =>
        began.filter(([name, one]) => programs.running()[name] === one && !one.output().includes(note));
      await until('the clock moved', () => blind().length === 0, SEEN_MS).catch(() => {
        throw new Error(`the clock moved, and these did not see it: ${blind().map(([name]) => name)}`);
      });
    },
    pids: () => ({
      ...Object.fromEntries(Object.entries(programs.running()).map(([name, { pid }]) => [name, pid])),
      loader: loader.pid,
    }),
    leader: () => leaderOf(figures),
    rows: (text, values) => query(database_url, text, values),
    output: () => programs.output(),
    async close() {
      await connection.close();
      await Promise.all([loader.stop(), programs.close(), temporal.stop(), pool.end()]);
      await Promise.all([sim_a.close(), sim_b.close(), provider.close()]);
      await postgres.stop();
      for (const each of [dir, server_dir]) rmSync(each, { recursive: true, force: true });
    },
  };
}
