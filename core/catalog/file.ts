// Reads one providers file: YAML, then shape. Every fault comes with path, line and reason, all of a file at once,
// because a person mends a file in one go.
import { Compile } from 'typebox/compile';
import { type Document, isNode, LineCounter, type Node, parseDocument } from 'yaml';
import { isObject, pathText, type SchemaFault, type Step, schemaFaults } from '../kernel/index.ts';
import { ProvidersFile } from './file-schema.ts';
import type { CatalogFormats } from './types.ts';

const BYTES_MAX = 4 * 1024 * 1024;
const FAULTS_MAX = 50;

export interface FileFault {
  readonly file: string;
  /** Dotted with indexes, `models[2].endpoints[0].price.input`; `$` is the document. */
  readonly path: string;
  readonly line: number;
  readonly reason: string;
}

/** Files that cannot be used; names each fault. */
export class CatalogError extends Error {
  readonly faults: readonly FileFault[];
  constructor(faults: readonly FileFault[]) {
    const list = faults.map((f) => `${f.file}:${f.line}: ${f.path}: ${f.reason}`);
    super(`The catalog is not usable:\n  ${list.join('\n  ')}`);
    this.name = 'CatalogError';
    this.faults = faults;
  }
}

/** A file of the right shape, and where its parts stand. */
export interface ReadFile {
  readonly name: string;
  readonly content: ProvidersFile;
  /** A fault at `steps`, with its line. */
  fault(steps: readonly Step[], reason: string): FileFault;
}

const shape = Compile(ProvidersFile);

/** Line of the innermost node on the way to `steps`: a missing member is reported at its parent. */
function lineOf(document: Document, lines: LineCounter, steps: readonly Step[]): number {
  for (let length = steps.length; length >= 0; length--) {
    const node = document.getIn(steps.slice(0, length), true) as Node | undefined;
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  null: 'nothing',
};

function bounds(least: number | undefined, most: number | undefined): string {
  if (most === undefined) return `at least ${least}`;
  return least === undefined ? `at most ${most}` : `${least} to ${most}`;
}

function expected({ schema }: SchemaFault): string {
  const { type = '', anyOf, minLength, maxLength, minItems, maxItems, minimum, maximum } = schema;
  if (anyOf !== undefined) return anyOf.map((one) => kinds[one.type ?? ''] ?? 'another form').join(' or ');
  const kind = kinds[type] ?? 'another form';
  if (type === 'string' && (minLength ?? maxLength) !== undefined)
    return `${kind} of ${bounds(minLength, maxLength)} characters`;
  if (type === 'array' && (minItems ?? maxItems) !== undefined)
    return `${kind} of ${bounds(minItems, maxItems)} items`;
  return (minimum ?? maximum) === undefined ? kind : `${kind}, ${bounds(minimum, maximum)}`;
}

function reasonOf(fault: SchemaFault): string {
  const { rule, schema, steps } = fault;
  if (rule === 'unknown') return 'unknown key';
  if (rule === 'missing') return 'is required';
  if (rule === 'enum') return `expected one of ${schema.enum?.join(', ')}`;
  if (rule === 'const') return `expected ${JSON.stringify(schema.const)}`;
  if (rule === 'pattern' && /price|bands|tiers/.test(pathText(steps)))
    return 'expected USD per million as a decimal with at most six places';
  if (rule === 'pattern') return `expected text like ${schema.pattern}`;
  if (rule === 'type' && /\bprice\b/.test(pathText(steps.slice(0, -1))))
    return 'expected a decimal in quotes, such as "2.50"';
  return `expected ${expected(fault)}`;
}

/** The faults that a person can act on. */
function shapeFaults(content: unknown, fault: ReadFile['fault']): FileFault[] {
  const faults = schemaFaults(ProvidersFile, content, { most: FAULTS_MAX });
  return faults.map((one) => fault(one.steps, reasonOf(one)));
}

/** Kinds and families that files may name: all but those that answer in this process. */
function namesOf({ families, kinds }: CatalogFormats): { kinds: string[]; families: string[] } {
  const inside = (family: string | null) => family !== null && families.get(family)?.in_process === true;
  return {
    kinds: [...kinds.keys()].filter((kind) => !inside(kinds.get(kind)?.families.text ?? null)),
    families: [...families.keys()].filter((family) => !inside(family)),
  };
}

/** The items of the member `name` of `value`, whatever they are. */
function itemsIn(value: unknown, name: string): unknown[] {
  const items = isObject(value) ? value[name] : undefined;
  return Array.isArray(items) ? items : [];
}

/** Faults of names that no format has; what is no text is reported with the shape. */
function nameFaults(content: unknown, formats: CatalogFormats, fault: ReadFile['fault']): FileFault[] {
  const known = namesOf(formats);
  const faults: FileFault[] = [];
  const check = (of: unknown, name: 'kind' | 'family', names: readonly string[], at: Step[]) => {
    const word = isObject(of) ? of[name] : undefined;
    if (typeof word === 'string' && !names.includes(word)) {
      faults.push(fault([...at, name], `expected one of ${names.join(', ')}`));
    }
  };
  itemsIn(content, 'providers').forEach((provider, i) => {
    check(provider, 'kind', known.kinds, ['providers', i]);
  });
  itemsIn(content, 'models').forEach((model, i) => {
    itemsIn(model, 'endpoints').forEach((endpoint, j) => {
      check(endpoint, 'family', known.families, ['models', i, 'endpoints', j]);
    });
  });
  return faults;
}

/**
 * The content of the providers file `text`, in the words of `formats`; `name` is used in faults.
 * @throws CatalogError with every fault of syntax or shape.
 */
export function readFile(text: string, name: string, formats: CatalogFormats): ReadFile {
  const lines = new LineCounter();
  if (Buffer.byteLength(text) > BYTES_MAX) {
    throw new CatalogError([{ file: name, path: '$', line: 1, reason: 'is larger than 4 MiB' }]);
  }
  const document = parseDocument(text, {
    lineCounter: lines,
    version: '1.2',
    strict: true,
    uniqueKeys: true,
  });
  if (document.errors.length > 0) {
    const faults = document.errors.slice(0, FAULTS_MAX).map((error) => ({
      file: name,
      path: '$',
      line: lines.linePos(error.pos[0]).line,
      reason: `YAML: ${error.message.split('\n')[0]?.replace(/ at line.*$/, '')}`,
    }));
    throw new CatalogError(faults);
  }
  const fault = (steps: readonly Step[], reason: string): FileFault => ({
    file: name,
    path: pathText(steps),
    line: lineOf(document, lines, steps),
    reason,
  });
  let content: unknown;
  try {
    content = document.toJS({ maxAliasCount: 0 });
  } catch {
    throw new CatalogError([fault([], 'YAML aliases are not allowed')]);
  }
  const unknown = nameFaults(content, formats, fault);
  if (!shape.Check(content)) {
    throw new CatalogError([...shapeFaults(content, fault), ...unknown].slice(0, FAULTS_MAX));
  }
  if (unknown.length > 0) throw new CatalogError(unknown.slice(0, FAULTS_MAX));
  return { name, content, fault };
}
