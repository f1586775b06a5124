// Files that documents name: README.md and docs/ by paths and links, the READMEs of folders by names.
import { posix } from 'node:path';
import { lineAt, type Rule } from './sources.ts';

const PATH =
  /`((?:core|gateway|operator|charts|cli|test|docs)\/[\w./-]+|\.ci\/\w+)`|\]\(((?!https?:|#)[\w./-]+)\)/g;

/** Paths in README.md and docs/ that lead to nothing: a document that names files must follow when they move. */
export const pathsInDocs: Rule = (sources) => {
  const known = new Set<string>();
  for (const { path } of sources) for (let at = path; at !== '.'; at = posix.dirname(at)) known.add(at);
  return sources
    .filter(({ path }) => path === 'README.md' || /^docs\/.*\.md$/.test(path))
    .flatMap((source) =>
      [...source.text.matchAll(PATH)].flatMap((match) => {
        const link = match[2];
        const path = link === undefined ? (match[1] as string) : posix.join(posix.dirname(source.path), link);
        if (known.has(path.replace(/\/$/, ''))) return [];
        return [
          { path: source.path, line: lineAt(source.text, match.index), message: `leads nowhere: ${path}` },
        ];
      }),
    );
};

/** Pages of clients have an index of their own; legal texts are versions that the product publishes. */
const INDEXED = /^docs\/(?!README\.md$|clients\/(?!README)|legal\/\w+\/)[\w./-]+\.md$/;

/** Documents that the index of docs/ does not link: nobody would find them. */
export const docsInIndex: Rule = (sources) => {
  const index = sources.find(({ path }) => path === 'docs/README.md')?.text ?? '';
  return sources
    .filter(({ path }) => INDEXED.test(path) && !index.includes(`](${path.slice('docs/'.length)})`))
    .map(({ path }) => ({ path, line: 1, message: 'is not linked in docs/README.md' }));
};

/** A file in code type, with the folders that a README names before it. */
const NAMED_FILE = /`((?:\.{1,2}\/)*\w[\w./-]*\.(?:tsx?|mjs|js|sql|md|json|graphql|ya?ml|sh|css))`/g;
/** Written by the build, or read from a secret of the cluster. */
const isMade = (name: string) => /(^|\/)dist\//.test(name) || name === 'keyring.json';

/**
 * Files that a folder's README names and that are not there. A name is a path from that folder or from one above it, or
 * the end of a path below it: a README must follow when files move.
 */
export const filesInReadmes: Rule = (sources) => {
  const paths = sources.map(({ path }) => path);
  const known = new Set(paths);
  const isThere = (folder: string, name: string) => {
    for (let from = folder; ; from = posix.dirname(from)) {
      if (known.has(posix.join(from, name))) return true;
      if (from === '.') break;
    }
    return paths.some((path) => path.startsWith(`${folder}/`) && path.endsWith(`/${name}`));
  };
  return sources
    .filter(({ path }) => path.endsWith('/README.md'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(NAMED_FILE)].flatMap((match) => {
        const name = match[1] as string;
        if (isMade(name) || isThere(posix.dirname(path), name)) return [];
        return [
          { path, line: lineAt(text, match.index), message: `names a file that is not there: ${name}` },
        ];
      }),
    );
};
