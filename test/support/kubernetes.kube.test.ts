import { ApiException, CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { expect, test, vi } from 'vitest';
import { atFileEnd } from './ends.ts';
import {
  createNamespace,
  type KubernetesAccess,
  runHelm,
  runKubectl,
  sharedKubernetes,
  startKubernetes,
} from './kubernetes.ts';

// Two clusters and a restart. On an idle machine a start takes 3 s; on a busy one it has taken 12.
vi.setConfig({ testTimeout: 90_000 });

function coreApi({ kubeconfig }: KubernetesAccess): CoreV1Api {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  return config.makeApiClient(CoreV1Api);
}

test('all who ask for the shared cluster get the same one, and the official client reads what kubectl wrote', async () => {
  const [access, second] = await Promise.all([sharedKubernetes(), sharedKubernetes()]);
  expect(second).toEqual(access);
  const namespace = await createNamespace(access);
  const manifest = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: greeting}\ndata: {word: hello}\n`;
  const applied = await runKubectl(access, ['apply', '-n', namespace, '-f', '-'], manifest);
  expect(applied).toMatchObject({ code: 0, stdout: 'configmap/greeting created\n' });
  const { data } = await coreApi(access).readNamespacedConfigMap({ name: 'greeting', namespace });
  expect(data).toEqual({ word: 'hello' });
});

test('a caller without the token is refused', async () => {
  const access = await sharedKubernetes();
  const config = new KubeConfig();
  config.loadFromFile(access.kubeconfig);
  for (const user of config.users) Object.assign(user, { token: 'not-this-one' });
  const refused = await config
    .makeApiClient(CoreV1Api)
    .listNamespace()
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ApiException);
  expect((refused as ApiException<unknown>).code).toBe(401);
});

test('a killed API server comes back on its address with what it knew', async () => {
  const kubernetes = await startKubernetes();
  atFileEnd(() => kubernetes.stop());
  const namespace = await createNamespace(kubernetes);
  await kubernetes.killApiServer();
  await expect(coreApi(kubernetes).readNamespace({ name: namespace })).rejects.toThrow();
  await kubernetes.restartApiServer();
  const found = await coreApi(kubernetes).readNamespace({ name: namespace });
  expect(found.metadata?.name).toBe(namespace);
});

test('helm runs without a cluster and on the cluster it is given', async () => {
  expect(await runHelm(['version', '--short'])).toMatchObject({ code: 0 });
  const access = await sharedKubernetes();
  const namespace = await createNamespace(access);
  expect(await runHelm(['list', '-n', namespace, '-o', 'json'], access)).toMatchObject({
    code: 0,
    stdout: '[]\n',
  });
});
