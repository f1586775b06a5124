// The manifests of docs/operate/storefront-tls.md and a real API server that has cert-manager's own definitions.
import { readFileSync } from 'node:fs';
import {
  createNamespace,
  type KubernetesAccess,
  runKubectl,
  sharedKubernetes,
} from '@svc/test/support/kubernetes.ts';
import { beforeAll, expect, test, vi } from 'vitest';
import { certManager, installDefinitions } from '../definitions.ts';
import { find, objectsOf, renderObjects } from '../render.ts';

vi.setConfig({ testTimeout: 90_000 });

let access: KubernetesAccess;
let namespace: string;
const files = ['issuers.yaml', 'certificates.yaml'] as const;
const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

beforeAll(async () => {
  access = await sharedKubernetes();
  namespace = await createNamespace(access, 'certs');
  const names = ['certificates', 'clusterissuers'].map((name) => `${name}.cert-manager.io`);
  await installDefinitions(access, certManager, names);
}, 240_000);

const apply = (text: string) =>
  runKubectl(access, ['apply', '-n', namespace, '--dry-run=server', '--validate=strict', '-f', '-'], text);

test.each(files)('the API server takes every object of %s', async (name) => {
  const { code, stdout, stderr } = await apply(read(name));
  expect(stderr).not.toMatch(/unknown field|deprecated/i);
  expect(code, stderr).toBe(0);
  expect(stdout.trim().split('\n')).toHaveLength(objectsOf(read(name)).length);
});

test.each([
  [
    'a field that it does not know',
    files[0],
    'ingressClassName: nginx',
    'ingresClassName: nginx',
    'ingresClassName',
  ],
  [
    'an issuer without the Secret of its account',
    files[0],
    'privateKeySecretRef:\n      name: letsencrypt-account\n',
    'skipTLSVerify: false\n',
    'privateKeySecretRef',
  ],
  ['another kind of key', files[1], 'algorithm: ECDSA', 'algorithm: P256', 'algorithm'],
  [
    'a certificate that goes nowhere',
    files[1],
    'secretName: svc-storefronts-tls',
    'duration: 24h',
    'secretName',
  ],
  ['a certificate of no issuer', files[1], '    name: letsencrypt\n---', '---', 'issuerRef.name'],
])('it would have refused %s', async (_, file, right, wrong, named) => {
  const text = read(file);
  expect(text).toContain(right);
  const { code, stderr } = await apply(text.replace(right, wrong));
  expect(code).not.toBe(0);
  expect(stderr).toContain(named);
});

test('the Ingress of the chart names an issuer that is here, and a Secret for each host alone', async () => {
  const objects = await renderObjects('production', {
    set: {
      'storefronts.base': 'shops.llm.example',
      'storefronts.ingress': {
        ...{ enabled: true, className: 'nginx', baseTlsSecret: 'svc-storefronts-tls' },
        annotations: { 'cert-manager.io/cluster-issuer': 'letsencrypt' },
        domains: ['ai.acme.example', 'ai.other.example'],
      },
    },
  });
  const ingress = find(objects, 'Ingress', 'svc-storefronts');
  const { annotations } = ingress.metadata;
  const issuers = objectsOf(read('issuers.yaml')).map(({ metadata }) => metadata.name);
  expect(issuers).toContain(annotations['cert-manager.io/cluster-issuer']);
  expect(ingress['spec'].tls).toEqual([
    { hosts: ['*.shops.llm.example'], secretName: 'svc-storefronts-tls' },
    { hosts: ['ai.acme.example'], secretName: 'ai.acme.example-tls' },
    { hosts: ['ai.other.example'], secretName: 'ai.other.example-tls' },
  ]);
  // Who makes the Certificates by hand fills the same Secrets.
  const secrets = objectsOf(read('certificates.yaml')).map((one) => one['spec'].secretName);
  expect(secrets).toEqual(['svc-storefronts-tls', 'ai.acme.example-tls']);
});
