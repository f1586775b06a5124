// An image of small layers on a base in a registry, as crane sees it: what it pulls is what was packed, and packed again it is the same.
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { atFileEnd } from '@svc/test/support/ends.ts';
import { toolPath } from '@svc/test/support/engine.ts';
import { until } from '@svc/test/support/programs/until.ts';
import { endWithUs } from '@svc/test/support/watch.ts';
import { expect, test } from 'vitest';
import { freePort } from '../tools/postgres.ts';
import { readStages } from './dockerfile.ts';
import { makeImage, pinnedBase } from './image.ts';
import { layersOf } from './layers.ts';
import { output, ran } from './run.ts';

const scratch = mkdtempSync(join(tmpdir(), 'svc-release-'));
const crane = { path: await toolPath('crane'), cwd: scratch };
const run = (...args: string[]) => output(crane.path, args, { cwd: scratch });
const dockerfile = readFileSync(fileURLToPath(new URL('../../Dockerfile', import.meta.url)), 'utf8');
const stage = readStages(dockerfile).at(-1) as ReturnType<typeof readStages>[number];
const host = `127.0.0.1:${await freePort()}`;
const registry = spawn(crane.path, ['registry', 'serve', '--address', host, '--disk', join(scratch)], {
  stdio: 'ignore',
});
const ended = new Promise<void>((done) => registry.once('exit', () => done()));
endWithUs(registry.pid as number, ended);
atFileEnd(async () => {
  registry.kill();
  await ended;
  await rm(scratch, { recursive: true, force: true });
});
await until('the registry', async () => (await fetch(`http://${host}/v2/`).catch(() => null))?.ok ?? null);

mkdirSync(join(scratch, 'base/bin'), { recursive: true });
writeFileSync(join(scratch, 'base/bin/node'), '#!/bin/sh\n');
await output('tar', ['-cf', 'base.tar', '-C', 'base', 'bin'], { cwd: scratch });
await run('append', '--oci-empty-base', '-f', join(scratch, 'base.tar'), '-t', `${host}/node:24`);

/** The root of an image as a build leaves it: the times and modes of its files are those of the machine. */
function builtRoot(name: string, { mtime, mode }: { mtime: number; mode: number }): string {
  const root = join(scratch, name);
  for (const [path, text] of Object.entries({
    'svc/node_modules/pg/package.json': '{"name":"pg"}',
    'svc/node_modules/.package-lock.json': `{"of":"${name}"}`,
    'svc/gateway/main.ts': 'start()',
  })) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
    chmodSync(join(root, path), mode);
    utimesSync(join(root, path), mtime, mtime);
  }
  return root;
}

async function imageOf(root: string): Promise<{ digest: string; layout: string }> {
  const layout = `${root}-layout`;
  mkdirSync(`${root}-packed`);
  const layers = await layersOf(root, `${root}-packed`, 1_795_000_000);
  const base = await pinnedBase(crane, `${host}/node:24`);
  const annotations = { 'org.opencontainers.image.version': '1.2.3' };
  const of = { base, layers, stage, layout, created: '2026-11-18T00:00:00.000Z', annotations };
  return { digest: await makeImage(crane, of), layout };
}

test('what a registry gives back is the base, our files owned by root, and the last lines of the Dockerfile', async () => {
  const { digest, layout } = await imageOf(builtRoot('one', { mtime: 1_700_000_000, mode: 0o640 }));
  const address = `${host}/svc:1.2.3`;
  await run('push', layout, address);
  expect((await run('digest', address)).trim()).toBe(digest);
  await run('validate', '--remote', address);
  const config = JSON.parse(await run('config', address));
  expect(config).toMatchObject({ os: 'linux', architecture: 'amd64', created: '2026-11-18T00:00:00.000Z' });
  expect(config.config).toMatchObject({
    ...{ User: '10001:10001', WorkingDir: '/svc', Env: expect.arrayContaining(['NODE_ENV=production']) },
    Cmd: expect.arrayContaining(['node', 'gateway/main.ts']),
    ExposedPorts: expect.objectContaining({ '8080/tcp': {} }),
  });
  expect(config.config.Entrypoint).toBeUndefined();
  const { annotations } = JSON.parse(await run('manifest', address));
  expect(annotations).toMatchObject({
    'org.opencontainers.image.base.digest': (await run('digest', `${host}/node:24`)).trim(),
  });
  await run('export', address, join(scratch, 'files.tar'));
  const listed = await output('tar', ['--numeric-owner', '-tvf', join(scratch, 'files.tar')], {
    cwd: scratch,
  });
  const files = listed.split('\n').map((line) => line.split(/\s+/));
  const named = new Map(files.map((words) => [words.at(-1) as string, words.slice(0, 2)]));
  expect([...named.keys()]).not.toContain('svc/node_modules/.package-lock.json');
  expect(named.get('svc/gateway/main.ts')).toEqual(['-rw-r--r--', '0/0']);
  expect(named.has('bin/node')).toBe(true);
});

test('two builds of the same files at other times and with other masks are one image', async () => {
  const one = await imageOf(builtRoot('first', { mtime: 1_700_000_000, mode: 0o644 }));
  const other = await imageOf(builtRoot('other', { mtime: 1_790_000_000, mode: 0o600 }));
  expect(other.digest).toBe(one.digest);
});

test('a base that is named by its tag is taken by the digest that the tag has now', async () => {
  const digest = (await run('digest', `${host}/node:24`)).trim();
  expect(await pinnedBase(crane, `${host}/node:24`)).toEqual({ name: `${host}/node:24`, digest });
  expect(await pinnedBase(crane, `node@${digest}`)).toEqual({ name: 'node', digest });
  const { code } = await ran(crane.path, ['digest', `${host}/node:none`], { cwd: scratch });
  expect(code).not.toBe(0);
  await expect(pinnedBase(crane, `${host}/node:none`)).rejects.toThrow('crane');
});
