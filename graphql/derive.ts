// Derives GraphQL types from the schema of an operation. Names, scalars, enums and nullability follow the one
// declaration, so that a field added to REST appears here too, under the same name.
import type { ObjectRef } from '@pothos/core';
import type { Static, TSchema } from 'typebox';
import { camel, enumName, pascal } from './names.ts';

/** The parts of a TypeBox schema that are read here. */
interface Plain {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly description?: string;
  readonly anyOf?: readonly Plain[];
  readonly allOf?: readonly Plain[];
  readonly items?: Plain;
  readonly properties?: Readonly<Record<string, Plain>>;
  readonly required?: readonly string[];
}

/** Members that hold an id; all other text becomes String. */
const idNames: ReadonlySet<string> = new Set([
  ...['id', 'org_id', 'project_id', 'key_id', 'user_id', 'session_id', 'staff_id', 'request_id'],
  ...['topup_id', 'refund_id', 'invoice_id', 'document_id', 'credit_note_id', 'rotated_from'],
  ...['webhook_id', 'event_id'],
]);

// biome-ignore lint/suspicious/noExplicitAny: derived types are known to the schema, not to the compiler
type Any = any;

export interface OutputOptions {
  /**
   * Names of nested object types by path (`limits`, `attempt_rows`); by default the parent's name and the member's.
   */
  readonly names?: Readonly<Record<string, string>>;
  /** Members of the declaration that get no field. */
  readonly omit?: readonly string[];
  readonly description?: string;
  /** Fields in addition to the derived ones. */
  readonly extra?: (t: Any) => Record<string, Any>;
  readonly interfaces?: readonly Any[];
}

interface ArgOptions {
  readonly omit?: readonly string[];
  /** Wire name → GraphQL name, where it is not the camelCase form: `limit` → `first`. */
  readonly rename?: Readonly<Record<string, string>>;
  /** Members that exist only in GraphQL. */
  readonly extra?: (t: Any) => Record<string, Any>;
}

function partsOf(schema: Plain): { schema: Plain; nullable: boolean } {
  if (schema.anyOf === undefined) return { schema, nullable: false };
  const others = schema.anyOf.filter((member) => member.type !== 'null');
  const nullable = others.length < schema.anyOf.length;
  return { schema: others.length === 1 ? (others[0] as Plain) : schema, nullable };
}

/** Properties and required names of an object; for an intersection, those of all its parts. */
function shapeOf(schema: Plain): { properties: Record<string, Plain>; required: ReadonlySet<string> } {
  const parts = schema.allOf ?? [schema];
  return {
    properties: Object.assign({}, ...parts.map((part) => part.properties ?? {})),
    required: new Set(parts.flatMap((part) => part.required ?? [])),
  };
}

function isShaped(schema: Plain): boolean {
  return (
    schema.allOf !== undefined ||
    (schema.type === 'object' && Object.keys(schema.properties ?? {}).length > 0)
  );
}

function singular(name: string): string {
  return name.endsWith('s') ? name.slice(0, -1) : name;
}

function scalarOf(name: string, schema: Plain): string {
  if (schema.type === 'boolean') return 'Boolean';
  if (schema.type === 'number') return 'Float';
  if (schema.type === 'integer') {
    if (/_micro(?:_usd)?$|^micro_usd$/.test(name)) return 'MicroUSD';
    return name.endsWith('_minor') ? 'Minor' : 'Count';
  }
  if (schema.type === 'string' || typeof schema.const === 'string') {
    if (schema.format === 'date-time') return 'DateTime';
    if (schema.format === 'date') return 'Date';
    return idNames.has(name) ? 'ID' : 'String';
  }
  return 'JSON';
}

/** The description in the declaration. Times have none: their scalar says everything. */
function describe(type: Any, { description }: Plain): { description?: string } {
  return description === undefined || type === 'DateTime' ? {} : { description };
}

/** An argument as the operation expects it; undefined where null means "not given". */
function wireValue(schema: Plain, value: unknown): unknown {
  const { schema: inner, nullable } = partsOf(schema);
  if (value === null) return nullable ? null : undefined;
  if (isShaped(inner)) return wireObject(inner, value as Record<string, unknown>, {});
  if (Array.isArray(value)) return value.map((item) => wireValue(inner.items ?? {}, item));
  return value;
}

function wireObject(
  schema: Plain,
  value: Readonly<Record<string, unknown>>,
  rename: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const wire: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(shapeOf(schema).properties)) {
    const given = value[rename[name] ?? camel(name)];
    const converted = given === undefined ? undefined : wireValue(member, given);
    if (converted !== undefined) wire[name] = converted;
  }
  return wire;
}

