// Temporal away: at the worker's start, and for a minute while money comes in. Callbacks book as ever, `/readyz` says
// what is wrong, and what waited is made up for.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@svc/cli/tools/postgres.ts';
import { readWorkflowHealth } from '@svc/core/workflow-starts/index.ts';
import { expect, test, vi } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { startTemporal } from '../support/temporal.ts';
import { events } from '../topups/world.ts';
import { connect, receiptOf, startWorkflowWorld, until } from './world.ts';

vi.setConfig({ testTimeout: 180_000 });
const AWAY_MS = 60_000;

test('a minute without Temporal, and a start without it, delay what follows a payment and lose nothing', async () => {
  const world = await startWorkflowWorld();
  const trouble = async () => (await readWorkflowHealth(world.pool)).trouble;
  expect(await trouble()).toBe('degraded: no worker has run yet');
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const metrics_port = await freePort();
  const worker = await world.worker(address, { SVC_METRICS_PORT: String(metrics_port) });
  const ready = async () => (await fetch(`http://127.0.0.1:${metrics_port}/readyz`)).status;
  await until('said so', () => worker.output().includes('Temporal is away'));
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

  const gone_ms = performance.now();
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
  await until('a minute has passed', () => performance.now() - gone_ms > AWAY_MS, 2 * AWAY_MS);

  await temporal.restart();
  for (const topup of [first, second]) {
    await until('made up for', async () => (await status(topup.id)) === 'COMPLETED', 60_000);
  }
  const paid = [await world.read(first.id), await world.read(second.id)];
  expect(world.mails()).toEqual(paid.map(receiptOf).sort());
  await until('healthy', async () => (await trouble()) === null);
  await world.expectRight();

  // Whoever stops everything may have stopped Temporal first.
  await temporal.kill();
  expect(await worker.stop()).toBe(0);
});
