import { expect, test } from 'vitest';
import {
  changeText,
  differenceText,
  faultOfName,
  gatewaysText,
  kubectlLine,
  manifestOf,
  scopeText,
  sourceText,
  starters,
} from './words.ts';

test('a scope is the organisation, a project by its name, or an archived one by its id', () => {
  const projects = [{ id: 'prj_1', name: 'Checkout' }];
  expect([null, 'prj_1', 'prj_2'].map((id) => scopeText(id, projects))).toEqual([
    ...['Organisation', 'Checkout', 'prj_2'],
  ]);
});

test('who stored a version is the console, the API, or the object that manages it', () => {
  expect(sourceText({ createdBy: 'usr_1' })).toBe('Console');
  expect(sourceText({ createdBy: 'key_1', managedBy: null })).toBe('API');
  expect(sourceText({ createdBy: 'key_1', managedBy: 'k8s/uid/team-a/agents' })).toBe(
    'Kubernetes, team-a/agents',
  );
});

test('the command names the object and its namespace', () => {
  const manifest = manifestOf('k8s/uid/team-a/agents');
  expect(manifest && kubectlLine(manifest)).toBe('kubectl edit routingpolicy agents --namespace team-a');
  expect([manifestOf(null), manifestOf('someone')]).toEqual([null, null]);
});

test('a name is judged as the API judges it', () => {
  expect(['eu-private', '0', 'a'.repeat(63)].map(faultOfName)).toEqual([null, null, null]);
  for (const name of ['', '-a', 'EU', 'a b', 'a'.repeat(64)]) expect(faultOfName(name)).not.toBeNull();
});

test('a text differs from another one by its first choice', () => {
  const acme = { endpointId: 'ep_1', provider: 'acme' };
  const beta = { endpointId: 'ep_2', provider: 'beta' };
  expect(differenceText([acme, beta], [acme])).toBeNull();
  expect(differenceText([], [])).toBeNull();
  expect(differenceText([beta], [acme])).toBe('beta instead of acme');
  expect(differenceText([], [acme])).toBe('nobody instead of acme');
  expect(differenceText([{ ...acme, endpointId: 'ep_3' }], [acme])).toBe('another endpoint of acme');
});

test('each beginning names its policy', () => {
  for (const { yaml } of starters) expect(yaml('mine')).toContain('policy: mine\n');
});

test('how far a version has come counts up to all gateways', () => {
  expect(gatewaysText({ applied: 1, total: 3 })).toBe('applied on 1 of 3 gateways');
  expect(gatewaysText({ applied: 3, total: 3 })).toBe('applied on 3 gateways');
  expect(gatewaysText({ applied: 1, total: 1 })).toBe('applied on 1 gateway');
  expect(gatewaysText({ applied: 0, total: 0 })).toBe('no gateway is running');
});

test('activating says what the next call is routed by, and what it replaces', () => {
  const policies = [
    { name: 'base', scopes: [{ projectId: null, version: 4 }] },
    { name: 'eu', scopes: [{ projectId: 'prj_1', version: 2 }] },
  ];
  const say = (version: number, project_id: string | null, known = policies) =>
    changeText({ name: 'eu', version, project_id }, known);
  expect(say(3, 'prj_1')).toBe('The next call is routed by version 3 of eu, instead of version 2 of eu.');
  expect(say(2, 'prj_1')).toBe('It is active there already.');
  expect(say(3, 'prj_2')).toMatch(/instead of the organisation’s policy base\.$/);
  expect(say(3, null)).toMatch(/instead of version 4 of base\.$/);
  expect(say(3, null, [])).toMatch(/instead of the built-in one\.$/);
});
