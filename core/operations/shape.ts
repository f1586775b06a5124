// Where the members of an operation's input stand on the wire: path, query string or body.
import { type TObject, type TSchema, Type } from 'typebox';
import type { Operation } from '../kernel/index.ts';

export interface Shape {
  readonly path: Readonly<Record<string, TSchema>>;
  /** Members of the query string; unknown ones are ignored. */
  readonly query: Readonly<Record<string, TSchema>>;
  /** The body, closed to unknown members; null where the method has none. */
  readonly body: TObject | null;
  /** Names that must be present. */
  readonly required: ReadonlySet<string>;
}

const shapes = new WeakMap<object, Shape>();

/** The shape of `operation`; computed once. @throws Error (a defect) when a path member is not declared. */
export function shapeOf(operation: Operation): Shape {
  const known = shapes.get(operation);
  if (known !== undefined) return known;
  const input = operation.input as unknown as TObject;
  const names = new Set([...operation.path.matchAll(/:([a-z_]+)/g)].map((match) => match[1] as string));
  const path: Record<string, TSchema> = {};
  const rest: Record<string, TSchema> = {};
  for (const [name, schema] of Object.entries(input.properties)) {
    (names.delete(name) ? path : rest)[name] = schema as TSchema;
  }
  if (names.size > 0)
    throw new Error(`${operation.name}: path members without schema: ${[...names].join(', ')}`);
  const has_body = operation.method === 'POST' || operation.method === 'PATCH' || operation.method === 'PUT';
  const shape: Shape = {
    path,
    query: has_body ? {} : rest,
    body: has_body ? Type.Object(rest, { additionalProperties: false }) : null,
    required: new Set(input.required ?? []),
  };
  shapes.set(operation, shape);
  return shape;
}
