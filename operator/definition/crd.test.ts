// The definition on a real API server: it is structural, says what is wrong, and is what the chart installs.
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  createNamespace,
  type KubernetesAccess,
  runKubectl,
  sharedKubernetes,
} from '../../test/support/kubernetes.ts';
import { accessKinds, plurals } from '../access/types.ts';
import { apply, CRD_FILE, installDefinition, kubectl, manifest } from '../test-kit.ts';
import { accessYaml } from './access-crds.ts';
import { routingPolicyYaml } from './crd.ts';

let access: KubernetesAccess;
let namespace: string;

beforeAll(async () => {
  access = await sharedKubernetes();
  await installDefinition(access);
  namespace = await createNamespace(access, 'definition');
}, 90_000);

test('the committed definition is the generated one', () => {
  expect(readFileSync(CRD_FILE, 'utf8')).toBe(routingPolicyYaml());
  for (const kind of accessKinds) {
    const file = new URL(`../../charts/svc-crds/templates/${plurals[kind]}.yaml`, import.meta.url);
    expect(readFileSync(file, 'utf8')).toBe(accessYaml(kind));
  }
});

test('the API server takes the schema as structural, whole', async () => {
  const { status, spec } = JSON.parse(
    await kubectl(access, ['get', 'crd', 'routingpolicies.svc.dev', '-o', 'json']),
  );
  const conditions = status.conditions as { type: string; status: string; message: string }[];
  expect(conditions.filter(({ type }) => type === 'NonStructuralSchema')).toEqual([]);
  expect(spec.names.shortNames).toEqual(['rp']);
  expect(spec.preserveUnknownFields ?? false).toBe(false);
});

test('get takes the short name, and explain shows the grammar', async () => {
  for (const name of ['rp', 'routingpolicies', 'routingpolicy', 'routingpolicies.svc.dev']) {
    expect((await runKubectl(access, ['get', name, '-n', namespace])).stderr).toContain('No resources found');
  }
  const explained = await kubectl(access, ['explain', 'rp.spec.policy.rules.match.input_tokens']);
  expect(explained).toMatch(/max\s+<integer>[\s\S]*min\s+<integer>/);
  expect(await kubectl(access, ['explain', 'rp.spec.policy.rules.lock'])).toContain('may not change');
});

// kubectl expands a category before it looks at short names: a category `svc` once took `kubectl get svc` from Services.
test('no name of Kubernetes means a policy: what lists Services and all else lists what it did', async () => {
  await apply(access, manifest({ namespace, name: 'beside' }, { policy: {} }));
  const names = await kubectl(access, ['api-resources', '--no-headers', '-o', 'wide']);
  const rows = names
    .trim()
    .split('\n')
    .filter((row) => !row.includes('svc.dev/'));
  const words = new Set([
    'all',
    'svc',
    ...rows.flatMap((row) =>
      row
        .trim()
        .split(/\s{2,}|,|\s/)
        .slice(0, 4),
    ),
  ]);
  expect(words.size).toBeGreaterThan(60);
  expect([...words].filter((word) => ['rp', 'routingpolicy', 'routingpolicies'].includes(word))).toEqual([]);
  expect(await kubectl(access, ['get', 'svc', '-n', 'default', '-o', 'name'])).toBe('service/kubernetes\n');
  for (const word of ['svc', 'services', 'all']) {
    const { stdout } = await runKubectl(access, ['get', word, '-n', namespace, '-o', 'name']);
    expect(stdout).not.toContain('routingpolic');
  }
});

test('every field of the definition has a sentence', () => {
  type Schema = { properties?: Record<string, Schema & { description?: string }>; items?: Schema };
  const definition = parse(routingPolicyYaml());
  const mute: string[] = [];
  const walk = (schema: Schema, at: string): void => {
    for (const [key, member] of Object.entries(schema.properties ?? {})) {
      // The API server writes the words of `metadata`.
      if (at === '' && key === 'metadata') continue;
      if (!/^[A-Z].*[.]$/.test(member.description ?? '')) mute.push(`${at}.${key}`);
      walk(member, `${at}.${key}`);
    }
    if (schema.items !== undefined) walk(schema.items, at);
  };
  walk(definition.spec.versions[0].schema.openAPIV3Schema, '');
  expect(mute).toEqual([]);
});

