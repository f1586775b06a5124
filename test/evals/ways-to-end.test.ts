// Every way in which the workflow of a run ends. `RECORD_HISTORIES=1` writes the histories that test/workflows/replay.test.ts
// replays.
import { createPool, type Pool } from '@svc/core/db/index.ts';
import { newRequestId, silentLog } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { bundleWorkflows } from '@svc/workflows/bundle.ts';
import { evalRunActivities } from '@svc/workflows/eval-run/activities.ts';
import { type Kind, kindOf, startOptions } from '@svc/workflows/kinds.ts';
import { tellFailures } from '@svc/workflows/refusals.ts';
import { installRuntime, sdkLogger } from '@svc/workflows/sdk-log.ts';
import { activityInfo } from '@temporalio/activity';
import { Client, Connection } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { expect, test, vi } from 'vitest';
import type { Json } from '../calls/caller.ts';
import { makeEvalRows } from '../registry/eval-rows.ts';
import { startHarness } from '../registry/harness.ts';
import { atFileEnd } from '../support/ends.ts';
import { startTimeSkipping } from '../support/temporal.ts';
import { expectPlain, writeHistory } from '../workflows/history.ts';
import { answering, startEvalWorld } from './world.ts';

vi.setConfig({ testTimeout: 280_000 });
installRuntime(silentLog);
const histories = new URL('../../workflows/eval-run/histories/', import.meta.url).pathname;
const HOUR_MS = 3_600_000;

function record(name: string, history: object): void {
  // A page is a hundred calls of a model, each as slow as it is.
  expectPlain(history, ['runEvalPage', 'finishEvalRun']);
  if (process.env['RECORD_HISTORIES'] === '1') writeHistory(`${histories}${name}.json`, history);
}

test('a run ends completed, cancelled, or when its budget is spent, and its workflow with it', async () => {
  const world = await startEvalWorld();
  const connection = await Connection.connect({ address: world.temporal.address });
  atFileEnd(() => connection.close());
  const client = new Client({ connection, namespace: world.temporal.namespace });
  const worker = await world.worker();
  const org = await world.org(100_000_000);
  const model = world.model('script');
  let held: (() => void)[] | null = null;
  const answer = answering(
    () => 'yes',
    () => ({ input: 12, output: 1 }),
  );
  world.script.on(model.upstream, 'a', (response, received) => {
    if (held === null) return answer(response, received);
    held.push(() => answer(response, received));
  });
  // Two pages.
  const cases = Array.from({ length: 120 }, (_, n) => ({
    input: { messages: [{ role: 'user', content: `Case ${n}` }], generation: { max_tokens: 16 } },
    grader: { kind: 'exact', expected: 'yes' },
  }));
  const suite = await world.rest(org.live_key, 'POST', '/v1/evals/suites', { name: 'Ends', cases });
  const start = async (budget_micro: number): Promise<string> => {
    const body = { suite_id: suite.json['id'], targets: [{ model: model.id }], budget_micro };
    const made = await world.rest(org.live_key, 'POST', '/v1/evals/runs', body);
    expect(made.status, JSON.stringify(made.json)).toBe(201);
    return made.json['run']['id'];
  };
  const ended = async (run_id: string, name: string, is: Json) => {
    expect(await world.ended(org.live_key, run_id)).toMatchObject(is);
    const handle = client.workflow.getHandle(`eval-${run_id}`);
    expect(await handle.result()).toMatchObject({ run_id, status: 'ended' });
    record(name, await handle.fetchHistory());
  };
  await ended(await start(50_000_000), 'completed', { status: 'completed', counts: { passed: 120 } });
  await ended(await start(1_000), 'budget-spent', { status: 'stopped', stop_reason: 'budget' });
  held = [];
  const run_id = await start(50_000_000);
  const waiting = () => held?.length;
  await expect.poll(waiting, { timeout: 60_000 }).toBe(4);
  await world.rest(org.live_key, 'POST', `/v1/evals/runs/${run_id}/cancel`);
  const signalled = async () => {
    const { events } = await client.workflow.getHandle(`eval-${run_id}`).fetchHistory();
    return events?.some((event) => event.workflowExecutionSignaledEventAttributes) ?? false;
  };
  await expect.poll(signalled, { timeout: 60_000 }).toBe(true);
  for (const go of held) go();
  await ended(run_id, 'cancelled', { status: 'cancelled', counts: { passed: 4, skipped: 116 } });
  expect(await worker.stop()).toBe(0);
});

test('a run whose page cannot be made for 22 hours fails, and what it had is kept', async () => {
  const harness = await startHarness();
  const environment = await startTimeSkipping();
  const client = new Client({ connection: environment.connection, identity: 'tests' });
  const pool = createPool(harness.url, { max: 4, application: 'svc-test' });
  // Nothing listens there: as when the database is away whenever a page is begun.
  const away = createPool('postgres://nobody@127.0.0.1:1/none', { max: 1, application: 'svc-test' });
  atFileEnd(() => Promise.all([pool.end(), away.end()]));
  const open = (on: Pool) =>
    createContext({
      ...{ request_id: newRequestId(), caller: { kind: 'public' }, pool: on, log: silentLog },
      services: harness.context.services,
    } as const);
  const worker = await Worker.create({
    connection: environment.nativeConnection,
    ...{ taskQueue: 'work', identity: 'worker' },
    workflowBundle: await bundleWorkflows(sdkLogger(silentLog)),
    activities: {
      ...evalRunActivities(() => open(activityInfo().activityType === 'runEvalPage' ? away : pool)),
    },
    interceptors: { activity: [tellFailures(silentLog, () => {})] },
  });
  const running = worker.run();
  atFileEnd(async () => {
    worker.shutdown();
    await running;
  });
  const { run } = await makeEvalRows(harness.context, harness.a);
  const begun = { workflow_id: `eval-${run}`, type: 'evalRun', args: { run_id: run } };
  const handle = await client.workflow.start('evalRun', startOptions(kindOf('evalRun') as Kind, begun));
  const first = await environment.currentTimeMs();
  // Time is skipped only while somebody waits for it.
  await environment.sleep(23 * HOUR_MS);
  expect(await handle.result()).toMatchObject({ run_id: run, status: 'ended' });
  const { closeTime } = await handle.describe();
  expect(Math.round(((closeTime?.getTime() ?? 0) - first) / HOUR_MS)).toBe(22);
  const { data } = (await harness.call('GET', '/v1/evals/runs', { key: harness.a.key })).json();
  expect(data).toMatchObject([
    { id: run, status: 'failed', stop_reason: 'error', counts: { skipped: 1 }, cost_micro: 0 },
  ]);
  record('given-up', await handle.fetchHistory());
});
