// docs/kubernetes.md and the program say the same; every manifest works as it stands.
import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { eventually } from '../test/calls/world.ts';
import { openPolicyWorld, traced } from '../test/policies/world.ts';
import { runKubectl, sharedKubernetes } from '../test/support/kubernetes.ts';
import { accessAnnotations } from './access/types.ts';
import { flags, OptionsError, readOptions } from './options.ts';
import { apply, installDefinition, kubectl, makeHome, putToken, startOperatorProcess } from './test-kit.ts';
import { annotations } from './types.ts';

vi.setConfig({ testTimeout: 120_000 });

const text = readFileSync(new URL('../docs/kubernetes.md', import.meta.url), 'utf8');

test('every flag is documented, with its default, and nothing else is', () => {
  const rows = [...text.matchAll(/^\| `--([a-z-]+)` \| ([^|]*) \|/gm)].map(([, name, fallback]) => [
    name,
    fallback?.trim(),
  ]);
  expect(rows.map(([name]) => name)).toEqual(Object.keys(flags));
  for (const [name, fallback] of rows as [keyof typeof flags, string][]) {
    const shown = /^`(.*)`$/.exec(fallback)?.[1];
    if (shown !== undefined) expect([name, String(flags[name].parse([]))]).toEqual([name, shown]);
  }
});

test('every annotation is documented', () => {
  for (const annotation of Object.values(annotations)) expect(text).toContain(`\`${annotation}: `);
  expect(text).toContain(`${accessAnnotations.rotate}=`);
});

test('flags are read whole: each fault is named, an unknown flag and an unusable address refused', () => {
  expect(
    readOptions(['--base-url', 'https://svc.example/', '--watch-namespace=a', '--watch-namespace=b']),
  ).toMatchObject({
    ...{ base_url: 'https://svc.example', watch_namespace: ['a', 'b'], resync_seconds: 300, workers: 4 },
  });
  const refused = (...args: string[]) => expect(() => readOptions(args)).toThrow(OptionsError);
  refused('--base-urls', 'https://svc.example');
  refused('stray');
  for (const url of [
    'svc.example',
    'ftp://svc.example',
    'https://user:pw@svc.example',
    'https://svc.example?a=1',
  ]) {
    refused('--base-url', url);
    refused('--allowed-base-url', url);
  }
  expect(() => readOptions(['--workers', '0', '--lease-seconds', 'x'])).toThrow(
    /--lease-seconds.*\n--workers/,
  );
});

/** Every block of YAML of the page. */
const manifests = [...text.matchAll(/```yaml[^\n]*\n([\s\S]*?)```/g)].map(([, block]) => block as string);

interface Documented {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
}
const objects = manifests.flatMap((block) =>
  parseAllDocuments(block).map((document) => document.toJS() as Documented),
);

test('every manifest is taken by the API server as it stands, and what the operator keeps becomes Ready', async () => {
  expect(objects.map(({ kind }) => kind)).toEqual([
    ...['RoutingPolicy', 'Project', 'ApiKey', 'RoutingPolicy', 'Role', 'Role'],
  ]);
  const access = await sharedKubernetes();
  for (const plural of ['routingpolicies', 'projects', 'apikeys']) await installDefinition(access, plural);
  const world = await openPolicyWorld();
  const org = await world.org();
  await runKubectl(access, ['create', 'namespace', 'team-a']);
  await putToken(access, 'team-a', org.live_key);
  const home = await makeHome(access, {
    ...{ namespaces: ['team-a'], watched: ['team-a'], manage: ['Project', 'ApiKey'], issued: ['search-api'] },
  });
  const operator = await startOperatorProcess(home, { base_url: world.one.base_url });
  await eventually('the operator is ready', () => operator.isReady(), 30_000);
  for (const block of manifests) await apply(access, block);
  for (const { apiVersion, kind, metadata } of objects) {
    const at = `${kind}.${apiVersion.split('/').reverse().join('.')}/${metadata.name}`;
    const ask = apiVersion.startsWith('svc.dev/')
      ? ['wait', '--for=condition=Ready', at, '--timeout=60s']
      : ['get', at];
    await kubectl(access, [...ask, '-n', metadata.namespace]);
  }
  // Calls of the organization are ruled by the one policy, those of the project's key by the other.
  const reply = await world.chat(world.one, org.live_key, 'acme/cheap').reply;
  expect(traced(reply, 'policy')).toBe('team-a-agents/1');
  const secret = ['get', 'secret', 'search-api', '-n', 'team-a', '-o', 'jsonpath={.data.api-key}'];
  const key = Buffer.from(await kubectl(access, secret), 'base64').toString();
  const own = await world.chat(world.one, key, 'acme/cheap').reply;
  expect(traced(own, 'policy')).toBe('team-a-search/1');
  for (const kind of ['rp', 'ak', 'projects.svc.dev'])
    await kubectl(access, ['delete', kind, '--all', '-n', 'team-a']);
});
