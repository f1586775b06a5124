// Erasures of many calls: the worker program killed in the middle, and seven days without success on a server that skips time.
// `RECORD_HISTORIES=1` writes the histories that replay.test.ts replays.
import { join } from 'node:path';
import { createPool } from '@svc/core/db/index.ts';
import { hashOfEndUser, newRequestId, silentLog, ulidMs } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import type { Org } from '@svc/core/orgs/index.ts';
import { digestOfIds, getRequest, requestErasure } from '@svc/core/privacy/index.ts';
import { listStaffItems } from '@svc/core/topups/index.ts';
import { bundleWorkflows } from '@svc/workflows/bundle.ts';
import { type ErasureArgs, erasureActivities } from '@svc/workflows/erasure/activities.ts';
import type { ErasureState } from '@svc/workflows/erasure/workflow.ts';
import { type Kind, kindOf, startOptions } from '@svc/workflows/kinds.ts';
import { tellFailures } from '@svc/workflows/refusals.ts';
import { installRuntime, sdkLogger } from '@svc/workflows/sdk-log.ts';
import { Client, type WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { expect, test, vi } from 'vitest';
import { rowOf } from '../registry/rows.ts';
import { withClient } from '../support/books.ts';
import { atFileEnd } from '../support/ends.ts';
import { startTemporal, startTimeSkipping } from '../support/temporal.ts';
import { expectPlain, writeHistory } from './history.ts';
import { openStops } from './stops.ts';
import { connect, startWorkflowWorld, until } from './world.ts';

vi.setConfig({ testTimeout: 240_000 });
const world = await startWorkflowWorld();
const histories = new URL('../../workflows/erasure/histories/', import.meta.url).pathname;
installRuntime(silentLog);
const USER = 'user-42';
let serial = 0;

/** Calls of the end user of an organization, begun an hour ago; their ids. */
async function called(org: Org, count: number): Promise<string[]> {
  const pepper = await world.rows<{ pepper: Buffer }>('select pepper from org where id = $1', [org.id]);
  const user_hash = hashOfEndUser(pepper[0]!.pepper, USER);
  const tenant = { org, live: { id: 'prj_x' }, key_id: 'key_x' } as unknown as Parameters<typeof rowOf>[0];
  const rows = Array.from({ length: count }, () => {
    const { attempt_rows: _, ...row } = rowOf(tenant, { request_id: newRequestId(), user_hash });
    return { ...row, replays: 0, ts: new Date(ulidMs(row.request_id)).toISOString() };
  });
  await world.rows(
    `insert into request_row select r.* from jsonb_array_elements($1::jsonb) j, jsonb_populate_record(null::request_row, j) r`,
    [JSON.stringify(rows)],
  );
  return rows.map(({ request_id }) => request_id);
}
const newOrg = () => world.org(`org-${++serial}`);
const left = async (org: Org) =>
  (
    await world.rows<{ n: number }>(
      `select count(*)::int as n from request_row where org_id = $1 and user_hash <> ''`,
      [org.id],
    )
  )[0]?.n;
const read = (id: string) => getRequest(world.context, { id, org_id: null });

test('killed in the middle of a batch and before the receipt: every call is counted once', async () => {
  const temporal = await startTemporal();
  atFileEnd(() => temporal.stop());
  const client = await connect(temporal);
  const stops = await openStops(world.url);
  const [many, few] = [await newOrg(), await newOrg()];
  const ids = await called(many, 2_500);
  const of_few = await called(few, 3);
  const start = () => world.worker(temporal.address, { SVC_DATABASE_CONNECTIONS: '30' });
  let worker = await start();
  await stops.set({
    'the second batch': { table: 'data_subject_request', event: 'update', when: 'new.records = 2000' },
    'a receipt': {
      table: 'data_subject_request',
      event: 'update',
      when: `new.status = 'completed' and new.records = 3`,
    },
  });
  const asked = await requestErasure(world.context, { org_id: many.id, user_id: USER });
  const small = await requestErasure(world.context, { org_id: few.id, user_id: USER });
  await stops.reached();
  await worker.kill();
  await stops.cut();
  expect([await read(asked.id), await left(many)]).toEqual([
    expect.objectContaining({ records: 1_000 }),
    1_500,
  ]);
  worker = await start();
  for (const [request, calls] of [
    [asked, ids],
    [small, of_few],
  ] as const) {
    await until(
      `${request.id} completed`,
      async () => (await read(request.id)).status === 'completed',
      120_000,
    );
    expect(await read(request.id)).toMatchObject({ records: calls.length, digest: digestOfIds(calls) });
    const handle = client.workflow.getHandle(`erasure-${request.id}`);
    await until('ended', async () => (await handle.describe()).status.name === 'COMPLETED', 60_000);
    const events = await world.rows(
      `select payload ->> 'records' as records from outbox where topic = 'privacy.request.completed' and payload ->> 'request_id' = $1`,
      [request.id],
    );
    expect(events.length).toBeLessThanOrEqual(1);
  }
  expect([await left(many), await left(few)]).toEqual([0, 0]);
  expect(await world.rows('select 1 from erased_call')).toEqual([]);
  expect(await worker.stop()).toBe(0);
});

test('an erasure ends with its receipt; one that fails for seven days is put before the staff', async () => {
  const environment = await startTimeSkipping();
  const client = new Client({ connection: environment.connection, identity: 'tests' });
  const pool = createPool(world.url, { max: 4, role: 'svc_runtime' });
  atFileEnd(() => pool.end());
  const open = () => {
    const parts = { request_id: newRequestId(), caller: { kind: 'public' }, pool } as const;
    return createContext({ ...parts, log: silentLog, services: world.context.services });
  };
  const worker = await Worker.create({
    connection: environment.nativeConnection,
    ...{ taskQueue: 'work', identity: 'worker' },
    workflowBundle: await bundleWorkflows(sdkLogger(silentLog)),
    activities: { ...erasureActivities(open) },
    interceptors: { activity: [tellFailures(silentLog, () => {})] },
  });
  const running = worker.run();
  atFileEnd(async () => {
    worker.shutdown();
    await running;
  });
  const erase = async (org: Org, record: string, wait_ms: number) => {
    const { id } = await requestErasure(world.context, { org_id: org.id, user_id: USER });
    const start = { workflow_id: `erasure-${id}`, type: 'erasure', args: { dsr_id: id } };
    const run = (await client.workflow.start(
      'erasure',
      startOptions(kindOf('erasure') as Kind, start),
    )) as unknown as WorkflowHandle<(args: ErasureArgs) => Promise<ErasureState>>;
    if (wait_ms > 0) await environment.sleep(wait_ms);
    const state = await run.result();
    const history = await run.fetchHistory();
    expectPlain(history, ['eraseSubject', 'failErasure']);
    if (process.env['RECORD_HISTORIES'] === '1') writeHistory(join(histories, `${record}.json`), history);
    return state;
  };
  const org = await newOrg();
  await called(org, 2);
  expect(await erase(org, 'completed', 0)).toMatchObject({ status: 'completed', records: 2 });

  const refused = await newOrg();
  await called(refused, 2);
  await withClient(world.url, (client) =>
    client.query(`
      create function refuse_here() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
      create trigger refuse_here before update on request_row for each row execute function refuse_here()`),
  );
  const failed = await erase(refused, 'given-up', 8 * 86_400_000);
  expect(failed).toMatchObject({ status: 'failed', records: 0 });
  expect(await left(refused)).toBe(2);
  const items = (await listStaffItems(pool)).filter(({ kind }) => kind === 'erasure_failed');
  expect(items).toMatchObject([{ subject: failed.dsr_id }]);
});
