// Checks a value against a JSON schema (draft 2020-12) that a customer wrote. A library would run the customer's patterns with
// a backtracking engine and follow references without a bound: one suite could hold a worker for hours. Here patterns run in
// RE2, and every check of a value against a schema is counted.
import { RE2JS } from 're2js';

export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

/** One fault: where in the value, and what is wrong there. */
export interface Fault {
  readonly path: string;
  readonly message: string;
}

const FAULTS_MAX = 10;
/** Checks of a value against a schema that one text may cost. */
const STEPS_MAX = 100_000;
const DEPTH_MAX = 200;

export class TooMuch extends Error {}

type Entries = Readonly<Record<string, unknown>>;

function isEntries(value: unknown): value is Entries {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'boolean' || isEntries(value);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value);
  return typeOf(value) === type;
}

/** Whether two JSON values are the same; the order of members does not count. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => isSame(item, b[i]));
  }
  if (!isEntries(a) || !isEntries(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSame(a[name], b[name]))
  );
}

function lengthOf(text: string): number {
  let n = 0;
  for (const _ of text) n++;
  return n;
}

/** Whether `n` is a multiple of `step`, in decimal digits: 0.3 is one of 0.1. */
function isMultiple(n: number, step: number): boolean {
  const quotient = n / step;
  return Math.abs(quotient - Math.round(quotient)) <= Math.abs(quotient) * 4 * Number.EPSILON;
}

class Check {
  readonly faults: Fault[] = [];
  steps = 0;
  private readonly root: JsonSchema;
  private readonly patterns: Map<string, RE2JS>;

  constructor(root: JsonSchema, patterns: Map<string, RE2JS>) {
    this.root = root;
    this.patterns = patterns;
  }

  fail(path: string, message: string): boolean {
    if (this.faults.length < FAULTS_MAX) this.faults.push({ path, message });
    return false;
  }

  /** The value of `work`, with the faults that it finds thrown away. */
  silently(work: () => boolean): boolean {
    const before = this.faults.length;
    const fits = work();
    this.faults.length = Math.min(this.faults.length, before);
    return fits;
  }

  step(): void {
    this.steps++;
    if (this.steps > STEPS_MAX) throw new TooMuch('the schema costs too many checks');
  }

  matches(pattern: string, text: string): boolean {
    let known = this.patterns.get(pattern);
    if (known === undefined) {
      known = RE2JS.compile(pattern);
      this.patterns.set(pattern, known);
    }
    return known.matcher(text).find();
  }

  visit(schema: JsonSchema, value: unknown, path: string, depth = 0): boolean {
    this.step();
    if (depth > DEPTH_MAX) throw new TooMuch('the schema refers to itself without an end');
    if (typeof schema === 'boolean') return schema || this.fail(path, 'nothing is allowed here');
    const at = { schema, value, path, depth };
    let fits = true;
    if (typeof schema['$ref'] === 'string') {
      fits = this.visit(refTarget(this.root, schema['$ref']), value, path, depth + 1);
    }
    fits = this.simple(at) && fits;
    if (typeof value === 'number') fits = this.ofNumber(at) && fits;
    if (typeof value === 'string') fits = this.ofText(at) && fits;
    if (Array.isArray(value)) fits = this.ofList(at) && fits;
    if (isEntries(value)) fits = this.ofObject(at) && fits;
    return this.combined(at) && fits;
  }

  private simple({ schema, value, path }: At): boolean {
    const { type, enum: allowed } = schema;
    const types = Array.isArray(type) ? type : [type];
    if (type !== undefined && !types.some((one) => isOfType(value, one))) {
      return this.fail(path, `is ${typeOf(value)}, not ${types.join(' or ')}`);
    }
    if (Array.isArray(allowed) && !allowed.some((one) => isSame(one, value))) {
      return this.fail(path, 'is none of the allowed values');
    }
    if (Object.hasOwn(schema, 'const') && !isSame(schema['const'], value)) {
      return this.fail(path, 'is not the required value');
    }
    return true;
  }

