// The shape of the tree: folders that explain themselves, invariants with one name each.
import { posix } from 'node:path';
import type { Fault, Rule, Source } from './sources.ts';

/** Most files of a folder that explains itself by their names alone. */
const FILES_UNEXPLAINED = 5;

/** Folders that are data, or hold one file a thing under a name that says it. */
const selfEvident = /(^|\/)(fixtures|golden|histories|migrations|commands|versions)(\/|$)/;

function foldersOf(sources: readonly Source[]): Map<string, number> {
  const files = new Map<string, number>();
  for (const { path } of sources) {
    const folder = posix.dirname(path);
    if (!/\.tsx?$/.test(path) || folder === '.' || selfEvident.test(folder)) continue;
    files.set(folder, (files.get(folder) ?? 0) + 1);
  }
  return files;
}

/** Whether a README above `folder` names it, as in `caller/` or `src/ui`. */
function isNamedAbove(folder: string, readmes: ReadonlyMap<string, string>): boolean {
  for (let above = posix.dirname(folder); above !== '.'; above = posix.dirname(above)) {
    const text = readmes.get(`${above}/README.md`) ?? '';
    const inside = posix.relative(above, folder);
    if (text.includes(`\`${inside}\``)) return true;
    if (new RegExp(`(?:^|[^\\w-])${posix.basename(folder)}/`, 'm').test(text)) return true;
  }
  return false;
}

/** Folders of more than five files without a README, which no README above them names either. */
export const foldersExplained: Rule = (sources) => {
  const readmes = new Map(
    sources.filter(({ path }) => path.endsWith('README.md')).map(({ path, text }) => [path, text]),
  );
  return [...foldersOf(sources)]
    .filter(([, files]) => files > FILES_UNEXPLAINED)
    .filter(([folder]) => !readmes.has(`${folder}/README.md`) && !isNamedAbove(folder, readmes))
    .map(([folder, files]) => {
      const message = `${files} files, and no README here or above says what the folder is`;
      return { path: folder, line: 1, message };
    });
};

/** Invariants whose name another README gave away already: `L3` must be one sentence of the house. */
export const invariantsOnce: Rule = (sources) => {
  const owners = new Map<string, string>();
  const faults: Fault[] = [];
  for (const { path, text } of sources.filter(({ path }) => path.endsWith('.md'))) {
    for (const match of text.matchAll(/^(?:[->] )?\*\*([A-Z]+\d+[a-z]?)\*\*/gm)) {
      const id = match[1] as string;
      const owner = owners.get(id);
      const line = text.slice(0, match.index).split('\n').length;
      if (owner !== undefined) faults.push({ path, line, message: `invariant ${id} stands in ${owner} too` });
      else owners.set(id, path);
    }
  }
  return faults;
};
