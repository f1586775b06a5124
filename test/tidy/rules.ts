// Rules about the text of single files.
import { scan } from './scan.ts';
import { type Fault, faultsOf, isProduction, lineAt, type Rule, type Source } from './sources.ts';

/** Files outside store.ts and migrations that hold SQL, each with the reason. */
export const sqlElsewhere: Readonly<Record<string, string>> = {
  'core/db/migrate.ts': 'the runner of migrations itself',
  'core/db/pool.ts': 'begin, commit, rollback and ping',
  'core/db/listen.ts': 'listen',
  'core/runtime/dev-clock.ts': 'its one row of settings',
  'core/runtime/leader.ts': 'the advisory lock of the jobs',
  'core/policies/types.ts': 'no SQL: `rollback` is a word of the policy language',
};

const SQL =
  /(['"`])\s*(?:select\b[^'"`]*?\bfrom\b|select\s+(?:\$\d|\w+\s*\(|\d)|insert\s+into\s|update\s+\w+(?:\s+(?:as\s+)?\w+)?\s+set\s|delete\s+from\s|with\s+(?:recursive\s+)?\w+\s+(?:\([^)]*\)\s*)?as\s|(?:create|alter|drop)\s+(?:table|database|index|role|function|view)\s|truncate\s|(?:begin|commit|rollback)(?=\s*['"`;])|lock\s+table\s|(?:un)?listen\s+(?:\w+\s*['"`;]|\$\{)|copy\s+[\w(])/gi;

/** Whether a file is SQL's own place: a store (`store.ts`, `batch-store.ts`), or one of the few listed. */
function mayHoldSql(path: string): boolean {
  return /(^|[/-])store\.ts$/.test(path) || path in sqlElsewhere;
}

/** The places of `source` that look like SQL. */
export function sqlIn(source: Source): Fault[] {
  return faultsOf(source, scan(source.text).code, SQL, 'SQL outside store.ts');
}

/** SQL in production files outside store.ts, migrations and the listed ones. */
export const sqlInStores: Rule = (sources) =>
  sources.filter(({ path }) => isProduction(path) && !mayHoldSql(path)).flatMap(sqlIn);

const IMPURE: readonly (readonly [RegExp, string])[] = [
  [/\bDate\.now\b|\bnew Date\(\s*\)|\bDate\(\s*\)/g, 'a clock outside core/kernel'],
  [/\bMath\.random\b|\bcrypto\.(?:randomUUID|getRandomValues)\b/g, 'randomness outside core/kernel'],
  [/\bprocess\.env\b/g, 'an environment variable outside core/kernel'],
];

/** Workflow code runs in Temporal's own world, where the clock is the history's. */
const isWorkflowCode = (path: string) => /^workflows\/.*\/workflow\.ts$/.test(path);

/** Clocks, randomness, environment and node:crypto outside core/kernel; console, cli and tests are their own. */
export const pureOutsideKernel: Rule = (sources) =>
  sources
    .filter(
      ({ path }) =>
        isProduction(path) &&
        /^(core|http|graphql|gateway|workflows|operator)\//.test(path) &&
        !path.startsWith('core/kernel/') &&
        // The operator is a client with a clock of its own.
        path !== 'operator/system.ts' &&
        !isWorkflowCode(path),
    )
    .flatMap((source) => {
      const { code, bare } = scan(source.text);
      return [
        ...IMPURE.flatMap(([pattern, message]) => faultsOf(source, bare, pattern, message)),
        ...faultsOf(source, code, /\bfrom\s*['"](?:node:)?crypto['"]/g, 'node:crypto outside core/kernel'),
      ];
    });

/** Constructs that the house does without: they hide what a file gives, or type stripping refuses them. */
export const plainModules: Rule = (sources) =>
  sources
    .filter(({ path }) => path.endsWith('.ts') && path !== 'vitest.config.ts')
    .flatMap((source) => {
      const { bare } = scan(source.text);
      // These are read by tools that ask for a default export.
      const isAskedFor = [
        ...['test/support/global.ts', 'console/vite.config.ts'],
        'test/mutations/sources/vitest.config.ts',
      ].includes(source.path);
      return [
        ...faultsOf(source, bare, /^export \*/gm, 'export *'),
        ...(isAskedFor ? [] : faultsOf(source, bare, /^export default\b/gm, 'default export')),
        ...faultsOf(source, bare, /^\s*(?:export )?(?:declare )?(?:const )?enum \w/gm, 'enum'),
        ...faultsOf(source, bare, /^\s*(?:export )?namespace \w/gm, 'namespace'),
      ];
    });

const EXPORTED =
  /^export (?:async )?(?:function\*? (\w+)|const (\w+)(?::[^=\n]*)? = (?:async )?(?:\([^)]*\)[^=\n]*|\w+) =>)/gm;

/** Exported functions of core without a docstring right above them. */
export const documentedExports: Rule = (sources) =>
  sources
    .filter(({ path }) => isProduction(path) && path.startsWith('core/'))
    .flatMap((source) => undocumented(source));

function undocumented(source: Source): Fault[] {
  const { bare } = scan(source.text);
  const faults: Fault[] = [];
  const seen = new Set<string>();
  for (const match of bare.matchAll(EXPORTED)) {
    const name = (match[1] ?? match[2]) as string;
    const above = source.text.slice(0, match.index).trimEnd();
    // Overloads: the first signature carries the docstring for all.
    if (!seen.has(name) && !above.endsWith('*/'))
      faults.push({
        path: source.path,
        line: lineAt(bare, match.index),
        message: `${name} has no docstring`,
      });
    seen.add(name);
  }
  return faults;
}

const MACHINE = /(?<![\w.:/-])\/(?:work|farm|root)\/\w/g;

/** Paths that exist on one machine only. */
export const noMachinePaths: Rule = (sources) =>
  sources.flatMap((source) => faultsOf(source, source.text, MACHINE, 'path of one machine'));

/** Tests that are switched off, or that switch off others. */
export const noSkippedTests: Rule = (sources) =>
  sources
    .filter(({ path }) => path.endsWith('.test.ts'))
    .flatMap((source) =>
      faultsOf(
        source,
        scan(source.text).bare,
        /\b(?:it|test|describe|suite)\.(?:skip|only|todo|fails)\b/g,
        'switched off',
      ),
    );

// What attacks on SAML need is a document that is verified by one reader and read by another: so there is one parser of XML,
// in one file, and what is read of an assertion is what that file returned as verified.
const SAML_LIBRARY = 'core/identity/saml/library.ts';
const XML_PARSERS =
  /\bfrom\s*['"](?:@node-saml\/|@?xmldom|xml2js|sax|saxes|xml-crypto|xpath|fast-xml-parser|libxmljs|htmlparser2|samlify)/g;
/** Names of the library, and of parsers, by which one could read what nobody verified. */
const UNVERIFIED = /\b(?:getSamlResponseXml|getAssertionXml|DOMParser|parseFromString|parseStringPromise)\b/g;

function xmlFaults(source: Source): Fault[] {
  const { code, bare } = scan(source.text);
  const is_library = source.path === SAML_LIBRARY;
  const verified = bare.match(/\bgetAssertion\b/g)?.length ?? 0;
  return [
    ...(is_library ? [] : faultsOf(source, code, XML_PARSERS, 'a parser of XML beside the library of SAML')),
    ...faultsOf(source, bare, UNVERIFIED, 'reads XML that nobody verified'),
    ...(verified === (is_library ? 1 : 0)
      ? []
      : [{ path: source.path, line: 1, message: `takes an assertion ${verified} times` }]),
  ];
}

/** XML is parsed by one library, in one file, and assertions come from what it verified. */
export const verifiedAlone: Rule = (sources) =>
  sources
    .filter(({ path }) => isProduction(path) && /^(core|http|graphql|gateway|workflows)\//.test(path))
    .flatMap(xmlFaults);
