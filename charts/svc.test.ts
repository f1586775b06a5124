import { join } from 'node:path';
import { settings } from '@svc/core/kernel/index.ts';
import { runHelm } from '@svc/test/support/kubernetes.ts';
import { describe, expect, test } from 'vitest';
import {
  accessRules,
  clusterNameRules,
  issuedSecretRules,
  leaseRules,
  secretRules,
  watchRules,
} from '../operator/definition/rbac.ts';
import {
  containerOf,
  crds,
  environmentOf,
  find,
  type Manifest,
  named,
  podOf,
  programs,
  readText,
  render,
  renderObjects,
  svc,
  tryRender,
  valueSets,
} from './render.ts';
import { listValues, readSchema, readValues, type Schema, withTable } from './values-table.ts';

describe('rendering', () => {
  test.each(valueSets)('%s renders to its golden file', async (values) => {
    await expect(await render(values)).toMatchFileSnapshot(join(svc, 'golden', `${values}.yaml`));
  });

  test.each(valueSets)('helm lint --strict finds nothing in %s', async (values) => {
    const { code, stdout } = await runHelm([
      'lint',
      '--strict',
      svc,
      '--values',
      join(svc, `../values/${values}.yaml`),
    ]);
    expect(code, stdout).toBe(0);
  });

  test('helm lint --strict finds nothing in svc-crds', async () => {
    const { code, stdout } = await runHelm(['lint', '--strict', crds]);
    expect(code, stdout).toBe(0);
  });

  test('both charts have the version of the product', () => {
    const { version } = JSON.parse(readText('../package.json')) as { version: string };
    for (const chart of ['svc', 'svc-crds']) {
      expect(readText(chart, 'Chart.yaml')).toContain(`\nappVersion: ${version}\n`);
    }
  });
});

describe('what makes no sense is refused in a sentence', () => {
  const on = { set: {} };
  test.each<[string, Record<string, unknown>, RegExp]>([
    [
      'a name that is not there',
      { 'gateway.replica': 2 },
      /'\/gateway'.*additional properties 'replica' not allowed/,
    ],
    [
      'a number out of bounds',
      { 'gateway.drainSeconds': -1 },
      /'\/gateway\/drainSeconds': minimum: got -1, want 0/,
    ],
    ['text for a number', { 'admin.replicas': 'two' }, /'\/admin\/replicas': got string, want integer/],
    ['an address with a path', { baseUrl: 'https://llm.example/v1' }, /'\/baseUrl'.*does not match pattern/],
    [
      'a log level that no program knows',
      { logLevel: 'verbose' },
      /'\/logLevel'.*'debug', 'info', 'warn', 'error'/,
    ],
    [
      'a password among the values',
      { 'postgres.password': 'x' },
      /additional properties 'password' not allowed/,
    ],
    ['no address', { baseUrl: '' }, /baseUrl: give the public address/],
    ['cookies in the clear', { baseUrl: 'http://llm.example' }, /baseUrl: .*in the clear/],
    [
      'no database',
      { 'postgres.existingSecret.name': '' },
      /postgres\.existingSecret\.name: name the Secret/,
    ],
    ['no key ring', { 'keyRing.existingSecret.name': '' }, /keyRing\.existingSecret\.name: name the Secret/],
    [
      'two gateways without Redis',
      { 'gateway.replicas': 2 },
      /redis\.existingSecret\.name: more than one gateway/,
    ],
    [
      'autoscaling without Redis',
      { 'gateway.autoscaling.enabled': true },
      /redis\.existingSecret\.name: more than one/,
    ],
    [
      'autoscaling upside down',
      { 'gateway.autoscaling.minReplicas': 9, 'gateway.autoscaling.maxReplicas': 3 },
      /minReplicas is above maxReplicas/,
    ],
    ['a worker without Temporal', { 'worker.enabled': true }, /temporal\.address: the worker needs/],
    [
      'an API key in the clear',
      { 'temporal.apiKey.existingSecret.name': 'temporal' },
      /temporal\.tls\.enabled: certificates and an API key/,
    ],
    [
      'a certificate without its key',
      { 'temporal.tls': { enabled: true, existingSecret: { name: 'temporal', certKey: 'tls.crt' } } },
      /certKey and keyKey belong together/,
    ],
    [
      'a rail with a key id and no secrets',
      { 'rails.b.keyId': 'pk_live_example' },
      /rails\.b\.existingSecret\.name: rail-b has/,
    ],
    [
      'a rail-a with secrets and no key id',
      { 'rails.a.existingSecret.name': 'svc-rail-a' },
      /rails\.a\.keyId: rail-a has secrets/,
    ],
    [
      'a namespace watched twice',
      { 'operator.watchNamespaces': ['team-a', 'team-a'] },
      /'\/operator\/watchNamespaces'.*items at 0 and 1 are equal/,
    ],
    [
      'an Ingress for every host',
      { 'gateway.ingress.enabled': true },
      /gateway\.ingress\.host: an Ingress without/,
    ],
    [
      'providers twice',
      { 'providers.file': 'version: 1', 'providers.existingConfigMap': 'mine' },
      /providers: give either/,
    ],
    [
      'a setting among the keys of providers',
      { 'providers.keys': [{ env: 'SVC_DEV', secretName: 'a', secretKey: 'b' }] },
      /providers\.keys: SVC_DEV is no key of a provider/,
    ],
    [
      'metrics that nobody may scrape',
      { 'serviceMonitor.enabled': true },
      /networkPolicy\.metricsFrom: say where/,
    ],
    [
      'an operator without a gateway',
      { 'gateway.enabled': false, 'operator.enabled': true },
      /operator\.gatewayUrl: without a gateway/,
    ],
  ])('%s', async (_name, set, message) => {
    expect((await tryRender('minimal', on)).code).toBe(0);
    const { code, stderr } = await tryRender('minimal', { set });
    expect(code).not.toBe(0);
    expect(stderr.replaceAll('\n', ' ')).toMatch(message);
  });

  test('the defaults alone: what must be given is asked for by name', async () => {
    const { code, stderr } = await tryRender(null);
    expect(code).not.toBe(0);
    expect(stderr).toContain('postgres.existingSecret.name');
  });
});

