// All faults of a structure against the language, in document order, each with its path and the words that help.
import { PolicyDocument, reservedKeys } from './types.ts';

export type Step = string | number;
export interface Finding {
  readonly steps: readonly Step[];
  readonly message: string;
}

interface Schema {
  readonly type: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly required?: readonly string[];
  readonly maxProperties?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Beyond this a person mends what is told and asks again. */
export const FINDINGS_MAX = 50;
const SHOWN_MAX = 64;

/** `value` as it is named in a message, at most 64 characters. */
export function shown(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (value !== null && typeof value === 'object') return 'a mapping';
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX - 1)}…` : text;
}

/** `a, b or c`. */
export function either(words: readonly unknown[]): string {
  const texts = words.map(String);
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`;
}

function numberRange(schema: Schema): string {
  const what = schema.type === 'integer' ? 'an integer' : 'a number';
  return `${what} from ${schema.minimum} to ${schema.maximum}`;
}

function expected(schema: Schema): string {
  if (schema.enum !== undefined) return either(schema.enum);
  switch (schema.type) {
    case 'object':
      return 'a mapping';
    case 'array':
      return 'a list';
    case 'boolean':
      return 'true or false';
    case 'integer':
    case 'number':
      return numberRange(schema);
    default:
      return schema.description ?? 'text';
  }
}

function isOfType(schema: Schema, value: unknown): boolean {
  switch (schema.type) {
    case 'object':
      return value !== null && typeof value === 'object' && !Array.isArray(value);
    case 'array':
      return Array.isArray(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return Number.isFinite(value);
    default:
      return typeof value === 'string';
  }
}

const patterns = new Map<string, RegExp>();

function matches(pattern: string, text: string): boolean {
  let known = patterns.get(pattern);
  if (known === undefined) {
    known = new RegExp(pattern, 'u');
    patterns.set(pattern, known);
  }
  return known.test(text);
}

class Walk {
  readonly findings: Finding[] = [];

  add(steps: readonly Step[], message: string): void {
    if (this.findings.length < FINDINGS_MAX) this.findings.push({ steps, message });
  }

  visit(schema: Schema, value: unknown, steps: readonly Step[]): void {
    if (!isOfType(schema, value)) return this.add(steps, `${shown(value)}; expected ${expected(schema)}`);
    if (schema.enum !== undefined && !schema.enum.includes(value)) {
      return this.add(steps, `${shown(value)}; expected ${expected(schema)}`);
    }
    if (schema.type === 'object') this.#object(schema, value as Record<string, unknown>, steps);
    else if (schema.type === 'array') this.#list(schema, value as unknown[], steps);
    else if (schema.type === 'string') this.#text(schema, value as string, steps);
    else if (typeof value === 'number') this.#number(schema, value, steps);
  }

  #object(schema: Schema, value: Record<string, unknown>, steps: readonly Step[]): void {
    for (const name of schema.required ?? []) {
      if (!Object.hasOwn(value, name)) {
        const want = schema.properties?.[name] as Schema;
        this.add([...steps, name], `${name} is missing; expected ${expected(want)}`);
      }
    }
    const names = Object.keys(value);
    if (schema.maxProperties !== undefined && names.length > schema.maxProperties) {
      this.add(steps, `${names.length} keys; expected at most ${schema.maxProperties}`);
    }
    for (const name of names) {
      const known = schema.properties ?? {};
      const member = Object.hasOwn(known, name) ? known[name] : undefined;
      const free = schema.additionalProperties;
      const at = [...steps, name];
      if (member !== undefined && reservedKeys.has(name)) {
        this.add(at, `${name} is reserved for a later release; expected a policy without it`);
      } else if (member !== undefined) this.visit(member, value[name], at);
      else if (typeof free === 'object') this.#free(name, free, value[name], at);
      else this.add(at, `unknown key ${shown(name)}; expected ${either(Object.keys(known))}`);
    }
    if (schema.properties?.['deny'] !== undefined && Object.hasOwn(value, 'deny')) {
      const action = names.find((name) => !['name', 'match', 'continue', 'deny'].includes(name));
      if (action !== undefined) {
        this.add([...steps, 'deny'], `deny beside ${shown(action)}; expected deny or actions, not both`);
      }
    }
  }

  #free(name: string, schema: Schema, value: unknown, steps: readonly Step[]): void {
    if (name === '' || name.length > 64) this.add(steps, `key ${shown(name)}; expected 1 to 64 characters`);
    this.visit(schema, value, steps);
  }

  #list(schema: Schema, value: readonly unknown[], steps: readonly Step[]): void {
    const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items } = schema;
    if (value.length < minItems) {
      this.add(steps, `${shown(value)}; expected at least ${minItems} item${minItems === 1 ? '' : 's'}`);
    }
    if (value.length > maxItems) this.add(steps, `${value.length} items; expected at most ${maxItems}`);
    value.slice(0, maxItems).forEach((item, i) => {
      this.visit(items as Schema, item, [...steps, i]);
    });
  }

  #text(schema: Schema, value: string, steps: readonly Step[]): void {
    const length = [...value].length;
    const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern } = schema;
    if (length < minLength) this.add(steps, `empty text; expected ${expected(schema)}`);
    else if (length > maxLength) {
      this.add(steps, `${length} characters; expected at most ${maxLength}`);
    } else if (pattern !== undefined && !matches(pattern, value)) {
      this.add(steps, `${shown(value)}; expected ${expected(schema)}`);
    }
  }

  #number(schema: Schema, value: number, steps: readonly Step[]): void {
    const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
    if (value < minimum || value > maximum) {
      this.add(steps, `${shown(value)}; expected ${expected(schema)}`);
    }
  }
}

/** What is wrong with the shape of `value`, at most fifty findings in its own order; none where it is a policy. */
export function shapeFindings(value: unknown): readonly Finding[] {
  const walk = new Walk();
  walk.visit(PolicyDocument as unknown as Schema, value, []);
  return walk.findings;
}

/** Dotted path with indexes (`rules[2].match.models`); `$` is the document. */
export function pathText(steps: readonly Step[]): string {
  let text = '';
  for (const step of steps) {
    if (typeof step === 'number') text += `[${step}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text === '' ? '$' : text;
}
