// The times of a top-up's workflow on a server that skips time: the real activities over the real database and the
// simulated rail, with the product's clock taken from that server. `RECORD_HISTORIES=1` writes the histories that
// replay.test.ts replays.
import { join } from 'node:path';
import { type Context, newRequestId, shiftClock, silentLog } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { cancelTopup, type Topup } from '@svc/core/topups/index.ts';
import { bundleWorkflows } from '@svc/workflows/bundle.ts';
import { type Kind, kindOf, startOptions } from '@svc/workflows/kinds.ts';
import { tellFailures } from '@svc/workflows/refusals.ts';
import { installRuntime, sdkLogger } from '@svc/workflows/sdk-log.ts';
import { topUpActivities } from '@svc/workflows/top-up/activities.ts';
import type { TopUpState } from '@svc/workflows/top-up/workflow.ts';
import { Client, type WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { startTimeSkipping } from '../support/temporal.ts';
import { events } from '../topups/world.ts';
import { expectPlain, writeHistory } from './history.ts';
import { startWorkflowWorld } from './world.ts';

vi.setConfig({ testTimeout: 60_000 });
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const histories = new URL('../../workflows/top-up/histories/', import.meta.url).pathname;

installRuntime(silentLog);
const world = await startWorkflowWorld();
const environment = await startTimeSkipping();
const client = new Client({ connection: environment.connection, identity: 'tests' });
atFileEnd(async () => shiftClock(0));
let serial = 0;

/** Every activity that ran, with the age of its top-up in whole minutes. */
const done: { name: string; topup_id: string; minutes: number }[] = [];
const made_ms = new Map<string, number>();

async function takeClock(): Promise<number> {
  const present = await environment.currentTimeMs();
  shiftClock(present - Date.now());
  return present;
}

function open(): Context {
  const { services } = world.context;
  const parts = { request_id: newRequestId(), caller: { kind: 'public' }, pool: world.pool } as const;
  return createContext({ ...parts, log: silentLog, services });
}

/** The activities, each on the server's time and noted down. */
function timed(): object {
  return Object.fromEntries(
    Object.entries(topUpActivities(open)).map(([name, run]) => [
      name,
      async (args: { topup_id: `tup_${string}` }) => {
        const present = await takeClock();
        const minutes = Math.round((present - (made_ms.get(args.topup_id) as number)) / MINUTE);
        done.push({ name, topup_id: args.topup_id, minutes });
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
  world.sim.turn({ api: [] });
  await world.expectRight();
});

async function fresh(): Promise<Topup> {
  const present = await takeClock();
  const topup = await world.topup(await world.org(`org-${++serial}`));
  made_ms.set(topup.id, present);
  return topup;
}

type Run = WorkflowHandle<(args: { topup_id: string }) => Promise<TopUpState>>;

async function follow(topup: Topup): Promise<Run> {
  const start = { workflow_id: `topup-${topup.id}`, type: 'topUp', args: { topup_id: topup.id } };
  const handle = await client.workflow.start('topUp', startOptions(kindOf('topUp') as Kind, start));
  return handle as unknown as Run;
}

/** The end of a workflow, and at how many minutes after its top-up was made. */
async function endOf(
  topup: Topup,
  run: Run,
  record?: string,
): Promise<{ state: TopUpState; minutes: number }> {
  // Waiting for a result would let time run on, ten years far, to the next thing that the server knows of.
  await environment.sleep(50 * HOUR);
  const state = await run.result();
  const { closeTime } = await run.describe();
  const minutes = Math.round(((closeTime as Date).getTime() - (made_ms.get(topup.id) as number)) / MINUTE);
  const history = await run.fetchHistory();
  expectPlain(history);
  if (record !== undefined && process.env['RECORD_HISTORIES'] === '1') {
    writeHistory(join(histories, `${record}.json`), history);
  }
  return { state, minutes };
}

const minutesOf = (topup: Topup, name: string) =>
  done.filter((run) => run.topup_id === topup.id && run.name === name).map(({ minutes }) => minutes);

test('nobody pays: asked at 2, 5, 15 and 60 min, hourly, expired at 23 h, asked at 48 h, over at 49 h', async () => {
  const topup = await fresh();
  const { state, minutes } = await endOf(topup, await follow(topup), 'expired');
  const hourly = Array.from({ length: 23 }, (_, i) => (i + 1) * 60);
  expect(minutesOf(topup, 'pollTopup')).toEqual([2, 5, 15, ...hourly, 48 * 60]);
  expect(minutesOf(topup, 'expireTopup')).toEqual([23 * 60]);
  expect(minutes).toBe(49 * 60);
  expect(state).toMatchObject({ status: 'expired', receipt: 'none', polls: 27, polls_failed: 0 });
  expect(await world.rows('select kind from rail_task where topup_id = $1', [topup.id])).toHaveLength(1);
});

test('a payment whose callback is lost is found by the next poll, credited once, and its receipt goes', async () => {
  const topup = await fresh();
  const run = await follow(topup);
  await environment.sleep(3 * MINUTE);
  world.pay(topup);
  // The booking's own signal, as the relay would tell it.
  await environment.sleep(3 * MINUTE);
  await run.signal('booked');
  const { state } = await endOf(topup, run, 'paid-by-poll');
  expect(minutesOf(topup, 'pollTopup')).toEqual([2, 5]);
  expect(minutesOf(topup, 'mailReceipt')).toEqual([5]);
  expect(state).toMatchObject({ status: 'paid', receipt: 'sent' });
});

test('paid by callback: the receipt goes at once and the fee is asked for', async () => {
  const topup = await fresh();
  const run = await follow(topup);
  await environment.sleep(MINUTE);
  await takeClock();
  await world.deliver(events.completed(topup, { payment: world.pay(topup) }));
  await run.signal('booked');
  const { state, minutes } = await endOf(topup, run, 'paid-by-callback');
  expect(minutesOf(topup, 'mailReceipt')).toEqual([1]);
  expect([minutes, minutesOf(topup, 'pollTopup')]).toEqual([1, [1]]);
  expect(state).toMatchObject({ status: 'paid', receipt: 'sent', polls: 1 });
  expect((await world.read(topup.id)).fee_minor).toBe(103);
});

/** The rail answers `status` to every question about `topup`. */
function railDown(topup: Topup, status: number): void {
  const match = `GET /v1/checkout/sessions/${topup.gateway_ref}`;
  world.sim.turn({ api: [{ match, mode: 'error', status, times: 1_000_000 }] });
}

test('a rail that is down is asked again by the schedule, and what was paid meanwhile is booked', async () => {
  const topup = await fresh();
  railDown(topup, 503);
  const run = await follow(topup);
  // The look at 2 min is tried until 5 min before the one at 15 min is waited for.
  await environment.sleep(4 * MINUTE);
  expect(minutesOf(topup, 'pollTopup').length).toBeGreaterThan(3);
  world.pay(topup);
  world.sim.turn({ api: [] });
  // Nobody tells it of the booking it made: it ends all the same.
  const { state } = await endOf(topup, run, 'rail-down');
  expect(state).toMatchObject({ status: 'paid', receipt: 'sent' });
});

test('a rail that is down for all 49 hours fails nothing: the top-up expires, the workflow completes', async () => {
  const topup = await fresh();
  // Not 503: the rail's client would wait half a second of real time before each of its own retries.
  railDown(topup, 429);
  const { state, minutes } = await endOf(topup, await follow(topup));
  expect(state).toMatchObject({ status: 'expired', receipt: 'none' });
  expect(state.polls_failed).toBe(state.polls);
  expect(state.polls).toBeGreaterThan(24);
  expect(minutesOf(topup, 'expireTopup')).toHaveLength(1);
  expect(minutes).toBe(49 * 60);
});

test('cancelled at 10 min: asked no more but for late money at 48 h', async () => {
  const topup = await fresh();
  const run = await follow(topup);
  await environment.sleep(10 * MINUTE);
  await takeClock();
  await cancelTopup(world.context, { org_id: topup.org_id, id: topup.id });
  await run.signal('cancelled');
  const { state, minutes } = await endOf(topup, run, 'cancelled');
  expect(minutesOf(topup, 'pollTopup')).toEqual([2, 5, 48 * 60]);
  expect([state.status, minutes]).toEqual(['expired', 49 * 60]);
});

test('money that comes after expiry is booked, and its receipt goes', async () => {
  const topup = await fresh();
  const run = await follow(topup);
  await environment.sleep(30 * HOUR);
  await takeClock();
  expect((await world.read(topup.id)).status).toBe('expired');
  await world.deliver(events.completed(topup));
  await run.signal('booked');
  const { state } = await endOf(topup, run, 'paid-late');
  expect(state).toMatchObject({ status: 'paid', receipt: 'sent' });
  expect(minutesOf(topup, 'mailReceipt')).toEqual([30 * 60]);
});

test('a workflow that starts 30 hours late asks once, expires at once, and keeps the times of its top-up', async () => {
  const topup = await fresh();
  await environment.sleep(30 * HOUR);
  const { state, minutes } = await endOf(topup, await follow(topup), 'started-late');
  expect(minutesOf(topup, 'pollTopup')).toEqual([30 * 60, 48 * 60]);
  expect(minutesOf(topup, 'expireTopup')).toEqual([30 * 60]);
  expect([state.status, minutes]).toEqual(['expired', 49 * 60]);
});

test('a top-up that does not exist is no row to follow: the workflow fails and says so', async () => {
  const topup = { id: `tup_${'0'.repeat(26)}` } as Topup;
  made_ms.set(topup.id, await takeClock());
  const run = await follow(topup);
  await expect(endOf(topup, run)).rejects.toMatchObject({ cause: { cause: { type: 'NotFound' } } });
  expect(minutesOf(topup, 'readTopup')).toEqual([0]);
});