  private ofNumber({ schema, value, path }: At): boolean {
    const n = value as number;
    const limit = (name: string) => (typeof schema[name] === 'number' ? schema[name] : null);
    const { minimum, maximum, above, below, step } = {
      minimum: limit('minimum'),
      maximum: limit('maximum'),
      above: limit('exclusiveMinimum'),
      below: limit('exclusiveMaximum'),
      step: limit('multipleOf'),
    };
    if (minimum !== null && n < minimum) return this.fail(path, `is below ${minimum}`);
    if (maximum !== null && n > maximum) return this.fail(path, `is above ${maximum}`);
    if (above !== null && n <= above) return this.fail(path, `is not above ${above}`);
    if (below !== null && n >= below) return this.fail(path, `is not below ${below}`);
    if (step !== null && step > 0 && !isMultiple(n, step))
      return this.fail(path, `is no multiple of ${step}`);
    return true;
  }

  private ofText({ schema, value, path }: At): boolean {
    const text = value as string;
    const { minLength, maxLength, pattern } = schema;
    if (typeof minLength === 'number' && lengthOf(text) < minLength) return this.fail(path, 'is too short');
    if (typeof maxLength === 'number' && lengthOf(text) > maxLength) return this.fail(path, 'is too long');
    if (typeof pattern === 'string' && !this.matches(pattern, text)) {
      return this.fail(path, 'does not match the pattern');
    }
    return true;
  }

  private ofList({ schema, value, path, depth }: At): boolean {
    const list = value as readonly unknown[];
    const { minItems, maxItems, uniqueItems, items } = schema;
    let fits = true;
    if (typeof minItems === 'number' && list.length < minItems) fits = this.fail(path, 'has too few items');
    if (typeof maxItems === 'number' && list.length > maxItems) fits = this.fail(path, 'has too many items');
    if (uniqueItems === true && this.hasTwins(list)) fits = this.fail(path, 'has an item twice');
    const first = Array.isArray(schema['prefixItems']) ? (schema['prefixItems'] as unknown[]) : [];
    list.forEach((item, i) => {
      const own = i < first.length ? first[i] : items;
      if (isSchema(own)) fits = this.visit(own, item, `${path}[${i}]`, depth + 1) && fits;
    });
    return this.contained(list, { schema, value, path, depth }) && fits;
  }

  private hasTwins(list: readonly unknown[]): boolean {
    return list.some((item, i) =>
      list.slice(0, i).some((other) => {
        this.step();
        return isSame(item, other);
      }),
    );
  }

  private contained(list: readonly unknown[], { schema, path, depth }: At): boolean {
    const { contains, minContains = 1, maxContains = Number.POSITIVE_INFINITY } = schema;
    if (!isSchema(contains)) return true;
    const found = list.filter((item) =>
      this.silently(() => this.visit(contains, item, path, depth + 1)),
    ).length;
    const enough = found >= Number(minContains) && found <= Number(maxContains);
    return enough || this.fail(path, `contains ${found} items of the asked kind`);
  }

  private ofObject(at: At): boolean {
    const { schema, path, depth } = at;
    const object = at.value as Entries;
    const names = Object.keys(object);
    const { minProperties, maxProperties, required, propertyNames } = schema;
    let fits = true;
    if (typeof minProperties === 'number' && names.length < minProperties)
      fits = this.fail(path, 'has too few members');
    if (typeof maxProperties === 'number' && names.length > maxProperties)
      fits = this.fail(path, 'has too many members');
    if (Array.isArray(required)) fits = this.has(object, required, path) && fits;
    for (const name of names) {
      if (isSchema(propertyNames))
        fits = this.visit(propertyNames, name, `${path}.${name}`, depth + 1) && fits;
      fits = this.member(at, object, name) && fits;
    }
    return this.dependent(at, object) && fits;
  }

