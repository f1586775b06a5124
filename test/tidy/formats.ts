// Only a format knows its name. Elsewhere a dialect or family is a value that somebody hands in: a branch on a name would
// have to be found again by whoever adds a format.
import { scan } from './scan.ts';
import { type Fault, faultsOf, isProduction, type Source } from './sources.ts';

const HOME = 'core/inference/formats/';

/** Files that may say such a word, each with the reason. Folders end with a slash. */
export const namesElsewhere: Readonly<Record<string, string>> = {
  'core/catalog/generate/':
    'kinds of providers, which are written into the catalog and share names with families',
  'core/catalog/presets/': 'kinds of providers, likewise',
  'core/catalog/merge.ts': 'the id of the sandbox as a provider',
  'core/inference/canonical/coverage.ts': 'members of the canonical request',
  'core/inference/caller/svc.ts': 'members of bodies',
  'core/policies/types.ts': 'words of the policy language; a dialect that is missing there does not compile',
  'core/operations/registry.ts': 'operations in the document, by the dialect of their errors',
  'core/analytics/examples.ts': 'an example of a row',
  'core/routing/operations.ts': 'the dialect of a simulated call that names none',
  'core/orgs/create.ts': "the slug of an organization's project for tests",
};

/** Names of dialects and families, as the formats declare them. */
export function formatNames(sources: readonly Source[]): string[] {
  const names = new Set<string>();
  for (const { path, text } of sources) {
    if (!path.startsWith(HOME) || !/^[\w-]+\/index\.ts$/.test(path.slice(HOME.length))) continue;
    for (const [, members = ''] of text.matchAll(/interface (?:Families|Dialects) \{([^}]*)\}/g)) {
      for (const [, name = ''] of members.matchAll(/(\w+):/g)) names.add(name);
    }
  }
  return [...names];
}

/** Names of formats as literals in code that runs in production, outside the formats. */
export function formatsNamedAtHome(sources: readonly Source[]): Fault[] {
  const names = formatNames(sources);
  if (names.length === 0) return [];
  const literal = new RegExp(`(['"\`])(?:${names.join('|')})\\1`, 'g');
  const allowed = Object.keys(namesElsewhere);
  const mayName = (path: string) =>
    allowed.some((entry) => (entry.endsWith('/') ? path.startsWith(entry) : path === entry));
  return sources
    .filter(({ path }) => /^(?:core|http|graphql|gateway|admin-graphql|workflows)\//.test(path))
    .filter(({ path }) => isProduction(path) && !path.startsWith(HOME) && !mayName(path))
    .flatMap((source) => {
      // There a word is a member's name.
      const code = scan(source.text).code.replace(/\b(?:Pick|Omit)<[^<>]*>/g, (text) =>
        text.replace(/'/g, ' '),
      );
      return faultsOf(source, code, literal, 'the name of a wire format');
    });
}
