// Tags of a repository made for the test.
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atFileEnd } from '@svc/test/support/ends.ts';
import { expect, test } from 'vitest';
import { output } from './run.ts';
import { checkOut, comparedWith, readTag, versionFaults } from './source.ts';

const scratch = mkdtempSync(join(tmpdir(), 'svc-tags-'));
atFileEnd(() => rm(scratch, { recursive: true, force: true }));
const repository = join(scratch, 'repository');
mkdirSync(repository);
const git = (...args: string[]) =>
  output('git', ['-c', 'user.name=Test', '-c', 'user.email=test@svc.example', ...args], { cwd: repository });

async function commit(version: string, more: Readonly<Record<string, string>> = {}): Promise<void> {
  const files = {
    'package.json': JSON.stringify({ version }),
    'charts/svc/Chart.yaml': `version: ${version}\nappVersion: ${version}\n`,
    'charts/svc-crds/Chart.yaml': `version: ${version}\n`,
    ...more,
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(repository, path, '..'), { recursive: true });
    writeFileSync(join(repository, path), text);
  }
  await git('add', '-A');
  await git('commit', '-qm', `Version ${version}`);
}

await git('init', '-q');
await commit('1.0.0');
await git('tag', 'v1.0.0');
await commit('1.1.0', { 'docs/configuration.md': '| `SVC_NEW` | unset | new |\n' });
await git('tag', '-a', '-m', 'annotated', 'v1.1.0');
await commit('1.1.0', { 'charts/svc/Chart.yaml': 'version: 1.1.0\nappVersion: 1.0.9\n' });
await git('tag', 'v1.2.0');

test('a release is what its tag holds: nothing else that lies in the clone', async () => {
  writeFileSync(join(repository, 'left-over.txt'), 'not committed');
  const source = await readTag(repository, 'v1.1.0');
  expect(source).toMatchObject({ version: '1.1.0', before: 'v1.0.0' });
  const into = join(scratch, 'source');
  await checkOut(repository, source, into);
  expect(readdirSync(into).sort()).toEqual(['charts', 'docs', 'package.json']);
  expect(versionFaults(into, source.version)).toEqual([]);
});

test('each file that has another version than the tag is named', async () => {
  const source = await readTag(repository, 'v1.2.0');
  const into = join(scratch, 'faulty');
  await checkOut(repository, source, into);
  expect(versionFaults(into, source.version)).toEqual([
    'package.json version is 1.1.0, not 1.2.0',
    'charts/svc/Chart.yaml version is 1.1.0, not 1.2.0',
    'charts/svc/Chart.yaml appVersion is 1.0.9, not 1.2.0',
    'charts/svc-crds/Chart.yaml version is 1.1.0, not 1.2.0',
  ]);
});

test('the release before is the tag before; the first has none', async () => {
  const second = await comparedWith(repository, await readTag(repository, 'v1.1.0'));
  expect(second.subjects).toEqual(['Version 1.1.0']);
  expect(await second.old?.read('docs/configuration.md')).toBeNull();
  expect(await second.new.read('docs/configuration.md')).toContain('SVC_NEW');
  expect(await second.new.list('charts')).toEqual(['svc', 'svc-crds']);
  expect(await comparedWith(repository, await readTag(repository, 'v1.0.0'))).toMatchObject({
    before: '',
    old: null,
  });
});

test.each(['v9.9.9', '1.0.0', 'main', 'v1.0.0; rm -rf /', '--help'])(
  '%s is no tag of a release',
  async (tag) => {
    await expect(readTag(repository, tag)).rejects.toThrow(/no version|Needed a single revision|rev-parse/);
  },
);
