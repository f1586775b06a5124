// Which test files run together. `make test` runs the files that need the Kubernetes API separately and last, because
// kube-apiserver may have to be built first. `make test ONLY=folder` runs only the files of some folders.
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** Test files that need kube-apiserver; all others may run without it. */
export const needsKubernetes: readonly string[] = [
  'operator/**/*.test.ts',
  'charts/**/*.test.ts',
  '**/*.kube.test.ts',
];

/** What `make citus` runs with ledgers in a cluster; docs/operate/citus.md says what is left out, and why. */
const inCluster = [
  'test/citus/*.hand.ts',
  'core/ledger/*.test.ts',
  'core/ledger/{checkpoint,model,runs,shards,tasks}/*.test.ts',
  'test/calls/{idempotency,outages,shards}.test.ts',
  'test/calls/money/*.test.ts',
];

const everything =
  '{core,http,graphql,gateway,admin-graphql,workflows,operator,console,cli,charts,test}/**/*.test.ts';

/**
 * Test files that get a process of their own. All others share a process, which saves starting it and importing the
 * product, about half a second of processor time per file. These cannot share: they start, kill or measure something
 * that belongs to the whole process, or load an engine that can be loaded only once per process.
 */
export const ownProcess: readonly string[] = [
  ...needsKubernetes,
  'cli/**/*.test.ts',
  'workflows/**/*.test.ts',
  'test/{bench,console,crash,crash-money,mutations,evals,soak,streams,workflows}/**/*.test.ts',
  // They replace the timers of the process.
  'core/inference/call/answer/comeback.test.ts',
];

/** What vitest includes and excludes under `--mode`; any other mode means every file. */
export function filesOf(mode: string): { include: string[]; exclude: string[] } {
  const never = ['**/node_modules/**'];
  if (mode === 'kubernetes') return { include: [...needsKubernetes], exclude: never };
  if (mode === 'most') return { include: [everything], exclude: [...never, ...needsKubernetes] };
  // By hand: it needs a Keycloak that runs already.
  if (mode === 'keycloak') return { include: ['test/keycloak/*.hand.ts'], exclude: never };
  // By hand: it needs a Citus cluster that runs already.
  if (mode === 'citus') return { include: inCluster, exclude: never };
  return { include: [everything], exclude: never };
}

/** The files of a mode, as vitest finds them. */
export function filesIn(mode: string): string[] {
  const { include, exclude } = filesOf(mode);
  return globSync(include, { cwd: root, exclude }).sort();
}

/** What vitest includes and excludes among those files of a mode that share processes, or among those that do not. */
export function filesSharing(mode: string, share: boolean): { include: string[]; exclude: string[] } {
  const { include, exclude } = filesOf(mode);
  if (share) return { include, exclude: [...exclude, ...ownProcess] };
  const alone = new Set(globSync([...ownProcess], { cwd: root }));
  return { include: filesIn(mode).filter((file) => alone.has(file)), exclude };
}

/** Those of `files` that are in one of `folders` or are named in it; a folder may end in a slash. */
export function under(folders: readonly string[], files: readonly string[]): string[] {
  const plain = folders.map((folder) => folder.replace(/^\.\//, '').replace(/\/+$/, ''));
  return files.filter((file) => plain.some((folder) => file === folder || file.startsWith(`${folder}/`)));
}
