// A suite in a file, as `svcctl evals export` and `import --out` write it, in parts that the API takes. Pure.
import type { AddEvalCasesInput } from '../../../api/gen/tools/graphql.ts';

export type CaseInput = AddEvalCasesInput['cases'][number];

export interface SuiteInFile {
  readonly name: string;
  readonly cases: readonly CaseInput[];
}

/** Read, or why not, in a sentence. */
export type ReadFile = { readonly suite: SuiteInFile } | { readonly fault: string };

export const FILE_BYTES_MAX = 16 * 1_048_576;
const CASES_MAX = 5_000;
const NAME_MAX = 120;
/** Of one request; a body of GraphQL has 256 KiB, with the document and its members' names. */
const PART_BYTES_MAX = 200_000;
const PART_CASES_MAX = 200;

type Json = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** A grader as GraphQL names its members. */
function graderOf(grader: Json): Json {
  const named = Object.fromEntries(Object.entries(grader).map(([name, value]) => [camel(name), value]));
  const { kind } = named;
  return typeof kind === 'string' ? { ...named, kind: kind.toUpperCase() } : named;
}

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length;

function caseFault(one: unknown, n: number): string | null {
  if (!isObject(one) || !isObject(one['input']) || !isObject(one['grader']))
    return `Case ${n + 1} has no input or no grader.`;
  const name = typeof one['id'] === 'string' ? one['id'] : String(n + 1);
  return bytesOf(one) > PART_BYTES_MAX
    ? `Case ${name} is too large for this page. svcctl evals import takes it.`
    : null;
}

/** The suite in `text`; `file` gives it a name where it has none. */
export function readSuiteFile(text: string, file: string): ReadFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return {
      fault: 'The file is not JSON. svcctl evals import FILE --out suite.json makes it of other formats.',
    };
  }
  if (!isObject(value) || !Array.isArray(value['cases']))
    return {
      fault:
        'The file is no suite: it has no list “cases”. svcctl evals import FILE --out suite.json makes one of other formats.',
    };
  const cases: readonly unknown[] = value['cases'];
  if (cases.length === 0) return { fault: 'The suite has no case.' };
  if (cases.length > CASES_MAX)
    return { fault: `The suite has ${cases.length} cases; one has 5,000 at most.` };
  for (const [n, one] of cases.entries()) {
    const fault = caseFault(one, n);
    if (fault !== null) return { fault };
  }
  const name =
    typeof value['name'] === 'string' && value['name'].trim() !== ''
      ? value['name']
      : file.replace(/\.[^.]*$/, '');
  const read = (cases as Json[]).map((one) => ({ ...one, grader: graderOf(one['grader'] as Json) }));
  return {
    suite: { name: [...name.trim()].slice(0, NAME_MAX).join(''), cases: read as unknown as CaseInput[] },
  };
}

/** `cases` in parts that one request can carry each, in their order. */
export function partsOf(cases: readonly CaseInput[]): CaseInput[][] {
  const parts: CaseInput[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const one of cases) {
    const size = bytesOf(one);
    const part = parts.at(-1);
    if (part === undefined || bytes + size > PART_BYTES_MAX || part.length === PART_CASES_MAX) {
      parts.push([one]);
      bytes = size;
    } else {
      part.push(one);
      bytes += size;
    }
  }
  return parts;
}

/** Which case of `part` a path of the API is about; null: none. */
export function caseAt(part: readonly CaseInput[], path: string | null, before: number): string | null {
  const n = /^input\.cases\.(\d+)/.exec(path ?? '')?.[1];
  if (n === undefined) return null;
  return part[Number(n)]?.id ?? String(before + Number(n) + 1);
}
