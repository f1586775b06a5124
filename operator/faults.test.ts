// What goes wrong around an operator: a leader dies or sleeps, the API server or the gateway is away, a manifest changes
// while it is looked at, a namespace ends. On an API server of this file's own, with operators over all namespaces.
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { eventually } from '../test/calls/world.ts';
import { createTestDatabase } from '../test/support/database.ts';
import { atFileEnd } from '../test/support/ends.ts';
import { freshDataDir, type GatewayProcess, startGatewayProcess } from '../test/support/gateway.ts';
import { createNamespace, startKubernetes, type TestKubernetes } from '../test/support/kubernetes.ts';
import { type Provisioned, provision } from '../test/support/provision.ts';
import {
  apply,
  findPolicy,
  installDefinition,
  kubectl,
  makeHome,
  manifest,
  type OperatorProcess,
  putToken,
  SECRET,
  servicePolicies,
  startOperatorProcess,
  untilReason,
  waitReady,
} from './test-kit.ts';
import { conditionOf } from './types.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let kubernetes: TestKubernetes;
let namespace: string;
let doomed: string;
let database_url: string;
let org: Provisioned;
let gateway: GatewayProcess;
let data_dir: string;
let start: () => Promise<OperatorProcess>;
const running: OperatorProcess[] = [];

beforeAll(async () => {
  kubernetes = await startKubernetes();
  atFileEnd(() => kubernetes.stop());
  await installDefinition(kubernetes);
  database_url = await createTestDatabase();
  org = await provision({ database_url, live_micro_usd: 0 });
  data_dir = freshDataDir();
  gateway = await startGatewayProcess({ database_url, data_dir });
  atFileEnd(() => gateway.kill());
  namespace = await createNamespace(kubernetes, 'faults');
  doomed = await createNamespace(kubernetes, 'doomed');
  for (const one of [namespace, doomed]) await putToken(kubernetes, one, org.live_key);
  const home = await makeHome(kubernetes, { namespaces: [namespace, doomed] });
  start = async () => {
    const args = ['--lease-seconds', '3', '--resync-seconds', '2'];
    const operator = await startOperatorProcess(home, { base_url: gateway.base_url, args });
    running.push(operator);
    return operator;
  };
  await start();
  await leader();
});

const leads = async (operator: OperatorProcess) => (await operator.metric('svc_operator_leading')) === 1;
const writes = (operator: OperatorProcess) =>
  operator.metric('svc_operator_service_calls_total{call="write",outcome="ok"}');
/** The running operator that leads. */
function leader(): Promise<OperatorProcess> {
  return eventually(
    'one leads',
    async () => {
      for (const operator of running) if (await leads(operator)) return operator;
      return null;
    },
    30_000,
  );
}
async function gatewayBack(): Promise<void> {
  gateway = await startGatewayProcess({ database_url, data_dir, port: gateway.port });
}
const stored = (name: string) => ({ policyName: name, activate: false });
const sorted = (sort: string) => ({ policy: { defaults: { sort } } });
async function yamlOf(name: string, version: number): Promise<string> {
  const reply = await fetch(`${gateway.base_url}/v1/policies/${name}/versions/${version}`, {
    headers: { authorization: `Bearer ${org.live_key}` },
  });
  return ((await reply.json()) as { yaml: string }).yaml;
}

describe('operators', () => {
  test('a leader killed in the midst of work is followed by another, and no version is made twice', async () => {
    const first = await leader();
    const second = await start();
    await eventually('it is ready', () => second.isReady(), 30_000);
    expect(await leads(second)).toBe(false);
    const names = Array.from({ length: 30 }, (_, i) => `takeover-${i}`);
    const all = names.map((name) => manifest({ namespace, name }, stored(name))).join('---\n');
    const applied = apply(kubernetes, all);
    await eventually('the work has begun', async () => (await writes(first)) >= 3, 30_000);
    await first.engine.kill();
    running.splice(running.indexOf(first), 1);
    await applied;
    await Promise.all([leader(), kubectl(kubernetes, waitAll())]);
    expect(await leads(second)).toBe(true);
    const policies = await servicePolicies(gateway, org.live_key);
    expect(names.map((name) => policies.get(name)?.newest_version)).toEqual(names.map(() => 1));
  });
  const waitAll = () => ['wait', '--for=condition=Ready', 'rp', '--all', '-n', namespace, '--timeout=90s'];

  test('a leader that slept through its lease does not lead when it wakes', async () => {
    const sleeper = await leader();
    const other = await start();
    const written = await writes(sleeper);
    process.kill(sleeper.engine.pid, 'SIGSTOP');
    await eventually('the other leads', () => leads(other), 30_000);
    process.kill(sleeper.engine.pid, 'SIGCONT');
    await apply(kubernetes, manifest({ namespace, name: 'awake' }, stored('awake')));
    await waitReady(kubernetes, namespace, 'awake');
    await eventually('the sleeper has noticed', async () => !(await leads(sleeper)));
    expect(await leads(other)).toBe(true);
    expect(await writes(sleeper)).toBe(written);
    await sleeper.engine.stop();
    running.splice(running.indexOf(sleeper), 1);
  });

  test('an operator that is asked to end gives the lease back', async () => {
    const before = await leader();
    await before.engine.stop();
    running.splice(running.indexOf(before), 1);
    const leases = await kubectl(kubernetes, ['get', 'lease', '-A', '-o', 'json']);
    const holders = (
      JSON.parse(leases) as { items: { metadata: { name: string }; spec: { holderIdentity?: string } }[] }
    ).items
      .filter(({ metadata }) => metadata.name === 'svc-operator')
      .map(({ spec }) => spec.holderIdentity ?? '');
    expect(holders).toEqual(['']);
    await start();
    await leader();
  });

  test('after the API server was away the operator follows again', async () => {
    await kubernetes.killApiServer();
    const [operator] = running as [OperatorProcess];
    await eventually('the operator has noticed', async () => !(await operator.isReady()), 30_000);
    await kubernetes.restartApiServer();
    await apply(
      kubernetes,
      manifest({ namespace, name: 'after' }, { ...stored('after'), ...sorted('price') }),
    );
    await waitReady(kubernetes, namespace, 'after');
    await kubernetes.restartApiServer();
    await apply(
      kubernetes,
      manifest({ namespace, name: 'after' }, { ...stored('after'), ...sorted('latency') }),
    );
    await untilReason(kubernetes, { namespace, name: 'after' }, { type: 'Ready', reason: 'Ready' });
    expect(await yamlOf('after', 2)).toContain('sort: latency');
    expect((await servicePolicies(gateway, org.live_key)).get('after')?.newest_version).toBe(2);
  });
});

