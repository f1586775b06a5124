// The worker program killed (`kill -9`) while it takes the fee of a plan, and another one started: the fee is taken once,
// with its credit, and the workflow comes to its end.
import { microUsd, newRequestId } from '@svc/core/kernel/index.ts';
import { credit } from '@svc/core/ledger/index.ts';
import { monthOf, type Org } from '@svc/core/orgs/index.ts';
import { refOf } from '@svc/core/plans/index.ts';
import pg from 'pg';
import { beforeAll, expect, test, vi } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { startTemporal } from '../support/temporal.ts';
import { connect, startWorkflowWorld, until, type WorkerProcess } from './world.ts';

vi.setConfig({ testTimeout: 150_000 });
const world = await startWorkflowWorld();
const temporal = await startTemporal();
atFileEnd(() => temporal.stop());
const client = await connect(temporal);
const admin = new pg.Client({ connectionString: world.url });
await admin.connect();
atFileEnd(() => admin.end());
const holder = new pg.Client({ connectionString: world.url });
await holder.connect();
atFileEnd(() => holder.end());
let worker: WorkerProcess;
let serial = 0;
const start = () => world.worker(temporal.address);

beforeAll(async () => {
  worker = await start();
});

const give = ({ live_book_id: book_id }: Org, micro: number) =>
  credit(world.pool, {
    ...{ book_id, kind: 'grant', granted: true, expires_at: null, amount_micro_usd: microUsd(micro) },
    ...{ ref_type: 'staff', ref_id: newRequestId() },
  });

/** An organization with credit; the job finds it on team, since a year ago, with its next turn. */
async function member(micro: number): Promise<Org> {
  const org = await world.org(`org-${++serial}`);
  await give(org, micro);
  return org;
}
const enrol = ({ id }: Org) =>
  world.rows(`update org set plan_id = 'team', plan_since = created_at - interval '1 year' where id = $1`, [
    id,
  ]);
const nameOf = ({ id }: Org) => refOf({ org_id: id, period: monthOf(new Date()).period, no: 0 });
const statusOf = async ({ id }: Org) =>
  (await world.rows<{ status: string }>('select status from plan_charge where org_id = $1', [id]))[0]?.status;

const waiting = async (statement: string) => {
  const { rows } = await admin.query<{ n: number }>(
    `select count(*)::int as n from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like $1`,
    [`%${statement}%`],
  );
  return rows[0]?.n ?? 0;
};

/** The machine of a worker dies with it: what it had asked of the database is not finished there either. */
async function killWorker(): Promise<void> {
  await worker.kill();
  await admin.query(`
    select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`);
  await until('nobody waits', async () => (await waiting('')) === 0);
}

async function expectOnce(org: Org): Promise<void> {
  await until('paid', async () => (await statusOf(org)) === 'paid', 90_000);
  const handle = client.workflow.getHandle(nameOf(org));
  const ended = () =>
    handle.describe().then(
      ({ status }) => status.name === 'COMPLETED',
      () => false,
    );
  await until('ended', ended, 90_000);
  const entries = await world.rows(
    `select kind, amount from ledger.entry where book_id = $1 and ref_type = 'plan' and ref_id = $2 order by seq`,
    [org.live_book_id, nameOf(org)],
  );
  expect(entries).toEqual([
    { kind: 14, amount: -49_000_000 },
    { kind: 15, amount: 45_000_000 },
  ]);
  await world.expectRight();
}

test('killed while the ledger takes the fee: it is taken once, by the next one', async () => {
  const org = await member(60_000_000);
  await holder.query('begin');
  await holder.query('select from ledger.book where book_id = $1 for update', [org.live_book_id]);
  await enrol(org);
  await until('the ledger is asked', async () => (await waiting('ledger.charge_plan')) > 0, 90_000);
  await killWorker();
  await holder.query('rollback');
  expect(await statusOf(org)).toBe('pending');
  worker = await start();
  await expectOnce(org);
});

test('killed before the charge was written down: nothing is left of it, and the next one begins anew', async () => {
  const org = await member(60_000_000);
  await holder.query('begin');
  await holder.query('lock table ledger_task in share mode');
  await enrol(org);
  await until('the order waits', async () => (await waiting('insert into ledger_task')) > 0, 90_000);
  await killWorker();
  await holder.query('rollback');
  expect(await statusOf(org)).toBeUndefined();
  worker = await start();
  await expectOnce(org);
});

test('killed with the fee booked and its answer not kept: the ledger is asked again and says the same', async () => {
  const org = await member(60_000_000);
  await admin.query(`
    create function stop_here() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock(42); return new; end $$`);
  await admin.query(
    'create trigger stop_here before update on ledger_task for each row execute function stop_here()',
  );
  await holder.query('select pg_advisory_lock(42)');
  await enrol(org);
  await until('the answer waits', async () => (await waiting('update ledger_task')) > 0, 90_000);
  expect(
    await world.rows('select kind from ledger.entry where book_id = $1', [org.live_book_id]),
  ).toHaveLength(3);
  await killWorker();
  await admin.query('drop function stop_here cascade');
  await holder.query('select pg_advisory_unlock(42)');
  expect(await statusOf(org)).toBe('pending');
  worker = await start();
  await expectOnce(org);
});

test('killed in the days of grace: the workflow goes on, and takes the fee when there is credit', async () => {
  const org = await member(1_000_000);
  await enrol(org);
  await until('grace', async () => (await statusOf(org)) === 'grace', 90_000);
  const handle = client.workflow.getHandle(nameOf(org));
  const started = () =>
    handle.query<{ status: string }>('state').then(
      ({ status }) => status === 'grace',
      () => false,
    );
  await until('followed', started, 90_000);
  await worker.kill();
  await give(org, 60_000_000);
  worker = await start();
  await handle.signal('clock_moved');
  await expectOnce(org);
  expect(await worker.stop()).toBe(0);
});