describe('values', () => {
  const schema = readSchema();

  test('README.md has the table of values.yaml and values.schema.json (node charts/values-table.ts)', () => {
    const readme = readText('svc/README.md');
    expect(readme).toBe(withTable(readme));
  });

  test('schema and defaults have the same values', () => {
    const leaves = (value: unknown, part: Schema, prefix: string): string[] =>
      part.properties === undefined
        ? [prefix]
        : Object.entries(value as object).flatMap(([name, inner]) =>
            leaves(inner, part.properties?.[name] ?? {}, prefix === '' ? name : `${prefix}.${name}`),
          );
    expect(leaves(readValues(), schema, '')).toEqual(listValues(schema, readValues()).map(([path]) => path));
  });

  test('every group refuses names it does not know, and every value has a sentence', () => {
    const walk = (part: Schema, path: string): void => {
      expect(part.description ?? '', path).toMatch(/^.{4,}[.]$/);
      if (part.properties === undefined) return;
      expect(part.additionalProperties, path).toBe(path === 'global');
      for (const [name, inner] of Object.entries(part.properties)) walk(inner, `${path}/${name}`);
    };
    walk(schema, '');
  });
});

describe('safety', () => {
  test('no Secret is made, and every secret comes from one that exists', async () => {
    const objects = await renderObjects('production');
    expect(named(objects, 'Secret')).toEqual([]);
    const secret = Object.values(settings).filter(({ secret }) => secret === true);
    for (const program of programs(objects)) {
      for (const { name, value } of containerOf(program)['env']) {
        if (secret.some(({ env }) => env === name)) expect(value, name).toBeUndefined();
      }
    }
  });

  test('pods are given more time to end than their calls may take', async () => {
    const set = { 'gateway.drainSeconds': 1200, 'gateway.preStopSeconds': 20, 'worker.stopSeconds': 90 };
    const objects = await renderObjects('production', { set });
    const grace = (kind: string, name: string) =>
      podOf(find(objects, kind, name))?.['spec'].terminationGracePeriodSeconds;
    expect(grace('StatefulSet', 'svc-gateway')).toBeGreaterThanOrEqual(1200 + 20);
    expect(grace('Deployment', 'svc-worker')).toBeGreaterThanOrEqual(90);
    const gateway = environmentOf(objects, find(objects, 'StatefulSet', 'svc-gateway'));
    expect(gateway['SVC_DRAIN_SECONDS']).toBe('1200');
  });

  test('no pod gets variables of Services, and only the operator a token of the cluster', async () => {
    for (const program of programs(await renderObjects('production'))) {
      const { enableServiceLinks, automountServiceAccountToken } = (podOf(program) as Manifest)['spec'];
      expect(enableServiceLinks).toBe(false);
      expect(automountServiceAccountToken).toBe(program.metadata.name === 'svc-operator');
    }
  });

  test('only the gateway knows keys of providers', async () => {
    const objects = await renderObjects('production');
    const knowing = programs(objects).filter(
      (program) => 'OPENAI_API_KEY' in environmentOf(objects, program),
    );
    expect(knowing.map(({ metadata }) => metadata.name)).toEqual(['svc-gateway']);
  });

  test('migrations run before everything else and use no object of the release', async () => {
    const job = find(await renderObjects('production'), 'Job', 'svc-migrations');
    expect(job.metadata['annotations']['helm.sh/hook']).toBe('pre-install,pre-upgrade');
    expect(podOf(job)?.['spec'].serviceAccountName).toBeUndefined();
    expect(containerOf(job)['envFrom']).toBeUndefined();
    const url = containerOf(job)['env'].find(({ name }: Manifest) => name === 'SVC_DATABASE_URL');
    expect(url.valueFrom.secretKeyRef).toEqual({ name: 'svc-postgres', key: 'owner-url' });
  });

  test('behind a pooler programs get the direct address too, and so do migrations that have no address of their own', async () => {
    const set = { 'postgres.existingSecret.directKey': 'direct-url' };
    for (const values of ['minimal', 'production'] as const) {
      const objects = await renderObjects(values, { set });
      const knowing = programs(objects).filter(
        (program) => 'SVC_DATABASE_DIRECT_URL' in environmentOf(objects, program),
      );
      const named = knowing.map(({ metadata }) => metadata.name);
      expect(named).toEqual(expect.arrayContaining(['svc-admin', 'svc-gateway']));
      expect(named.includes('svc-migrations')).toBe(values === 'minimal');
    }
  });

  test('no Ingress leads to staff, and its port is closed to all that values do not name', async () => {
    const objects = await renderObjects('production');
    const backends = objects
      .filter(({ kind }) => kind === 'Ingress')
      .flatMap((ingress) =>
        ingress['spec'].rules[0].http.paths.map((path: Manifest) => path['backend'].service.name),
      );
    expect(backends.sort()).toEqual(['svc-admin', 'svc-gateway']);
    const rulesFor = (list: readonly Manifest[], port: string) =>
      find(list, 'NetworkPolicy', 'svc-admin')['spec'].ingress.filter((rule: Manifest) =>
        rule['ports'].some((open: Manifest) => open['port'] === port),
      );
    expect(rulesFor(objects, 'staff')[0].from).toHaveLength(1);
    expect(rulesFor(await renderObjects('minimal'), 'staff')).toEqual([]);
    expect(rulesFor(await renderObjects('minimal'), 'metrics')).toEqual([]);
  });

  test('the admin program counts requests in the Redis of the gateways, and may reach it', async () => {
    const objects = await renderObjects('production');
    for (const program of ['gateway', 'admin']) {
      const object = programs(objects).find(({ metadata }) => metadata.name === `svc-${program}`) as Manifest;
      const names = podOf(object)?.spec['containers'][0].env.map(({ name }: Manifest) => name);
      expect([program, names]).toEqual([program, expect.arrayContaining(['SVC_REDIS_URL'])]);
      const { egress } = find(objects, 'NetworkPolicy', `svc-${program}`)['spec'];
      const ports = egress.flatMap((rule: Manifest) => rule['ports'].map(({ port }: Manifest) => port));
      expect([program, ports]).toEqual([program, expect.arrayContaining([6379])]);
    }
  });

  test('receivers of webhooks are reached on the ports that the guard lets through', async () => {
    const objects = await renderObjects('production');
    for (const program of ['gateway', 'admin', 'worker']) {
      const { egress } = find(objects, 'NetworkPolicy', `svc-${program}`)['spec'];
      const outside = egress.filter((rule: Manifest) =>
        rule['to']?.some((peer: Manifest) => peer['ipBlock']?.cidr === '0.0.0.0/0'),
      );
      const ports = outside.flatMap((rule: Manifest) => rule['ports'].map(({ port }: Manifest) => port));
      expect([program, ports]).toEqual([program, expect.arrayContaining([443, 8443])]);
    }
  });

  test('every program is under the NetworkPolicy that allows nothing and one of its own', async () => {
    const objects = await renderObjects('production');
    const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy');
    const labels = (program: Manifest) => podOf(program)?.metadata['labels'];
    const selects = (policy: Manifest, program: Manifest) =>
      Object.entries(policy['spec'].podSelector.matchLabels).every(
        ([name, value]) => labels(program)[name] === value,
      );
    for (const program of programs(objects)) {
      const found = policies.filter((policy) => selects(policy, program));
      expect(found.map(({ metadata }) => metadata.name).sort()).toEqual(
        ['svc-default-deny', program.metadata.name].sort(),
      );
    }
  });

  test('a persistent journal is a volume claim per pod that nothing deletes automatically', async () => {
    const gateway = find(await renderObjects('production'), 'StatefulSet', 'svc-gateway')['spec'];
    expect(gateway.volumeClaimTemplates[0].metadata.name).toBe('data');
    expect(gateway.persistentVolumeClaimRetentionPolicy).toEqual({
      whenDeleted: 'Retain',
      whenScaled: 'Retain',
    });
    expect(gateway.template.spec.volumes.map(({ name }: Manifest) => name)).not.toContain('data');
  });
});

