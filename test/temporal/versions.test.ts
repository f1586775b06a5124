// A release under running workflows, by versions of a worker deployment: the new version takes a part of the runs, then all of
// them, those that the old one began too; the old one is stopped once nothing needs it.
import type { Topup } from '@svc/core/topups/index.ts';
import { expect, test } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { startTemporal } from '../support/temporal.ts';
import { events } from '../topups/world.ts';
import { connect, startWorkflowWorld, until } from '../workflows/world.ts';

const world = await startWorkflowWorld();
const temporal = await startTemporal();
atFileEnd(() => temporal.stop());
const client = await connect(temporal);
const { namespace } = temporal;
const { workflowService } = client;
const NAME = { namespace, deploymentName: 'svc', identity: 'test' };
let serial = 0;
const fresh = async () => world.topup(await world.org(`version-${++serial}`));
const worker = (build_id: string) =>
  world.worker(temporal.address, { SVC_TEMPORAL_DEPLOYMENT: 'svc', SVC_TEMPORAL_BUILD_ID: build_id });

/** Which version did the last task of the run; null: none yet. */
async function versionOf(topup: Topup): Promise<string | null> {
  const { raw } = await world.workflow(client, topup.id);
  const { versioningInfo } = raw.workflowExecutionInfo ?? {};
  return versioningInfo?.deploymentVersion?.buildId ?? null;
}

const begun = (topup: Topup) =>
  until('a version works on it', () => versionOf(topup).catch(() => null), 60_000);
const makeCurrent = (buildId: string) =>
  until(`${buildId} is current`, async () => {
    await workflowService.setWorkerDeploymentCurrentVersion({ ...NAME, buildId });
    return true;
  });

async function finish(topup: Topup): Promise<void> {
  await world.deliver(events.completed(topup, { payment: world.pay(topup) }));
  await until(
    'it ended',
    async () => (await world.workflow(client, topup.id)).status.name === 'COMPLETED',
    60_000,
  );
}

test('a new version takes a part of the runs, then all, and the old one is stopped with runs of its own under way', async () => {
  const first = await worker('one');
  await makeCurrent('one');
  const old = [await fresh(), await fresh(), await fresh()] as const;
  for (const topup of old) expect(await begun(topup)).toBe('one');

  // The new version gets nothing to do before it is asked to.
  const second = await worker('two');
  const before = await fresh();
  expect(await begun(before)).toBe('one');
  await until('half of the new runs go to it', async () => {
    await workflowService.setWorkerDeploymentRampingVersion({ ...NAME, buildId: 'two', percentage: 50 });
    return true;
  });
  const seen = new Set<string | null>();
  await until(
    'runs on both',
    async () => {
      seen.add(await begun(await fresh()));
      return seen.has('one') && seen.has('two');
    },
    120_000,
  );
  // While both work, each ends what it is given.
  await finish(old[0]);

  await makeCurrent('two');
  expect(await begun(await fresh())).toBe('two');
  // What version one began goes on with version two at its next step.
  await finish(old[1]);
  expect(await versionOf(old[1])).toBe('two');
  const described = await workflowService.describeWorkerDeployment({ namespace, deploymentName: 'svc' });
  const { routingConfig } = described.workerDeploymentInfo ?? {};
  expect(routingConfig?.currentDeploymentVersion?.buildId).toBe('two');
  expect(routingConfig?.rampingDeploymentVersion ?? null).toBe(null);
  // No run is pinned to it, so nothing waits for it: it can be stopped while runs that it began are under way.
  const { count } = await client.workflow.count(
    `ExecutionStatus = 'Running' AND TemporalWorkflowVersioningBehavior = 'Pinned'`,
  );
  expect(count).toBe(0);
  expect(await first.stop()).toBe(0);
  await finish(old[2]);
  expect(await versionOf(old[2])).toBe('two');

  // And back: the release is taken back while its runs are under way.
  const back = await worker('one');
  const young = await fresh();
  expect(await begun(young)).toBe('two');
  await makeCurrent('one');
  expect(await second.stop()).toBe(0);
  await finish(young);
  expect(await versionOf(young)).toBe('one');
  await back.stop();
  await world.expectRight();
}, 400_000);
