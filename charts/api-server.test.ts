// The rendered charts and a real API server: it accepts every object, admits every pod under the restricted profile, and
// gives the operator exactly the rights that it should have.
import {
  createNamespace,
  type KubernetesAccess,
  runHelm,
  runKubectl,
  sharedKubernetes,
} from '@svc/test/support/kubernetes.ts';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { crds, type Manifest, objectsOf, podOf, renderObjects, type ValueSet, valueSets } from './render.ts';

let access: KubernetesAccess;
let namespace: string;
let teams: string[];

beforeAll(async () => {
  access = await sharedKubernetes();
  [namespace, ...teams] = (await Promise.all(
    ['charts', 'team', 'team'].map((prefix) => createNamespace(access, prefix)),
  )) as [string, string, string];
}, 90_000);

// A busy machine answers kubectl after seconds.
vi.setConfig({ testTimeout: 90_000 });

const applyDry = ['apply', '--dry-run=server', '--validate=strict', '-f', '-'];
const asText = (objects: readonly object[]) =>
  objects.map((object) => JSON.stringify(object)).join('\n---\n');

/** A set of values in namespaces that exist; the kinds of the Prometheus operator are not on this server. */
async function objectsHere(values: ValueSet, set: Record<string, unknown> = {}): Promise<Manifest[]> {
  const watched = values === 'operator-only' ? { 'operator.watchNamespaces': teams } : {};
  const objects = await renderObjects(values, { namespace, set: { ...watched, ...set } });
  return objects.filter(({ kind }) => kind !== 'ServiceMonitor');
}

/** The pods that the API server would be asked for. */
function podsOf(objects: readonly Manifest[]): Manifest[] {
  return objects.flatMap((object) => {
    const template = podOf(object);
    if (template === null) return [];
    const name = object.metadata.name;
    // The claim of a StatefulSet becomes a volume only when its controller makes the pod.
    const claims = (object['spec'].volumeClaimTemplates ?? []).map((claim: Manifest) => ({
      name: claim.metadata.name,
      persistentVolumeClaim: { claimName: `${claim.metadata.name}-${name}-0` },
    }));
    const spec = { ...template['spec'], volumes: [...template['spec'].volumes, ...claims] };
    return [{ apiVersion: 'v1', kind: 'Pod', metadata: { ...template.metadata, name }, spec }];
  });
}

