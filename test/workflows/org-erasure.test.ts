// The times of an erasure of an organization on a server that skips time: the real activities over the real database.
// `RECORD_HISTORIES=1` writes the histories that replay.test.ts replays.
import { join } from 'node:path';
import { createPerson } from '@svc/core/identity/index.ts';
import { type Context, newRequestId, shiftClock, silentLog } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import {
  cancelOrgErasure,
  changeErasureTerms,
  findErasure,
  requestOrgErasure,
} from '@svc/core/org-erasure/index.ts';
import type { Org } from '@svc/core/orgs/index.ts';
import { listStaffItems } from '@svc/core/topups/index.ts';
import { bundleWorkflows } from '@svc/workflows/bundle.ts';
import { type Kind, kindOf, startOptions } from '@svc/workflows/kinds.ts';
import { type OrgErasureArgs, orgErasureActivities } from '@svc/workflows/org-erasure/activities.ts';
import type { OrgErasureState } from '@svc/workflows/org-erasure/workflow.ts';
import { tellFailures } from '@svc/workflows/refusals.ts';
import { installRuntime, sdkLogger } from '@svc/workflows/sdk-log.ts';
import { Client, type WorkflowHandle } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { beforeAll, expect, test, vi } from 'vitest';
import { withClient } from '../support/books.ts';
import { atFileEnd } from '../support/ends.ts';
import { staffContext } from '../support/provision.ts';
import { startTimeSkipping } from '../support/temporal.ts';
import { startWorld } from '../topups/world.ts';
import { writeHistory } from './history.ts';

vi.setConfig({ testTimeout: 120_000 });
const histories = new URL('../../workflows/org-erasure/histories/', import.meta.url).pathname;
installRuntime(silentLog);
const world = await startWorld();
const environment = await startTimeSkipping();
// This client waits in real time: time is skipped by `environment.sleep` alone.
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
  const activities = orgErasureActivities(open);
  const onClock =
    <R>(step: (args: OrgErasureArgs) => Promise<R>) =>
    async (args: OrgErasureArgs) => {
      await takeClock();
      return step(args);
    };
  const worker = await Worker.create({
    connection: environment.nativeConnection,
    ...{ taskQueue: 'work', identity: 'worker' },
    workflowBundle: await bundleWorkflows(sdkLogger(silentLog)),
    activities: {
      lookAtErasure: onClock(activities.lookAtErasure),
      eraseOrg: onClock(activities.eraseOrg),
      reportErasure: onClock(activities.reportErasure),
    },
    interceptors: { activity: [tellFailures(silentLog, () => {})] },
  });
  const running = worker.run();
  atFileEnd(async () => {
    worker.shutdown();
    await running;
  });
});

type Run = WorkflowHandle<(args: OrgErasureArgs) => Promise<OrgErasureState>>;

/** An organization whose owner has the address, its erasure asked for, and the workflow started as the relay does. */
async function begin(email: string): Promise<{ org: Org; run: Run }> {
  const org = await world.org(`erased-org-${++serial}`);
  await createPerson(staffContext(world.pool), { email, org_id: org.id, role: 'owner' });
  await takeClock();
  await requestOrgErasure(open(), {
    ...{ org_id: org.id, refund_requested: false, action: 'staff.orgs.erasure.request' },
  });
  const start = { workflow_id: `orgerase-${org.id}`, type: 'orgErasure', args: { org_id: org.id } };
  const run = await client.workflow.start('orgErasure', startOptions(kindOf('orgErasure') as Kind, start));
  return { org, run: run as unknown as Run };
}

async function record(name: string, run: Run): Promise<void> {
  if (process.env['RECORD_HISTORIES'] === '1')
    writeHistory(join(histories, `${name}.json`), await run.fetchHistory());
}

const read = async ({ id }: Org) => {
  const found = await findErasure(world.pool, id);
  if (found === null) throw new Error('no erasure');
  return found;
};
const sentTo = async (email: string) =>
  (await world.rows(`select 1 from mail where template = 'org_erasure' and recipient = $1`, [email])).length;
/** What follows from the closing has come to its end, as its own workflow says. */
const endClosing = ({ id }: Org) =>
  world.rows('update org_closing set ended_at = closed_at where org_id = $1 returning 1', [id]);

