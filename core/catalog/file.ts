// Reads one providers file: YAML, then shape. Every fault comes with path, line and reason, all of a file at once,
// because a person mends a file in one go.
import { Compile } from 'typebox/compile';
import { type Document, isNode, LineCounter, type Node, parseDocument } from 'yaml';
import { ProvidersFile } from './file-schema.ts';

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

export type Step = string | number;

/** A file of the right shape, and where its parts stand. */
export interface ReadFile {
  readonly name: string;
  readonly content: ProvidersFile;
  /** A fault at `steps`, with its line. */
  fault(steps: readonly Step[], reason: string): FileFault;
}

const shape = Compile(ProvidersFile);

function pathText(steps: readonly Step[]): string {
  let text = '';
  for (const step of steps) {
    if (typeof step === 'number') text += `[${step}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text === '' ? '$' : text;
}

/** Line of the innermost node on the way to `steps`: a missing member is told at its parent. */
function lineOf(document: Document, lines: LineCounter, steps: readonly Step[]): number {
  for (let length = steps.length; length >= 0; length--) {
    const node = document.getIn(steps.slice(0, length), true) as Node | undefined;
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

function stepsOf(instancePath: string, value: unknown): Step[] {
  const steps: Step[] = [];
  let at = value;
  for (const raw of instancePath.split('/').slice(1)) {
    const key = raw.replaceAll('~1', '/').replaceAll('~0', '~');
    const step = Array.isArray(at) ? Number(key) : key;
    steps.push(step);
    at = (at as Record<string, unknown> | undefined)?.[key];
  }
  return steps;
}

interface ShapeError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
}

/** The faults that a person can act on: one per place, without the machinery of unions. */
function shapeFaults(content: unknown, fault: ReadFile['fault']): FileFault[] {
  const faults = new Map<string, FileFault>();
  for (const error of shape.Errors(content) as ShapeError[]) {
    const steps = stepsOf(error.instancePath, content);
    const add = (at: Step[], reason: string) => {
      const path = pathText(at);
      if (!faults.has(path)) faults.set(path, fault(at, reason));
    };
    const params = error.params as Record<string, unknown>;
    if (error.keyword === 'boolean') continue;
    if (error.keyword === 'additionalProperties') {
      for (const key of params['additionalProperties'] as string[]) add([...steps, key], 'unknown key');
    } else if (error.keyword === 'required') {
      for (const key of params['requiredProperties'] as string[]) add([...steps, key], 'is required');
    } else if (error.keyword === 'enum') {
      add(steps, `expected one of ${(params['allowedValues'] as string[]).join(', ')}`);
    } else if (error.keyword === 'pattern' && /price|bands|tiers/.test(pathText(steps))) {
      add(steps, 'expected USD per million as a decimal with at most six places');
    } else if (error.keyword === 'type' && /\bprice\b/.test(pathText(steps.slice(0, -1)))) {
      add(steps, 'expected a decimal in quotes, such as "2.50"');
    } else {
      add(steps, error.message);
    }
  }
  return [...faults.values()];
}

/**
 * The content of the providers file `text`; `name` is used in faults.
 * @throws CatalogError with every fault of syntax or shape.
 */
export function readFile(text: string, name: string): ReadFile {
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
  if (!shape.Check(content)) throw new CatalogError(shapeFaults(content, fault).slice(0, FAULTS_MAX));
  return { name, content, fault };
}
