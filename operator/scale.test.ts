// Five hundred policies at once: each is reconciled a bounded number of times and written once, and an operator that
// starts anew writes nothing.
import { createPool } from '@svc/core/db/index.ts';
import { createProject, findOrg, type Org } from '@svc/core/orgs/index.ts';
import { expect, test, vi } from 'vitest';
import { eventually } from '../test/calls/world.ts';
import { createTestDatabase } from '../test/support/database.ts';
import { atFileEnd } from '../test/support/ends.ts';
import { startGatewayProcess } from '../test/support/gateway.ts';
import { createNamespace, sharedKubernetes } from '../test/support/kubernetes.ts';
import { provision, staffContext } from '../test/support/provision.ts';
import {
  apply,
  installDefinition,
  makeHome,
  manifest,
  type OperatorProcess,
  putToken,
  servicePolicies,
  startOperatorProcess,
  waitAllReady,
} from './test-kit.ts';

vi.setConfig({ testTimeout: 400_000 });

const POLICIES = 500;
/** One when it is made, one when its gateways follow; under load these take a look or two more. */
const RECONCILES_MAX = 4 * POLICIES;

async function makeProjects(database_url: string, org_id: string): Promise<readonly string[]> {
  const pool = createPool(database_url, { max: 2, application: 'svc-test' });
  try {
    const context = staffContext(pool);
    const org = (await findOrg(pool, org_id)) as Org;
    const ids: string[] = [];
    for (let i = 0; i < POLICIES; i++) {
      const project = { slug: `p-${i}`, name: `p-${i}`, environment: 'live' } as const;
      ids.push((await context.transaction((context) => createProject(context, org, project))).id);
    }
    return ids;
  } finally {
    await pool.end();
  }
}

async function counts(operator: OperatorProcess) {
  const calls = (call: string) =>
    operator.metric(`svc_operator_service_calls_total{call="${call}",outcome="ok"}`);
  return {
    reconciles: await operator.metric('svc_operator_reconcile_seconds_count'),
    status_writes: await operator.metric('svc_operator_status_writes_total'),
    writes: await calls('write'),
    activations: await calls('activate'),
  };
}

test('a key whose requests are limited has all its policies stored, each once, in its own time', async () => {
  const access = await sharedKubernetes();
  await installDefinition(access);
  const database_url = await createTestDatabase();
  const org = await provision({ database_url, live_micro_usd: 0 });
  const gateway = await startGatewayProcess({ database_url, env: { SVC_MANAGEMENT_RPM: '120' } });
  atFileEnd(() => gateway.kill());
  const namespace = await createNamespace(access, 'limited');
  await putToken(access, namespace, org.live_key);
  const home = await makeHome(access, { namespaces: [namespace], watched: [namespace] });
  const names = Array.from({ length: 60 }, (_, i) => `p-${i}`);
  const all = names.map((name) => manifest({ namespace, name }, { activate: false }));
  // All are there before it starts, so that it meets them at once however long a busy machine takes to store them.
  await apply(access, all.join('---\n'));
  const operator = await startOperatorProcess(home, { base_url: gateway.base_url });
  await waitAllReady(access, { namespace, count: names.length, timeout_ms: 200_000 });
  const calls = (outcome: string) =>
    operator.metric(`svc_operator_service_calls_total{call="write",outcome="${outcome}"}`);
  expect(await calls('ok')).toBe(names.length);
  const series = ['validate', 'versions', 'write'].map((call) =>
    operator.metric(`svc_operator_service_calls_total{call="${call}",outcome="rate_limit_exceeded"}`),
  );
  const limited = (await Promise.all(series)).reduce((sum, one) => sum + one, 0);
  console.log(`${limited} of the calls met the limit`);
  expect(limited).toBeGreaterThan(0);
  // The limit is met, not run against: the others wait behind the one that met it.
  expect(limited).toBeLessThan(4 * names.length);
});

test('500 policies at once are each written and activated once, with a bounded number of reconciles', async () => {
  const access = await sharedKubernetes();
  await installDefinition(access);
  const database_url = await createTestDatabase();
  const org = await provision({ database_url, live_micro_usd: 0 });
  const projects = await makeProjects(database_url, org.org_id);
  // What the standard limit does is the other test's; here it would only make a minute pass.
  const gateway = await startGatewayProcess({ database_url, env: { SVC_MANAGEMENT_RPM: '6000' } });
  atFileEnd(() => gateway.kill());
  const namespace = await createNamespace(access, 'scale');
  await putToken(access, namespace, org.live_key);
  const home = await makeHome(access, { namespaces: [namespace], watched: [namespace] });
  const start = async () => {
    const operator = await startOperatorProcess(home, {
      base_url: gateway.base_url,
      args: ['--lease-seconds', '3'],
    });
    await eventually('it leads', async () => (await operator.metric('svc_operator_leading')) === 1, 30_000);
    return operator;
  };
  const operator = await start();
  const manifests = projects.map((projectId, i) =>
    manifest({ namespace, name: `p-${i}` }, { scope: { kind: 'Project', projectId } }),
  );
  const began = performance.now();
  await apply(access, manifests.join('---\n'));
  const applied_ms = performance.now() - began;
  await waitAllReady(access, { namespace, count: POLICIES, timeout_ms: 300_000 });
  const ready_ms = performance.now() - began;
  const done = await counts(operator);
  console.log(
    `${POLICIES} policies: applied in ${(applied_ms / 1000).toFixed(1)} s, ready after ` +
      `${(ready_ms / 1000).toFixed(1)} s; ${JSON.stringify(done)}`,
  );
  expect(done).toMatchObject({ writes: POLICIES, activations: POLICIES });
  expect(done.reconciles).toBeLessThanOrEqual(RECONCILES_MAX);
  expect(done.status_writes).toBeLessThanOrEqual(2 * POLICIES);
  const stored = await servicePolicies(gateway, org.live_key);
  expect(stored.size).toBe(POLICIES);
  expect([...stored.values()].filter((one) => one.newest_version !== 1 || one.status !== 'active')).toEqual(
    [],
  );

  await operator.engine.kill();
  const next = await start();
  await eventually('it has looked at all', async () => (await counts(next)).reconciles >= POLICIES, 200_000);
  expect(await counts(next)).toEqual({ reconciles: POLICIES, status_writes: 0, writes: 0, activations: 0 });
});
