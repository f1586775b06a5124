// All faults of a value against its schema, in the words of docs/api.md#bodies-and-answers, at most twenty. The
// compiled check decides; this walk only explains, and covers what our schemas use.
import type { TSchema } from 'typebox';
import Format from 'typebox/format';

export type Reason = 'missing' | 'unknown' | 'type' | 'format' | 'range' | 'length' | 'enum' | 'not_nullable';
export interface Fault {
  readonly param: string;
  readonly reason: Reason;
  readonly message: string;
}

type Schema = TSchema & {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
};

const FAULTS_MAX = 20;
const PARAM_MAX = 200;

function join(param: string, name: string): string {
  return (param === '' ? name : `${param}.${name}`).slice(0, PARAM_MAX);
}

class Walk {
  readonly faults: Fault[] = [];

  add(param: string, reason: Reason, message: string): void {
    if (this.faults.length < FAULTS_MAX) this.faults.push({ param, reason, message });
  }

  visit(schema: Schema, value: unknown, param: string): void {
    if (this.faults.length >= FAULTS_MAX) return;
    if (schema.anyOf !== undefined) {
      this.#union(schema.anyOf, value, param);
      return;
    }
    if (value === null && schema.type !== 'null') {
      this.add(param, 'not_nullable', `${param === '' ? 'The body' : param} cannot be null.`);
      return;
    }
    if (schema.const !== undefined) {
      if (value !== schema.const) this.add(param, 'enum', `${param} is ${JSON.stringify(schema.const)}.`);
      return;
    }
    if (schema.type === 'string') this.#string(schema, value, param);
    else if (schema.type === 'integer' || schema.type === 'number') this.#number(schema, value, param);
    else if (schema.type === 'array') this.#array(schema, value, param);
    else if (schema.type === 'object') this.#object(schema, value, param);
    else if (schema.type === 'boolean' && typeof value !== 'boolean') {
      this.add(param, 'type', `${param} is true or false.`);
    }
  }

  #union(members: readonly Schema[], value: unknown, param: string): void {
    const others = members.filter((member) => member.type !== 'null');
    if (value === null && others.length < members.length) return;
    if (others.length === 1) {
      this.visit(others[0] as Schema, value, param);
      return;
    }
    const fits = others.some((member) => faultsOf(member, value, param).length === 0);
    if (!fits) this.add(param, 'enum', `${param} has none of its allowed forms.`);
  }

  #string(schema: Schema, value: unknown, param: string): void {
    if (typeof value !== 'string') {
      this.add(param, 'type', `${param} is a string.`);
      return;
    }
    const length = [...value].length;
    const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
    if (length < minLength || length > maxLength) {
      const upTo = maxLength === Number.POSITIVE_INFINITY ? 'or more' : `to ${maxLength}`;
      this.add(param, 'length', `${param} has ${minLength} ${upTo} characters.`);
    } else if (schema.enum !== undefined && !schema.enum.includes(value)) {
      this.add(param, 'enum', `${param} is one of ${schema.enum.join(', ')}.`);
    } else if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(value)) {
      this.add(param, 'format', `${param} does not match ${schema.pattern}.`);
    } else if (schema.format !== undefined && !Format.Test(schema.format, value)) {
      this.add(param, 'format', `${param} is not a valid ${schema.format}.`);
    }
  }

  #number(schema: Schema, value: unknown, param: string): void {
    const is_integer = schema.type === 'integer';
    if (typeof value !== 'number' || (is_integer && !Number.isInteger(value))) {
      this.add(param, 'type', `${param} is ${is_integer ? 'an integer' : 'a number'}.`);
      return;
    }
    const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
    if (value < minimum || value > maximum) {
      const least = minimum === Number.NEGATIVE_INFINITY ? '' : ` at least ${minimum}`;
      const most = maximum === Number.POSITIVE_INFINITY ? '' : ` at most ${maximum}`;
      this.add(param, 'range', `${param} is${least}${least !== '' && most !== '' ? ' and' : ''}${most}.`);
    }
  }

  #array(schema: Schema, value: unknown, param: string): void {
    if (!Array.isArray(value)) {
      this.add(param, 'type', `${param} is a list.`);
      return;
    }
    const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
    if (value.length < minItems || value.length > maxItems) {
      this.add(param, 'length', `${param} has ${minItems} to ${maxItems} items.`);
      return;
    }
    if (
      schema.uniqueItems === true &&
      new Set(value.map((item) => JSON.stringify(item))).size < value.length
    ) {
      this.add(param, 'range', `${param} names an item twice.`);
    }
    const { items } = schema;
    if (items !== undefined) value.forEach((item, i) => void this.visit(items, item, `${param}[${i}]`));
  }

  #object(schema: Schema, value: unknown, param: string): void {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.add(param, 'type', `${param === '' ? 'The body' : param} is an object.`);
      return;
    }
    const members = value as Record<string, unknown>;
    const properties = schema.properties ?? {};
    for (const name of schema.required ?? []) {
      if (!Object.hasOwn(members, name))
        this.add(join(param, name), 'missing', `${join(param, name)} is required.`);
    }
    for (const [name, member] of Object.entries(members)) {
      const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (own !== undefined) this.visit(own, member, join(param, name));
      else this.#further(schema, name, member, join(param, name));
    }
  }

  #further(schema: Schema, name: string, value: unknown, param: string): void {
    for (const [pattern, member] of Object.entries(schema.patternProperties ?? {})) {
      if (!new RegExp(pattern).test(name)) continue;
      this.visit(member, value, param);
      return;
    }
    const { additionalProperties } = schema;
    if (additionalProperties === false)
      this.add(param, 'unknown', `There is no field ${param.slice(0, 64)}.`);
    else if (typeof additionalProperties === 'object') this.visit(additionalProperties, value, param);
  }
}

/** The faults of `value`, in the order of the schema's required members, then the value's own. */
export function faultsOf(schema: TSchema, value: unknown, param = ''): Fault[] {
  const walk = new Walk();
  walk.visit(schema as Schema, value, param);
  return walk.faults;
}
