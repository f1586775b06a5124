// Words that names of the house do not have, because the field has another for the same thing.
import { scan } from './scan.ts';
import { type Fault, faultsOf, type Rule } from './sources.ts';

/** By the word that the field uses. */
const BANNED: Readonly<Record<string, RegExp>> = {
  preference: wordIn('wish(?:es)?'),
  reported: wordIn('told'),
  'expensive, or greatest': wordIn('dear(?:er|est)?'),
};

/** A name that has `word` as one of its parts, in camelCase, PascalCase or snake_case. */
function wordIn(word: string): RegExp {
  const capital = `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
  return new RegExp(`(?<![A-Za-z])(?:${word}|[A-Za-z]*${capital}|${capital})(?![a-z])\\w*`, 'g');
}

/** Names of code that have a banned word; comments and texts may say what they like. */
export const plainNames: Rule = (sources) =>
  sources
    .filter(({ path }) => /\.tsx?$/.test(path))
    .flatMap((source): Fault[] => {
      const { bare } = scan(source.text);
      return Object.entries(BANNED).flatMap(([better, word]) =>
        faultsOf(source, bare, word, `a name says ${better}`),
      );
    });