test('thirty days: two reminders, the closing, an hour of quiet, and the end', async () => {
  const { org, run } = await begin('reminded@mail.example');
  await environment.sleep('22 days');
  expect(await sentTo('reminded@mail.example')).toBe(1);
  await environment.sleep('2 days');
  expect(await sentTo('reminded@mail.example')).toBe(2);
  await environment.sleep('5 days');
  expect(await sentTo('reminded@mail.example')).toBe(3);
  expect(await read(org)).toMatchObject({ status: 'asked', step: 0 });
  await environment.sleep('1 day');
  await expect.poll(async () => (await read(org)).status, { timeout: 20_000 }).toBe('closing');
  expect(await endClosing(org)).toHaveLength(1);
  await environment.sleep('2 hours');
  expect(await run.result()).toMatchObject({ status: 'completed' });
  expect(await sentTo('reminded@mail.example')).toBe(0);
  const { began_at, due_at, completed_at } = await read(org);
  expect((began_at as Date).getTime()).toBeGreaterThanOrEqual(due_at.getTime());
  expect((completed_at as Date).getTime() - (began_at as Date).getTime()).toBeGreaterThanOrEqual(3_600_000);
  await record('completed', run);
});

test('a notice of a week: the mail at once is its reminder of a week, and one more follows', async () => {
  await changeErasureTerms(world.context, { notice_days: 7 });
  const { org, run } = await begin('hurried@mail.example');
  const { requested_at, due_at } = await read(org);
  expect(due_at.getTime() - requested_at.getTime()).toBe(7 * 86_400_000);
  // Those that were asked for keep their time.
  await changeErasureTerms(world.context, { notice_days: 90 });
  await environment.sleep('4 days');
  expect(await sentTo('hurried@mail.example')).toBe(1);
  await environment.sleep('2 days');
  expect(await sentTo('hurried@mail.example')).toBe(2);
  await environment.sleep('1 day');
  await expect.poll(async () => (await read(org)).status, { timeout: 20_000 }).toBe('closing');
  // A closing without an end is waited for three days, and goes on beside the erasure.
  await environment.sleep('2 days');
  expect((await read(org)).status).toBe('closing');
  await environment.sleep('2 days');
  expect(await run.result()).toMatchObject({ status: 'completed' });
  await changeErasureTerms(world.context, { notice_days: 30 });
});

test('one that was taken back ends at once, and nothing is erased', async () => {
  const { org, run } = await begin('kept@mail.example');
  await environment.sleep('1 day');
  await takeClock();
  await cancelOrgErasure(open(), { org_id: org.id, action: 'staff.orgs.erasure.cancel' });
  await run.signal('cancelled');
  expect(await run.result()).toMatchObject({ status: 'cancelled', step: 0 });
  expect(await world.rows('select status from org where id = $1', [org.id])).toEqual([{ status: 'active' }]);
  await record('taken-back', run);
});

test('what fails for seven days is put before the staff, and goes on when it can', async () => {
  await withClient(world.url, (db) =>
    db.query(`
      create function refuse_here() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
      create trigger refuse_here before delete on credit_notice for each row execute function refuse_here()`),
  );
  const { org, run } = await begin('stuck@mail.example');
  await world.rows(
    `insert into credit_notice (org_id, day, days, created_at) values ($1, date '2020-01-01', 7, now())`,
    [org.id],
  );
  await environment.sleep('30 days');
  await expect.poll(async () => (await read(org)).status, { timeout: 20_000 }).toBe('closing');
  await endClosing(org);
  await environment.sleep('8 days');
  const reported = async () =>
    (await listStaffItems(world.pool)).filter(
      ({ kind, subject }) => kind === 'org_erasure_waits' && subject.startsWith(org.id),
    );
  await expect.poll(reported, { timeout: 20_000 }).toHaveLength(1);
  expect(await read(org)).toMatchObject({ status: 'running', completed_at: null });
  await withClient(world.url, (db) => db.query('drop trigger refuse_here on credit_notice'));
  await environment.sleep('2 hours');
  expect(await run.result()).toMatchObject({ status: 'completed' });
  expect((await read(org)).erased['credit_notice']).toBe(1);
  // What staff were told goes with the rest.
  expect(await reported()).toEqual([]);
  await record('reported', run);
});

test('a batch that takes longer than a silent worker is waited for says that it lives', async () => {
  const { id: org_id } = await world.org(`erased-org-${++serial}`);
  await requestOrgErasure(open(), {
    ...{ org_id, refund_requested: false, action: 'staff.orgs.erasure.request' },
  });
  await world.rows(`update org_erasure set status = 'running', began_at = now() where org_id = $1`, [org_id]);
  const beats: unknown[] = [];
  const activity = new MockActivityEnvironment();
  activity.on('heartbeat', (step: unknown) => beats.push(step));
  const running = await withClient(world.url, async (db) => {
    await db.query('begin');
    await db.query('select from org_erasure where org_id = $1 for update', [org_id]);
    const erasing = activity.run(orgErasureActivities(open, 20).eraseOrg, { org_id });
    // No batch can end while the row is held.
    await expect.poll(() => beats.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(5);
    expect(new Set(beats)).toEqual(new Set([0]));
    await db.query('rollback');
    return { erasing };
  });
  expect(await running.erasing).toMatchObject({ status: 'completed' });
});