describe('the API server', () => {
  const variants: [string, ValueSet, Record<string, unknown>][] = [
    ...valueSets.map((values): [string, ValueSet, Record<string, unknown>] => [values, values, {}]),
    [
      'production with an Ingress of storefronts for cert-manager',
      'production',
      {
        'storefronts.base': 'shops.example',
        'storefronts.ingress': {
          ...{ enabled: true, className: 'nginx', baseTlsSecret: 'shops-tls' },
          annotations: { 'cert-manager.io/cluster-issuer': 'letsencrypt' },
          domains: ['ai.acme.example', 'xn--bcher-kva.example'],
        },
      },
    ],
    [
      'production with TLS of storefronts by the gateway',
      'production',
      {
        ...{ 'storefronts.base': 'shops.example', 'storefronts.tls.enabled': true },
        ...{ 'storefronts.tls.existingSecret.name': 'shops-tls' },
        'storefronts.acme.directoryUrl': 'https://acme.example/dir',
        'networkPolicy.adminFrom': [{ namespaceSelector: {} }],
      },
    ],
    ['production with a Deployment', 'production', { 'gateway.journal.persistent': false }],
    ['production without autoscaling', 'production', { 'gateway.autoscaling.enabled': false }],
    ['operator without a name for the cluster', 'operator-only', { 'operator.clusterId': '' }],
    [
      'minimal with everything that a pod may be told',
      'minimal',
      {
        'gateway.tolerations': [{ key: 'llm', operator: 'Exists', effect: 'NoSchedule' }],
        'gateway.affinity': { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
        'gateway.podAnnotations': { 'example.com/team': 'llm' },
        'gateway.service.type': 'LoadBalancer',
        'gateway.service.annotations': { 'example.com/lb': 'internal' },
        'networkPolicy.extraEgress': [{ to: [{ ipBlock: { cidr: '10.9.0.0/16' } }] }],
        fullnameOverride: 'llm',
      },
    ],
  ];
  test.each(variants)('takes every object of %s', async (_name, values, set) => {
    const objects = await objectsHere(values, set);
    const { code, stdout, stderr } = await runKubectl(access, applyDry, asText(objects));
    expect(stderr).not.toMatch(/unknown field|would violate|deprecated/i);
    expect(code, stderr).toBe(0);
    expect(stdout.trim().split('\n')).toHaveLength(objects.length);
  });

  test('takes the definitions of svc-crds, which no uninstall deletes', async () => {
    const { stdout: text } = await runHelm(['template', 'svc-crds', crds]);
    const definitions = objectsOf(text) as (Manifest & {
      metadata: { annotations?: Record<string, string> };
    })[];
    expect(definitions.map(({ kind, metadata }) => [kind, metadata.name]).sort()).toEqual(
      ['apikeys', 'projects', 'routingpolicies'].map((name) => [
        'CustomResourceDefinition',
        `${name}.svc.dev`,
      ]),
    );
    for (const { metadata } of definitions)
      expect(metadata.annotations?.['helm.sh/resource-policy']).toBe('keep');
    const { code, stderr } = await runKubectl(access, applyDry, text);
    expect(code, stderr).toBe(0);
  });

  test('would have refused a field that it does not know', async () => {
    const [first] = await objectsHere('minimal');
    const { code, stderr } = await runKubectl(access, applyDry, asText([{ ...first, oops: true }]));
    expect(code).not.toBe(0);
    expect(stderr).toContain('oops');
  });
});

describe('the restricted pod security standard', () => {
  beforeAll(async () => {
    const label = 'pod-security.kubernetes.io/enforce=restricted';
    const { code, stderr } = await runKubectl(access, ['label', 'namespace', namespace, label]);
    if (code !== 0) throw new Error(stderr);
  });
  const createDry = () => ['create', '--dry-run=server', '-n', namespace, '-f', '-'];

  test.each(valueSets)('admits every pod of %s', async (values) => {
    const pods = podsOf(await objectsHere(values));
    expect(pods.length).toBeGreaterThan(0);
    const { code, stderr } = await runKubectl(access, createDry(), asText(pods));
    expect(code, stderr).toBe(0);
  });

  test('would have refused one that may run as root', async () => {
    const [pod] = podsOf(await objectsHere('minimal'));
    const spec = { ...pod?.['spec'], securityContext: {} };
    const { code, stderr } = await runKubectl(access, createDry(), asText([{ ...pod, spec }]));
    expect(code).not.toBe(0);
    expect(stderr).toContain('violates PodSecurity "restricted');
  });

  test('is kept with a root that nobody writes to', async () => {
    for (const pod of podsOf(await objectsHere('production'))) {
      for (const container of pod['spec'].containers) {
        expect(container.securityContext.readOnlyRootFilesystem, pod.metadata.name).toBe(true);
      }
    }
  });
});

describe('the operator of two namespaces, by the roles of the chart', () => {
  beforeAll(async () => {
    const { stdout: definitions } = await runHelm(['template', 'svc-crds', crds]);
    await runKubectl(access, ['apply', '--server-side', '-f', '-'], definitions);
    const established = [
      'wait',
      '--for=condition=Established',
      'crd/routingpolicies.svc.dev',
      '--timeout=60s',
    ];
    await runKubectl(access, established);
    const roles = (await objectsHere('operator-only')).filter(({ kind }) =>
      /^(Cluster)?Role(Binding)?$/.test(kind),
    );
    const { code, stderr } = await runKubectl(access, ['apply', '-f', '-'], asText(roles));
    if (code !== 0) throw new Error(stderr);
    // The authorizer learns of a role a moment after it was stored.
    for (const team of teams) {
      await vi.waitFor(async () => expect(await may('create', 'events', team)).toBe(true), {
        timeout: 30_000,
      });
    }
  }, 90_000);

  async function may(verb: string, what: string, where: string): Promise<boolean> {
    const who = `--as=system:serviceaccount:${namespace}:svc-operator`;
    const { stdout } = await runKubectl(access, [
      'auth',
      'can-i',
      verb,
      ...what.split(' '),
      '-n',
      where,
      who,
    ]);
    return stdout.trim() === 'yes';
  }

  test('reads and marks policies of its teams, and reads the Secret that they name', async () => {
    for (const team of teams) {
      expect(await may('watch', 'routingpolicies.svc.dev', team)).toBe(true);
      expect(await may('patch', 'routingpolicies.svc.dev --subresource=status', team)).toBe(true);
      expect(await may('get', 'secrets/svc-policies', team)).toBe(true);
      expect(await may('create', 'events', team)).toBe(true);
    }
    expect(await may('update', 'leases.coordination.k8s.io/svc-operator', namespace)).toBe(true);
  });

  test.each([
    ['get', 'secrets/other'],
    ['list', 'secrets'],
    ['create', 'secrets'],
    ['delete', 'routingpolicies.svc.dev'],
    ['create', 'pods'],
  ])('may not %s %s', async (verb, what) => {
    expect(await may(verb, what, teams[0] as string)).toBe(false);
  });

  test('may nothing elsewhere', async () => {
    expect(await may('get', 'secrets/svc-policies', namespace)).toBe(false);
    expect(await may('list', 'routingpolicies.svc.dev', 'default')).toBe(false);
    expect(await may('update', 'leases.coordination.k8s.io/other', namespace)).toBe(false);
  });
});
