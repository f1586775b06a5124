// Temporal away: at the worker's start, and while money comes in, until every client of the worker waits as long between
// its attempts as it ever will. Callbacks still book, `/readyz` says what is wrong, and what waited is done afterwards.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@svc/cli/tools/postgres.ts';
import { readWorkflowHealth } from '@svc/core/workflow-starts/index.ts';
import { expect, test, vi } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { startTemporal } from '../support/temporal.ts';
import { events } from '../topups/world.ts';
import { connect, startWorkflowWorld, until } from './world.ts';

vi.setConfig({ testTimeout: 180_000 });
/**
 * The SDK says how often it has tried in vain. Its pauses grow by 1.7 from a tenth of a second to five seconds, so they are
 * the longest from the ninth attempt on: a longer outage looks the same to the worker.
 */
const LONGEST_PAUSE = /poll_workflow_task_queue retried (?:9|\d\d) times/;

test('an outage of Temporal, and a start without it, delay what follows a payment and lose nothing', async () => {
  const world = await startWorkflowWorld();
  const trouble = async () => (await readWorkflowHealth(world.pool)).trouble;
  expect(await trouble()).toBe('degraded: no worker has run yet');
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const metrics_port = await freePort();
  const worker = await world.worker(address, { SVC_METRICS_PORT: String(metrics_port) });
  const ready = async () => (await fetch(`http://127.0.0.1:${metrics_port}/readyz`)).status;
  await until('said so', () => worker.output().includes('Temporal cannot be reached'));
  await until('beaten', async () => (await trouble()) === 'degraded: the worker does not reach Temporal');
  expect(await ready()).toBe(503);
  const first = await world.topup(await world.org('first'));

  const dir = mkdtempSync(join(tmpdir(), 'svc-outage-'));
  const temporal = await startTemporal({ port, db_file: join(dir, 'temporal.db') });
  atFileEnd(async () => {
    await temporal.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  const client = await connect(temporal);
  const status = async (id: `tup_${string}`) => (await world.workflow(client, id)).status.name;
  await until('first runs', async () => (await status(first.id)) === 'RUNNING');
  await until('healthy', async () => (await trouble()) === null);
  expect(await ready()).toBe(200);

  await temporal.kill();
  const second = await world.topup(await world.org('second'));
  for (const topup of [first, second]) {
    expect(await world.deliver(events.completed(topup, { payment: world.pay(topup) }))).toMatchObject({
      replay: false,
      topup: topup.id,
    });
    expect((await world.read(topup.id)).status).toBe('paid');
  }
  await until('degraded', async () => (await trouble()) === 'degraded: the worker does not reach Temporal');
  expect(await ready()).toBe(503);
  await world.expectRight();
  expect(world.mails()).toEqual([]);
  await until(
    'the relay gave up',
    () => worker.output().includes('starts and signals cannot be sent'),
    60_000,
  );
  await until('pauses are the longest', () => LONGEST_PAUSE.test(worker.output()), 60_000);

  await temporal.restart();
  for (const topup of [first, second]) {
    await until('made up for', async () => (await status(topup.id)) === 'COMPLETED', 60_000);
  }
  const paid = [await world.read(first.id), await world.read(second.id)];
  await until('both receipts', () => paid.every((topup) => world.receipts(topup).length === 1));
  expect(world.mails()).toHaveLength(2);
  await until('healthy', async () => (await trouble()) === null);
  await world.expectRight();

  // Whoever stops everything may have stopped Temporal first.
  await temporal.kill();
  expect(await worker.stop()).toBe(0);
});
