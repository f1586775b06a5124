// Exports that no other file uses. Names are compared as words: a name that occurs in no other file is unused for
// certain; one that another file happens to contain for another reason is not reported.
import { scan } from './scan.ts';
import { type Fault, isProduction, lineAt, type Rule, type Source } from './sources.ts';

const DECLARED =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type) (\w+)/gm;
const LISTED = /^export (?:type )?\{([^}]*)\}/gm;

interface Export {
  readonly name: string;
  readonly line: number;
  /** Passed on from another file. */
  readonly listed: boolean;
}

function exportsOf(bare: string): Export[] {
  const found: Export[] = [];
  for (const match of bare.matchAll(DECLARED)) {
    found.push({ name: match[1] as string, line: lineAt(bare, match.index), listed: false });
  }
  for (const match of bare.matchAll(LISTED)) {
    for (const item of (match[1] as string).split(',')) {
      const name = item
        .trim()
        .replace(/^type /, '')
        .replace(/^.* as /, '');
      if (name !== '') found.push({ name, line: lineAt(bare, match.index), listed: true });
    }
  }
  return found;
}

/** The files in which each word stands. */
function filesByWord(sources: readonly Source[]): Map<string, Set<string>> {
  const files = new Map<string, Set<string>>();
  for (const { path, text } of sources) {
    if (!/\.(tsx?|mjs|js)$/.test(path)) continue;
    // Documents of GraphQL and imports of types stand in strings: comments alone are no use.
    for (const word of new Set(scan(text).code.match(/\w+/g) ?? [])) {
      const known = files.get(word);
      if (known === undefined) files.set(word, new Set([path]));
      else known.add(path);
    }
  }
  return files;
}

const isDoor = (path: string) => path.endsWith('/index.ts');

/** Of the files that contain the name of an export, those that use it. */
function usersOf(source: Source, { listed }: Export, files: ReadonlySet<string>): string[] {
  const folder = source.path.slice(0, source.path.lastIndexOf('/') + 1);
  return [...files].filter((path) => {
    if (path === source.path) return false;
    // A door is used by whoever is outside; who is inside imports the file itself.
    if (listed && isDoor(source.path)) return !path.startsWith(folder) || !isProduction(path);
    return true;
  });
}

/** Exports of production files that stand in no other file, and what an index passes on to nobody outside. */
export const exportsUsed: Rule = (sources) => {
  const files = filesByWord(sources);
  const faults: Fault[] = [];
  for (const source of sources.filter(({ path }) => isProduction(path))) {
    for (const one of exportsOf(scan(source.text).bare)) {
      if (usersOf(source, one, files.get(one.name) ?? new Set()).length > 0) continue;
      const message = one.listed
        ? `${one.name} is passed on and used by nobody outside`
        : `${one.name} is exported and used in no other file`;
      faults.push({ path: source.path, line: one.line, message });
    }
  }
  return faults;
};
