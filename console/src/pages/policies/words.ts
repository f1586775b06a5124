// What the pages of policies say. Pure.

interface ProjectName {
  readonly id: string;
  readonly name: string;
}

/** The scope by its name; a project that is archived by its id. */
export function scopeText(project_id: string | null | undefined, projects: readonly ProjectName[]): string {
  if (project_id === null || project_id === undefined) return 'Organisation';
  return projects.find(({ id }) => id === project_id)?.name ?? project_id;
}

export interface Manifest {
  readonly namespace: string;
  readonly name: string;
}

/** The object that manages a policy, of `k8s/<cluster>/<namespace>/<name>`; null where none does. */
export function manifestOf(managed_by: string | null | undefined): Manifest | null {
  const [, , namespace, name] = managed_by?.split('/') ?? [];
  return namespace === undefined || name === undefined ? null : { namespace, name };
}

/** The command that opens the object in an editor. */
export function kubectlLine({ namespace, name }: Manifest): string {
  return `kubectl edit routingpolicy ${name} --namespace ${namespace}`;
}

/** Where a version came from. */
export function sourceText(version: { managedBy?: string | null; createdBy: string }): string {
  const manifest = manifestOf(version.managedBy);
  if (manifest !== null) return `Kubernetes, ${manifest.namespace}/${manifest.name}`;
  return version.createdBy.startsWith('key_') ? 'API' : 'Console';
}

/** What a first text can begin with. */
export const starters = [
  {
    id: 'price',
    name: 'The cheapest endpoint first',
    yaml: (name: string) => `version: 1\npolicy: ${name}\ndefaults:\n  sort: price\n  max_attempts: 3\n`,
  },
  {
    id: 'latency',
    name: 'The fastest first token',
    yaml: (name: string) => `version: 1\npolicy: ${name}\ndefaults:\n  sort: latency\n  affinity: session\n`,
  },
  {
    id: 'private',
    name: 'Nothing retained, nothing trained on',
    yaml: (name: string) =>
      `version: 1\npolicy: ${name}\ndefaults:\n  require:\n    zdr: true\n    no_train: true\n  lock: [providers]\n`,
  },
] as const;

/** What is wrong with a name; null when nothing is. */
export function faultOfName(name: string): string | null {
  if (name === '') return 'A policy has a name.';
  if (/^[a-z0-9][a-z0-9-]{0,62}$/.test(name)) return null;
  return 'a–z, 0–9 and -, at most 63 characters, and no - first.';
}

interface Planned {
  readonly endpointId: string;
  readonly provider: string;
}

/** How the first choice of a text differs from that of another one; null where both choose the same. */
export function differenceText(now: readonly Planned[], before: readonly Planned[]): string | null {
  const [first, other] = [now[0], before[0]];
  if (first?.endpointId === other?.endpointId) return null;
  const named = (planned: Planned | undefined) => planned?.provider ?? 'nobody';
  const same = first !== undefined && first.provider === other?.provider;
  return same ? `another endpoint of ${named(first)}` : `${named(first)} instead of ${named(other)}`;
}

/** How far a version has come: every gateway, or how many of them. */
export function gatewaysText({ applied, total }: { applied: number; total: number }): string {
  if (total === 0) return 'no gateway is running';
  return applied === total ? `applied on ${shown(total)}` : `applied on ${applied} of ${shown(total)}`;
}
const shown = (count: number) => (count === 1 ? '1 gateway' : `${count} gateways`);

interface Ruling {
  readonly name: string;
  readonly scopes: readonly { readonly projectId?: string | null; readonly version: number }[];
}

/** What activating a version in a scope changes, in a sentence. */
export function changeText(
  to: { name: string; version: number; project_id: string | null },
  policies: readonly Ruling[],
): string {
  const of = (project_id: string | null) =>
    policies
      .flatMap(({ name, scopes }) => scopes.map((scope) => ({ name, ...scope })))
      .find((scope) => (scope.projectId ?? null) === project_id);
  const now = of(to.project_id);
  const next = `The next call is routed by version ${to.version} of ${to.name}`;
  if (now?.name === to.name && now.version === to.version) return 'It is active there already.';
  if (now !== undefined) return `${next}, instead of version ${now.version} of ${now.name}.`;
  const wider = to.project_id === null ? undefined : of(null);
  if (wider !== undefined) return `${next}, instead of the organisation’s policy ${wider.name}.`;
  return `${next}, instead of the built-in one.`;
}
