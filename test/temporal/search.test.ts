// Workflows are found at Temporal by organization and state where it has search attributes or takes them; where it does not, or
// not any more, they start without.
import type { Topup } from '@svc/core/topups/index.ts';
import { signalWorkflow } from '@svc/core/workflow-starts/index.ts';
import type { Client } from '@temporalio/client';
import { expect, test } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { startTemporal, type TemporalOptions } from '../support/temporal.ts';
import { events } from '../topups/world.ts';
import { writeHistory } from '../workflows/history.ts';
import { connect, startWorkflowWorld, until } from '../workflows/world.ts';

const world = await startWorkflowWorld();
const ON = { SVC_TEMPORAL_SEARCH: '1' };
const WITHOUT = 'workflows start without them';
let serial = 0;
const fresh = async () => world.topup(await world.org(`found-${++serial}`));

async function start(options: TemporalOptions = {}) {
  const temporal = await startTemporal(options);
  atFileEnd(() => temporal.stop());
  return { temporal, client: await connect(temporal) };
}

async function found(client: Client, query: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { workflowId } of client.workflow.list({ query })) ids.push(workflowId);
  return ids;
}

const isFound = (client: Client, topup: Topup, query: string) =>
  until(query, async () => (await found(client, query)).includes(`topup-${topup.id}`), 60_000);
const isIn = async (client: Client, topup: Topup, status: string) =>
  (await world.workflow(client, topup.id)).status.name === status;
const waits = (client: Client, topup: Topup) =>
  until('it waits', async () => {
    const { events: seen } = await client.workflow.getHandle(`topup-${topup.id}`).fetchHistory();
    return seen?.some(({ timerStartedEventAttributes: timer }) => timer);
  });

test('a worker registers the attributes, and workflows are found by organization and state', async () => {
  const { temporal, client } = await start();
  const worker = await world.worker(temporal.address, ON);
  const first = await fresh();
  await waits(client, first);
  // Until every part of a server knows what was just registered, workflows start without.
  const topup = await until('one with attributes', async () => {
    const one = await fresh();
    await waits(client, one);
    const { searchAttributes } = await world.workflow(client, one.id);
    return searchAttributes['SvcOrg'] === undefined ? null : one;
  });
  await isFound(client, topup, `SvcOrg = '${topup.org_id}' AND SvcState = 'pending'`);
  expect(await found(client, `SvcOrg = 'org_nobody'`)).toEqual([]);
  await world.deliver(events.completed(topup, { payment: world.pay(topup) }));
  await isFound(client, topup, `SvcOrg = '${topup.org_id}' AND SvcState = 'paid'`);
  await isFound(client, topup, `WorkflowType = 'topUp' AND SvcState = 'paid'`);
  await until('it ended', () => isIn(client, topup, 'COMPLETED'), 60_000);
  expect(await found(client, `SvcState = 'pending' AND WorkflowId = 'topup-${topup.id}'`)).toEqual([]);
  if (process.env['RECORD_HISTORIES'] !== undefined) {
    const path = new URL('../../workflows/top-up/histories/found-by-state.json', import.meta.url).pathname;
    writeHistory(path, await client.workflow.getHandle(`topup-${topup.id}`).fetchHistory());
  }

  // Somebody removes one while the worker runs: what starts from then on goes without.
  const { namespace } = temporal;
  await client.connection.operatorService.removeSearchAttributes({ namespace, searchAttributes: ['SvcOrg'] });
  const later = await until('one without', async () => {
    const one = await fresh();
    await waits(client, one);
    const { searchAttributes } = await world.workflow(client, one.id);
    return searchAttributes['SvcState'] === undefined ? one : null;
  });
  expect(await isIn(client, later, 'RUNNING')).toBe(true);
  expect(worker.output()).not.toContain('left waiting');
  await worker.stop();
}, 180_000);

test.each([
  [
    'a server that takes no more attributes',
    Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`Taken${i}`, 'Keyword'])),
  ],
  ['a server where one is of another type', { SvcState: 'Int' }],
])(
  '%s starts workflows without them',
  async (_, search_attributes) => {
    const { temporal, client } = await start({ search_attributes });
    const worker = await world.worker(temporal.address, ON);
    const topup = await fresh();
    await waits(client, topup);
    expect(worker.output()).toContain(WITHOUT);
    const { searchAttributes } = await world.workflow(client, topup.id);
    expect(Object.keys(searchAttributes).filter((name) => name.startsWith('Svc'))).toEqual([]);
    await world.deliver(events.completed(topup, { payment: world.pay(topup) }));
    await until('it ended', () => isIn(client, topup, 'COMPLETED'), 60_000);
    await worker.stop();
    await world.expectRight();
  },
  120_000,
);

test('what Temporal never accepts is left waiting, and what comes behind it is not', async () => {
  const { temporal, client } = await start();
  const worker = await world.worker(temporal.address);
  const topup = await fresh();
  await waits(client, topup);
  const workflow_id = `topup-${topup.id}`;
  // Temporal refuses more than 2 MB.
  const args = { topup_id: 'x'.repeat(2_200_000) };
  await signalWorkflow(world.pool, { workflow_id, name: 'cancelled', args, at: new Date(0) });
  await world.deliver(events.completed(topup, { payment: world.pay(topup) }));
  await until('it ended', () => isIn(client, topup, 'COMPLETED'), 60_000);
  expect(worker.output()).toContain('its row is left waiting');
  await worker.stop();
  await world.rows('delete from workflow_signal where sent_at is null');
}, 120_000);

test('without the setting nothing is registered and nothing is sent', async () => {
  const { temporal, client } = await start();
  const worker = await world.worker(temporal.address);
  const topup = await fresh();
  await waits(client, topup);
  const { customAttributes } = await client.connection.operatorService.listSearchAttributes({
    namespace: temporal.namespace,
  });
  expect(Object.keys(customAttributes ?? {}).filter((name) => name.startsWith('Svc'))).toEqual([]);
  await worker.stop();
}, 60_000);
