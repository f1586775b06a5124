// The worker program killed (`kill -9`) in the middle of each step of a top-up's workflow, and another one started:
// everything comes to its end, later at most; credited once, one receipt, one run.
import { advanceClock } from '@svc/core/runtime/index.ts';
import type { Topup } from '@svc/core/topups/index.ts';
import pg from 'pg';
import { beforeAll, expect, test, vi } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { startTemporal } from '../support/temporal.ts';
import { events } from '../topups/world.ts';
import { connect, startWorkflowWorld, until, type WorkerProcess } from './world.ts';

vi.setConfig({ testTimeout: 150_000 });
const HOUR = 3_600_000;
const world = await startWorkflowWorld();
const temporal = await startTemporal();
atFileEnd(() => temporal.stop());
const client = await connect(temporal);
// The role of programs does not see what other sessions wait for.
const admin = new pg.Client({ connectionString: world.url });
await admin.connect();
atFileEnd(() => admin.end());
let worker: WorkerProcess;
let serial = 0;
const fresh = async () => world.topup(await world.org(`org-${++serial}`));
const start = () => world.worker(temporal.address, { SVC_DEV: '1' });
const handle = (topup: Topup) => client.workflow.getHandle(`topup-${topup.id}`);

beforeAll(async () => {
  worker = await start();
});

/** A row that is held, so that whoever updates it waits; the worker is then in the middle of its step. */
interface Held {
  /** Whether somebody waits for it. */
  isAwaited(): Promise<boolean>;
  release(): Promise<void>;
}

async function holdRow(table: string, key: string, id: string): Promise<Held> {
  const holder = new pg.Client({ connectionString: world.url });
  await holder.connect();
  await holder.query('begin');
  const { rowCount } = await holder.query(`select 1 from ${table} where ${key} = $1 for no key update`, [id]);
  expect(rowCount).toBe(1);
  let held = true;
  const release = async () => {
    if (!held) return;
    held = false;
    await holder.query('rollback');
    await holder.end();
  };
  atFileEnd(release);
  const pid = (await holder.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
  return {
    async isAwaited() {
      const { rows } = await admin.query<{ awaited: boolean }>(
        'select exists (select from pg_stat_activity where $1 = any (pg_blocking_pids(pid))) as awaited',
        [pid],
      );
      return rows[0]?.awaited === true;
    },
    release,
  };
}

/** How many sessions wait for a held row. */
const waitingForRows = async () => {
  const { rows } = await admin.query<{ n: number }>(`
    select count(*)::int as n from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`);
  return rows[0]?.n;
};

const followed = (topup: Topup) =>
  until(`${topup.id} followed`, async () => {
    const state = await handle(topup).query<{ status: string }, []>('state');
    return state.status === 'pending';
  });

const completed = (topup: Topup) =>
  until(
    `${topup.id} completed`,
    async () => (await handle(topup).describe()).status.name === 'COMPLETED',
    100_000,
  );

async function expectOneRun(topup: Topup): Promise<void> {
  let runs = 0;
  for await (const _ of client.workflow.list({ query: `WorkflowId = 'topup-${topup.id}'` })) runs++;
  expect(runs).toBe(1);
}

async function expectReceipt(topup: Topup): Promise<void> {
  const paid = await world.read(topup.id);
  expect(paid.status).toBe('paid');
  await until('its receipt', () => world.receipts(paid).length === 1);
}

/** Lets `work` happen while the worker stands still. */
async function whilePaused<T>(work: () => Promise<T>): Promise<T> {
  process.kill(worker.pid, 'SIGSTOP');
  try {
    return await work();
  } finally {
    process.kill(worker.pid, 'SIGCONT');
  }
}

test('killed between a start at Temporal and its note: one run, and the rest is sent', async () => {
  const [first, held] = await whilePaused(async () => {
    const topup = await fresh();
    return [topup, await holdRow('workflow_start', 'workflow_id', `topup-${topup.id}`)] as const;
  });
  await until('told, not noted', async () => (await held.isAwaited()) && (await handle(first).describe()));
  await worker.kill();
  const second = await fresh();
  await held.release();
  worker = await start();
  for (const topup of [first, second]) {
    await followed(topup);
    await world.deliver(events.completed(topup, { payment: world.pay(topup) }));
    await completed(topup);
    await expectOneRun(topup);
    await expectReceipt(topup);
  }
  await world.expectRight();
});

test('killed while it mails, asks for the fee, books what a poll found, and expires: each is done, once', async () => {
  const [mailing, asking, booking, expiring] = [await fresh(), await fresh(), await fresh(), await fresh()];
  for (const topup of [mailing, asking, booking, expiring]) await followed(topup);

  // Held after the mail went and before that is noted.
  const held = [
    await whilePaused(async () => {
      await world.deliver(events.completed(mailing, { payment: world.pay(mailing) }));
      const { invoice_id } = await world.read(mailing.id);
      return holdRow('invoice', 'id', invoice_id as string);
    }),
  ];
  await until('mail written, not noted', () => held[0]?.isAwaited());

  // Held while the rail has not answered.
  const question = `GET /v1/checkout/sessions/${asking.gateway_ref}`;
  world.sim.turn({ api: [{ match: question, mode: 'delay', delay_ms: 120_000 }] });
  await world.deliver(events.completed(asking, { payment: world.pay(asking) }));
  await until('rail asked', () => world.sim.calls.includes(question));

  // Held inside the transaction that books, and inside the one that expires; their time comes by the moved clock.
  held.push(await holdRow('topup', 'id', booking.id), await holdRow('topup', 'id', expiring.id));
  world.pay(booking);
  await advanceClock(world.pool, 24 * HOUR);
  await until('all held', async () => {
    for (const row of held) if (!(await row.isAwaited())) return false;
    return true;
  });

  // Its machine dies with it: what it had asked of the database is not finished there either.
  await worker.kill();
  await admin.query(`
    select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`);
  await until('nobody waits', async () => (await waitingForRows()) === 0);
  for (const row of held) await row.release();
  expect((await world.read(booking.id)).status).toBe('pending');
  expect((await world.read(expiring.id)).status).toBe('pending');
  worker = await start();
  // Nobody waits three minutes for the lease of the worker that died.
  await admin.query(`update mail set lease_until = clock_timestamp() where status = 'sending'`);
  for (const topup of [mailing, asking, booking]) {
    await completed(topup);
    await expectReceipt(topup);
  }
  const { invoice_id } = await world.read(mailing.id);
  const attempts = 'select status, attempts from mail where reference = $1';
  await until(
    'noted',
    async () => (await world.rows<{ status: string }>(attempts, [invoice_id]))[0]?.status === 'sent',
  );
  expect(await world.rows(attempts, [invoice_id])).toEqual([{ status: 'sent', attempts: 2 }]);
  await until('expired', async () => (await world.read(expiring.id)).status === 'expired', 60_000);
  await advanceClock(world.pool, 26 * HOUR);
  await completed(expiring);
  expect(await handle(expiring).result()).toMatchObject({ status: 'expired', receipt: 'none' });
  for (const topup of [mailing, asking, booking, expiring]) await expectOneRun(topup);
  expect((await world.read(asking.id)).fee_minor).toBe(103);
  await world.expectRight();
  expect(await worker.stop()).toBe(0);
});
