// What the crash test of money runs and kills: a PostgreSQL with fsync on, Temporal with its state in a file, two gateways, an
// admin program and a worker, before two simulated rails that nobody kills: their own books are what the oracle believes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, type Postgres } from '@svc/cli/tools/postgres.ts';
import { createPool, migrate, type Pool } from '@svc/core/db/index.ts';
import { createStaff } from '@svc/core/identity/index.ts';
import { loadRootKey, shiftClock } from '@svc/core/kernel/index.ts';
import { setBilling } from '@svc/core/orgs/index.ts';
import { advanceClock } from '@svc/core/runtime/index.ts';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { type RailASim, type RailSim, startRailASim, startRailSim } from '../sim/rails/index.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway.ts';
import { startTestPostgres } from '../support/postgres.ts';
import { until } from '../support/programs/until.ts';
import { startWorkerProgram, type WorkerProcess } from '../support/programs/worker.ts';
import { provision, staffContext } from '../support/provision.ts';
import { startTemporal } from '../support/temporal-server.ts';

export const parts = ['gateway 0', 'gateway 1', 'admin', 'worker', 'postgres', 'temporal'] as const;
export type Part = (typeof parts)[number];

/** An organization whose people pay and ask for money back. */
export interface Customer {
  readonly org_id: string;
  readonly rail: 'rail-a' | 'rail-b';
  /** Secret of a key that may do everything with credits. */
  readonly key: string;
}

export interface World {
  readonly sim_a: RailASim;
  readonly sim_b: RailSim;
  readonly customers: readonly Customer[];
  /** Where the programs write mails: each that sends some has a folder. */
  readonly mail_dirs: readonly string[];
  readonly database_url: string;
  /** Address of a gateway that runs, the other one while `gateway` is down. */
  origin(gateway: 0 | 1): string;
  /** The staff listener of the admin program. */
  readonly staff_url: string;
  readonly temporal: Client;
  /** The session of a member of staff of finance; another one when time has passed, since sessions end. */
  staffToken(): string;
  /** Moves the clocks of the installation and of rail-a, and waits until every program has seen it and told its workflows. */
  pass(ms: number): Promise<void>;
  /** `kill -9`. */
  kill(part: Part): Promise<void>;
  start(part: Part): Promise<void>;
  /** Rows of a query, by the database's owner. */
  rows<T>(text: string): Promise<T[]>;
  /** Runs `work` with a pool like that of `svcctl`. */
  withPool<T>(work: (pool: Pool) => Promise<T>): Promise<T>;
  /** Programs that ended although nobody killed them, with their last words. */
  readonly died: readonly string[];
  output(): string;
  close(): Promise<void>;
}

const ADMIN = new URL('../../admin-graphql/main.ts', import.meta.url).pathname;
const STARTS_MAX = 20;
/** For every program to see that time has passed; they look each half second. */
const SEEN_MS = 120_000;
const SECRETS = { a: 'rail-a-of-the-crash-test', b: 'whsec_of_the_crash_test' };

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Where customers are billed: of rail-a within the supplier's state and in another, so that both taxes come up. */
const PLACES = [
  { country: 'IN', rail: 'rail-a', state_code: '29' },
  { country: 'US', rail: 'rail-b', state_code: 'TX' },
  { country: 'IN', rail: 'rail-a', state_code: '07' },
  { country: 'US', rail: 'rail-b', state_code: 'NY' },
] as const;
/** One in so many is on a plan with a fee since long, and as many pay by use and may change to it. */
const PLANS = [
  `plan_id = 'team', plan_since = created_at - interval '1 year'`,
  `plan_id = 'payg'`,
  `plan_id = 'enterprise'`,
] as const;

async function makeCustomers(database_url: string, count: number): Promise<Customer[]> {
  const customers: Customer[] = [];
  const pool = createPool(database_url, { max: 1 });
  for (let i = 0; i < count; i++) {
    const { country, rail, state_code } = PLACES[i % PLACES.length] as (typeof PLACES)[number];
    const slug = `customer-${i}`;
    const { org_id, live_key } = await provision({ database_url, slug, country, live_micro_usd: 0 });
    const facts = { billing_address: { state_code }, billing_email: `${slug}@example.com` };
    await setBilling(pool, { org_id, at: new Date(), ...facts });
    await pool.query({
      name: `crash.put_on_plan_${i % PLANS.length}`,
      text: `update org set ${PLANS[i % PLANS.length]} where id = $1`,
      values: [org_id],
    });
    customers.push({ rail, org_id, key: live_key });
  }
  await pool.end();
  return customers;
}

