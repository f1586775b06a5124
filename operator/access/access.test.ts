// Projects and keys as objects of a cluster: operators with the chart's roles on a real API server of this file's own, a
// real gateway and its database. What is asked of each object is asked of the service with the key in its Secret.
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { eventually } from '../../test/calls/world.ts';
import { createTestDatabase } from '../../test/support/database.ts';
import { atFileEnd } from '../../test/support/ends.ts';
import { freshDataDir, type GatewayProcess, startGatewayProcess } from '../../test/support/gateway.ts';
import {
  callKubernetes,
  createNamespace,
  startKubernetes,
  type TestKubernetes,
} from '../../test/support/kubernetes.ts';
import { type Provisioned, provision } from '../../test/support/provision.ts';
import {
  apply,
  type Home,
  installDefinition,
  kubectl,
  makeHome,
  type OperatorProcess,
  putToken,
  SECRET,
  startOperatorProcess,
} from '../test-kit.ts';
import { yamlText } from '../text.ts';
import { conditionOf } from '../types.ts';
import type { KeyView, ProjectView } from './service.ts';
import type { ApiKeyObject, ProjectObject } from './types.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const names = ['first', 'scheduled', 'lost', 'raced', 'killed', 'gone', 'kept', 'taken', 'foreign', 'away'];
let kubernetes: TestKubernetes;
let namespace: string;
let database_url: string;
let data_dir: string;
let org: Provisioned;
let gateway: GatewayProcess;
let home: Home;
let operator: OperatorProcess;
/** Every value that any Secret ever held. */
const values = new Set<string>();
const outputs: OperatorProcess[] = [];

async function start(): Promise<OperatorProcess> {
  const args = ['--lease-seconds', '3', '--resync-seconds', '2', '--log-level', 'debug'];
  const started = await startOperatorProcess(home, { base_url: gateway.base_url, args });
  outputs.push(started);
  return started;
}
const leads = async (one: OperatorProcess) => (await one.metric('svc_operator_leading')) === 1;

beforeAll(async () => {
  kubernetes = await startKubernetes();
  atFileEnd(() => kubernetes.stop());
  for (const plural of ['routingpolicies', 'projects', 'apikeys'])
    await installDefinition(kubernetes, plural);
  database_url = await createTestDatabase();
  org = await provision({ database_url, live_micro_usd: 1_000_000 });
  data_dir = freshDataDir();
  gateway = await startGatewayProcess({ database_url, data_dir });
  atFileEnd(() => gateway.kill());
  namespace = await createNamespace(kubernetes, 'access');
  await putToken(kubernetes, namespace, org.live_key);
  home = await makeHome(kubernetes, {
    ...{ namespaces: [namespace], manage: ['Project', 'ApiKey'] },
    issued: names,
  });
  operator = await start();
  await eventually('the operator is ready', () => operator.isReady(), 30_000);
});

type Spec = Record<string, unknown>;
function manifest(kind: 'Project' | 'ApiKey', name: string, spec: Spec): string {
  return yamlText({
    ...{ apiVersion: 'svc.dev/v1alpha1', kind, metadata: { name, namespace } },
    spec: { connection: { credentialsSecretRef: { name: SECRET } }, ...spec },
  });
}
const keyOf = (name: string, spec: Spec = {}) =>
  manifest('ApiKey', name, {
    ...{ projectId: org.project_id, scopes: ['inference'], secretRef: { name }, ...spec },
  });

async function read<T>(path: string): Promise<T | null> {
  const { status, text } = await callKubernetes(kubernetes, path);
  if (status === 404) return null;
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
  return JSON.parse(text) as T;
}
const objectOf = <T>(plural: string, name: string) =>
  read<T>(`/apis/svc.dev/v1alpha1/namespaces/${namespace}/${plural}/${name}`);

interface SecretObject {
  readonly data: Record<string, string>;
  readonly metadata: {
    readonly ownerReferences: readonly { readonly kind: string; readonly name: string }[];
  };
}
/** The value in a Secret; null without one. */
async function valueIn(name: string): Promise<string | null> {
  const secret = await read<SecretObject>(`/api/v1/namespaces/${namespace}/secrets/${name}`);
  const encoded = secret?.data['api-key'];
  if (encoded === undefined) return null;
  const value = Buffer.from(encoded, 'base64').toString();
  values.add(value);
  return value;
}
const until = <T extends ProjectObject | ApiKeyObject>(plural: string, name: string, reason: string) =>
  eventually(
    `${name}: ${reason}`,
    async () => {
      const object = await objectOf<T>(plural, name);
      const ready = object === null ? undefined : conditionOf(object, 'Ready');
      const is_present = ready?.observedGeneration === object?.metadata.generation;
      return is_present && ready?.reason === reason ? object : null;
    },
    60_000,
  );
