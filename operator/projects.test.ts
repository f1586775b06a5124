// Policies that name a Project object, on a real API server and a gateway: in whichever order they are applied, and whatever
// becomes of the Project, a policy rules one project and is taken back from that one.
import { beforeAll, expect, test, vi } from 'vitest';
import { eventually } from '../test/calls/world.ts';
import { openPolicyWorld, type PolicyWorld, traced } from '../test/policies/world.ts';
import type { KubernetesAccess } from '../test/support/kubernetes.ts';
import { callKubernetes, createNamespace, sharedKubernetes } from '../test/support/kubernetes.ts';
import type { Provisioned } from '../test/support/provision.ts';
import {
  apply,
  findPolicy,
  installDefinition,
  kubectl,
  makeHome,
  manifest,
  putToken,
  SECRET,
  servicePolicies,
  startOperatorProcess,
  untilReason,
  waitReady,
} from './test-kit.ts';
import { yamlText } from './text.ts';
import { conditionOf } from './types.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const MODEL = 'acme/cheap';
let access: KubernetesAccess;
let namespace: string;
let unmanaged: string;
let world: PolicyWorld;
let org: Provisioned;

beforeAll(async () => {
  access = await sharedKubernetes();
  for (const plural of ['routingpolicies', 'projects', 'apikeys']) await installDefinition(access, plural);
  world = await openPolicyWorld();
  org = await world.org();
  namespace = await createNamespace(access, 'scoped');
  unmanaged = await createNamespace(access, 'unmanaged');
  for (const [one, manage] of [
    [namespace, ['Project', 'ApiKey']],
    [unmanaged, []],
  ] as const) {
    await putToken(access, one, org.live_key);
    const home = await makeHome(access, {
      ...{ namespaces: [one], watched: [one], manage, issued: ['early', 'moved'] },
    });
    const args = ['--resync-seconds', '2'];
    const operator = await startOperatorProcess(home, { base_url: world.one.base_url, args });
    await eventually('the operator is ready', () => operator.isReady(), 30_000);
  }
});

const connection = { credentialsSecretRef: { name: SECRET } };
const object = (kind: string, name: string, spec: object) =>
  yamlText({
    ...{ apiVersion: 'svc.dev/v1alpha1', kind, metadata: { name, namespace } },
    spec: { connection, ...spec },
  });
const policyOf = (name: string, project: string, at = namespace) =>
  manifest({ namespace: at, name }, { scope: { kind: 'Project', projectRef: { name: project } } });
const policyName = (name: string) => `${namespace}-${name}`;

/** The policy that rules a call with `key`. */
async function ruling(key: string): Promise<string> {
  return traced(await world.chat(world.one, key, MODEL).reply, 'policy') ?? '';
}

/** A key of the project of `project`, from the Secret that its object writes. */
async function keyIn(project: string): Promise<string> {
  const spec = { projectRef: { name: project }, scopes: ['inference'], secretRef: { name: project } };
  await apply(access, object('ApiKey', project, spec));
  const ready = ['wait', '--for=condition=Ready', `ak/${project}`, '-n', namespace, '--timeout=60s'];
  await kubectl(access, ready);
  const path = `/api/v1/namespaces/${namespace}/secrets/${project}`;
  const { data } = JSON.parse((await callKubernetes(access, path)).text) as { data: Record<string, string> };
  return Buffer.from(data['api-key'] ?? '', 'base64').toString();
}

test('a policy that is there before its project waits, rules the project alone, and is taken back without the object', async () => {
  const at = { namespace, name: 'early' };
  await apply(access, policyOf('early', 'early'));
  const waiting = await untilReason(access, at, { type: 'Accepted', reason: 'ProjectNotReady' });
  expect(conditionOf(waiting, 'Accepted')?.message).toBe(
    `spec.scope.projectRef: there is no Project ${namespace}/early`,
  );
  expect((await servicePolicies(world.one, org.live_key)).has(policyName('early'))).toBe(false);
  expect(waiting.metadata.finalizers ?? []).toEqual([]);

  await apply(access, object('Project', 'early', { slug: 'early' }));
  await waitReady(access, namespace, 'early');
  const shown = await findPolicy(access, namespace, 'early');
  expect(shown?.status?.projectId).toMatch(/^prj_/);
  const key = await keyIn('early');
  expect(await ruling(key)).toBe(`${policyName('early')}/1`);
  expect(await ruling(org.live_key)).toBe('default');

  // The object of the project goes, the project stays, and with it the policy that rules it.
  await kubectl(access, ['delete', 'projects.svc.dev', 'early', '-n', namespace]);
  const left = await untilReason(access, at, { type: 'Accepted', reason: 'ProjectNotReady' });
  expect(left.status?.projectId).toBe(shown?.status?.projectId);
  expect(await ruling(key)).toBe(`${policyName('early')}/1`);
  await kubectl(access, ['delete', 'rp', 'early', '-n', namespace]);
  expect(await ruling(key)).toBe('default');
  const policy = (await servicePolicies(world.one, org.live_key)).get(policyName('early'));
  expect(policy).toMatchObject({ status: 'draft', managed_by: null });
});

test('another project under the same name does not get the policy of the one before', async () => {
  const at = { namespace, name: 'moved' };
  await apply(access, object('Project', 'moved', { slug: 'before' }));
  await apply(access, policyOf('moved', 'moved'));
  await waitReady(access, namespace, 'moved');
  const before = (await findPolicy(access, namespace, 'moved'))?.status?.projectId;
  await kubectl(access, ['delete', 'projects.svc.dev', 'moved', '-n', namespace]);
  await apply(access, object('Project', 'moved', { slug: 'after' }));
  const refused = await untilReason(access, at, { type: 'Accepted', reason: 'InvalidSpec' });
  expect(conditionOf(refused, 'Accepted')?.message).toContain(`and this policy is of ${before}`);
  expect(refused.status?.projectId).toBe(before);
  expect(await ruling(await keyIn('moved'))).toBe('default');

  // Applied again it is of the project that there is now.
  await kubectl(access, ['delete', 'rp', 'moved', '-n', namespace]);
  await apply(access, policyOf('moved', 'moved'));
  await waitReady(access, namespace, 'moved');
  const after = (await findPolicy(access, namespace, 'moved'))?.status?.projectId;
  expect(after).not.toBe(before);
  expect(await ruling(await keyIn('moved'))).toBe(`${policyName('moved')}/1`);
});

test('an operator that does not manage projects says so, and an object that waited goes at once', async () => {
  const at = { namespace: unmanaged, name: 'nobody' };
  await apply(access, policyOf('nobody', 'search', unmanaged));
  const waiting = await untilReason(access, at, { type: 'Ready', reason: 'ProjectNotReady' });
  expect(conditionOf(waiting, 'Accepted')?.message).toBe(
    'spec.scope.projectRef: the operator may not read Projects; it manages them with --manage Project',
  );
  await kubectl(access, ['delete', 'rp', 'nobody', '-n', unmanaged]);
  expect(await findPolicy(access, unmanaged, 'nobody')).toBeNull();
});
