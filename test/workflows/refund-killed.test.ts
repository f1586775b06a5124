// The worker program killed (`kill -9`) in the middle of each step of a refund, and while it books the end of a dispute, and
// another one started: money and credits move once, and the workflow comes to its end.
import type { Id } from '@svc/core/kernel/index.ts';
import {
  type Attempt,
  createMandate,
  lastAttempt,
  lookAtBalances,
  pollMandate,
  setAutoTopup,
} from '@svc/core/mandates/index.ts';
import type { Org } from '@svc/core/orgs/index.ts';
import { findRefund, type Refund, requestRefund } from '@svc/core/refunds/index.ts';
import { type Dispute, disputesOf, type Topup } from '@svc/core/topups/index.ts';
import pg from 'pg';
import { beforeAll, expect, test, vi } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { startTemporal } from '../support/temporal.ts';
import { events } from '../topups/world.ts';
import { connect, startWorkflowWorld, until, type WorkerProcess } from './world.ts';

vi.setConfig({ testTimeout: 150_000 });
const world = await startWorkflowWorld();
const temporal = await startTemporal();
atFileEnd(() => temporal.stop());
const client = await connect(temporal);
const admin = new pg.Client({ connectionString: world.url });
await admin.connect();
atFileEnd(() => admin.end());
let worker: WorkerProcess;
let serial = 0;
const start = () => world.worker(temporal.address);

beforeAll(async () => {
  worker = await start();
});

async function paid(): Promise<Topup> {
  const topup = await world.topup(await world.org(`org-${++serial}`));
  await world.deliver(events.completed(topup, { payment: world.pay(topup) }));
  return world.read(topup.id);
}

async function ask(topup: Topup): Promise<Id<'refund'>> {
  const what = { org_id: topup.org_id, topup_id: topup.id, amount_minor: 1_000 };
  const { refund } = await requestRefund(world.context, { ...what, reason: '', idempotency_key: null });
  return refund.id;
}

const read = async (id: Id<'refund'>) => (await findRefund(world.pool, { id, org_id: null })) as Refund;

async function expectOnce(id: Id<'refund'>): Promise<void> {
  await until(`${id} refunded`, async () => (await read(id)).status === 'refunded', 60_000);
  const handle = client.workflow.getHandle(`refund-${id}`);
  await until(`${id} ended`, async () => (await handle.describe()).status.name === 'COMPLETED', 60_000);
  const made = [...world.sim.store.refunds.values()].filter(({ metadata }) => metadata['refund_id'] === id);
  expect(made).toHaveLength(1);
  expect(await world.rows('select count(*)::int as n from invoice where refund_id = $1', [id])).toEqual([
    { n: 1 },
  ]);
  expect(await world.rows('select count(*)::int as n from mail where reference = $1', [id])).toEqual([
    { n: 1 },
  ]);
}

const waitingForRows = async () => {
  const { rows } = await admin.query<{ n: number }>(`
    select count(*)::int as n from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`);
  return rows[0]?.n;
};

/** The machine of a worker dies with it: what it had asked of the database is not finished there either. */
async function killWorker(): Promise<void> {
  await worker.kill();
  await admin.query(`
    select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`);
  await until('nobody waits', async () => (await waitingForRows()) === 0);
}

test('killed while the rail is being asked: it is asked whether it has the refund, and sent it once', async () => {
  const topup = await paid();
  world.sim.turn({ api: [{ match: 'POST /v1/refunds', mode: 'delay', delay_ms: 120_000 }] });
  const id = await ask(topup);
  await until('rail asked', () => world.sim.calls.includes('POST /v1/refunds'), 90_000);
  await killWorker();
  world.sim.turn({ api: [] });
  worker = await start();
  await expectOnce(id);
  expect(world.sim.calls.some((call) => call.startsWith('GET /v1/refunds'))).toBe(true);
});

test('killed after the rail had paid and before that was booked: the refund is found there and not made again', async () => {
  const topup = await paid();
  const before = world.sim.calls.filter((call) => call === 'POST /v1/refunds').length;
  const holder = new pg.Client({ connectionString: world.url });
  await holder.connect();
  // The worker stands still until the row is held that its booking will wait for.
  process.kill(worker.pid, 'SIGSTOP');
  const id = await ask(topup);
  await holder.query('begin');
  await holder.query('select 1 from topup where id = $1 for no key update', [topup.id]);
  process.kill(worker.pid, 'SIGCONT');
  const sent = () => world.sim.calls.filter((call) => call === 'POST /v1/refunds').length > before;
  await until('the rail has paid', sent, 90_000);
  await until('its booking waits', async () => ((await waitingForRows()) ?? 0) > 0);
  await killWorker();
  await holder.query('rollback');
  await holder.end();
  worker = await start();
  await expectOnce(id);
  expect(world.sim.calls.filter((call) => call === 'POST /v1/refunds')).toHaveLength(before + 1);
});

