// The times of a refund's workflow on a server that skips time: the real activities over the real database and the
// simulated rail. `RECORD_HISTORIES=1` writes the histories that replay.test.ts replays.
import { join } from 'node:path';
import { type Context, type Id, newRequestId, shiftClock, silentLog } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { findRefund, type Refund, requestRefund } from '@svc/core/refunds/index.ts';
import { listStaffItems } from '@svc/core/topups/index.ts';
import { bundleWorkflows } from '@svc/workflows/bundle.ts';
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
import { writeHistory } from './history.ts';
import { startWorkflowWorld } from './world.ts';

vi.setConfig({ testTimeout: 120_000 });
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const histories = new URL('../../workflows/refund/histories/', import.meta.url).pathname;

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
    Object.entries(refundActivities(open)).map(([name, run]) => [
      name,
      async (args: { refund_id: Id<'refund'> }) => {
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

type Run = WorkflowHandle<(args: { refund_id: string }) => Promise<RefundState>>;

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
async function endOf(run: Run, wait_ms: number, record: string | null): Promise<RefundState> {
  await environment.sleep(wait_ms);
  const state = await run.result();
  if (record !== null && process.env['RECORD_HISTORIES'] === '1')
    writeHistory(join(histories, `${record}.json`), await run.fetchHistory());
  return state;
}

const read = async (id: Id<'refund'>) => (await findRefund(world.pool, { id, org_id: null })) as Refund;

test('a refund that the rail makes at once is sent and booked, and nothing more is asked', async () => {
  const { id, run } = await begin();
  expect(await endOf(run, HOUR, 'refunded')).toEqual({
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
  expect(await endOf(run, HOUR, 'declined')).toMatchObject({ status: 'failed', polls: 0 });
  expect(await read(id)).toMatchObject({ status: 'failed' });
});

test('a late refund is asked for each hour until the rail has made it', async () => {
  world.sim.turn({ refunds: 'pending' });
  const { id, run } = await begin();
  await environment.sleep(3 * HOUR + HOUR / 2);
  expect(done.filter((name) => name === 'pollRefund')).toHaveLength(3);
  world.sim.store.refunding.finish((await read(id)).gateway_ref as string, 'succeeded');
  expect(await endOf(run, 2 * HOUR, 'late')).toMatchObject({ status: 'refunded', polls: 4 });
});

test('a rail that is away for a while is asked again, and gets the refund once', async () => {
  world.sim.turn({ api: [{ match: 'POST /v1/refunds', mode: 'error', status: 503, times: 1_000 }] });
  const { id, run } = await begin();
  await environment.sleep(HOUR / 4);
  expect(await read(id)).toMatchObject({ status: 'pending', gateway_ref: null });
  world.sim.turn({ api: [] });
  expect(await endOf(run, HOUR, 'rail-down')).toMatchObject({ status: 'refunded' });
});

test('fourteen days without an end put it before the staff; it stays pending', async () => {
  world.sim.turn({ refunds: 'pending' });
  const { id, run } = await begin();
  expect(await endOf(run, 15 * DAY, null)).toMatchObject({ status: 'pending', at_rail: true });
  const items = await listStaffItems(world.pool);
  expect(items.filter(({ kind }) => kind === 'refund_silent')).toMatchObject([{ subject: id }]);
});
