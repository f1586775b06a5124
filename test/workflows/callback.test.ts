// The workflow of a top-up beside its callback: whichever comes first, and however often, it is credited once and its
// receipt goes once. A real Temporal server, the worker program in this process.
import { readConfig, silentLog } from '@svc/core/kernel/index.ts';
import { receiptMail } from '@svc/core/topups/index.ts';
import { readWorkflowHealth } from '@svc/core/workflow-starts/index.ts';
import { startWorker, type WorkerProgram } from '@svc/workflows/start.ts';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { startTemporal } from '../support/temporal.ts';
import { events } from '../topups/world.ts';
import { connect, startWorkflowWorld, until } from './world.ts';

const world = await startWorkflowWorld();
const temporal = await startTemporal();
atFileEnd(() => temporal.stop());
const client = await connect(temporal);
let worker: WorkerProgram;
let serial = 0;
const fresh = async () => world.topup(await world.org(`org-${++serial}`));

async function startHere(): Promise<WorkerProgram> {
  const config = readConfig(world.env(temporal.address));
  return startWorker({ config, log: silentLog });
}

const finished = (id: `tup_${string}`) =>
  until(`workflow of ${id} completed`, async () => {
    const found = await world.workflow(client, id);
    return found.status.name === 'COMPLETED' ? found : null;
  });

const runs = async (id: string) => {
  const found: string[] = [];
  for await (const { runId } of client.workflow.list({ query: `WorkflowId = 'topup-${id}'` }))
    found.push(runId);
  return found;
};

beforeAll(async () => {
  worker = await startHere();
  atFileEnd(() => worker.stop());
});

afterEach(() => world.expectRight());

async function expectReceipt(id: `tup_${string}`): Promise<void> {
  const topup = await world.read(id);
  expect(topup.status).toBe('paid');
  await until('its receipt', () => world.receipts(topup).length === 1);
  // Whoever asks for it again finds that it was asked for.
  expect(await receiptMail(world.context, { topup_id: id })).toEqual({
    queued: false,
    reason: 'queued_before',
  });
}

test('a callback after the start of the workflow ends it with a receipt and the fee known', async () => {
  const topup = await fresh();
  await until(
    'workflow runs',
    async () => (await world.workflow(client, topup.id)).status.name === 'RUNNING',
  );
  const running = await client.workflow.getHandle(`topup-${topup.id}`).query('state');
  expect(running).toMatchObject({ topup_id: topup.id, receipt: 'none' });
  // The rail's own callbacks go nowhere here; what is delivered is the same event under another id.
  const payment = world.pay(topup);
  await world.deliver(events.completed(topup, { payment }));
  await finished(topup.id);
  await expectReceipt(topup.id);
  expect((await world.read(topup.id)).fee_minor).toBe(103);
  const result = await client.workflow.getHandle(`topup-${topup.id}`).result();
  expect(result).toMatchObject({ status: 'paid', receipt: 'sent', polls: 1, polls_failed: 0 });
});

test('callbacks before the start, twice and fifty at once still make one credit, one run and one receipt', async () => {
  await worker.stop();
  const topup = await fresh();
  const payment = world.pay(topup);
  const event = events.completed(topup, { payment });
  const answers = await Promise.all(Array.from({ length: 50 }, () => world.deliver(event)));
  expect(answers.filter(({ replay }) => !replay)).toHaveLength(1);
  worker = await startHere();
  await finished(topup.id);
  expect(await world.deliver(event)).toMatchObject({ replay: true });
  await expectReceipt(topup.id);
  expect(await runs(topup.id)).toHaveLength(1);
});

test('a start and a signal sent twice change nothing: one run, one receipt', async () => {
  const topup = await fresh();
  const payment = world.pay(topup);
  await until('told', async () => {
    const rows = await world.rows(
      'select 1 from workflow_start where workflow_id = $1 and started_at is not null',
      [`topup-${topup.id}`],
    );
    return rows.length === 1;
  });
  // As when a worker dies between telling and marking, while the workflow runs and after it ended.
  const forget = () =>
    world.rows('update workflow_start set started_at = null where workflow_id = $1', [`topup-${topup.id}`]);
  const marked = () =>
    until('marked again', async () => {
      const rows = await world.rows<{ n: number }>(
        'select count(*)::int as n from workflow_start where started_at is null',
      );
      return rows[0]?.n === 0;
    });
  await forget();
  await marked();
  await world.deliver(events.completed(topup, { payment }));
  await finished(topup.id);
  await forget();
  await marked();
  expect(await runs(topup.id)).toHaveLength(1);
  await expectReceipt(topup.id);
});

test('money that comes after the workflow has ended is credited, and its receipt goes all the same', async () => {
  const topup = await fresh();
  await until(
    'workflow runs',
    async () => (await world.workflow(client, topup.id)).status.name === 'RUNNING',
  );
  await client.workflow.getHandle(`topup-${topup.id}`).terminate('as after 49 hours');
  const payment = world.pay(topup);
  await world.deliver(events.completed(topup, { payment }));
  await finished(topup.id);
  await expectReceipt(topup.id);
  expect(await runs(topup.id)).toHaveLength(2);
});

test('a workflow reads well: id, memo, summaries; ids and integers only in its payloads', async () => {
  const topup = await fresh();
  await world.deliver(events.completed(topup, { payment: world.pay(topup) }));
  const described = await finished(topup.id);
  expect(described.workflowId).toBe(`topup-${topup.id}`);
  expect(described.taskQueue).toBe('money');
  expect(described.memo).toEqual({ topup_id: topup.id });
  expect(await described.staticSummary()).toBe('Top-up from checkout to receipt');
  const history = await client.workflow.getHandle(`topup-${topup.id}`).fetchHistory();
  // Payloads are base64 in this form; searched as the text they are.
  const decoded = (_match: string, base64: string) => `"data":${Buffer.from(base64, 'base64')}`;
  const text = JSON.stringify(history).replaceAll(/"data":"([^"]*)"/g, decoded);
  expect(text).toContain(topup.id);
  expect(text).toContain('receipt to the billing address');
  for (const kept_out of ['@example.com', topup.gateway_ref as string, `org-${serial}`, 'sk_test_tests']) {
    expect(text).not.toContain(kept_out);
  }
});

test('health says that workflows run while they do', async () => {
  await until('healthy', async () => (await readWorkflowHealth(world.pool)).trouble === null);
  const ready = await fetch(`${worker.url}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready' }]);
  const metrics = await (await fetch(`${worker.url}/metrics`)).text();
  expect(metrics).toMatch(/svc_temporal_reached\{program="worker"\} 1/);
  expect(metrics).toMatch(
    /svc_activities_total\{activity="mailReceipt",outcome="done",program="worker"\} \d/,
  );
});
