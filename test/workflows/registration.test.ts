// The times of a document's registration on a server that skips time: the real activities over the real database and the
// simulated portal. `RECORD_HISTORIES=1` writes the histories that replay.test.ts replays.
import { join } from 'node:path';
import { openPortal } from '@svc/core/e-invoices/index.ts';
import { type Invoice, type InvoiceId, readSupplier, setSupplier } from '@svc/core/invoices/index.ts';
import { type Context, newRequestId, type Services, shiftClock, silentLog } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { bundleWorkflows } from '@svc/workflows/bundle.ts';
import { invoiceActivities } from '@svc/workflows/invoice-issue/activities.ts';
import type { RegistrationState } from '@svc/workflows/invoice-issue/workflow.ts';
import { type Kind, kindOf, startOptions } from '@svc/workflows/kinds.ts';
import { tellFailures } from '@svc/workflows/refusals.ts';
import { installRuntime, sdkLogger } from '@svc/workflows/sdk-log.ts';
import { Client, type WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { startWorld } from '../invoices/world.ts';
import { startPortalSim } from '../sim/e-invoices/portal.ts';
import { atFileEnd } from '../support/ends.ts';
import { startTimeSkipping } from '../support/temporal.ts';
import { expectPlain, writeHistory } from './history.ts';

vi.setConfig({ testTimeout: 120_000 });
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const histories = new URL('../../workflows/invoice-issue/histories/', import.meta.url).pathname;

installRuntime(silentLog);
const world = await startWorld();
const portal = await startPortalSim();
atFileEnd(() => portal.close());
const environment = await startTimeSkipping();
const client = new Client({ connection: environment.connection, identity: 'tests' });
atFileEnd(async () => shiftClock(0));
const services = { portal: openPortal({ url: portal.url, token: null, keys: null }) } as unknown as Services;
const parts = { pool: world.pool, log: silentLog, services };
const open = (): Context =>
  createContext({ ...parts, request_id: newRequestId(), caller: { kind: 'public' } });
/** Activities that ran, in order. */
let done: string[] = [];

async function takeClock(): Promise<void> {
  shiftClock((await environment.currentTimeMs()) - Date.now());
}

/** The activities, each on the server's time and noted down. */
function timed(): object {
  return Object.fromEntries(
    Object.entries(invoiceActivities(open)).map(([name, run]) => [
      name,
      async (args: { invoice_id: InvoiceId }) => {
        await takeClock();
        done.push(name);
        return run(args);
      },
    ]),
  );
}

beforeAll(async () => {
  const { supplier } = await readSupplier(world.pool);
  const { legal_name, address, gstin } = supplier;
  const staff = { kind: 'staff', name: 'tests', staff_id: null, roles: ['super'] } as const;
  const context = createContext({ ...parts, request_id: newRequestId(), caller: staff });
  await setSupplier(context, { legal_name, address, gstin, e_invoicing: true });
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

afterEach(() => {
  portal.turn({ down: 0, refuse: null });
  done = [];
});

type Run = WorkflowHandle<(args: { invoice_id: string }) => Promise<RegistrationState>>;

/** A document issued `age_ms` ago, and its workflow. */
async function begin(age_ms = 0): Promise<{ document: Invoice; run: Run }> {
  await takeClock();
  const buyer = await world.org('IN', { gstin: '27AAPFU0939F1ZV', tax_status: 'gst_registered' });
  const at = new Date((await environment.currentTimeMs()) - age_ms);
  const document = await world.issue(buyer, { context: world.at(at.toISOString()) });
  const start = {
    workflow_id: `invoice-${document.id}`,
    type: 'invoiceIssue',
    args: { invoice_id: document.id },
  };
  const run = await client.workflow.start(
    'invoiceIssue',
    startOptions(kindOf('invoiceIssue') as Kind, start),
  );
  return { document, run: run as unknown as Run };
}

/** The end of a run, `wait_ms` later; its history is recorded as `name`. */
async function endOf(run: Run, wait_ms: number, name: string): Promise<RegistrationState> {
  await environment.sleep(wait_ms);
  const state = await run.result();
  const history = await run.fetchHistory();
  // The portal is slow: each of its steps has a minute.
  expectPlain(history, ['readRegistration', 'registerDocument', 'abandonRegistration', 'drawRegistered']);
  if (process.env['RECORD_HISTORIES'] === '1') writeHistory(join(histories, `${name}.json`), history);
  return state;
}

const filesOf = (id: InvoiceId) =>
  world.rows('select registered from invoice_file where invoice_id = $1', [id]);
const itemsOf = (number: string) =>
  world.rows('select kind from staff_item where subject = $1 order by kind', [number]);

test('a document is registered at once, and its file is drawn with the registration', async () => {
  const { document, run } = await begin();
  expect(await endOf(run, MINUTE, 'registered')).toEqual({
    invoice_id: document.id,
    irn_status: 'generated',
    tries: 1,
  });
  expect(done).toEqual(['readRegistration', 'registerDocument', 'drawRegistered']);
  expect(await filesOf(document.id)).toEqual([{ registered: true }]);
});

test('a portal that is away is asked again after one, five and fifteen minutes, then each hour', async () => {
  portal.turn({ down: 100 });
  const { run } = await begin();
  await environment.sleep(HOUR);
  expect(await run.query('state')).toMatchObject({ irn_status: 'pending', tries: 4 });
  portal.turn({ down: 0 });
  expect(await endOf(run, HOUR, 'portal-down')).toMatchObject({ irn_status: 'generated', tries: 5 });
});

test('a refused document is asked for once a day', async () => {
  portal.turn({ refuse: { code: '3028', message: 'The GSTIN is not active' } });
  const { document, run } = await begin();
  await environment.sleep(2 * DAY + HOUR);
  expect(done.filter((name) => name === 'registerDocument')).toHaveLength(3);
  expect(await itemsOf(document.number)).toEqual([{ kind: 'irn_refused' }]);
  portal.turn({ refuse: null });
  expect(await endOf(run, DAY, 'refused')).toMatchObject({ irn_status: 'generated', tries: 4 });
});

test('after thirty days it ends as failed and is put before the staff', async () => {
  portal.turn({ down: 100 });
  const { document, run } = await begin(30 * DAY - 90 * MINUTE);
  expect(await endOf(run, 2 * HOUR, 'late')).toMatchObject({ irn_status: 'failed' });
  expect(await itemsOf(document.number)).toEqual([{ kind: 'irn_late' }]);
  expect(await filesOf(document.id)).toEqual([]);
});
