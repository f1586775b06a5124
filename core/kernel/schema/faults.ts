// Where a value breaks its schema, and by which rule, in the order of the value. A compiled check decides whether a
// value is valid; this walk explains why one is not, and its callers turn the faults into messages. It covers the
// keywords that the product's schemas use.
import type { TSchema } from 'typebox';
import Format from 'typebox/format';

export type Step = string | number;

type SchemaRule =
  | 'type'
  | 'null'
  | 'missing'
  | 'unknown'
  | 'length'
  | 'count'
  | 'enum'
  | 'const'
  | 'pattern'
  | 'format'
  | 'range'
  | 'unique'
  | 'forms'
  | 'own';

/** The keywords of a schema that the walk knows. */
export interface JsonSchema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly required?: readonly string[];
  readonly maxProperties?: number;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

export interface SchemaFault {
  readonly steps: readonly Step[];
  readonly rule: SchemaRule;
  /** The schema that the value breaks; for an unknown member, the schema of the object it is in. */
  readonly schema: JsonSchema;
  readonly value: unknown;
  /** For the rule `own`: the message of the caller's rule. */
  readonly message?: string;
}

interface WalkOptions {
  /** The walk stops after this many faults. */
  readonly most: number;
  /**
   * A rule of the caller for a member that the schema declares or allows. A returned sentence refuses the member
   * unread.
   */
  member?(name: string, declared: boolean): string | null;
  /**
   * A rule of the caller for a whole object, checked after its members. Returns the member at fault and a sentence.
   */
  object?(
    value: Readonly<Record<string, unknown>>,
    schema: JsonSchema,
  ): { at: string; message: string } | null;
}

const compiled = new Map<string, RegExp>();

function matches(pattern: string, text: string): boolean {
  let known = compiled.get(pattern);
  if (known === undefined) {
    known = new RegExp(pattern, 'u');
    compiled.set(pattern, known);
  }
  return known.test(text);
}

function isOfType(type: string | undefined, value: unknown): boolean {
  if (type === 'object') return value !== null && typeof value === 'object' && !Array.isArray(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'number') return Number.isFinite(value);
  if (type === 'null') return value === null;
  return type === undefined || typeof value === type;
}

class Walk {
  readonly faults: SchemaFault[] = [];
  readonly #options: WalkOptions;

  constructor(options: WalkOptions) {
    this.#options = options;
  }

  add(fault: SchemaFault): void {
    if (this.faults.length < this.#options.most) this.faults.push(fault);
  }

  visit(schema: JsonSchema, value: unknown, steps: readonly Step[]): void {
    if (this.faults.length >= this.#options.most) return;
    if (schema.anyOf !== undefined) return this.#union(schema, value, steps);
    const fail = (rule: SchemaRule) => this.add({ steps, rule, schema, value });
    if (value === null && schema.type !== 'null') return fail('null');
    if (schema.const !== undefined) {
      if (value !== schema.const) fail('const');
      return;
    }
    if (!isOfType(schema.type, value)) return fail('type');
    if (schema.enum !== undefined && !schema.enum.includes(value)) return fail('enum');
    if (schema.type === 'object') return this.#object(schema, value as Record<string, unknown>, steps);
    if (schema.type === 'array') return this.#list(schema, value as unknown[], steps);
    const broken = typeof value === 'string' ? textRule(schema, value) : numberRule(schema, value);
    if (broken !== null) fail(broken);
  }

  #union(schema: JsonSchema, value: unknown, steps: readonly Step[]): void {
    const members = schema.anyOf ?? [];
    const others = members.filter((member) => member.type !== 'null');
    if (value === null && others.length < members.length) return;
    const [only] = others;
    if (others.length === 1 && only !== undefined) return this.visit(only, value, steps);
    const fits = others.some((member) => {
      const inner = new Walk({ ...this.#options, most: 1 });
      inner.visit(member, value, steps);
      return inner.faults.length === 0;
    });
    if (!fits) this.add({ steps, rule: 'forms', schema, value });
  }

  #list(schema: JsonSchema, value: readonly unknown[], steps: readonly Step[]): void {
    const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items } = schema;
    if (value.length < minItems || value.length > maxItems) this.add({ steps, rule: 'count', schema, value });
    else if (schema.uniqueItems === true && hasTwins(value))
      this.add({ steps, rule: 'unique', schema, value });
    if (items === undefined) return;
    value.slice(0, maxItems).forEach((item, i) => void this.visit(items, item, [...steps, i]));
  }

  #object(schema: JsonSchema, value: Record<string, unknown>, steps: readonly Step[]): void {
    for (const name of schema.required ?? []) {
      if (Object.hasOwn(value, name)) continue;
      const wanted = schema.properties?.[name] ?? {};
      this.add({ steps: [...steps, name], rule: 'missing', schema: wanted, value: undefined });
    }
    const names = Object.keys(value);
    if (names.length > (schema.maxProperties ?? Number.POSITIVE_INFINITY))
      this.add({ steps, rule: 'count', schema, value });
    for (const name of names) this.#member(schema, value, name, [...steps, name]);
    const own = this.#options.object?.(value, schema) ?? null;
    if (own === null) return;
    const { at, message } = own;
    this.add({ steps: [...steps, at], rule: 'own', schema, value: value[at], message });
  }

  #member(schema: JsonSchema, object: Record<string, unknown>, name: string, steps: readonly Step[]): void {
    const value = object[name];
    const known = schema.properties ?? {};
    const declared = Object.hasOwn(known, name) ? known[name] : undefined;
    const further = declared ?? furtherSchema(schema, name);
    if (further === false) return this.add({ steps, rule: 'unknown', schema, value });
    const message = this.#options.member?.(name, declared !== undefined) ?? null;
    if (message !== null) this.add({ steps, rule: 'own', schema, value, message });
    if (message !== null && declared !== undefined) return;
    if (further !== true) this.visit(further, value, steps);
  }
}

/** The schema of a member that `properties` does not name; true when any value is allowed, false when none is. */
function furtherSchema({ patternProperties = {}, additionalProperties = true }: JsonSchema, name: string) {
  for (const [pattern, member] of Object.entries(patternProperties))
    if (matches(pattern, name)) return member;
  return additionalProperties;
}

function hasTwins(items: readonly unknown[]): boolean {
  return new Set(items.map((item) => JSON.stringify(item))).size < items.length;
}

function textRule(schema: JsonSchema, value: string): SchemaRule | null {
  const length = [...value].length;
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format } = schema;
  if (length < minLength || length > maxLength) return 'length';
  if (pattern !== undefined && !matches(pattern, value)) return 'pattern';
  return format !== undefined && !Format.Test(format, value) ? 'format' : null;
}

function numberRule(schema: JsonSchema, value: unknown): SchemaRule | null {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
  return typeof value === 'number' && (value < minimum || value > maximum) ? 'range' : null;
}

/** The faults of `value` against `schema`, at most `most`; empty when it is valid. Never throws. */
export function schemaFaults(schema: TSchema, value: unknown, options: WalkOptions): SchemaFault[] {
  const walk = new Walk(options);
  walk.visit(schema as JsonSchema, value, []);
  return walk.faults;
}

/** Dotted path with indexes (`rules[2].match.models`); `root` when the path is empty. */
export function pathText(steps: readonly Step[], root = '$'): string {
  let text = '';
  for (const step of steps) {
    if (typeof step === 'number') text += `[${step}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text === '' ? root : text;
}
