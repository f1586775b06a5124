// The times of the workflows of mandates and automatic top-ups on a server that skips time: the real activities over the
// real database and the simulated rail. `RECORD_HISTORIES=1` writes the histories that replay.test.ts replays.
import { join } from 'node:path';
import { type Context, newRequestId, shiftClock, silentLog } from '@svc/core/kernel/index.ts';
import {
  actOnMandate,
  createMandate,
  findMandate,
  lastAttempt,
  lookAtBalances,
  type Mandate,
  setAutoTopup,
  skipAttempt,
} from '@svc/core/mandates/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import type { Org } from '@svc/core/orgs/index.ts';
import { runRailTasks } from '@svc/core/topups/index.ts';
import { autoTopupActivities } from '@svc/workflows/auto-top-up/activities.ts';
import type { AutoTopupState } from '@svc/workflows/auto-top-up/workflow.ts';
import { bundleWorkflows } from '@svc/workflows/bundle.ts';
import { type Kind, kindOf, startOptions } from '@svc/workflows/kinds.ts';
import { mandateActivities } from '@svc/workflows/mandate/activities.ts';
import type { MandateState } from '@svc/workflows/mandate/workflow.ts';
import { tellFailures } from '@svc/workflows/refusals.ts';
import { installRuntime, sdkLogger } from '@svc/workflows/sdk-log.ts';
import { topUpActivities } from '@svc/workflows/top-up/activities.ts';
import { Client, type WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { startPost } from '../mail/post.ts';
import { atFileEnd } from '../support/ends.ts';
import { startTimeSkipping } from '../support/temporal.ts';
import { expectPlain, writeHistory } from './history.ts';
import { startWorkflowWorld, until } from './world.ts';

vi.setConfig({ testTimeout: 120_000 });
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

installRuntime(silentLog);
const world = await startWorkflowWorld();
const environment = await startTimeSkipping();
const post = await startPost(world);
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
  const all = { ...topUpActivities(open), ...mandateActivities(open), ...autoTopupActivities(open) };
  return Object.fromEntries(
    Object.entries(all).map(([name, run]) => [
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
  world.sim.turn({ api: [] });
  done = [];
  await world.expectRight();
});

/** Sends to the server what committed transactions asked of a workflow, as the relay does. */
async function relay(workflow_id: string): Promise<void> {
  const signals = await world.rows<{ signal_id: number; name: string }>(
    'select signal_id, name from workflow_signal where workflow_id = $1 and sent_at is null order by signal_id',
    [workflow_id],
  );
  for (const { signal_id, name } of signals) {
    await client.workflow
      .getHandle(workflow_id)
      .signal(name)
      .catch(() => {});
    await world.rows('update workflow_signal set sent_at = now() where signal_id = $1', [signal_id]);
  }
}

async function start<S>(
  type: string,
  workflow_id: string,
  args: object,
): Promise<WorkflowHandle<() => Promise<S>>> {
  const wanted = { workflow_id, type, args } as Parameters<typeof startOptions>[1];
  const run = await client.workflow.start(type, startOptions(kindOf(type) as Kind, wanted));
  return run as unknown as WorkflowHandle<() => Promise<S>>;
}

/** The end of a run; `record` names its history. */
async function endOf<S>(run: WorkflowHandle<() => Promise<S>>, folder: string, record: string): Promise<S> {
  const state = (await run.result()) as S;
  const history = await run.fetchHistory();
  expectPlain(history, ['releaseMandate']);
  if (process.env['RECORD_HISTORIES'] === '1') {
    const path = new URL(`../../workflows/${folder}/histories/`, import.meta.url).pathname;
    writeHistory(join(path, `${record}.json`), history);
  }
  return state;
}

/**
 * Lets days pass until a run has ended; how many. Their number is not fixed: on a busy machine time is skipped before a step
 * has been taken that was due.
 */
async function passDays(run: Pick<WorkflowHandle, 'describe'>): Promise<number> {
  for (let days = 0; ; days++) {
    if ((await run.describe()).status.name !== 'RUNNING') return days;
    if (days === 20) throw new Error('it has not ended in twenty days');
    await environment.sleep(DAY);
  }
}

async function beginMandate(country: 'US' | 'IN' = 'US'): Promise<{
  org: Org;
  mandate: Mandate;
  run: WorkflowHandle<() => Promise<MandateState>>;
}> {
  await takeClock();
  const slug = `org-${++serial}`;
  const org = country === 'IN' ? await world.indian(slug) : await world.org(slug);
  const { mandate } = await createMandate(world.context, { org_id: org.id, method: 'card' });
  const run = await start<MandateState>('mandate', `mandate-${mandate.id}`, { mandate_id: mandate.id });
  return { org, mandate, run };
}

const read = async ({ id }: Mandate) => (await findMandate(world.pool, { id, org_id: null })) as Mandate;

/** A mandate whose card says `fate`, and an automatic top-up that is due; `notify_hours` before its debit. */
async function beginTopup(fate: 'ok' | 'insufficient_funds', notify_hours = 0) {
  const { org, mandate, run: registration } = await beginMandate();
  world.sim.store.mandates.save(mandate.setup_ref as string, fate);
  await environment.sleep('3 minutes');
  await relay(`mandate-${mandate.id}`);
  await registration.result();
  await world.rows('update mandate set notify_hours = $2 where id = $1', [mandate.id, notify_hours]);
  const config = { enabled: true, threshold_micro: 10_000_000, amount_minor: 2_500 };
  await setAutoTopup(world.context, { org_id: org.id, ...config });
  await takeClock();
  await lookAtBalances(world.context);
  const attempt = await lastAttempt(world.pool, org.id);
  if (attempt === null) throw new Error('no attempt began');
  const { org_id, attempt_no } = attempt;
  const id = `auto-${org_id}-${attempt_no}`;
  const run = await start<AutoTopupState>('autoTopup', id, { org_id, attempt_no });
  return { org, mandate, attempt, id, run };
}

test('a registration that no callback reported is found by asking, and the workflow ends', async () => {
  const { mandate, run } = await beginMandate();
  world.sim.store.mandates.save(mandate.setup_ref as string);
  await environment.sleep('3 minutes');
  await relay(`mandate-${mandate.id}`);
  const state = await endOf(run, 'mandate', 'registered');
  expect(state).toMatchObject({ status: 'active', polls: 1 });
});

test('a day without a registration lets it lapse, and its page is closed at the rail', async () => {
  const { mandate, run } = await beginMandate();
  await environment.sleep(DAY + HOUR);
  await relay(`mandate-${mandate.id}`);
  const state = await endOf(run, 'mandate', 'lapsed');
  expect(state).toMatchObject({ status: 'expired', released: true });
  expect(world.sim.store.mandates.sessions.get(mandate.setup_ref as string)?.status).toBe('expired');
});

test('a cancellation is repeated until the rail can be reached', async () => {
  const { org, mandate, run } = await beginMandate();
  world.sim.store.mandates.save(mandate.setup_ref as string);
  await environment.sleep('3 minutes');
  await relay(`mandate-${mandate.id}`);
  await run.result();
  await actOnMandate(world.context, { org_id: org.id, id: mandate.id, act: 'cancel' });
  world.sim.turn({ api: [{ match: 'POST /v1/payment_methods', mode: 'error', status: 503, times: 12 }] });
  const again = await client.workflow.start('mandate', {
    ...startOptions(kindOf('mandate') as Kind, {
      workflow_id: `mandate-${mandate.id}`,
      type: 'mandate',
      args: { mandate_id: mandate.id },
    }),
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
  });
  await environment.sleep(2 * HOUR);
  const state = await endOf(again as unknown as typeof run, 'mandate', 'cancelled');
  expect(state).toMatchObject({ status: 'cancelled', released: true });
  expect(done.filter((name) => name === 'releaseMandate').length).toBeGreaterThan(1);
  const { token_ref } = await read(mandate);
  expect(world.sim.store.mandates.payment_methods.get(token_ref as string)?.customer).toBeNull();
});

test('an order that can be paid after the end is asked about for days, and what was paid goes back', async () => {
  const { org, mandate, run } = await beginMandate('IN');
  await actOnMandate(world.context, { org_id: org.id, id: mandate.id, act: 'cancel' });
  await relay(`mandate-${mandate.id}`);
  await environment.sleep(2 * HOUR);
  const { mandates } = world.sim_a.store;
  const token = mandates.register(world.sim_a.store.order(mandate.setup_ref as string));
  await passDays(run);
  const state = await endOf(run, 'mandate', 'paid-after-the-end');
  expect(state).toMatchObject({ status: 'cancelled', released: true });
  expect(token.recurring_details.status).toBe('cancelled');
  await runRailTasks(world.context);
  const [proof] = world.sim_a.store.paymentsOf(mandate.setup_ref as string);
  expect(proof).toMatchObject({ captured: true, amount_refunded: 100 });
});

test('an order that nobody pays after the end is asked about for four days', async () => {
  const { mandate, run } = await beginMandate('IN');
  await environment.sleep(DAY + HOUR);
  await relay(`mandate-${mandate.id}`);
  expect(await passDays(run)).toBeGreaterThan(3);
  const state = await endOf(run, 'mandate', 'never-paid');
  expect(state).toMatchObject({ status: 'expired', released: true });
});

test('a debit without notice is made at once, booked, and its receipt mailed', async () => {
  const { org, attempt, id, run } = await beginTopup('ok');
  await environment.sleep('1 minute');
  await relay(id);
  const state = await endOf(run, 'auto-top-up', 'paid');
  expect(state).toMatchObject({ status: 'succeeded', receipt: 'sent' });
  expect(await world.read(attempt.topup_id)).toMatchObject({
    status: 'paid',
    source: 'auto',
    fee_minor: 103,
  });
  expect(await lastAttempt(world.pool, org.id)).toMatchObject({ status: 'succeeded' });
});

test('a debit that the bank refuses ends it as failed, once', async () => {
  const { mandate, attempt, id, run } = await beginTopup('insufficient_funds');
  await environment.sleep('1 minute');
  await relay(id);
  const state = await endOf(run, 'auto-top-up', 'declined');
  expect(state).toMatchObject({ status: 'failed', receipt: 'none' });
  expect(await world.read(attempt.topup_id)).toMatchObject({ status: 'failed' });
  expect(await read(mandate)).toMatchObject({ consecutive_failures: 1 });
});

test('a notice that no mail server took keeps its debit waiting, and one that never goes ends it', async () => {
  const { org, id, run } = await beginTopup('ok', 24);
  post.server.turn({ recipient: () => '451 4.3.0 Later' });
  await environment.sleep(HOUR);
  await takeClock();
  await post.send();
  await environment.sleep(24 * HOUR);
  expect(await lastAttempt(world.pool, org.id)).toMatchObject({ status: 'waiting', due_at: null });
  await takeClock();
  await post.send();
  await relay(id);
  expect(await run.result()).toMatchObject({ status: 'failed' });
  post.server.turn({ recipient: () => null });
});

test('with a notice it waits its hours, and a debit that a person skips is not made', async () => {
  const { org, attempt, id, run } = await beginTopup('ok', 24);
  await environment.sleep(20 * HOUR);
  expect(await lastAttempt(world.pool, org.id)).toMatchObject({ status: 'waiting', sent_at: null });
  const mails = await world.rows(`select 1 from mail where template = 'debit_notice' and reference = $1`, [
    attempt.topup_id,
  ]);
  // The billing address; the organization has no owner here.
  expect(mails).toHaveLength(1);
  await takeClock();
  await skipAttempt(world.context, { topup_id: attempt.topup_id, org_id: null });
  await relay(id);
  const state = await endOf(run, 'auto-top-up', 'skipped');
  expect(state).toMatchObject({ status: 'skipped', polls: 0 });
  expect(world.sim.calls.filter((call) => call === 'POST /v1/payment_intents')).toHaveLength(2);
});

test('nobody skips: the debit is made after its hours and not before', async () => {
  const { org, id, run } = await beginTopup('ok', 24);
  await until('the notice is given', async () => {
    await post.send();
    return (await lastAttempt(world.pool, org.id))?.due_at !== null;
  });
  await relay(id);
  await environment.sleep(23 * HOUR);
  expect(await lastAttempt(world.pool, org.id)).toMatchObject({ status: 'waiting', sent_at: null });
  await environment.sleep(HOUR + 60_000);
  await relay(id);
  expect(await run.result()).toMatchObject({ status: 'succeeded' });
});