/** GraphQL arguments, or an input object, as the input of an operation. */
export function toWire(
  schema: TSchema,
  value: Readonly<Record<string, unknown>>,
  rename: Readonly<Record<string, string>> = {},
): Record<string, unknown> {
  return wireObject(schema as Plain, value, rename);
}

/** Derives types into `builder`, which must know the scalars of scalars.ts by name. */
export class Derivation {
  readonly #builder: Any;
  readonly #enums = new Map<string, Any>();
  readonly #inputs = new Map<string, Any>();

  constructor(builder: unknown) {
    this.#builder = builder;
  }

  /** Declares the enum for a set of values; members that allow exactly these values have this type from then on. */
  enum(name: string, values: readonly string[], description?: string): Any {
    const ref = this.#builder.enumType(name, {
      ...(description === undefined ? {} : { description }),
      values: Object.fromEntries(values.map((value) => [enumName(value), { value }])),
    });
    this.#enums.set([...values].sort().join(' '), ref);
    return ref;
  }

  /** The object type for an operation's output. */
  output<S extends TSchema>(name: string, schema: S, options: OutputOptions = {}): ObjectRef<Any, Static<S>> {
    const ref = this.#builder.objectRef(name);
    this.#builder.objectType(ref, {
      ...(options.description === undefined ? {} : { description: options.description }),
      ...(options.interfaces === undefined ? {} : { interfaces: options.interfaces, isTypeOf: undefined }),
      fields: (t: Any) => ({
        ...this.fields(t, name, schema, options),
        ...options.extra?.(t),
      }),
    });
    return ref;
  }

  /** Fields of an operation's output, for a type that has further fields. */
  fields(t: Any, parent: string, schema: TSchema, options: OutputOptions = {}): Record<string, Any> {
    const { properties, required } = shapeOf(schema as Plain);
    const fields: Record<string, Any> = {};
    for (const [member, declared] of Object.entries(properties)) {
      if (options.omit?.includes(member) === true) continue;
      const { schema: inner, nullable } = partsOf(declared);
      const type = this.#outputType(parent, member, inner, options);
      fields[camel(member)] = t.field({
        type,
        // A JSON value may always be null.
        nullable: nullable || !required.has(member) || type === 'JSON',
        ...describe(type, inner),
        resolve: (value: Record<string, unknown>) => value[member],
      });
    }
    return fields;
  }

  #outputType(parent: string, member: string, schema: Plain, options: OutputOptions): Any {
    if (schema.type === 'array') {
      return [this.#outputType(parent, singular(member), schema.items ?? {}, options)];
    }
    if (isShaped(schema)) {
      const name = options.names?.[member] ?? `${parent}${pascal(member)}`;
      return this.output(name, schema as TSchema);
    }
    return this.#enumOf(schema) ?? scalarOf(member, schema);
  }

  #enumOf(schema: Plain): Any {
    return schema.enum === undefined ? undefined : this.#enums.get([...schema.enum].sort().join(' '));
  }

  /** Arguments of a field that runs an operation. */
  args(t: Any, parent: string, schema: TSchema, options: ArgOptions = {}): Record<string, Any> {
    return this.#given(t, parent, schema as Plain, options);
  }

  /** The input object of a mutation that runs an operation. */
  input(name: string, schema: TSchema, options: ArgOptions = {}): Any {
    const known = this.#inputs.get(name);
    if (known !== undefined) return known;
    const ref = this.#builder.inputType(name, {
      fields: (t: Any) => ({ ...this.#given(t, name, schema as Plain, options), ...options.extra?.(t) }),
    });
    this.#inputs.set(name, ref);
    return ref;
  }

  #given(t: Any, parent: string, schema: Plain, options: ArgOptions): Record<string, Any> {
    const { properties, required } = shapeOf(schema);
    const given: Record<string, Any> = {};
    for (const [member, declared] of Object.entries(properties)) {
      if (options.omit?.includes(member) === true) continue;
      const { schema: inner, nullable } = partsOf(declared);
      const make = typeof t === 'function' ? t : (field: Any) => t.field(field);
      const type = this.#inputType(parent, member, inner);
      const config = { type, required: required.has(member) && !nullable, ...describe(type, inner) };
      given[options.rename?.[member] ?? camel(member)] = make(config);
    }
    return given;
  }

  #inputType(parent: string, member: string, schema: Plain): Any {
    if (schema.type === 'array') return [this.#inputType(parent, singular(member), schema.items ?? {})];
    if (isShaped(schema)) {
      return this.input(`${parent.replace(/Input$/, '')}${pascal(member)}Input`, schema as TSchema);
    }
    return this.#enumOf(schema) ?? scalarOf(member, schema);
  }
}
