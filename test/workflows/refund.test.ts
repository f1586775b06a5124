// The times of the workflows of refunds and disputes on a server that skips time: the real activities over the real database and the
// simulated rail. `RECORD_HISTORIES=1` writes the histories that replay.test.ts replays.
import { join } from 'node:path';
import { type Context, type Id, newRequestId, shiftClock, silentLog } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { findRefund, type Refund, requestRefund } from '@svc/core/refunds/index.ts';
import { type Dispute, disputesOf, listStaffItems } from '@svc/core/topups/index.ts';
import { bundleWorkflows } from '@svc/workflows/bundle.ts';
import { disputeActivities } from '@svc/workflows/dispute/activities.ts';
import type { DisputeState } from '@svc/workflows/dispute/workflow.ts';
import { type Kind, kindOf, startOptions } from '@svc/workflows/kinds.ts';
import { refundActivities } from '@svc/workflows/refund/activities.ts';
import type { RefundState } from '@svc/workflows/refund/workflow.ts';
import { tellFailures } from '@svc/workflows/refusals.ts';
import { installRuntime, sdkLogger } from '@svc/workflows/sdk-log.ts';
import { Client, type WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { startTimeSkipping } from '../support/temporal.ts';
import { events } from '../topups/world.ts';
import { expectPlain, writeHistory } from './history.ts';
import { startWorkflowWorld } from './world.ts';

vi.setConfig({ testTimeout: 120_000 });
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const histories = new URL('../../workflows/', import.meta.url).pathname;

installRuntime(silentLog);
const world = await startWorkflowWorld();
const environment = await startTimeSkipping();
const client = new Client({ connection: environment.connection, identity: 'tests' });
atFileEnd(async () => shiftClock(0));
let serial = 0;
/** Activities that ran, in order. */
let done: string[] = [];

async function takeClock(): Promise<void> {
  shiftClock((await environment.currentTimeMs()) - Date.now());
}

function open(): Context {
  const { services } = world.context;
  const parts = { request_id: newRequestId(), caller: { kind: 'public' }, pool: world.pool } as const;
  return createContext({ ...parts, log: silentLog, services });
}

/** The activities, each on the server's time and noted down. */
function timed(): object {
  return Object.fromEntries(
    Object.entries({ ...refundActivities(open), ...disputeActivities(open) }).map(([name, run]) => [
      name,
      async (args: never) => {
        await takeClock();
        done.push(name);
        return run(args);
      },
    ]),
  );
}

beforeAll(async () => {
  const worker = await Worker.create({
    connection: environment.nativeConnection,
    taskQueue: 'money',
    identity: 'worker',
    workflowBundle: await bundleWorkflows(sdkLogger(silentLog)),
    activities: timed(),
    interceptors: { activity: [tellFailures(silentLog, () => {})] },
  });
  const running = worker.run();
  atFileEnd(async () => {
    worker.shutdown();
    await running;
  });
});

afterEach(async () => {
  world.sim.turn({ api: [], refunds: 'succeeded' });
  done = [];
  await world.expectRight();
});

type Run<S = RefundState> = WorkflowHandle<(args: object) => Promise<S>>;

/** A refund of ten dollars of a paid top-up, and its workflow. */
async function begin(): Promise<{ id: Id<'refund'>; run: Run }> {
  await takeClock();
  const topup = await world.topup(await world.org(`org-${++serial}`));
  await world.deliver(events.completed(topup, { payment: world.pay(topup) }));
  const what = { org_id: topup.org_id, topup_id: topup.id, amount_minor: 1_000 };
  const { refund } = await requestRefund(world.context, { ...what, reason: '', idempotency_key: null });
  const start = { workflow_id: `refund-${refund.id}`, type: 'refund', args: { refund_id: refund.id } };
  const run = await client.workflow.start('refund', startOptions(kindOf('refund') as Kind, start));
  return { id: refund.id, run: run as unknown as Run };
}

/** The end of a run, `wait_ms` later; `record` names its history, null where another is like it and shorter. */
async function endOf<S>(run: Run<S>, wait_ms: number, record: string | null): Promise<S> {
  await environment.sleep(wait_ms);
  const state = await run.result();
  const history = await run.fetchHistory();
  expectPlain(history);
  if (record !== null && process.env['RECORD_HISTORIES'] === '1')
    writeHistory(join(histories, `${record}.json`), history);
  return state as S;
}

const read = async (id: Id<'refund'>) => (await findRefund(world.pool, { id, org_id: null })) as Refund;

test('a refund that the rail makes at once is sent and booked, and nothing more is asked', async () => {
  const { id, run } = await begin();
  expect(await endOf(run, HOUR, 'refund/histories/refunded')).toEqual({
    refund_id: id,
    status: 'refunded',
    at_rail: true,
    polls: 0,
  });
  expect(done).toEqual(['readRefund', 'sendRefund']);
});

test('a refusal of the rail ends it as failed', async () => {
  world.sim.turn({ api: [{ match: 'POST /v1/refunds', mode: 'error', status: 402 }] });
  const { id, run } = await begin();
  expect(await endOf(run, HOUR, 'refund/histories/declined')).toMatchObject({ status: 'failed', polls: 0 });
  expect(await read(id)).toMatchObject({ status: 'failed' });
});

test('a late refund is asked for each hour until the rail has made it', async () => {
  world.sim.turn({ refunds: 'pending' });
  const { id, run } = await begin();
  await environment.sleep(3 * HOUR + HOUR / 2);
  expect(done.filter((name) => name === 'pollRefund')).toHaveLength(3);
  world.sim.store.refunding.finish((await read(id)).gateway_ref as string, 'succeeded');
  expect(await endOf(run, 2 * HOUR, 'refund/histories/late')).toMatchObject({ status: 'refunded', polls: 4 });
});

test('a rail that is away for a while is asked again, and gets the refund once', async () => {
  world.sim.turn({ api: [{ match: 'POST /v1/refunds', mode: 'error', status: 503, times: 1_000 }] });
  const { id, run } = await begin();
  await environment.sleep(HOUR / 4);
  expect(await read(id)).toMatchObject({ status: 'pending', gateway_ref: null });
  world.sim.turn({ api: [] });
  expect(await endOf(run, HOUR, 'refund/histories/rail-down')).toMatchObject({ status: 'refunded' });
});

test('fourteen days without an end put it before the staff; it stays pending', async () => {
  world.sim.turn({ refunds: 'pending' });
  const { id, run } = await begin();
  expect(await endOf(run, 15 * DAY, null)).toMatchObject({ status: 'pending', at_rail: true });
  const items = await listStaffItems(world.pool);
  expect(items.filter(({ kind }) => kind === 'refund_silent')).toMatchObject([{ subject: id }]);
});

/** A dispute of a paid top-up, and its workflow. */
async function dispute(): Promise<{ id: Id<'dispute'>; ref: string; run: Run<DisputeState> }> {
  await takeClock();
  const topup = await world.topup(await world.org(`org-${++serial}`));
  const payment = world.pay(topup);
  await world.deliver(events.completed(topup, { payment }));
  // The rail has the machine's time, the service that of the server.
  const ahead = Math.round(((await environment.currentTimeMs()) - Date.now()) / 1_000);
  const { id: ref } = world.sim.store.disputing.open(payment, { respond_seconds: ahead + 9 * 86_400 });
  await news(ref, 'charge.dispute.created');
  const [{ id }] = (await disputesOf(world.pool, topup.id)) as [Dispute];
  const start = { workflow_id: `dispute-${id}`, type: 'dispute', args: { dispute_id: id } };
  const run = await client.workflow.start('dispute', startOptions(kindOf('dispute') as Kind, start));
  return { id, ref, run: run as unknown as Run<DisputeState> };
}

/** What the rail reported last of a dispute, delivered. */
async function news(ref: string, type: string): Promise<void> {
  const event = world.sim.webhooks.events.findLast(
    (one) => one.type === type && (one.data.object as { id: string }).id === ref,
  );
  await world.deliver(event as object);
}

const itemsOf = async (subject: string) =>
  (await listStaffItems(world.pool)).filter((item) => item.subject === subject).map(({ kind }) => kind);

test('a dispute is asked for each day, people are reminded three days before the last answer, and its end is found', async () => {
  const { id, ref, run } = await dispute();
  await environment.sleep(5 * DAY + HOUR / 2);
  expect(done.filter((name) => name === 'pollDispute')).toHaveLength(5);
  expect(await itemsOf(id)).toEqual(['dispute_opened']);
  await environment.sleep(2 * DAY);
  expect(await itemsOf(id)).toEqual(['dispute_opened', 'dispute_due']);
  world.sim.store.disputing.move(ref, 'lost');
  expect(await endOf(run, 2 * DAY, 'dispute/histories/lost-by-poll')).toMatchObject({
    status: 'lost',
    reminded: true,
  });
  expect(await itemsOf(id)).toEqual([]);
});

test('an end that a callback booked ends it', async () => {
  const { ref, run } = await dispute();
  await environment.sleep(HOUR);
  world.sim.store.disputing.move(ref, 'won');
  await news(ref, 'charge.dispute.closed');
  await run.signal('railDispute');
  expect(await endOf(run, HOUR, 'dispute/histories/won-by-callback')).toMatchObject({
    status: 'won',
    polls: 0,
  });
});

test('where the clock was moved by a day, the rail is asked at once', async () => {
  const { id, ref, run } = await dispute();
  world.sim.store.disputing.move(ref, 'won');
  await world.rows(`update dispute set opened_at = opened_at - interval '1 day' where id = $1`, [id]);
  await run.signal('clock_moved');
  expect(await endOf(run, HOUR, null)).toMatchObject({ status: 'won', polls: 1 });
});

test('a rail that cannot say what became of it is asked again the next day', async () => {
  world.sim.turn({ api: [{ match: 'GET /v1/disputes', mode: 'error', status: 404, times: 1 }] });
  const { ref, run } = await dispute();
  world.sim.store.disputing.move(ref, 'won');
  await environment.sleep(DAY + HOUR);
  expect(await endOf(run, DAY, null)).toMatchObject({ status: 'won', polls: 2 });
});

test('a dispute of 120 days without an end is put before the staff; it stays open', async () => {
  const { id, run } = await dispute();
  await world.rows(`update dispute set opened_at = opened_at - interval '119 days 12 hours' where id = $1`, [
    id,
  ]);
  await run.signal('clock_moved');
  expect(await endOf(run, 2 * DAY, 'dispute/histories/silent')).toMatchObject({ status: 'open' });
  expect(await itemsOf(id)).toContain('dispute_silent');
});
