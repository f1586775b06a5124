// What an object may point the operator at. The API is asked only for what a test lists; no address is called.
import { expect, test } from 'vitest';
import type { KubernetesApi } from '../cluster/kubernetes.ts';
import { openMetrics } from '../metrics.ts';
import { openRateGate } from '../rate-gate.ts';
import type { RoutingPolicy, RoutingPolicySpec } from '../types.ts';
import { Blocked, holderOf, policyNameOf, serviceOf } from './gather.ts';

const metrics = openMetrics({
  queueDepth: () => 0,
  isLeading: () => true,
  objects: () => [],
  accessObjects: () => [],
});
const settings = { base_url: 'https://svc.example', allowed_base_urls: ['https://two.example/gw'] };

function object(spec: Partial<RoutingPolicySpec>, name = 'agents'): RoutingPolicy {
  return {
    ...{ apiVersion: 'svc.dev/v1alpha1', kind: 'RoutingPolicy' },
    metadata: {
      ...{ name, namespace: 'team-a', uid: 'u', resourceVersion: '1', generation: 1 },
      creationTimestamp: '2026-11-21T09:00:00Z',
    },
    spec: {
      connection: { credentialsSecretRef: { name: 's' } },
      scope: { kind: 'Org' },
      policy: {},
      ...spec,
    },
  };
}

/** An API that returns `answer` for every object and records what was asked. */
function api(answer: object): KubernetesApi & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    async ask<T>(_method: string, path: string): Promise<T> {
      asked.push(path);
      return answer as T;
    },
    async *watch() {},
    close() {},
  };
}
const secretOf = (token: string) => ({ data: { token: Buffer.from(token).toString('base64') } });
const open = (from: KubernetesApi, one: RoutingPolicy) =>
  serviceOf(
    { api: from, settings, metrics, gate: openRateGate(1), isLeading: () => true },
    one,
    'k8s/c1/team-a/agents',
  );

test.each(['../../team-b/secrets/s', '../..', '..', 'a/b', 'a%2Fb', 'A', '', 'a?x', '-a'])(
  'the Secret name %j asks nothing of the API',
  async (name) => {
    const from = api(secretOf('svc-live-x'));
    const one = object({ connection: { credentialsSecretRef: { name } } });
    await expect(open(from, one)).rejects.toThrow('is not the name of a Secret');
    expect(from.asked).toEqual([]);
  },
);

test.each(['', 'two words', 'two\nlines', 'ünicode', 'x'.repeat(513)])(
  'the token %j is refused without being shown',
  async (token) => {
    const fault = (await open(api(secretOf(token)), object({})).catch((error: unknown) => error)) as Blocked;
    expect(fault).toBeInstanceOf(Blocked);
    expect(fault.obstacle.reason).toBe('CredentialsMissing');
    if (token !== '') expect(fault.message).not.toContain(token);
  },
);

test('a key that objects have anyway is no key of a Secret', async () => {
  const one = object({ connection: { credentialsSecretRef: { name: 's', key: 'constructor' } } });
  await expect(open(api({ data: {} }), one)).rejects.toThrow('has no key constructor');
});

test.each([
  ['https://svc.example', true],
  ['https://svc.example/', true],
  ['https://two.example/gw', true],
  ['https://two.example', false],
  ['https://svc.example.evil.test', false],
  ['https://svc.example/other', false],
  ['http://svc.example', false],
  ['https://SVC.example', false],
])('the address %s is used: %s', async (baseUrl, is_allowed) => {
  const from = api(secretOf('svc-live-x'));
  const opened = open(from, object({ connection: { baseUrl, credentialsSecretRef: { name: 's' } } }));
  if (is_allowed) await opened;
  else {
    await expect(opened).rejects.toThrow('not among');
    expect(from.asked).toEqual([]);
  }
});

test('a name that no policy can have is reported, and policyName is a way out', () => {
  expect(policyNameOf(object({}))).toBe('team-a-agents');
  expect(() => policyNameOf(object({}, 'my.agents'))).toThrow('spec.policyName');
  expect(() => policyNameOf(object({}, 'a'.repeat(60)))).toThrow('at most 63');
  expect(policyNameOf(object({ policyName: 'mine' }, 'my.agents'))).toBe('mine');
});

test('the holder is looked up by its name alone, and of another cluster not at all', async () => {
  const younger = object({});
  const ask = async (held_by: string, answer: object = object({}, 'a')) => {
    const from = api(answer);
    const holder = await holderOf(from, younger, { manifest: 'k8s/c1/team-a/agents', held_by });
    return [holder.age, from.asked.length];
  };
  expect(await ask('k8s/c1/team-a/a')).toEqual(['older', 1]);
  expect(await ask('k8s/c1/team-a/b', object({}, 'b'))).toEqual(['younger', 1]);
  expect(await ask('k8s/c2/team-a/a')).toEqual(['unknown', 0]);
  expect(await ask('k8s/c1/../a')).toEqual(['unknown', 0]);
  expect(await ask('somebody')).toEqual(['unknown', 0]);
});