  private has(object: Entries, required: readonly unknown[], path: string): boolean {
    let fits = true;
    for (const name of required) {
      if (typeof name === 'string' && !Object.hasOwn(object, name))
        fits = this.fail(`${path}.${name}`, 'is missing');
    }
    return fits;
  }

  private member({ schema, path, depth }: At, object: Entries, name: string): boolean {
    const inside = `${path}.${name}`;
    let known = false;
    let fits = true;
    const apply = (own: unknown) => {
      known = true;
      if (isSchema(own)) fits = this.visit(own, object[name], inside, depth + 1) && fits;
    };
    const { properties, patternProperties, additionalProperties } = schema;
    if (isEntries(properties) && Object.hasOwn(properties, name)) apply(properties[name]);
    if (isEntries(patternProperties)) {
      for (const [pattern, own] of Object.entries(patternProperties))
        if (this.matches(pattern, name)) apply(own);
    }
    if (known || additionalProperties === undefined) return fits;
    if (additionalProperties === false) return this.fail(inside, 'is not allowed');
    apply(additionalProperties);
    return fits;
  }

  private dependent({ schema, path, depth }: At, object: Entries): boolean {
    const { dependentRequired, dependentSchemas } = schema;
    let fits = true;
    for (const [name, needs] of Object.entries(isEntries(dependentRequired) ? dependentRequired : {})) {
      if (Object.hasOwn(object, name) && Array.isArray(needs)) fits = this.has(object, needs, path) && fits;
    }
    for (const [name, own] of Object.entries(isEntries(dependentSchemas) ? dependentSchemas : {})) {
      if (Object.hasOwn(object, name) && isSchema(own))
        fits = this.visit(own, object, path, depth + 1) && fits;
    }
    return fits;
  }

  private combined({ schema, value, path, depth }: At): boolean {
    const { allOf, anyOf, oneOf, not, if: condition } = schema;
    const quiet = (own: unknown) =>
      isSchema(own) && this.silently(() => this.visit(own, value, path, depth + 1));
    let fits = true;
    if (Array.isArray(allOf)) {
      for (const own of allOf) if (isSchema(own)) fits = this.visit(own, value, path, depth + 1) && fits;
    }
    if (Array.isArray(anyOf) && !anyOf.some(quiet)) fits = this.fail(path, 'fits none of the alternatives');
    if (Array.isArray(oneOf)) {
      const n = oneOf.filter(quiet).length;
      if (n !== 1) fits = this.fail(path, `fits ${n} of the alternatives, not one`);
    }
    if (isSchema(not) && quiet(not)) fits = this.fail(path, 'is what is not allowed');
    if (isSchema(condition)) {
      const next = quiet(condition) ? schema['then'] : schema['else'];
      if (isSchema(next)) fits = this.visit(next, value, path, depth + 1) && fits;
    }
    return fits;
  }
}

interface At {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly value: unknown;
  readonly path: string;
  readonly depth: number;
}

/** The schema that `ref` names in `root`. @throws Error when there is none. */
export function refTarget(root: JsonSchema, ref: string): JsonSchema {
  let found: unknown = root;
  if (ref !== '#') {
    if (!ref.startsWith('#/')) throw new Error(`'${ref}' does not begin with '#/'`);
    for (const step of ref.slice(2).split('/')) {
      const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
      const inside = found !== null && typeof found === 'object' && Object.hasOwn(found, name);
      found = inside ? (found as Entries)[name] : undefined;
    }
  }
  if (!isSchema(found)) throw new Error(`'${ref}' names no schema`);
  return found;
}

/**
 * The faults of `value`, at most ten; none: it is valid. The schema is one that `checkSchema` has accepted.
 * @throws TooMuch where the check would take longer than a grader may.
 */
export function faultsAgainst(schema: JsonSchema, value: unknown): readonly Fault[] {
  const check = new Check(schema, new Map());
  const fits = check.visit(schema, value, '$');
  return fits ? [] : check.faults;
}