const readyKey = (name: string) => until<ApiKeyObject>('apikeys', name, 'Ready');

async function ask<T>(path: string, method = 'GET', body?: object): Promise<T> {
  const reply = await fetch(`${gateway.base_url}${path}`, {
    method,
    headers: { authorization: `Bearer ${org.live_key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  expect(reply.status, text).toBeLessThan(300);
  return (text === '' ? {} : JSON.parse(text)) as T;
}
/** Keys that the object of `name` ever made, newest first. */
async function keysOf(name: string): Promise<readonly KeyView[]> {
  const { data } = await ask<{ data: (KeyView & { managed_by: string | null })[] }>('/v1/keys?limit=200');
  return data.filter(({ managed_by }) => managed_by?.endsWith(`/${namespace}/${name}`));
}
const working = async (name: string) => (await keysOf(name)).filter(({ status }) => status === 'active');
/** How a call with `key` is answered. */
/** Has the operator look at a project, where it has not gone by itself meanwhile. */
async function lookAgain(name: string): Promise<void> {
  const annotate = ['annotate', 'projects.svc.dev', name, '-n', namespace, 'svc.dev/force-sync=1'];
  await kubectl(kubernetes, annotate).catch((error: Error) => {
    if (!error.message.includes('NotFound')) throw error;
  });
}

async function call(key: string): Promise<number> {
  const reply = await fetch(`${gateway.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] }),
  });
  await reply.text();
  return reply.status;
}
const remove = (kind: string, name: string) =>
  kubectl(kubernetes, ['delete', kind, name, '-n', namespace, '--timeout=60s']);
const dropSecret = (name: string) => kubectl(kubernetes, ['delete', 'secret', name, '-n', namespace]);
/** Resolves with the value once the Secret holds another than `before`, of an active key that is alone. */
const replaced = (name: string, before: string) =>
  eventually(
    `${name}: another value`,
    async () => {
      const value = await valueIn(name);
      const [only, ...others] = await working(name);
      const is_new = value !== null && value !== before && others.length === 0;
      return is_new && only?.hint.slice(-4) === value.slice(-4) ? value : null;
    },
    60_000,
  );

describe('ApiKey', () => {
  test('writes a Secret of its own whose key calls, follows the manifest, and ends the key when it is deleted', async () => {
    await apply(kubernetes, keyOf('first', { limits: { rpm: 60 }, budget: { dailyMicro: 5_000 } }));
    const { status } = await readyKey('first');
    const value = (await valueIn('first')) as string;
    expect(await call(value)).toBe(200);
    const [key] = await working('first');
    expect(key).toMatchObject({
      ...{ id: status?.keyId, name: 'first', scopes: ['inference'], project_id: org.project_id },
      limits: { rpm: 60, tpm: null, concurrency: null },
      budget: { daily_micro: 5_000, hard: true },
    });
    const secret = await read<SecretObject>(`/api/v1/namespaces/${namespace}/secrets/first`);
    expect(secret?.metadata.ownerReferences).toMatchObject([{ kind: 'ApiKey', name: 'first' }]);
    expect(Buffer.from(secret?.data['base-url'] ?? '', 'base64').toString()).toBe(gateway.base_url);
    await apply(kubernetes, keyOf('first', { limits: { rpm: 30 }, scopes: ['inference', 'read:usage'] }));
    await readyKey('first');
    expect((await working('first'))[0]).toMatchObject({
      ...{ id: key?.id, limits: { rpm: 30 }, scopes: ['inference', 'read:usage'] },
      budget: { daily_micro: null },
    });
    expect(await valueIn('first')).toBe(value);
    await remove('ak', 'first');
    expect(await working('first')).toEqual([]);
    await eventually('the key is refused', async () => (await call(value)) === 401);
  });

  test('rotates when asked, once for each request, and leaves the old key its grace', async () => {
    await apply(kubernetes, keyOf('scheduled', { rotate: { everyHours: 1, graceSeconds: 600 } }));
    const { status } = await readyKey('scheduled');
    const made_ms = Date.parse(status?.createdAt ?? '');
    expect(Date.parse(status?.rotatesAt ?? '') - made_ms).toBe(3_600_000);
    const before = (await valueIn('scheduled')) as string;
    await kubectl(kubernetes, ['annotate', 'ak', 'scheduled', '-n', namespace, 'svc.dev/rotate=leak-1']);
    const after = await replaced('scheduled', before);
    expect([await call(before), await call(after)]).toEqual([200, 200]);
    const looked = await operator.metric('svc_operator_service_calls_total{call="keys",outcome="ok"}');
    const looks = () => operator.metric('svc_operator_service_calls_total{call="keys",outcome="ok"}');
    await eventually('it is looked at again', async () => (await looks()) > looked + 2, 30_000);
    expect((await keysOf('scheduled')).map((key) => key.status)).toEqual(['active', 'rotating']);
    expect(await valueIn('scheduled')).toBe(after);
  });

  test('a deleted Secret comes back with another key, and one that was overwritten too', async () => {
    await apply(kubernetes, keyOf('lost', { rotate: { graceSeconds: 0 } }));
    await readyKey('lost');
    const first = (await valueIn('lost')) as string;
    await dropSecret('lost');
    const second = await replaced('lost', first);
    expect([await call(first), await call(second)]).toEqual([401, 200]);
    const data = JSON.stringify({ data: { 'api-key': Buffer.from('svc-live-another').toString('base64') } });
    await kubectl(kubernetes, ['patch', 'secret', 'lost', '-n', namespace, '-p', data]);
    const third = await eventually(
      'the Secret holds a key again',
      async () => {
        const value = await valueIn('lost');
        return value !== null && value !== 'svc-live-another' && (await call(value)) === 200 ? value : null;
      },
      60_000,
    );
    expect(await call(third)).toBe(200);
    values.delete('svc-live-another');
  });

  test('a Secret that is not of the object is never written', async () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'foreign', namespace } };
    await apply(kubernetes, yamlText({ ...secret, stringData: { 'api-key': 'mine' } }));
    await apply(kubernetes, keyOf('foreign'));
    await until('apikeys', 'foreign', 'SecretConflict');
    expect(await valueIn('foreign')).toBe('mine');
    values.delete('mine');
    expect(await keysOf('foreign')).toEqual([]);
    await remove('ak', 'foreign');
  });

  test('without the right to its Secret it says what to grant, and leaves no key that nobody has', async () => {
    await apply(kubernetes, keyOf('unnamed'));
    const object = await until<ApiKeyObject>('apikeys', 'unnamed', 'SecretForbidden');
    expect(conditionOf(object, 'Ready')?.message).toContain(`Secret ${namespace}/unnamed`);
    expect(await working('unnamed')).toEqual([]);
    await remove('ak', 'unnamed');
  });
});

