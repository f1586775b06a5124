// Which JSON schemas a grader takes: those that `schema-check.ts` can check to the end.
import { RE2JS } from 're2js';
import { type JsonSchema, refTarget } from './schema-check.ts';

const SCHEMA_BYTES_MAX = 65_536;
/** Steps of a pattern once its repeats are written out: time per character of the text. */
const PATTERN_STEPS_MAX = 2_000;
/** Keywords that need the results of other keywords, or a schema elsewhere; a schema with one would be checked in part. */
const unsupported = ['unevaluatedProperties', 'unevaluatedItems', '$dynamicRef', '$recursiveRef'];
/** Members whose values are data and not schemas. */
const data = new Set(['enum', 'const', 'default', 'examples']);
/** Members whose values are schemas by names that callers choose. */
const maps = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

/** The sentence that refuses `pattern`; null when it can be used. */
export function patternFault(pattern: string): string | null {
  try {
    if (RE2JS.compile(pattern).programSize() <= PATTERN_STEPS_MAX) return null;
    return 'The pattern is too large once its repeats are written out.';
  } catch {
    return 'This is not a pattern in RE2 syntax, which has no look-around and no back-references.';
  }
}

interface SchemaFault {
  readonly path: string;
  readonly message: string;
}

function keywordFault(root: JsonSchema, keyword: string, value: unknown): string | null {
  if (unsupported.includes(keyword)) return `The keyword '${keyword}' is not supported.`;
  if (keyword === 'pattern' && typeof value === 'string') return patternFault(value);
  if (keyword !== '$ref') return null;
  if (typeof value !== 'string' || !value.startsWith('#')) {
    return "A '$ref' begins with '#': schemas of other addresses are not read.";
  }
  try {
    refTarget(root, value);
    return null;
  } catch (error) {
    return `The '$ref' ${(error as Error).message}.`;
  }
}

function* faultsIn(root: JsonSchema, schema: unknown, path: string): Generator<SchemaFault> {
  if (Array.isArray(schema)) {
    for (const [i, item] of schema.entries()) yield* faultsIn(root, item, `${path}[${i}]`);
  }
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) return;
  for (const [keyword, value] of Object.entries(schema)) {
    const at = `${path}.${keyword}`;
    const message = keywordFault(root, keyword, value);
    if (message !== null) yield { path: at, message };
    else if (maps.has(keyword) && value !== null && typeof value === 'object') {
      for (const [name, own] of Object.entries(value)) {
        const fault = keyword === 'patternProperties' ? patternFault(name) : null;
        if (fault !== null) yield { path: `${at}.${name}`, message: fault };
        yield* faultsIn(root, own, `${at}.${name}`);
      }
    } else if (!data.has(keyword)) yield* faultsIn(root, value, at);
  }
}

/** The first fault of `schema` as a grader's; null: it can be used. `path` is that of the schema. */
export function schemaFault(schema: JsonSchema, path: string): SchemaFault | null {
  if (Buffer.byteLength(JSON.stringify(schema)) > SCHEMA_BYTES_MAX) {
    return { path, message: `The schema is larger than ${SCHEMA_BYTES_MAX} bytes.` };
  }
  for (const fault of faultsIn(schema, schema, path)) return fault;
  return null;
}
