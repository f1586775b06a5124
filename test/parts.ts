// `make test` runs vitest twice: what needs the Kubernetes API comes last, because building kube-apiserver takes minutes
// on a new machine and goes on beside everything else.

/** Test files that need kube-apiserver; all others may run without it. */
export const needsKubernetes: readonly string[] = [
  'operator/**/*.test.ts',
  'charts/**/*.test.ts',
  '**/*.kube.test.ts',
];

const everything = '{core,gateway,admin-graphql,workflows,operator,console,cli,charts,test}/**/*.test.ts';

/** What vitest includes and excludes under `--mode`; without one of these modes every file. */
export function filesOf(mode: string): { include: string[]; exclude: string[] } {
  const never = ['**/node_modules/**'];
  if (mode === 'kubernetes') return { include: [...needsKubernetes], exclude: never };
  if (mode === 'most') return { include: [everything], exclude: [...never, ...needsKubernetes] };
  return { include: [everything], exclude: never };
}
