// The order of the house: which file may import which (docs/development.md#rules-of-the-code). A folder of core
// may use those above it in this list and never those below, and only through their index.ts.
import { posix } from 'node:path';
import { scan } from './scan.ts';
import { type Fault, isProduction, lineAt, type Source } from './sources.ts';

/** Folders of core in reading order. */
export const concepts = [
  'kernel',
  'db',
  'runtime',
  'mail',
  'redaction',
  'egress',
  'catalog',
  'pricing',
  'ledger',
  'orgs',
  'identity',
  'approvals',
  'webhooks',
  'workflow-starts',
  'keys',
  'budgets',
  'byok',
  'limits',
  'policies',
  'routing',
  'payloads',
  'analytics',
  'model-news',
  'figures',
  'rollouts',
  'inference',
  'invoices',
  'topups',
  'mandates',
  'e-invoices',
  'refunds',
  'settlements',
  'credits',
  'gifts',
  'redeem',
  'plans',
  'accounting',
  'evals',
  'privacy',
  'legal',
  'support',
  'resellers',
  'storefronts',
  'closing',
  'org-erasure',
  'org-export',
  'desk',
  'keyring',
  'operations',
] as const;

/** What everything stands on: any folder may use these three, and nothing is said about them in its README. */
const foundation: ReadonlySet<string> = new Set(['kernel', 'db', 'runtime']);

/** Packages, and folders with a rule of their own, and what of ours they may import. */
export const packages: Readonly<Record<string, readonly string[]>> = {
  core: ['core'],
  http: ['core', 'http'],
  // The schemas know nothing of HTTP; what binds them to a server does.
  graphql: ['core', 'graphql'],
  'graphql/bindings': ['core', 'graphql', 'http'],
  gateway: ['core', 'http', 'graphql', 'gateway'],
  'admin-graphql': ['core', 'http', 'graphql', 'admin-graphql'],
  workflows: ['core', 'workflows'],
  // A client: types of core alone, see `clientsTakeTypes`.
  operator: ['core', 'operator'],
  cli: ['core', 'cli'],
  test: [
    'core',
    'http',
    'graphql',
    'gateway',
    'admin-graphql',
    'workflows',
    'cli',
    'operator',
    'console',
    'test',
  ],
};

interface Import {
  /** Path from the top of the repository. */
  readonly target: string;
  readonly line: number;
}

