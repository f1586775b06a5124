// What programs that have no connection to Temporal report about workflows.
import { createPool, writeSetting } from '@svc/core/db/index.ts';
import {
  beat,
  markSignalled,
  markStarted,
  purgeWorkflows,
  readWorkflowHealth,
  signalWorkflow,
  startWorkflow,
  takeSignals,
} from '@svc/core/workflow-starts/index.ts';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { atFileEnd } from '../support/ends.ts';
import { staffContext } from '../support/provision.ts';
import { startTestGateway } from '../support/shared-gateway.ts';

const url = await createTestDatabase();
const pool = createPool(url, { max: 2, role: 'svc_runtime' });
atFileEnd(() => pool.end());
const trouble = async () => (await readWorkflowHealth(pool)).trouble;

async function beatenAgo(seconds: number): Promise<void> {
  const value = { worker: 'w', temporal: true, at_ms: Date.now() - seconds * 1_000 };
  await writeSetting(pool, { name: 'workflows.worker', value, at: new Date() });
}

test('without a worker, with a silent one, with one that misses Temporal, with starts that wait: degraded, and why', async () => {
  expect(await trouble()).toBe('degraded: no worker has run yet');
  await beatenAgo(31);
  // Whole seconds, and one more may begin meanwhile.
  expect(await trouble()).toMatch(/^degraded: no worker since 3[1-9] s$/);
  await beat(pool, { worker: 'w', temporal: false });
  expect(await trouble()).toBe('degraded: the worker does not reach Temporal');
  await beat(pool, { worker: 'w', temporal: true });
  expect(await trouble()).toBeNull();
  await staffContext(pool).transaction(async ({ db }) => {
    const at = new Date(Date.now() - 40_000);
    await startWorkflow(db, { workflow_id: 'topup-waits', type: 'topUp', args: {}, at });
  });
  expect(await trouble()).toMatch(/^degraded: 1 not started, the oldest since 4\d s$/);
});

// docs/outcomes.md#temporal-away
test('a gateway serves without workflows and says in /readyz that they are degraded', async () => {
  const gateway = await startTestGateway({ database_url: await createTestDatabase() });
  atFileEnd(() => gateway.stop());
  const reply = await fetch(`${gateway.base_url}/readyz`);
  expect(reply.status).toBe(200);
  expect(await reply.json()).toMatchObject({
    status: 'ready',
    missing: [],
    parts: { workflows: { ok: false, critical: false, detail: 'degraded: no worker has run yet' } },
  });
});

test('what Temporal was told long ago is forgotten, what it was not told of never', async () => {
  const day = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 86_400_000);
  await staffContext(pool).transaction(async ({ db }) => {
    for (const workflow_id of ['old', 'old-untold-signal', 'recent', 'untold']) {
      await startWorkflow(db, { workflow_id, type: 'topUp', args: {}, at: day(0) });
      if (workflow_id !== 'untold') {
        await markStarted(db, { workflow_id, at: workflow_id === 'recent' ? day(11) : day(1) });
      }
      await signalWorkflow(db, { workflow_id, name: 'booked', args: {}, at: day(1) });
    }
    await startWorkflow(db, { workflow_id: 'endless', type: 'mandate', args: {}, at: day(0) });
    await markStarted(db, { workflow_id: 'endless', at: day(0) });
    for (const { signal_id, workflow_id } of await takeSignals(db)) {
      if (workflow_id !== 'old-untold-signal') await markSignalled(db, { signal_id, at: day(2) });
    }
  });
  expect(await purgeWorkflows(pool, day(91))).toBe(0);
  expect(await purgeWorkflows(pool, day(100))).toBe(2);
  const { rows } = await pool.query<{ workflow_id: string }>({
    name: 'test.starts',
    text: `select workflow_id from workflow_start where created_at = $1 order by workflow_id`,
    values: [day(0)],
  });
  expect(rows.map(({ workflow_id }) => workflow_id)).toEqual([
    'endless',
    'old-untold-signal',
    'recent',
    'untold',
  ]);
});