/** A member of staff, and the session that `svcctl staff create` opens for the first sign-in, on a clock that was moved. */
async function makeStaff(database_url: string, keyring: string, shift_ms: number): Promise<string> {
  const pool = createPool(database_url, { max: 1 });
  shiftClock(shift_ms);
  try {
    const made = { email: `finance-${shift_ms}@staff.example`, roles: ['finance'] } as const;
    return (await createStaff(staffContext(pool), loadRootKey(keyring), made)).token;
  } finally {
    shiftClock(0);
    await pool.end();
  }
}

interface Program {
  output(): string;
}

const noteOf = (shift_ms: number) => `"shift_ms":${shift_ms},`;

function hasSeen(program: Program | null, shift_ms: number): boolean {
  return program?.output().includes(noteOf(shift_ms)) ?? false;
}

/** Whether the worker has signalled every workflow since it saw the clock at `shift_ms`. */
function hasSignalled(worker: Program | null, shift_ms: number): boolean {
  const since = worker?.output().split(noteOf(shift_ms))[1] ?? '';
  return since.includes('signalled workflows that the clock moved');
}

/** Starts a program again while it ends at once, as a supervisor does: PostgreSQL may be down as well. */
async function supervised(start: () => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await start();
    } catch (error) {
      if (tries === STARTS_MAX) throw error;
      await new Promise((done) => setTimeout(done, 300));
    }
  }
}

