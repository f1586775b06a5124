// How large a file and a folder may be: what a reader takes in at one sitting, and what a list shows at one look.
// The linter limits functions to 60 lines too, but does not count JSX and the parameters.
import { posix } from 'node:path';
import { type Fault, isProduction, lineAt, type Rule, type Source } from './sources.ts';

const LINES_MAX = 400;
const FILES_MAX = 25;

/** Recorded and generated data: as large as what it shows. */
const isData = (path: string) => /(^|\/)(golden|fixtures|generated|histories)\//.test(path);

/** Numbered migrations: a sequence that only grows, read by its end, and split nowhere. */
const isSequence = (path: string) => /(^|\/)migrations\/\d{4}_\w+\.sql$/.test(path);

/** Files of more than 400 lines that wait to be split. Nothing joins them, and what has been split leaves the list. */
export const stillLonger: ReadonlySet<string> = new Set([]);

const linesOf = ({ text }: Source) => text.split('\n').length - 1;

/** The rule of file lengths, with the files that it still passes over. */
export function fileLengthBut(passed: ReadonlySet<string>): Rule {
  return (sources) => {
    const long = sources.filter(
      (source) => /\.tsx?$/.test(source.path) && !isData(source.path) && linesOf(source) > LINES_MAX,
    );
    const faults: Fault[] = long
      .filter(({ path }) => !passed.has(path))
      .map((source) => ({
        path: source.path,
        line: LINES_MAX + 1,
        message: `${linesOf(source)} lines, ${LINES_MAX} at most`,
      }));
    const paths = new Set(long.map(({ path }) => path));
    for (const path of passed) {
      const message = `not longer than ${LINES_MAX} lines any more: strike it from stillLonger of test/tidy/sizes.ts`;
      if (!paths.has(path)) faults.push({ path, line: 1, message });
    }
    return faults;
  };
}

/** Files above 400 lines: two things in one. */
export const fileLength: Rule = fileLengthBut(stillLonger);

/** Folders of more than 25 files, data and migrations aside: rooms that nobody has given a name. */
export const folderSize: Rule = (sources) => {
  const files = new Map<string, number>();
  for (const { path } of sources.filter(({ path }) => !isData(path) && !isSequence(path))) {
    const folder = posix.dirname(path);
    files.set(folder, (files.get(folder) ?? 0) + 1);
  }
  return [...files]
    .filter(([, count]) => count > FILES_MAX)
    .map(([path, count]) => ({ path, line: 1, message: `${count} files, ${FILES_MAX} at most` }));
};

const FUNCTION_MAX = 60;

/** Functions at the top of a file, from their first line to the brace that closes them. */
const FUNCTION = /^(?:export )?(?:async )?function\*? (\w+)[\s\S]*?^\}$/gm;

/**
 * Functions of more than 60 lines, without blank lines and comments. The linter has the same limit, but does not count
 * JSX. Tests are exempt: a test tells one story from its start to its end.
 */
export const functionLength: Rule = (sources) =>
  sources
    .filter(({ path }) => isProduction(path) || /^console\/.*\.tsx$/.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(FUNCTION)].flatMap((match) => {
        const lines = match[0].split('\n').filter((line) => !/^\s*(\/\/.*|\/?\*.*)?$/.test(line)).length;
        if (lines <= FUNCTION_MAX) return [];
        const message = `${match[1]} has ${lines} lines, ${FUNCTION_MAX} at most`;
        return [{ path, line: lineAt(text, match.index), message }];
      }),
    );