describe('rights of the operator', () => {
  /** Rules in one order of keys and of names, to be compared. */
  const normal = (rules: unknown) => JSON.parse(JSON.stringify(rules));

  test('over the cluster: exactly those that its tests run with, and no Secret', async () => {
    const objects = await renderObjects('production');
    expect(named(objects, 'ClusterRole')).toEqual(['svc-svc-operator']);
    expect(normal(find(objects, 'ClusterRole', 'svc-svc-operator')['rules'])).toEqual(normal(watchRules));
    expect(named(objects, 'Role')).toEqual(['svc-operator']);
    expect(normal(find(objects, 'Role', 'svc-operator')['rules'])).toEqual(
      normal(leaseRules('svc-operator')),
    );
  });

  test('in namespaces: exactly those, Secrets by name, nothing over the cluster', async () => {
    const objects = await renderObjects('operator-only');
    expect(named(objects, 'ClusterRole')).toEqual([]);
    expect(named(objects, 'ClusterRoleBinding')).toEqual([]);
    const roles = objects.filter(
      ({ kind, metadata }) => kind === 'Role' && metadata.name === 'svc-svc-operator',
    );
    expect(roles.map(({ metadata }) => metadata['namespace'])).toEqual(['team-a', 'team-b']);
    for (const role of roles) {
      expect(normal(role['rules'])).toEqual(normal([...watchRules, ...secretRules(['svc-policies'])]));
    }
  });

  test('with keys to manage it may create Secrets, and read and change the named ones', async () => {
    const set = { 'operator.manage': ['Project', 'ApiKey'], 'operator.issuedSecretNames': ['search-api'] };
    const role = find(await renderObjects('operator-only', { set }), 'Role', 'svc-svc-operator');
    const access = (['Project', 'ApiKey'] as const).flatMap(accessRules);
    const secrets = [...secretRules(['svc-policies']), ...issuedSecretRules(['search-api'])];
    expect(normal(role['rules'])).toEqual(normal([...watchRules, ...access, ...secrets]));
    const unnamed = { ...set, 'operator.issuedSecretNames': [] };
    const [without] = [await renderObjects('operator-only', { set: unnamed })].map((objects) =>
      find(objects, 'Role', 'svc-svc-operator'),
    );
    expect(normal(without?.['rules'])).toEqual(
      normal([...watchRules, ...access, ...secretRules(['svc-policies'])]),
    );
  });

  test('without a name for the cluster it may read that of kube-system', async () => {
    const objects = await renderObjects('operator-only', { set: { 'operator.clusterId': '' } });
    const role = objects.find(
      ({ kind, metadata }) => kind === 'Role' && metadata['namespace'] === 'kube-system',
    );
    expect(normal(role?.['rules'])).toEqual(normal(clusterNameRules));
  });

  test('no name of a Secret is no right to Secrets, not one to all of them', async () => {
    const objects = await renderObjects('operator-only', { set: { 'operator.secretNames': [] } });
    const rules = objects.filter(({ kind }) => kind === 'Role').flatMap((role) => role['rules']);
    expect(rules.filter(({ resources }: Manifest) => resources.includes('secrets'))).toEqual([]);
  });
});
