// What a release says of itself: computed from what both releases have written down, so that nothing is forgotten.
import { buildSchema, findBreakingChanges, findDangerousChanges } from 'graphql';

/** A release as its files; null where it has no such file. */
export interface Tree {
  read(path: string): Promise<string | null>;
  list(folder: string): Promise<readonly string[]>;
}

export interface Compared {
  /** '' before the first release. */
  readonly before: string;
  readonly tag: string;
  readonly old: Tree | null;
  readonly new: Tree;
  /** First lines of the commits between, newest first. */
  readonly subjects: readonly string[];
}

/** Rows of the tables of a page, by the code in their first cell, as the text of the rest. */
export function rowsOf(page: string): Map<string, string> {
  const rows = page.matchAll(/^\|\s*`([^`]+)`\s*\|(.*)\|\s*$/gm);
  return new Map([...rows].map(([, name, rest]) => [name as string, (rest as string).trim()]));
}

/** Operations of `callers.txt`, `GET /v1/models`, with who may call each. */
function operationsOf(text: string): Map<string, string> {
  const rows = text.matchAll(/^(\/\S+) ([A-Z]+) (\S+) \| (.*)$/gm);
  return new Map([...rows].map(([, path, method, , who]) => [`${method} ${path}`, who as string]));
}

interface Difference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

function difference(old: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): Difference {
  return {
    added: [...now.keys()].filter((one) => !old.has(one)),
    removed: [...old.keys()].filter((one) => !now.has(one)),
    changed: [...now.keys()].filter((one) => old.has(one) && old.get(one) !== now.get(one)),
  };
}

const list = (title: string, lines: readonly string[]) =>
  lines.length === 0 ? '' : `${title}\n\n${lines.map((line) => `- ${line}`).join('\n')}\n\n`;
const coded = (names: readonly string[]) => names.map((name) => `\`${name}\``);

async function pageDifference({ old, new: now }: Compared, path: string, read = rowsOf): Promise<Difference> {
  return difference(read((await old?.read(path)) ?? ''), read((await now.read(path)) ?? ''));
}

const MIGRATIONS = 'core/db/migrations';

/** Migrations that are new, and from which one on programs of the release before work with them. */
async function migrations({ old, new: now }: Compared): Promise<string> {
  const lines: string[] = [];
  for (const folder of [MIGRATIONS, `${MIGRATIONS}/ledger`]) {
    const before = new Set((await old?.list(folder)) ?? []);
    for (const name of (await now.list(folder)).filter((one) => one.endsWith('.sql') && !before.has(one))) {
      const text = (await now.read(`${folder}/${name}`)) ?? '';
      const from = /^-- compatible_from: (\S+)/m.exec(text)?.[1];
      const of = folder === MIGRATIONS ? '' : ' (ledger)';
      lines.push(
        `\`${name}\`${of}${from === undefined ? '' : `, programs from migration ${from} on work with it`}`,
      );
    }
  }
  return list('Migrations, in their order (`npx svcctl migrate` before the programs are changed):', lines);
}

async function settings(compared: Compared): Promise<string> {
  const env = await pageDifference(compared, 'docs/configuration.md');
  const values = await pageDifference(compared, 'charts/svc/README.md');
  return [
    list('Settings that are new:', coded(env.added)),
    list('Settings that are gone, and refused as unknown at the start:', coded(env.removed)),
    list('Settings whose default or meaning is another:', coded(env.changed)),
    list('Values of the chart that are new:', coded(values.added)),
    list('Values of the chart that are gone:', coded(values.removed)),
    list('Values of the chart whose default or meaning is another:', coded(values.changed)),
  ].join('');
}

async function api(compared: Compared): Promise<string> {
  const operations = await pageDifference(compared, 'test/registry/callers.txt', operationsOf);
  const codes = await pageDifference(compared, 'docs/errors.md');
  return [
    list('Operations that are new:', coded(operations.added)),
    list('Operations that are gone:', coded(operations.removed)),
    list('Operations whose callers are others than before:', coded(operations.changed)),
    list('Error codes that are new:', coded(codes.added)),
    list('Error codes that are gone:', coded(codes.removed)),
  ].join('');
}

async function graphql({ old, new: now }: Compared): Promise<string> {
  const lines: string[] = [];
  for (const name of ['tenant', 'staff']) {
    const path = `graphql/${name}/schema.graphql`;
    const [before, after] = [await old?.read(path), await now.read(path)];
    if (!before || !after) continue;
    const [a, b] = [buildSchema(before), buildSchema(after)];
    for (const { description } of findBreakingChanges(a, b))
      lines.push(`${name}, breaks clients: ${description}`);
    for (const { description } of findDangerousChanges(a, b)) lines.push(`${name}: ${description}`);
  }
  return list('GraphQL:', lines);
}

/** The notes of a release, Markdown. */
export async function notesOf(compared: Compared): Promise<string> {
  const { before, tag, subjects } = compared;
  const upgrade = (await migrations(compared)) + (await settings(compared));
  const clients = (await api(compared)) + (await graphql(compared));
  const since = before === '' ? 'The first release.' : `Changes since ${before}.`;
  const section = (title: string, text: string) => (text === '' ? '' : `## ${title}\n\n${text}`);
  if (before === '') return `# ${tag}\n\n${since}\n`;
  return `# ${tag}\n\n${since}\n\n${section('For those who upgrade', upgrade)}${section('For those who call', clients)}${section(
    'Commits',
    list(`${subjects.length} since ${before}:`, subjects),
  )}`
    .trimEnd()
    .concat('\n');
}
