// Workers for tests of workflows: the real program as a process, to be killed, over the database and rail of money in.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Id } from '@svc/core/kernel/index.ts';
import type { Topup } from '@svc/core/topups/index.ts';
import { Client, Connection, type WorkflowExecutionDescription } from '@temporalio/client';
import { atFileEnd } from '../support/ends.ts';
import { startWorkerProgram, type WorkerProcess } from '../support/programs/worker.ts';
import type { TemporalAddress } from '../support/temporal.ts';
import { SECRET, SECRET_A, startWorld, type World } from '../topups/world.ts';

export { until } from '../support/programs/until.ts';
export type { WorkerProcess } from '../support/programs/worker.ts';

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

/** A client of `temporal` that ends with the file. */
export async function connect({ address, namespace }: TemporalAddress): Promise<Client> {
  const connection = Connection.lazy({
    address,
    channelArgs: { 'grpc.initial_reconnect_backoff_ms': 200, 'grpc.max_reconnect_backoff_ms': 1_000 },
  });
  atFileEnd(() => connection.close());
  return new Client({ connection, namespace });
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
    SVC_RAIL_A_BASE_URL: world.sim_a.url,
    SVC_RAIL_A_KEY_ID: 'rzp_test_tests',
    SVC_RAIL_A_KEY_SECRET: 'secret-of-rail-a',
    SVC_RAIL_A_WEBHOOK_SECRET: SECRET_A,
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
    worker: (address, more = {}) => startWorkerProgram({ ...env(address), ...more }),
    pay(topup) {
      const session = world.sim.act(topup.gateway_ref as string, 'pay');
      return session.payment_intent as string;
    },
    mails,
    receipts: ({ invoice_id }) => mails().filter((name) => name.startsWith(`receipt-${invoice_id}-`)),
    workflow: (client, id) => client.workflow.getHandle(`topup-${id}`).describe(),
  };
}