test('killed while the end of a dispute is booked: its credits are taken once, and people hear it once', async () => {
  const topup = await paid();
  const holder = new pg.Client({ connectionString: world.url });
  await holder.connect();
  process.kill(worker.pid, 'SIGSTOP');
  const { id: ref } = world.sim.store.disputing.open(topup.payment_ref as string);
  await world.deliver(world.sim.webhooks.events.at(-1) as object);
  const [{ id }] = (await disputesOf(world.pool, topup.id)) as [Dispute];
  // Its callback is lost, and the rail is asked two days later.
  world.sim.store.disputing.move(ref, 'lost');
  await world.rows(`update dispute set opened_at = opened_at - interval '2 days' where id = $1`, [id]);
  await holder.query('begin');
  await holder.query('select 1 from topup where id = $1 for no key update', [topup.id]);
  process.kill(worker.pid, 'SIGCONT');
  await until('its booking waits', async () => ((await waitingForRows()) ?? 0) > 0, 90_000);
  await killWorker();
  await holder.query('rollback');
  await holder.end();
  worker = await start();
  const read = async () => (await disputesOf(world.pool, topup.id))[0];
  await until(`${id} settled`, async () => (await read())?.written_off_micro === 0, 90_000);
  const handle = client.workflow.getHandle(`dispute-${id}`);
  await until(`${id} ended`, async () => (await handle.describe()).status.name === 'COMPLETED', 60_000);
  const moved = await world.rows(
    `select count(*)::int as n, sum(amount)::bigint as sum from ledger.entry where ref_type = 'dispute' and ref_id = $1`,
    [id],
  );
  expect(moved).toEqual([{ n: 3, sum: -25_000_000 }]);
  const mails = 'select template from mail where reference = $1 order by template';
  expect(await world.rows(mails, [id])).toEqual([
    { template: 'dispute_closed' },
    { template: 'dispute_opened' },
  ]);
});

/** An organization without credit that is debited by itself as soon as a worker looks. */
async function debited(): Promise<Org> {
  const org = await world.org(`org-${++serial}`);
  const { mandate } = await createMandate(world.context, { org_id: org.id, method: 'card' });
  world.sim.store.mandates.save(mandate.setup_ref as string);
  await pollMandate(world.context, { mandate_id: mandate.id });
  const config = { enabled: true, threshold_micro: 10_000_000, amount_minor: 2_500 };
  await setAutoTopup(world.context, { org_id: org.id, ...config });
  return org;
}

async function expectDebitedOnce(org: Org): Promise<void> {
  const attempt = () => lastAttempt(world.pool, org.id);
  await until(`${org.id} debited`, async () => (await attempt())?.status === 'succeeded', 60_000);
  const { topup_id, attempt_no } = (await attempt()) as Attempt;
  const handle = client.workflow.getHandle(`auto-${org.id}-${attempt_no}`);
  await until(`${org.id} ended`, async () => (await handle.describe()).status.name === 'COMPLETED', 60_000);
  const made = [...world.sim.store.intents.values()].filter(({ metadata }) => metadata['org_id'] === org.id);
  expect(made).toHaveLength(1);
  const receipts = await world.rows(`select 1 from mail where template = 'receipt' and reference = $1`, [
    (await world.read(topup_id)).invoice_id,
  ]);
  expect(receipts).toHaveLength(1);
}

test('killed while a card is being debited: the rail is asked for the debit, and it is made once', async () => {
  world.sim.turn({ api: [{ match: 'POST /v1/payment_intents', mode: 'late_answer', delay_ms: 120_000 }] });
  const org = await debited();
  await until('rail asked', () => world.sim.calls.includes('POST /v1/payment_intents'), 90_000);
  await killWorker();
  world.sim.turn({ api: [] });
  worker = await start();
  await expectDebitedOnce(org);
  expect(world.sim.calls.some((call) => call.startsWith('GET /v1/payment_intents'))).toBe(true);
});

test('killed with a debit begun and nothing of it done: the next worker gives notice and makes it', async () => {
  process.kill(worker.pid, 'SIGSTOP');
  const org = await debited();
  await lookAtBalances(world.context);
  await worker.kill();
  worker = await start();
  await expectDebitedOnce(org);
});

test('killed with Temporal told and nothing done: the workflow goes on', async () => {
  const topup = await paid();
  process.kill(worker.pid, 'SIGSTOP');
  const id = await ask(topup);
  await worker.kill();
  worker = await start();
  await expectOnce(id);
  await world.expectRight();
  expect(await worker.stop()).toBe(0);
});
