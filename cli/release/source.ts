// The tag of a release, as git has it: its files, its commit, and the release before.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Compared, Tree } from './notes.ts';
import { output, ran } from './run.ts';

export interface TaggedSource {
  readonly tag: string;
  /** The tag without its `v`. */
  readonly version: string;
  readonly commit: string;
  /** Of the commit: seconds since 1970. */
  readonly time: number;
  /** The tag of the release before; '' before the first. */
  readonly before: string;
}

/** @throws Error with the sentence of git where there is no such tag. */
export async function readTag(repository: string, tag: string): Promise<TaggedSource> {
  const cwd = repository;
  if (!/^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(tag)) throw new Error(`${tag} is no version: v1.2.3 is one`);
  const commit = (
    await output('git', ['rev-parse', '--verify', `refs/tags/${tag}^{commit}`], { cwd })
  ).trim();
  const time = Number(await output('git', ['show', '-s', '--format=%ct', commit], { cwd }));
  const before = await ran('git', ['describe', '--tags', '--abbrev=0', '--match=v[0-9]*', `${commit}^`], {
    cwd,
  });
  return { tag, version: tag.slice(1), commit, time, before: before.code === 0 ? before.stdout.trim() : '' };
}

/** Writes the files of the tag into `into`: nothing that is not committed comes into a release. */
export async function checkOut(repository: string, { commit }: TaggedSource, into: string): Promise<void> {
  mkdirSync(into, { recursive: true });
  const archive = `${into}.tar`;
  await output('git', ['archive', '--format=tar', `--output=${archive}`, commit], { cwd: repository });
  await output('tar', ['-xf', archive, '-C', into], { cwd: into });
}

/** Sentences about files whose version is another than the tag's. */
export function versionFaults(root: string, version: string): string[] {
  const yaml = (path: string) => parse(readFileSync(join(root, path), 'utf8')) as Record<string, unknown>;
  const json = (path: string) =>
    JSON.parse(readFileSync(join(root, path), 'utf8')) as Record<string, unknown>;
  const found: [place: string, said: unknown][] = [
    ['package.json version', json('package.json')['version']],
    ['charts/svc/Chart.yaml version', yaml('charts/svc/Chart.yaml')['version']],
    ['charts/svc/Chart.yaml appVersion', yaml('charts/svc/Chart.yaml')['appVersion']],
    ['charts/svc-crds/Chart.yaml version', yaml('charts/svc-crds/Chart.yaml')['version']],
  ];
  return found
    .filter(([, said]) => said !== version)
    .map(([place, said]) => `${place} is ${said}, not ${version}`);
}

function treeOf(repository: string, ref: string): Tree {
  const cwd = repository;
  return {
    async read(path) {
      const { code, stdout } = await ran('git', ['show', `${ref}:${path}`], { cwd });
      return code === 0 ? stdout : null;
    },
    async list(folder) {
      const { stdout } = await ran('git', ['ls-tree', '--name-only', `${ref}:${folder}`], { cwd });
      return stdout
        .split('\n')
        .filter((name) => name !== '')
        .sort();
    },
  };
}

/** Both releases, to be compared. */
export async function comparedWith(repository: string, source: TaggedSource): Promise<Compared> {
  const { before, tag, commit } = source;
  const range = before === '' ? commit : `${before}..${commit}`;
  const log = await output('git', ['log', '--format=%s', range], { cwd: repository });
  return {
    ...{
      before,
      tag,
      old: before === '' ? null : treeOf(repository, before),
      new: treeOf(repository, commit),
    },
    subjects: log.split('\n').filter((line) => line !== ''),
  };
}
