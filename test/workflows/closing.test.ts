// The times of a closing on a server that skips time: the real activities over the real database, ledger and simulated rail.
// `RECORD_HISTORIES=1` writes the histories that replay.test.ts replays.
import { join } from 'node:path';
import { closeOrg } from '@svc/core/closing/index.ts';
import { type Context, newRequestId, shiftClock, silentLog } from '@svc/core/kernel/index.ts';
import { readBalance } from '@svc/core/ledger/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { changeTerms, type Org } from '@svc/core/orgs/index.ts';
import { pollRefund, sendRefund } from '@svc/core/refunds/index.ts';
import { listStaffItems, type Topup } from '@svc/core/topups/index.ts';
import { bundleWorkflows } from '@svc/workflows/bundle.ts';
import { type Kind, kindOf, startOptions } from '@svc/workflows/kinds.ts';
import { type ClosingArgs, closingActivities } from '@svc/workflows/org-close/activities.ts';
import type { OrgCloseState } from '@svc/workflows/org-close/workflow.ts';
import { tellFailures } from '@svc/workflows/refusals.ts';
import { installRuntime, sdkLogger } from '@svc/workflows/sdk-log.ts';
import { Client, type WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { beforeAll, expect, test, vi } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { startTimeSkipping } from '../support/temporal.ts';
import { events, startWorld } from '../topups/world.ts';
import { expectPlain, writeHistory } from './history.ts';

vi.setConfig({ testTimeout: 120_000 });
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;
const histories = new URL('../../workflows/org-close/histories/', import.meta.url).pathname;

installRuntime(silentLog);
const world = await startWorld();
const environment = await startTimeSkipping();
const client = new Client({ connection: environment.connection, identity: 'tests' });
atFileEnd(async () => shiftClock(0));
let serial = 0;

async function takeClock(): Promise<void> {
  shiftClock((await environment.currentTimeMs()) - Date.now());
}

function open(): Context {
  const parts = { request_id: newRequestId(), caller: { kind: 'public' }, pool: world.pool } as const;
  return createContext({ ...parts, log: silentLog, services: world.context.services });
}

beforeAll(async () => {
  const activities = closingActivities(open);
  const onClock =
    <A extends ClosingArgs, R>(step: (args: A) => Promise<R>) =>
    async (args: A) => {
      await takeClock();
      return step(args);
    };
  const worker = await Worker.create({
    connection: environment.nativeConnection,
    taskQueue: 'money',
    identity: 'worker',
    workflowBundle: await bundleWorkflows(sdkLogger(silentLog)),
    activities: {
      endAccess: onClock(activities.endAccess),
      endCredit: onClock(activities.endCredit),
      reportClosing: onClock(activities.reportClosing),
    },
    interceptors: { activity: [tellFailures(silentLog, () => {})] },
  });
  const running = worker.run();
  atFileEnd(async () => {
    worker.shutdown();
    await running;
  });
});

type Run = WorkflowHandle<(args: ClosingArgs) => Promise<OrgCloseState>>;

async function paid(org: Org): Promise<Topup> {
  const topup = await world.topup(org);
  const { payment_intent } = world.sim.act(topup.gateway_ref as string, 'pay');
  await world.deliver(events.completed(topup, { payment: payment_intent as string }));
  return world.read(topup.id);
}

/** Closes an organization with refunds, and starts the workflow as the relay does. */
async function close(org: Org): Promise<Run> {
  await takeClock();
  const args = { org_id: org.id };
  await closeOrg(open(), { ...args, confirm: null, refund_requested: true, action: 'staff.orgs.close' });
  const start = { workflow_id: `close-${org.id}`, type: 'orgClose', args };
  expect(
    await world.rows('select workflow_id, type, args from workflow_start where workflow_id = $1', [
      start.workflow_id,
    ]),
  ).toEqual([start]);
  const run = await client.workflow.start('orgClose', startOptions(kindOf('orgClose') as Kind, start));
  return run as unknown as Run;
}

async function endOf(run: Run, record: string | null): Promise<OrgCloseState> {
  const state = await run.result();
  const history = await run.fetchHistory();
  expectPlain(history);
  if (record !== null && process.env['RECORD_HISTORIES'] === '1')
    writeHistory(join(histories, `${record}.json`), history);
  return state;
}

const refundsOf = ({ id }: Org) =>
  world.rows<{ id: `rfd_${string}`; status: string }>('select id, status from refund where org_id = $1', [
    id,
  ]);
async function carryOut(org: Org): Promise<void> {
  await takeClock();
  for (const { id: refund_id } of await refundsOf(org)) {
    await sendRefund(world.context, { refund_id });
    await pollRefund(world.context, { refund_id });
  }
}
const newOrg = () => world.org(`org-${++serial}`);
const reported = async ({ id }: Org) =>
  (await listStaffItems(world.pool)).filter(
    ({ kind, subject }) => kind === 'closing_waits' && subject.startsWith(id),
  ).length;

test('an organization without credit is done with at the second look', async () => {
  const run = await close(await newOrg());
  await environment.sleep(10 * SECOND);
  expect(await endOf(run, 'nothing-left')).toMatchObject({ status: 'done', looks: 2, refunds_open: 0 });
});

test('refunds are followed to their end', async () => {
  const org = await newOrg();
  await paid(org);
  const run = await close(org);
  await environment.sleep(10 * SECOND);
  expect(await refundsOf(org)).toMatchObject([{ status: 'pending' }]);
  await carryOut(org);
  await environment.sleep(HOUR);
  expect(await endOf(run, 'refunded')).toMatchObject({ status: 'done', refunds_open: 0 });
  expect(await readBalance(world.pool, org.live_book_id)).toMatchObject({ available_micro_usd: 0 });
  expect(await reported(org)).toBe(0);
  await world.expectRight();
});

test('a refund without an end is put before the staff after three days, and given up after thirty', async () => {
  const org = await newOrg();
  await paid(org);
  const run = await close(org);
  await environment.sleep(2 * DAY + 20 * HOUR);
  expect(await reported(org)).toBe(0);
  await environment.sleep(8 * HOUR);
  expect(await reported(org)).toBe(1);
  await environment.sleep(28 * DAY);
  // Two hundred looks: a history of them would hold nothing that the others do not.
  expect(await endOf(run, null)).toMatchObject({ status: 'waiting', refunds_open: 1 });
  expect(await reported(org)).toBe(1);
});

test('it stops where staff made the organization active again', async () => {
  const org = await newOrg();
  await paid(org);
  const run = await close(org);
  await environment.sleep(2 * SECOND);
  await changeTerms(world.context, org.id, { status: 'active' });
  await environment.sleep(20 * SECOND);
  expect(await endOf(run, 'reopened')).toMatchObject({ status: 'reopened' });
  expect(await refundsOf(org)).toEqual([]);
});

test('a payment that comes while it runs is looked at without waiting for the hour', async () => {
  const org = await newOrg();
  await paid(org);
  const run = await close(org);
  await environment.sleep(3 * HOUR);
  await paid(org);
  await run.signal('booked');
  await environment.sleep(SECOND);
  await expect.poll(() => refundsOf(org), { timeout: 20_000 }).toHaveLength(2);
  await carryOut(org);
  await environment.sleep(2 * HOUR);
  expect(await endOf(run, 'paid-late')).toMatchObject({ status: 'done' });
});
