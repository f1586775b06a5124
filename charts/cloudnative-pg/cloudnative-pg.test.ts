// The manifests of docs/operate/cloudnative-pg.md and a real API server that has CloudNativePG's own definitions.
import { readFileSync } from 'node:fs';
import {
  createNamespace,
  type KubernetesAccess,
  runKubectl,
  sharedKubernetes,
} from '@svc/test/support/kubernetes.ts';
import { beforeAll, expect, test, vi } from 'vitest';
import { cloudNativePg, installDefinitions } from '../definitions.ts';
import { objectsOf } from '../render.ts';

vi.setConfig({ testTimeout: 90_000 });

let access: KubernetesAccess;
let namespace: string;
const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

beforeAll(async () => {
  access = await sharedKubernetes();
  namespace = await createNamespace(access, 'cnpg');
  const names = ['clusters', 'poolers', 'scheduledbackups'].map((name) => `${name}.postgresql.cnpg.io`);
  await installDefinitions(access, cloudNativePg, [...names, 'objectstores.barmancloud.cnpg.io']);
}, 240_000);

const apply = (text: string) =>
  runKubectl(access, ['apply', '-n', namespace, '--dry-run=server', '--validate=strict', '-f', '-'], text);

test.each(['cluster.yaml', 'restore.yaml'])('the API server takes every object of %s', async (name) => {
  const { code, stdout, stderr } = await apply(read(name));
  expect(stderr).not.toMatch(/unknown field|deprecated/i);
  expect(code, stderr).toBe(0);
  expect(stdout.trim().split('\n')).toHaveLength(objectsOf(read(name)).length);
});

test.each([
  ['a field that it does not know', 'dataDurability: required', 'dataDurabilty: required', 'dataDurabilty'],
  ['another durability', 'dataDurability: required', 'dataDurability: always', 'dataDurability'],
  ['another mode of a pooler', 'poolMode: transaction', 'poolMode: statement', 'poolMode'],
])('it would have refused %s', async (_, right, wrong, named) => {
  const text = read('cluster.yaml');
  expect(text).toContain(right);
  const { code, stderr } = await apply(text.replace(right, wrong));
  expect(code).not.toBe(0);
  expect(stderr).toContain(named);
});

test('a settle that was acknowledged is on two servers, and a restore asks for the same', () => {
  for (const name of ['cluster.yaml', 'restore.yaml']) {
    const [cluster] = objectsOf(read(name)).filter(({ kind }) => kind === 'Cluster');
    expect(cluster?.['spec'].postgresql.synchronous).toEqual({
      ...{ method: 'any', number: 1, dataDurability: 'required', failoverQuorum: true },
    });
    expect(cluster?.['spec'].instances).toBe(3);
  }
});