describe('races', () => {
  test('objects deleted while they are made leave no key that works', async () => {
    for (let round = 0; round < 12; round++) {
      await apply(kubernetes, keyOf('raced'));
      if (round % 3 > 0) {
        const begun = async () =>
          ((await objectOf<ApiKeyObject>('apikeys', 'raced'))?.metadata.finalizers ?? []).length;
        await eventually('the work has begun', async () => (await begun()) > 0);
      }
      if (round % 3 === 2) await eventually('a key', async () => (await working('raced')).length > 0);
      await remove('ak', 'raced');
      await valueIn('raced');
      expect(await working('raced'), `round ${round}`).toEqual([]);
      if ((await valueIn('raced')) !== null) await dropSecret('raced');
    }
  });

  test('an operator killed at any step, and two that work at once, end with one key, the one in the Secret', async () => {
    await apply(kubernetes, keyOf('killed', { rotate: { graceSeconds: 0 } }));
    await readyKey('killed');
    for (let round = 0; round < 6; round++) {
      const other = await start();
      await eventually('the other stands by', () => other.isReady(), 30_000);
      const before = (await valueIn('killed')) as string;
      const calls = () => operator.metric('svc_operator_service_calls_total{call="rotate_key",outcome="ok"}');
      const looks = () => operator.metric('svc_operator_service_calls_total{call="keys",outcome="ok"}');
      const [rotated, looked] = await Promise.all([calls(), looks()]);
      await kubectl(kubernetes, [
        ...['annotate', 'ak', 'killed', '-n', namespace, '--overwrite', `svc.dev/rotate=round-${round}`],
      ]);
      // At another moment each time: before it looks, in the midst, right after the key was made; or it only sleeps, and
      // wakes beside its successor.
      if (round % 3 === 1) await eventually('a look', async () => (await looks()) > looked);
      if (round % 3 === 2) await eventually('a key', async () => (await calls()) > rotated);
      if (round < 3) await operator.engine.kill();
      else {
        process.kill(operator.engine.pid, 'SIGSTOP');
        await eventually('the other leads', () => leads(other), 30_000);
        process.kill(operator.engine.pid, 'SIGCONT');
      }
      await eventually('the other leads', () => leads(other), 30_000);
      const value = await replaced('killed', before);
      expect(await call(value)).toBe(200);
      if (round >= 3) await operator.engine.stop();
      operator = other;
    }
  });

  test('while the API server is away keys work, and afterwards what was asked is done', async () => {
    await apply(kubernetes, keyOf('away'));
    await readyKey('away');
    const value = (await valueIn('away')) as string;
    await kubernetes.killApiServer();
    expect(await call(value)).toBe(200);
    await kubernetes.restartApiServer();
    await eventually('an operator leads', () => leads(operator), 60_000);
    await kubectl(kubernetes, ['annotate', 'ak', 'away', '-n', namespace, 'svc.dev/rotate=1']);
    await replaced('away', value);
  });

  test('a gateway that is away holds a deletion until the key has ended', async () => {
    await apply(kubernetes, keyOf('gone'));
    await readyKey('gone');
    const value = (await valueIn('gone')) as string;
    await gateway.kill();
    await kubectl(kubernetes, ['delete', 'ak', 'gone', '-n', namespace, '--wait=false']);
    const held = await until<ApiKeyObject>('apikeys', 'gone', 'ServiceUnavailable');
    expect(held.metadata.finalizers).toEqual(['svc.dev/access']);
    gateway = await startGatewayProcess({ database_url, data_dir, port: gateway.port });
    await kubectl(kubernetes, ['wait', '--for=delete', 'ak/gone', '-n', namespace, '--timeout=60s']);
    expect(await working('gone')).toEqual([]);
    await eventually('the key is refused', async () => (await call(value)) === 401);
  });
});

