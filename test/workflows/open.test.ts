// What staff see of workflows is what Temporal has: a worker looks, notes the step that fails while it fails, and forgets both
// when they are over.
import { countWorkflows, findLook, listWorkflows } from '@svc/core/workflow-starts/index.ts';
import { expect, test, vi } from 'vitest';
import { withClient } from '../support/books.ts';
import { atFileEnd } from '../support/ends.ts';
import { startTemporal } from '../support/temporal.ts';
import { events } from '../topups/world.ts';
import { startWorkflowWorld, until } from './world.ts';

vi.setConfig({ testTimeout: 150_000 });

test('a workflow is seen from its start to its end, and its failing step with tries and kind of failure', async () => {
  const world = await startWorkflowWorld();
  const temporal = await startTemporal();
  atFileEnd(() => temporal.stop());
  const seen = () => listWorkflows(world.pool, { type: null, limit: 10 });
  const topup = await world.topup(await world.org('seen'));
  const id = `topup-${topup.id}`;
  // Nobody has told Temporal yet.
  expect(await seen()).toMatchObject([{ workflow_id: id, type: 'topUp', state: 'waiting', step: null }]);
  expect(await findLook(world.pool)).toBeNull();

  const run = (text: string) => withClient(world.url, (client) => client.query(text));
  await run(`create function break_mail() returns trigger language plpgsql as $$
    begin raise exception 'asha@acme.example cannot be reached'; end $$`);
  await run('create trigger break_mail before insert on mail for each row execute function break_mail()');
  const worker = await world.worker(temporal.address);
  await until('it runs', async () => (await seen())[0]?.state === 'open', 60_000);
  await world.deliver(events.completed(topup, { payment: world.pay(topup) }));
  await until('a step fails again', async () => ((await seen())[0]?.attempt ?? 0) >= 2, 60_000);
  const [failing] = await seen();
  expect(failing).toMatchObject({ workflow_id: id, state: 'failing', failure: 'Fault: error P0001' });
  expect(JSON.stringify(failing)).not.toContain('acme');
  expect(await countWorkflows(world.pool)).toMatchObject([
    { type: 'topUp', waiting: 0, open: 0, failing: 1 },
  ]);

  await run('drop trigger break_mail on mail');
  await until('it is over', async () => (await seen()).length === 0, 90_000);
  const left = await world.pool.query({ name: '', text: 'select from workflow_failure' });
  expect([left.rows, (await findLook(world.pool))?.complete]).toEqual([[], true]);
  expect(await worker.stop()).toBe(0);
});
