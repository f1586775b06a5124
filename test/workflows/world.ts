// Workers for tests of workflows: the real program as a process, to be killed, over the database and rail of money in.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Id } from '@svc/core/kernel/index.ts';
import type { Topup } from '@svc/core/topups/index.ts';
import { Client, Connection, type WorkflowExecutionDescription } from '@temporalio/client';
import { atFileEnd } from '../support/ends.ts';
import type { TemporalAddress } from '../support/temporal.ts';
import { endWithUs } from '../support/watch.ts';
import { SECRET, startWorld, type World } from '../topups/world.ts';

const ENTRY = new URL('../../workflows/main.ts', import.meta.url).pathname;

export interface WorkerProcess {
  readonly pid: number;
  /** SIGTERM; the exit code. */
  stop(): Promise<number | null>;
  /** `kill -9`. */
  kill(): Promise<void>;
  output(): string;
}

export interface WorkflowWorld extends World {
  /** Where mails become files; all workers of this world share it. */
  readonly mail_dir: string;
  worker(address: string, env?: Readonly<Record<string, string>>): Promise<WorkerProcess>;
  /** Settings of a worker program of this world. */
  env(address: string): Record<string, string>;
  /** Pays at the rail, whose own callbacks go nowhere here; the payment, to deliver an event of it. */
  pay(topup: Topup): string;
  /** Files of mails that went out, by name. */
  mails(): string[];
  /** Those of them that are receipts of a paid top-up. */
  receipts(topup: Topup): string[];
  workflow(client: Client, id: Id<'topup'>): Promise<WorkflowExecutionDescription>;
}

/** Resolves with the first value of `look` that is not null, false or undefined. @throws Error after `patience_ms`. */
export async function until<T>(
  what: string,
  look: () => Promise<T | null | false | undefined> | T | null | false | undefined,
  patience_ms = 30_000,
): Promise<T> {
  const deadline = performance.now() + patience_ms;
  let last: unknown = 'never so';
  while (performance.now() < deadline) {
    try {
      const found = await look();
      if (found !== null && found !== false && found !== undefined) return found;
    } catch (error) {
      last = error;
    }
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`${what}: not within ${patience_ms} ms (${String(last)})`);
}

/** A client of `temporal` that ends with the file. */
export async function connect({ address, namespace }: TemporalAddress): Promise<Client> {
  const connection = Connection.lazy({
    address,
    channelArgs: { 'grpc.initial_reconnect_backoff_ms': 200, 'grpc.max_reconnect_backoff_ms': 1_000 },
  });
  atFileEnd(() => connection.close());
  return new Client({ connection, namespace });
}

/** Environment without settings of the product that the caller of the tests may have set. */
function bareEnv(): NodeJS.ProcessEnv {
  const passes = ([name]: [string, unknown]) =>
    !/^SVC_(?!TOOLS_DIR$|[A-Z_]+_BIN$)/.test(name) && !/^NODE_OPTIONS$|^VITEST/.test(name);
  return Object.fromEntries(Object.entries(process.env).filter(passes));
}

function collect(child: ChildProcess): () => string {
  let text = '';
  const add = (piece: Buffer) => {
    text = (text + piece.toString()).slice(-32_768);
  };
  child.stdout?.on('data', add);
  child.stderr?.on('data', add);
  return () => text;
}

async function startProcess(env: Readonly<Record<string, string>>): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [ENTRY], {
    env: { ...bareEnv(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = collect(child);
  let has_ended = false;
  const ended = new Promise<number | null>((done) =>
    child.once('exit', (code) => {
      has_ended = true;
      done(code);
    }),
  );
  if (child.pid !== undefined) endWithUs(child.pid, ended);
  atFileEnd(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await until(
    'worker ready',
    () => {
      if (has_ended) throw new Error(`the worker ended: ${output()}`);
      return output().includes('worker ready');
    },
    90_000,
  );
  return {
    pid: child.pid as number,
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
    output,
  };
}

/** The world of money in, with workers. */
export async function startWorkflowWorld(): Promise<WorkflowWorld> {
  const world = await startWorld();
  const data_dir = mkdtempSync(join(tmpdir(), 'svc-worker-'));
  atFileEnd(async () => rmSync(data_dir, { recursive: true, force: true }));
  const mail_dir = join(data_dir, 'mail');
  const env = (address: string) => ({
    SVC_DATABASE_URL: world.url,
    SVC_TEMPORAL_ADDRESS: address,
    SVC_DATA_DIR: data_dir,
    SVC_METRICS_PORT: '0',
    SVC_LOG_LEVEL: 'info',
    SVC_RAIL_B_BASE_URL: world.sim.url,
    SVC_RAIL_B_KEY_SECRET: 'sk_test_tests',
    SVC_RAIL_B_WEBHOOK_SECRET: SECRET,
  });
  const mails = () => {
    try {
      return readdirSync(mail_dir).sort();
    } catch {
      return [];
    }
  };
  return {
    ...world,
    mail_dir,
    env,
    worker: (address, more = {}) => startProcess({ ...env(address), ...more }),
    pay(topup) {
      const session = world.sim.act(topup.gateway_ref as string, 'pay');
      return session.payment_intent as string;
    },
    mails,
    receipts: ({ invoice_id }) => mails().filter((name) => name.startsWith(`receipt-${invoice_id}-`)),
    workflow: (client, id) => client.workflow.getHandle(`topup-${id}`).describe(),
  };
}