/** The imports of `source` that lead to files of ours. */
export function ownImports(source: Source): Import[] {
  const { code } = scan(source.text);
  const found: Import[] = [];
  const pattern = /(?:\bfrom\s*|\bimport\s*\(?\s*)(['"])([^'"\n]+)\1/g;
  for (const match of code.matchAll(pattern)) {
    const name = match[2] as string;
    const line = lineAt(code, match.index);
    if (name.startsWith('@svc/')) found.push({ target: name.slice('@svc/'.length), line });
    else if (name.startsWith('.')) found.push({ target: posix.join(posix.dirname(source.path), name), line });
  }
  return found;
}

function conceptOf(path: string): string | null {
  const [top, concept, inside] = path.split('/');
  return top === 'core' && concept !== undefined && inside !== undefined ? concept : null;
}

/** Faults of one import of a production file of core. */
function checkConcept(source: Source, found: Import, uses: ReadonlyMap<string, Set<string>>): string | null {
  const from = conceptOf(source.path);
  const to = conceptOf(found.target);
  if (from === null || to === null || from === to) return null;
  if (found.target !== `core/${to}/index.ts`) return `past the index of ${to}: ${found.target}`;
  const order = (concept: string) => (concepts as readonly string[]).indexOf(concept);
  if (order(from) === -1) return `folder core/${from} is not in the order`;
  if (order(to) > order(from)) return `${from} may not use ${to}, which stands below it`;
  // The registry uses every concept that has operations; a list of them would be the registry again.
  if (from === 'operations' || foundation.has(to)) return null;
  if (uses.get(from)?.has(to) === false) return `README of ${from} does not name ${to} in its Uses: line`;
  return null;
}

/** The entry of `packages` that `path` falls under: of its folder, or else of its package. */
function packageOf(path: string): string {
  const [top = '', folder] = path.split('/');
  return `${top}/${folder}` in packages ? `${top}/${folder}` : top;
}

/** The concepts that each README names in its `Uses:` line; a concept without README or line is absent. */
export function readUses(sources: readonly Source[]): Map<string, Set<string>> {
  const uses = new Map<string, Set<string>>();
  for (const { path, text } of sources) {
    const concept = /^core\/([^/]+)\/README\.md$/.exec(path)?.[1];
    const line = /^[*_#\s-]*Uses:[*_]*(.*(?:\n\S.*)*)/m.exec(text)?.[1];
    if (concept !== undefined && line !== undefined)
      uses.set(concept, new Set(line.match(/[a-z]+(?:-[a-z]+)*/g) ?? []));
  }
  return uses;
}

/** Imports of production files that point down the list, past an index, or to a package they may not know. */
export function importOrder(sources: readonly Source[]): Fault[] {
  const uses = readUses(sources);
  const faults: Fault[] = [];
  for (const source of sources.filter(({ path }) => isProduction(path))) {
    const from = packageOf(source.path);
    const allowed = packages[from];
    for (const found of ownImports(source)) {
      const to = found.target.split('/')[0] as string;
      const message =
        allowed !== undefined && !allowed.includes(to)
          ? `${from} may not import ${to}`
          : checkConcept(source, found, uses);
      if (message !== null) faults.push({ path: source.path, line: found.line, message });
    }
  }
  return faults;
}

/** Surfaces reach a concept of core by its index alone, as concepts do, and `http` in the same way. */
export function surfacesByIndex(sources: readonly Source[]): Fault[] {
  const faults: Fault[] = [];
  for (const source of sources.filter(({ path }) => isProduction(path) && !path.startsWith('core/'))) {
    for (const { target, line } of ownImports(source)) {
      const concept = conceptOf(target);
      const is_past_http =
        target.startsWith('http/') && target !== 'http/index.ts' && !source.path.startsWith('http/');
      if ((concept !== null && target !== `core/${concept}/index.ts`) || is_past_http)
        faults.push({
          path: source.path,
          line,
          message: `past the index of ${concept ?? 'http'}: ${target}`,
        });
    }
  }
  return faults;
}

/** Concept folders without a README, or whose README has no `Uses:` line. */
export function conceptReadmes(sources: readonly Source[]): Fault[] {
  const folders = new Set(sources.map(({ path }) => conceptOf(path)).filter((concept) => concept !== null));
  const uses = readUses(sources);
  return [...folders]
    .filter((concept) => !foundation.has(concept) && !uses.has(concept))
    .map((concept) => ({
      path: `core/${concept}/README.md`,
      line: 1,
      message: 'is missing or has no line that begins with "Uses:"',
    }));
}

/** Programs of the operator that run where it is built, not in a cluster. */
const operatorTools: ReadonlySet<string> = new Set([
  'operator/definition/access-crds.ts',
  'operator/definition/crd.ts',
  'operator/definition/write-crd.ts',
]);

/** Values of core, or the tools of the build, in files of the operator that run in a cluster: it is a client. */
export function clientsTakeTypes(sources: readonly Source[]): Fault[] {
  const faults: Fault[] = [];
  const files = sources.filter(
    ({ path }) => path.startsWith('operator/') && isProduction(path) && !operatorTools.has(path),
  );
  for (const source of files) {
    const types = new Set<number>();
    const { code } = scan(source.text);
    for (const match of code.matchAll(/\bimport type\b[^;'"]*?\bfrom\s*(?=['"])/g)) {
      types.add(lineAt(code, match.index + match[0].length));
    }
    for (const { target, line } of ownImports(source)) {
      const is_value = target.startsWith('core/') && !types.has(line);
      const message = is_value ? `a value of core: ${target}` : `a tool of the build: ${target}`;
      if (is_value || operatorTools.has(target)) faults.push({ path: source.path, line, message });
    }
  }
  return faults;
}

/** The files that each production file of core imports, for values or for types. */
function graphOf(sources: readonly Source[]): Map<string, readonly Import[]> {
  const files = sources.filter(({ path }) => path.startsWith('core/') && isProduction(path));
  return new Map(files.map((source) => [source.path, ownImports(source)]));
}

/** Files of core that import themselves by way of others, types included: none of them can be read first. */
export function fileCycles(sources: readonly Source[]): Fault[] {
  const graph = graphOf(sources);
  const faults: Fault[] = [];
  const done = new Set<string>();
  const walk = (path: string, trail: readonly string[]): void => {
    if (done.has(path)) return;
    for (const { target, line } of graph.get(path) ?? []) {
      const at = trail.indexOf(target);
      const circle = [...trail.slice(at), target].map((file) => posix.basename(file)).join(' → ');
      if (at >= 0) faults.push({ path, line, message: `files import each other: ${circle}` });
      else if (graph.has(target)) walk(target, [...trail, target]);
    }
    done.add(path);
  };
  for (const path of graph.keys()) walk(path, [path]);
  return faults;
}
