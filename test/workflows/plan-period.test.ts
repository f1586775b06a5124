// The times of a month's fee on a server that skips time: the real activities over the real database and ledger.
// `RECORD_HISTORIES=1` writes the histories that replay.test.ts replays.
import { join } from 'node:path';
import {
  type Context,
  type Id,
  microUsd,
  newRequestId,
  shiftClock,
  silentLog,
} from '@svc/core/kernel/index.ts';
import { credit, readEntries } from '@svc/core/ledger/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { monthOf, type Org } from '@svc/core/orgs/index.ts';
import { openPeriod, putOnPlan, refOf } from '@svc/core/plans/index.ts';
import { bundleWorkflows } from '@svc/workflows/bundle.ts';
import { type Kind, kindOf, startOptions } from '@svc/workflows/kinds.ts';
import { type PeriodArgs, planPeriodActivities } from '@svc/workflows/plan-period/activities.ts';
import type { PlanPeriodState } from '@svc/workflows/plan-period/workflow.ts';
import { tellFailures } from '@svc/workflows/refusals.ts';
import { installRuntime, sdkLogger } from '@svc/workflows/sdk-log.ts';
import { Client, type WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { beforeAll, expect, test, vi } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { startTimeSkipping } from '../support/temporal.ts';
import { startWorld } from '../topups/world.ts';
import { expectPlain, writeHistory } from './history.ts';

vi.setConfig({ testTimeout: 120_000 });
const HOUR = 3_600_000;
const FEE = 49_000_000;
const histories = new URL('../../workflows/plan-period/histories/', import.meta.url).pathname;

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
  const { advancePeriod } = planPeriodActivities(open);
  const worker = await Worker.create({
    connection: environment.nativeConnection,
    taskQueue: 'money',
    identity: 'worker',
    workflowBundle: await bundleWorkflows(sdkLogger(silentLog)),
    activities: {
      advancePeriod: async (args: PeriodArgs) => {
        await takeClock();
        return advancePeriod(args);
      },
    },
    interceptors: { activity: [tellFailures(silentLog, () => {})] },
  });
  const running = worker.run();
  atFileEnd(async () => {
    worker.shutdown();
    await running;
  });
});

type Run = WorkflowHandle<(args: PeriodArgs) => Promise<PlanPeriodState>>;

async function give({ live_book_id: book_id }: Org, micro: number): Promise<void> {
  await credit(world.pool, {
    ...{ book_id, kind: 'grant', granted: true, expires_at: null, amount_micro_usd: microUsd(micro) },
    ...{ ref_type: 'staff', ref_id: newRequestId() },
  });
}

/** An organization on team with `micro` of credit, at the beginning of the next month, and the workflow of its fee. */
async function begin(micro: number): Promise<{ org: Org; run: Run }> {
  await takeClock();
  const org = await world.org(`planned-${++serial}`);
  await putOnPlan(world.context, org.id, {
    plan_id: 'team',
    applies: 'now',
    free_months: 0,
    reason: 'by agreement',
  });
  if (micro > 0) await give(org, micro);
  const { ends_at } = monthOf(world.context.now());
  await environment.sleep(ends_at.getTime() - world.context.now().getTime() + 1_000);
  await takeClock();
  await openPeriod(world.context, org.id);
  const args = { org_id: org.id as Id<'org'>, period: monthOf(world.context.now()).period };
  const start = { workflow_id: refOf({ ...args, no: 0 }), type: 'planPeriod', args };
  expect(
    await world.rows('select workflow_id, type, args from workflow_start where workflow_id = $1', [
      start.workflow_id,
    ]),
  ).toEqual([start]);
  const run = await client.workflow.start('planPeriod', startOptions(kindOf('planPeriod') as Kind, start));
  return { org, run: run as unknown as Run };
}

/** The end of a run, `wait_ms` later; `record` names its history, null where another is like it and shorter. */
async function endOf(run: Run, wait_ms: number, record: string | null): Promise<PlanPeriodState> {
  await environment.sleep(wait_ms);
  const state = await run.result();
  const history = await run.fetchHistory();
  expectPlain(history, ['advancePeriod']);
  if (record !== null && process.env['RECORD_HISTORIES'] === '1')
    writeHistory(join(histories, `${record}.json`), history);
  return state;
}

const kinds = async ({ live_book_id: book_id }: Org) =>
  (await readEntries(world.pool, { book_id })).map(({ kind }) => kind).reverse();
const planOf = async ({ id }: Org) =>
  (await world.rows<{ plan_id: string }>('select plan_id from org where id = $1', [id]))[0]?.plan_id;

test('a fee that the credit covers was taken before the workflow looked', async () => {
  const { org, run } = await begin(FEE);
  expect(await endOf(run, HOUR, 'paid')).toMatchObject({ status: 'paid', tries: 1, looks: 1 });
  expect(await kinds(org)).toEqual(['grant', 'plan_fee', 'plan_credit']);
});

test('credit that comes in the days of grace is found within the hour', async () => {
  const { org, run } = await begin(FEE - 1);
  await environment.sleep(2.5 * HOUR);
  await give(org, 1);
  expect(await endOf(run, HOUR, 'paid-in-grace')).toMatchObject({ status: 'paid', tries: 2, looks: 4 });
  expect(await kinds(org)).toEqual(['grant', 'grant', 'plan_fee', 'plan_credit']);
  await world.expectRight();
});

test('after three days without credit the plan is payg, and nothing was taken', async () => {
  const { org, run } = await begin(1_000_000);
  await environment.sleep(71 * HOUR);
  expect(await planOf(org)).toBe('team');
  expect(await endOf(run, 2 * HOUR, null)).toMatchObject({ status: 'lapsed', tries: 1 });
  expect([await planOf(org), await kinds(org)]).toEqual(['payg', ['grant']]);
});

test('a plan that is changed in the days of grace ends the workflow at its next look', async () => {
  const { org, run } = await begin(0);
  await environment.sleep(HOUR / 2);
  await putOnPlan(world.context, org.id, {
    plan_id: 'enterprise',
    applies: 'now',
    free_months: 0,
    reason: 'by agreement',
  });
  expect(await endOf(run, HOUR, 'given-up')).toMatchObject({ status: 'lapsed', looks: 2 });
  expect(await planOf(org)).toBe('enterprise');
});
