// docs/kubernetes.md and the program say the same; its manifest works as it stands.
import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { eventually } from '../test/calls/world.ts';
import { openPolicyWorld, traced } from '../test/policies/world.ts';
import { runKubectl, sharedKubernetes } from '../test/support/kubernetes.ts';
import { accessAnnotations } from './access/types.ts';
import { flags, OptionsError, readOptions } from './options.ts';
import {
  apply,
  installDefinition,
  kubectl,
  makeHome,
  putToken,
  startOperatorProcess,
  waitReady,
} from './test-kit.ts';
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

test('the documented manifest is applied, becomes Ready, and calls are routed by it', async () => {
  const access = await sharedKubernetes();
  await installDefinition(access);
  const world = await openPolicyWorld();
  const org = await world.org();
  const example = /```yaml manifest\n([\s\S]*?)```/.exec(text)?.[1] as string;
  await runKubectl(access, ['create', 'namespace', 'team-a']);
  await putToken(access, 'team-a', org.live_key);
  const home = await makeHome(access, { namespaces: ['team-a'], watched: ['team-a'] });
  const operator = await startOperatorProcess(home, { base_url: world.one.base_url });
  await eventually('the operator is ready', () => operator.isReady(), 30_000);
  await apply(access, example);
  await waitReady(access, 'team-a', 'agents');
  const reply = await world.chat(world.one, org.live_key, 'acme/cheap').reply;
  expect(traced(reply, 'policy')).toBe('team-a-agents/1');
  await kubectl(access, ['delete', 'rp', 'agents', '-n', 'team-a']);
});