const rules = (...list: object[]) => ({ policy: { rules: list } });
const secret = (name: string) => ({ connection: { credentialsSecretRef: { name } } });
const prj = 'prj_01JD0000000000000000000003';
const refusals: readonly [string, Record<string, unknown>, string][] = [
  ['a sort that is none', { policy: { defaults: { sort: 'fast' } } }, 'spec.policy.defaults.sort'],
  [
    'an unknown key',
    { policy: { defaults: { sorts: 'price' } } },
    'unknown field "spec.policy.defaults.sorts"',
  ],
  ['a scalar for a list', rules({ match: { models: 'acme/*' } }), 'spec.policy.rules[0].match.models'],
  ['too many attempts', { policy: { defaults: { max_attempts: 7 } } }, 'spec.policy.defaults.max_attempts'],
  ['a rule without match', rules({ sort: 'price' }), 'spec.policy.rules[0].match'],
  [
    'deny beside an action',
    rules({ match: {}, deny: {}, sort: 'price' }),
    'a rule has deny or actions, not both',
  ],
  [
    'two rules of one name',
    rules({ name: 'a', match: {} }, { name: 'a', match: {} }),
    'rule names must differ',
  ],
  [
    'a project scope without project',
    { scope: { kind: 'Project' } },
    'projectId or projectRef is given with kind Project',
  ],
  [
    'a project by its id and by its object',
    { scope: { kind: 'Project', projectId: prj, projectRef: { name: 'search' } } },
    'one of projectId and projectRef is given',
  ],
  [
    'an org scope with a Project object',
    { scope: { kind: 'Org', projectRef: { name: 'search' } } },
    'projectId or projectRef is given with kind',
  ],
  [
    'a Project object by a path',
    { scope: { kind: 'Project', projectRef: { name: '../other/search' } } },
    'spec.scope.projectRef.name',
  ],
  [
    'an org scope with a project',
    { scope: { kind: 'Org', projectId: prj } },
    'projectId or projectRef is given with kind',
  ],
  [
    'a project id of another form',
    { scope: { kind: 'Project', projectId: 'prj_1' } },
    'spec.scope.projectId',
  ],
  ['a policy name with capitals', { policyName: 'Main' }, 'spec.policyName'],
  ['no policy', { policy: undefined }, 'spec.policy'],
  ['no credentials', { connection: {} }, 'spec.connection.credentialsSecretRef'],
  ['a Secret of another path', secret('../../other/secrets/x'), 'credentialsSecretRef.name'],
  ['another drift policy', { driftPolicy: 'Ignore' }, 'spec.driftPolicy'],
];

describe('the API server refuses', () => {
  test.each(refusals)('%s, and says where', async (_, spec, words) => {
    const { code, stderr } = await runKubectl(
      access,
      ['apply', '--dry-run=server', '-f', '-'],
      manifest({ namespace, name: 'refused' }, spec),
    );
    expect(code).not.toBe(0);
    expect(stderr).toContain(words);
  });

  test.each([
    ['policyName', { policyName: 'one' }, { policyName: 'two' }, 'policyName is immutable'],
    ['policyName that comes later', {}, { policyName: 'two' }, 'policyName is immutable'],
    ['policyName that goes', { policyName: 'one' }, {}, 'policyName is immutable'],
    ['scope', {}, { scope: { kind: 'Project', projectId: prj } }, 'scope is immutable'],
  ])('a change of %s', async (what, before, after, words) => {
    const name = what.toLowerCase().replaceAll(' ', '-');
    await kubectl(access, ['create', '-f', '-'], manifest({ namespace, name }, before));
    const text = manifest({ namespace, name }, after);
    const { code, stderr } = await runKubectl(access, ['replace', '-f', '-'], text);
    expect(code).not.toBe(0);
    expect(stderr).toContain(words);
  });
});

test('what is left out has its default, and a whole policy is taken as it is', async () => {
  const policy = {
    description: 'Everything that a manifest can say',
    defaults: {
      ...{ sort: 'balanced', weights: { price: 0.5, latency: 0.25 }, max_attempts: 4, fallbacks: true },
      require: { zdr: true, regions: ['eu'], max_price: { input: 1.5, output: 0 }, min_uptime: 0.99 },
    },
    rules: [
      { name: 'guests', match: { metadata: { team: ['guests', 'intern-*'] } }, deny: { message: 'No' } },
      { match: { not: { environments: ['test'] } }, continue: true, lock: ['sort'] },
    ],
  };
  await kubectl(access, ['apply', '-f', '-'], manifest({ namespace, name: 'whole' }, { policy }));
  const { spec } = JSON.parse(await kubectl(access, ['get', 'rp', 'whole', '-n', namespace, '-o', 'json']));
  expect(spec).toEqual({
    connection: { credentialsSecretRef: { name: 'svc-policies', key: 'token' } },
    ...{
      scope: { kind: 'Org' },
      activate: true,
      driftPolicy: 'Correct',
      deletionPolicy: 'Deactivate',
      policy,
    },
  });
});