/** Brings everything up, with so many customers. The caller closes it. */
export async function openWorld(customer_count: number): Promise<World> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-crash-money-'));
  // PostgreSQL runs as another user when the test runs as root: its folder is not under one of ours.
  const server_dir = mkdtempSync(join(tmpdir(), 'svc-crash-money-postgres-'));
  const postgres_port = await freePort();
  const startPostgres = () => startTestPostgres({ dir: server_dir, port: postgres_port });
  let postgres: Postgres | null = await startPostgres();
  const database_url = postgres.urlOf('crash');
  await withClient(postgres.url, (client) => client.query('create database crash'));
  await migrate(database_url);
  const customers = await makeCustomers(database_url, customer_count);
  const temporal = await startTemporal({ db_file: join(dir, 'temporal.db') });
  const connection = Connection.lazy({ address: temporal.address });
  const ports = [await freePort(), await freePort()] as const;
  const callbacks = `http://127.0.0.1:${ports[0]}/webhooks`;
  const sim_a = await startRailASim({
    webhook_url: `${callbacks}/rail-a`,
    webhook_secrets: [SECRETS.a],
  });
  const sim_b = await startRailSim({ webhook_url: `${callbacks}/rail-b`, webhook_secrets: [SECRETS.b] });
  const env = {
    SVC_DEV: '1',
    // Programs log then that they have seen the clock move.
    SVC_LOG_LEVEL: 'info',
    SVC_MASTER_KEY_FILE: join(dir, 'keyring.json'),
    SVC_TEMPORAL_ADDRESS: temporal.address,
    SVC_LEDGER_LEASE_SECONDS: '5',
    SVC_RAIL_A_BASE_URL: sim_a.url,
    SVC_RAIL_A_KEY_ID: 'rzp_test_crash',
    SVC_RAIL_A_KEY_SECRET: 'secret-of-rail-a',
    SVC_RAIL_A_WEBHOOK_SECRET: SECRETS.a,
    SVC_RAIL_B_BASE_URL: sim_b.url,
    SVC_RAIL_B_KEY_SECRET: 'sk_test_crash',
    SVC_RAIL_B_WEBHOOK_SECRET: SECRETS.b,
  };
  // Made before several programs would make it at once.
  loadRootKey(env.SVC_MASTER_KEY_FILE);
  let shift_ms = 0;
  let staff_token = await makeStaff(database_url, env.SVC_MASTER_KEY_FILE, shift_ms);
  const [admin_port, staff_port] = [await freePort(), await freePort()];
  const gateways: (GatewayProcess | null)[] = [null, null];
  let admin: GatewayProcess | null = null;
  let worker: WorkerProcess | null = null;
  const died: string[] = [];
  let closing = false;

  const startGateway = async (at: 0 | 1) => {
    const running = await startGatewayProcess({
      ...{ database_url, env, port: ports[at], name: `crash-${at}` },
      data_dir: join(dir, `gateway-${at}`),
    });
    gateways[at] = running;
    void running.ended.then(() => {
      if (gateways[at] === running && !closing) died.push(`gateway ${at}: ${running.output().slice(-2_000)}`);
    });
  };
  const worker_dir = join(dir, 'worker');
  const startWorker = async () => {
    worker = await startWorkerProgram({
      ...env,
      ...{ SVC_DATABASE_URL: database_url, SVC_DATA_DIR: worker_dir, SVC_PROCESS_NAME: 'worker' },
      SVC_METRICS_PORT: '0',
    });
  };
  const startAdmin = async () => {
    admin = await startGatewayProcess({
      ...{ database_url, entry: ADMIN, port: admin_port, name: 'admin', data_dir: join(dir, 'admin') },
      env: {
        ...env,
        ...{ SVC_PORT: '8080', SVC_ADMIN_PORT: String(admin_port), SVC_STAFF_PORT: String(staff_port) },
      },
    });
  };
  const killAdmin = async () => {
    const running = admin;
    admin = null;
    await running?.kill();
  };
  const killGateway = async (at: 0 | 1) => {
    const running = gateways[at];
    gateways[at] = null;
    await running?.kill();
  };
  const killWorker = async () => {
    const running = worker;
    worker = null;
    await running?.kill();
  };
  const kills: Record<Part, () => Promise<void>> = {
    'gateway 0': () => killGateway(0),
    'gateway 1': () => killGateway(1),
    admin: killAdmin,
    worker: killWorker,
    async postgres() {
      const running = postgres;
      postgres = null;
      await running?.kill();
    },
    temporal: () => temporal.kill(),
  };
  const starts: Record<Part, () => Promise<void>> = {
    'gateway 0': () => startGateway(0),
    'gateway 1': () => startGateway(1),
    admin: startAdmin,
    worker: startWorker,
    async postgres() {
      postgres ??= await startPostgres();
    },
    temporal: () => temporal.restart(),
  };
  const output = () =>
    [...gateways, admin, worker]
      .map((program) => program?.output().slice(-3_000) ?? '(not running)')
      .join('\n---\n');
  const withPool = async <T>(work: (pool: Pool) => Promise<T>): Promise<T> => {
    const pool = createPool(database_url, { max: 2 });
    try {
      return await work(pool);
    } finally {
      await pool.end();
    }
  };
  await Promise.all([startGateway(0), startGateway(1), startAdmin(), startWorker()]);
  return {
    ...{ sim_a, sim_b, customers, database_url, died },
    temporal: new Client({ connection, namespace: temporal.namespace }),
    staff_url: `http://127.0.0.1:${staff_port}`,
    mail_dirs: ['worker', 'gateway-0', 'gateway-1', 'admin'].map((name) => join(dir, name, 'mail')),
    origin(gateway) {
      const up = gateways[gateway] === null && gateways[1 - gateway] !== null ? 1 - gateway : gateway;
      return `http://127.0.0.1:${ports[up]}`;
    },
    staffToken: () => staff_token,
    async pass(ms) {
      shift_ms += ms;
      // The rail's clock goes first: it refuses a debit whose day is not over there.
      sim_a.turn({ clock_shift_ms: shift_ms });
      await withPool((pool) => advanceClock(pool, ms));
      // Kept once they are there: only the end of what a program writes is.
      const aware = new Set<string>();
      const isSeen = () => {
        for (const [name, program] of Object.entries({
          'gateway 0': gateways[0],
          'gateway 1': gateways[1],
          admin,
          worker,
        }))
          if (hasSeen(program ?? null, shift_ms)) aware.add(name);
        if (hasSignalled(worker, shift_ms)) aware.add('workflows');
        return aware.size === 5;
      };
      await until('the clock moved', isSeen, SEEN_MS).catch(() => {
        throw new Error(`the clock moved, which was seen only by ${[...aware].join(', ')}\n${output()}`);
      });
      staff_token = await makeStaff(database_url, env.SVC_MASTER_KEY_FILE, shift_ms);
    },
    kill: (part) => kills[part](),
    start: (part) => supervised(starts[part]),
    rows: (text) => withClient(database_url, async (client) => (await client.query(text)).rows as never[]),
    withPool,
    output,
    async close() {
      closing = true;
      await connection.close();
      await Promise.all([killGateway(0), killGateway(1), killAdmin(), killWorker(), temporal.stop()]);
      sim_a.turn({ clock_shift_ms: 0 });
      await Promise.all([sim_a.close(), sim_b.close()]);
      await postgres?.stop();
      for (const each of [dir, server_dir]) rmSync(each, { recursive: true, force: true });
    },
  };
}