describe('Project', () => {
  const projects = async () => (await ask<{ data: ProjectView[] }>('/v1/projects')).data;
  const project = (name: string, spec: Spec = {}) => manifest('Project', name, { slug: name, ...spec });
  const readyProject = (name: string) => until<ProjectObject>('projects', name, 'Ready');

  test('makes a project, takes back what others change, and is what a key refers to', async () => {
    const spec = { budget: { monthlyMicro: 9_000_000, hard: false }, alerts: [90] };
    const kept = project('kept', { ...spec, limits: { rpm: 60, concurrency: 4 } });
    const key = keyOf('kept', { projectId: undefined, projectRef: { name: 'kept' } });
    await apply(kubernetes, `${kept}---\n${key}`);
    const { status } = await readyProject('kept');
    const found = (await projects()).find(({ slug }) => slug === 'kept');
    const limits = { rpm: 60, tpm: null, concurrency: 4 };
    const settings = {
      ...{ budget: { monthly_micro: 9_000_000, hard: false }, limits, alerts: [90], name: 'kept' },
    };
    expect(found).toMatchObject({ ...settings, id: status?.projectId });
    expect((await readyKey('kept')).status?.projectId).toBe(found?.id);
    await ask(`/v1/projects/${found?.id}`, 'PATCH', {
      ...{ budget: { monthly_micro: 1 }, limits: { rpm: null, tpm: 5 }, name: 'Mine' },
    });
    const back = async () =>
      (await projects()).find(({ slug, name }) => slug === 'kept' && name === 'kept') ?? null;
    expect(await eventually('taken back', back, 30_000)).toMatchObject(settings);
  });

  test('an archiving object waits for its keys; a retaining one leaves the project to the next', async () => {
    await apply(kubernetes, project('kept', { deletionPolicy: 'Archive' }));
    await readyProject('kept');
    await kubectl(kubernetes, ['delete', 'projects.svc.dev', 'kept', '-n', namespace, '--wait=false']);
    await until('projects', 'kept', 'ProjectInUse');
    await remove('ak', 'kept');
    await lookAgain('kept');
    const wait = ['wait', '--for=delete', 'projects.svc.dev/kept', '-n', namespace, '--timeout=60s'];
    await kubectl(kubernetes, wait);
    expect((await projects()).some(({ slug }) => slug === 'kept')).toBe(false);

    await apply(kubernetes, project('taken'));
    const { status } = await readyProject('taken');
    await apply(kubernetes, project('second', { slug: 'taken' }));
    const second = await until<ProjectObject>('projects', 'second', 'SlugConflict');
    expect(conditionOf(second, 'Ready')?.message).toContain(`Project ${namespace}/taken`);
    await remove('projects.svc.dev', 'taken');
    await lookAgain('second');
    expect((await readyProject('second')).status?.projectId).toBe(status?.projectId);
  });
});

test('no value of a key is in an object, an event, a log or a metric; only in Secrets', async () => {
  expect(values.size).toBeGreaterThan(10);
  const listed = ['projects,apikeys,events,leases,configmaps', '-A', '-o', 'json'];
  const texts = [
    await kubectl(kubernetes, ['get', ...listed, '--show-managed-fields']),
    ...outputs.map(({ engine }) => engine.output()),
  ];
  // Of operators that were killed there is nothing to ask.
  const measured = await Promise.all(outputs.map((one) => one.metrics().catch(() => '')));
  expect(measured.filter((text) => text.includes('svc_operator_leading')).length).toBeGreaterThan(0);
  texts.push(...measured);
  expect(texts.join('').length).toBeGreaterThan(10_000);
  for (const value of [...values, org.live_key]) {
    for (const text of texts) {
      expect(text.includes(value)).toBe(false);
      expect(text.includes(Buffer.from(value).toString('base64'))).toBe(false);
    }
  }
});