test('a manifest that changes while it is looked at ends at its newest generation', async () => {
  const at = { namespace, name: 'busy' };
  const sorts = ['price', 'latency', 'throughput', 'uptime', 'balanced'];
  await apply(kubernetes, manifest(at, { policyName: 'busy', ...sorted('price') }));
  for (let i = 1; i <= 12; i++) {
    const sort = sorts[i % sorts.length] as string;
    const patch = JSON.stringify({ spec: sorted(sort) });
    await kubectl(kubernetes, ['patch', 'rp', 'busy', '-n', namespace, '--type=merge', '-p', patch]);
  }
  const object = await untilReason(kubernetes, at, { type: 'Ready', reason: 'Ready' });
  expect(object.status?.observedGeneration).toBe(object.metadata.generation);
  expect(object.status?.activeVersion).toBe(object.status?.version);
  const policy = (await servicePolicies(gateway, org.live_key)).get('busy');
  expect([policy?.version, policy?.newest_version]).toEqual([object.status?.version, object.status?.version]);
  expect(await yamlOf('busy', object.status?.version ?? 0)).toContain('sort: throughput');
  await kubectl(kubernetes, ['delete', 'rp', 'busy', '-n', namespace]);
});

describe('a gateway that is away', () => {
  test('is reported, leaves no object Ready for ever, and all recover when it is back', async () => {
    const kept = { namespace, name: 'kept' };
    const late = { namespace, name: 'late' };
    await apply(kubernetes, manifest(kept, stored('kept')));
    await waitReady(kubernetes, namespace, 'kept');
    await gateway.kill();
    await apply(kubernetes, manifest(late, stored('late')));
    const silent = await untilReason(kubernetes, late, { type: 'Synced', reason: 'ServiceUnavailable' });
    expect(conditionOf(silent, 'Synced')?.message).toContain('does not answer');
    const stale = await untilReason(kubernetes, kept, { type: 'Ready', reason: 'ServiceUnavailable' });
    expect(conditionOf(stale, 'Ready')?.status).toBe('False');
    await gatewayBack();
    for (const { name } of [kept, late]) await waitReady(kubernetes, namespace, name);
    expect((await servicePolicies(gateway, org.live_key)).get('late')?.newest_version).toBe(1);
  });

  test('holds a deleted object until it is back and the policy rules no more', async () => {
    const at = { namespace, name: 'leaving' };
    await apply(kubernetes, manifest(at, { policyName: 'leaving' }));
    await waitReady(kubernetes, namespace, 'leaving');
    await gateway.kill();
    await kubectl(kubernetes, ['delete', 'rp', 'leaving', '-n', namespace, '--wait=false']);
    const held = await untilReason(kubernetes, at, { type: 'Synced', reason: 'ServiceUnavailable' });
    expect(conditionOf(held, 'Synced')?.message).toContain('deletion waits for the service');
    expect(held.metadata.finalizers).toEqual(['svc.dev/policy']);
    await gatewayBack();
    await kubectl(kubernetes, ['wait', '--for=delete', 'rp/leaving', '-n', namespace, '--timeout=60s']);
    expect((await servicePolicies(gateway, org.live_key)).get('leaving')).toMatchObject({
      ...{ status: 'draft', managed_by: null },
    });
  });
});

test('a namespace that ends takes its policies along, also when their Secret went first', async () => {
  const reported = { namespace: doomed, name: 'told' };
  const mute = { namespace: doomed, name: 'mute' };
  for (const { name } of [reported, mute]) {
    await apply(kubernetes, manifest({ namespace: doomed, name }, stored(name)));
    await waitReady(kubernetes, doomed, name);
  }
  await kubectl(kubernetes, ['delete', 'namespace', doomed, '--wait=false']);
  // What the namespace controller does, in an order that it chooses.
  await kubectl(kubernetes, ['delete', 'rp', 'told', '-n', doomed]);
  expect((await servicePolicies(gateway, org.live_key)).get('told')?.managed_by).toBeNull();
  await kubectl(kubernetes, ['delete', 'secret', SECRET, '-n', doomed]);
  const began = performance.now();
  await kubectl(kubernetes, ['delete', 'rp', 'mute', '-n', doomed, '--timeout=90s']);
  expect(performance.now() - began).toBeGreaterThan(25_000);
  expect(await findPolicy(kubernetes, doomed, 'mute')).toBeNull();
  expect((await servicePolicies(gateway, org.live_key)).get('mute')?.managed_by).toContain(`${doomed}/mute`);
});
