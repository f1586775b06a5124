// Citations of documents. Comments, documents, texts of errors and names of tests cite pages of this repository, with
// the heading where a reader needs one: `docs/outcomes.md#left-mid-stream`. What is cited exists.
import { posix } from 'node:path';
import { faultsOf, lineAt, type Rule, type Source } from './sources.ts';

/** A name of a Markdown file with an anchor or without, or the target of a link within the page. */
const CITED = /\]\((#[^)\s]+)\)|(?<![\w./:*<>{}$@-])((?:\.{1,2}\/)*[\w-][\w./-]*\.md)(?:#([\w-]+))?/g;

/** Addresses of other sites. */
const FOREIGN = /https?:\/\/\S+/g;
/** The tests of these rules contain citations that lead nowhere, on purpose. */
const plants = (path: string) => /^test\/tidy\/.*\.test\.ts$/.test(path);
/** Programs that write a page, with the folder that its links are relative to. */
const WRITES: Readonly<Record<string, string>> = { 'test/fidelity/page.ts': 'docs' };

const blanked = (text: string) => text.replace(/[^\n]/g, ' ');

/**
 * Anchors of a Markdown page: GitHub's slug of each heading, numbered where headings are equal, and the names of
 * `<a id="…">`.
 */
export function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set([...text.matchAll(/<a id="([^"]+)">/g)].map((match) => match[1] as string));
  const seen = new Map<string, number>();
  const prose = text.replace(/^```[\s\S]*?^```/gm, '');
  for (const [, heading] of prose.matchAll(/^#{1,6} +(.+?) *#* *$/gm)) {
    // A link shows its text alone; of what is left letters, digits, hyphens and underscores count.
    const shown = (heading as string).replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = shown.replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '').replaceAll(' ', '-');
    const before = seen.get(slug) ?? 0;
    anchors.add(before === 0 ? slug : `${slug}-${before}`);
    seen.set(slug, before + 1);
  }
  return anchors;
}

/** The page that `cited` means in the file at `from`: from the top of the repository, else beside the file. */
function pageOf(cited: string, from: string, pages: ReadonlyMap<string, Source>): Source | undefined {
  const folders = ['.', posix.dirname(from), WRITES[from] ?? '.'];
  return folders.map((folder) => pages.get(posix.join(folder, cited))).find((page) => page !== undefined);
}

/** Citations of a page or of an anchor that is not there. */
export const citations: Rule = (sources) => {
  const pages = new Map(
    sources.filter(({ path }) => path.endsWith('.md')).map((page) => [page.path, page] as const),
  );
  const known = new Map<Source, ReadonlySet<string>>();
  const has = (page: Source, anchor: string) => {
    let anchors = known.get(page);
    if (anchors === undefined) {
      anchors = anchorsOf(page.text);
      known.set(page, anchors);
    }
    return anchors.has(anchor);
  };
  return sources.flatMap((source) => {
    if (plants(source.path)) return [];
    const text = source.text.replace(FOREIGN, blanked);
    return [...text.matchAll(CITED)].flatMap((match) => {
      const [whole, within, cited, heading] = match;
      const page = within === undefined ? pageOf(cited as string, source.path, pages) : source;
      const anchor = within === undefined ? heading : within.slice(1);
      if (page !== undefined && (anchor === undefined || has(page, anchor))) return [];
      const line = lineAt(text, match.index);
      return [{ path: source.path, line, message: `cites what is not there: ${whole}` }];
    });
  });
};

/** Numbers of chapters and rows of papers that readers of the repository do not have. */
const PAPERS = [
  /\b[Dd]ecisions? \d+(?:\.\d+)*/g,
  /(?<![\w'"`|.-])P\d{1,2}(?:\.\d+)?(?![\w'"`|-])/g,
  /\b[Dd]esign,? (?:section )?\d+/g,
  /\b[Hh]ouse (?:style|rule) \d+/g,
  /\b(?:service[-]spec|(?:ledger|gateway|scale)-trial)\b/g,
  /\(4\.[1-9]\d?(?:\.\d)?(?=[\s,;:)])/g,
  /\b(?:of|in|by|see|from|against|with) 4\.[1-9]\d?(?:\.\d)?(?![\w.]*\d)/g,
  /\b[Rr]ows? \d+\w?\b/g,
  /\b[Tt]able \d\b/g,
] as const;

/** Files that hold what others wrote: lists of versions, recorded answers. */
const isData = (path: string) => /(^|\/)(fixtures|golden)\/|\.json$/.test(path);

/** Citations of papers outside the repository. */
export const noOutsidePapers: Rule = (sources) =>
  sources
    .filter(({ path }) => !plants(path) && !isData(path))
    .flatMap((source) => PAPERS.flatMap((form) => faultsOf(source, source.text, form, 'outside paper')));

const OUTCOMES = 'docs/outcomes.md';

/** Outcomes of calls without a test: each name in the tables of docs/outcomes.md is cited by a test file. */
export const outcomesTested: Rule = (sources) => {
  const tests = sources.filter(({ path }) => path.endsWith('.test.ts') && !plants(path));
  const cited = new Set(
    tests.flatMap(({ text }) => [...text.matchAll(/docs\/outcomes\.md#([\w-]+)/g)].map((match) => match[1])),
  );
  return sources
    .filter(({ path }) => path === OUTCOMES)
    .flatMap(({ path, text }) =>
      [...text.matchAll(/^\| <a id="([^"]+)">/gm)].flatMap((match) =>
        cited.has(match[1])
          ? []
          : [{ path, line: lineAt(text, match.index), message: `no test cites ${match[1]}` }],
      ),
    );
};
