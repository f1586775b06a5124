// Changes by PATCH (RFC 7644 section 3.5.2) of what a schema keeps, in the forms that directories send: operations in any
// case, with a path or with an object of paths, booleans as words. Pure: a fault anywhere changes nothing.
import { isObject } from '../../kernel/index.ts';
import { wrong } from './fault.ts';
import { fits, type Path, parsePath, withoutSchema } from './filter.ts';
import { PATCH, type Schema } from './schemas.ts';
import { type Element, type Fields, memberOf, readValue, refuseTwoPrimary } from './values.ts';

export interface Operation {
  readonly op: 'add' | 'replace' | 'remove';
  /** As it was sent; null: `value` is an object of paths. */
  readonly path: string | null;
  /** Undefined when none was sent. */
  readonly value: unknown;
}

const OPERATIONS_MAX = 1_000;

function readOperation(given: unknown): Operation {
  if (!isObject(given)) throw wrong('invalidSyntax', 'An operation is not an object.');
  const word = memberOf(given, 'op');
  const op = typeof word === 'string' ? word.toLowerCase() : '';
  if (op !== 'add' && op !== 'replace' && op !== 'remove')
    throw wrong('invalidSyntax', 'An operation is none of add, replace and remove.');
  const path = memberOf(given, 'path') ?? null;
  if (path !== null && typeof path !== 'string') throw wrong('invalidPath', 'A path is not a text.');
  const value = memberOf(given, 'value');
  if (op === 'remove' && (path === null || path === ''))
    throw wrong('noTarget', 'An operation removes without saying what.');
  if (op !== 'remove' && value === undefined)
    throw wrong('invalidValue', 'An operation adds or replaces without a value.');
  return { op, path: path === '' ? null : path, value };
}

/** The operations of a PATCH body. @throws ScimFault for another shape. */
export function readOperations(body: unknown): readonly Operation[] {
  if (!isObject(body)) throw wrong('invalidSyntax', 'The body is not a JSON object.');
  const schemas = memberOf(body, 'schemas');
  if (!Array.isArray(schemas) || !schemas.includes(PATCH))
    throw wrong('invalidSyntax', `schemas does not name ${PATCH}.`);
  const operations = memberOf(body, 'Operations');
  if (!Array.isArray(operations) || operations.length === 0)
    throw wrong('invalidSyntax', 'Operations is not a list of operations.');
  if (operations.length > OPERATIONS_MAX)
    throw wrong('invalidValue', `A PATCH has at most ${OPERATIONS_MAX} operations.`);
  return operations.map(readOperation);
}

/** `operation` as operations with a path each; `own_id` is the id of the resource, which may be repeated. */
export function withPaths(
  operation: Operation,
  own_id: string,
): readonly (Operation & { readonly path: string })[] {
  const { op, path, value } = operation;
  if (path !== null) return [{ ...operation, path }];
  if (!isObject(value)) throw wrong('invalidValue', 'An operation without a path has no object of paths.');
  return Object.entries(value)
    .filter(
      ([name, given]) =>
        name.toLowerCase() !== 'schemas' && !(name.toLowerCase() === 'id' && given === own_id),
    )
    .map(([name, given]) => ({ op, path: name, value: given }));
}

/** The path of an operation on `schema`; null where it leads to something that is not kept. */
function findTarget(schema: Schema, text: string): Path | null {
  const own = withoutSchema(schema, text);
  if (/^urn:/i.test(own)) {
    if (own.toLowerCase().startsWith(schema.id.toLowerCase()))
      throw wrong('invalidPath', 'The path names a whole schema.');
    return null;
  }
  const name = /^[\w$-]*/.exec(own)?.[0].toLowerCase() ?? '';
  if (schema.ignored.some((ignored) => ignored.toLowerCase() === name)) return null;
  if (name === 'id' || name === 'meta') throw wrong('mutability', `${name} cannot be changed.`);
  const path = parsePath(schema.attributes, own);
  if (path === null) throw wrong('invalidPath', 'The path names no attribute of the schema.');
  if (path.attribute.mutability === 'readOnly')
    throw wrong('mutability', `${path.attribute.name} cannot be changed.`);
  return path;
}

function without(fields: Fields, name: string): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([own]) => own !== name));
}

function put(fields: Fields, name: string, value: unknown): Fields {
  const is_empty = value === undefined || (Array.isArray(value) && value.length === 0);
  return is_empty || (isObject(value) && Object.keys(value).length === 0)
    ? without(fields, name)
    : { ...fields, [name]: value };
}

function removeAt(fields: Fields, { attribute, where, part }: Path, value: unknown): Fields {
  const { name } = attribute;
  const present = fields[name];
  if (attribute.required) throw wrong('mutability', `${name} cannot be taken away.`);
  if (!attribute.multiValued)
    return part === null
      ? without(fields, name)
      : put(fields, name, without((present ?? {}) as Fields, part.name));
  const elements = (present ?? []) as readonly Element[];
  if (where === null) {
    if (part !== null) throw wrong('invalidPath', `Say which element of ${name} is meant.`);
    if (value === undefined) return without(fields, name);
    const named = ((readValue(attribute, value) ?? []) as readonly Element[]).map(
      (element) => element['value'],
    );
    return put(
      fields,
      name,
      elements.filter((element) => !named.includes(element['value'])),
    );
  }
  const left = elements.flatMap((element) => {
    if (!fits(where, element)) return [element];
    return part === null || part.name === 'value' ? [] : [without(element, part.name) as Element];
  });
  return put(fields, name, left);
}

/** `elements` with those of `given` in the place of what has the same value; the preferred one of `given` is the only one. */
function join(elements: readonly Element[], given: readonly Element[]): readonly Element[] {
  const values = new Set(given.map((element) => element['value']));
  const kept = elements.filter((element) => !values.has(element['value']));
  const has_primary = given.some(({ primary }) => primary === true);
  return [
    ...kept.map((element) =>
      has_primary && element['primary'] === true ? { ...element, primary: false } : element,
    ),
    ...given,
  ];
}

/** What an element must be that `where` fits: the conditions themselves. */
function madeOf({ attribute, where }: Path): Element {
  const facts = (where ?? []).map(({ path, value }) => [path.attribute.name, value] as const);
  if (facts.some(([, value]) => value === null))
    throw wrong('noTarget', `No element of ${attribute.name} fits.`);
  return Object.fromEntries(facts) as Element;
}

/** The elements after what `value` says of those that fit; one is made where none does, as directories expect. */
function setElements(elements: readonly Element[], path: Path, value: unknown): readonly Element[] {
  const { attribute, where, part } = path;
  const given = part === null ? value : { [part.name]: value };
  const parts = readValue({ ...attribute, multiValued: false }, given) as Element | undefined;
  if (parts === undefined) throw wrong('invalidValue', `${attribute.name} is given without a value.`);
  const some = where ?? [];
  const changed = elements.map((element) => (fits(some, element) ? { ...element, ...parts } : element));
  const is_there = elements.some((element) => fits(some, element));
  const all = is_there ? changed : [...elements, { ...madeOf(path), ...parts }];
  if (all.some((element) => element['value'] === undefined))
    throw wrong('noTarget', `An element of ${attribute.name} would have no value.`);
  if (parts['primary'] !== true) return all;
  return all.map((element) =>
    element['primary'] === true && !fits(some, element) && element['value'] !== parts['value']
      ? { ...element, primary: false }
      : element,
  );
}

function setAt(fields: Fields, path: Path, { op, value }: Operation): Fields {
  const { attribute, where, part } = path;
  const { name } = attribute;
  const present = fields[name];
  if (attribute.multiValued) {
    const elements = (present ?? []) as readonly Element[];
    if (where === null && part !== null) throw wrong('invalidPath', `Say which element of ${name} is meant.`);
    if (where !== null) return put(fields, name, setElements(elements, path, value));
    const given = (readValue(attribute, value) ?? []) as readonly Element[];
    return put(fields, name, op === 'add' ? join(elements, given) : given);
  }
  const read = readValue(part ?? attribute, value);
  if (read === undefined && attribute.required) throw wrong('invalidValue', `${name} cannot be empty.`);
  if (part !== null) return put(fields, name, put((present ?? {}) as Fields, part.name, read));
  return put(
    fields,
    name,
    attribute.type === 'complex' && read !== undefined
      ? { ...(present as object | undefined), ...(read as object) }
      : read,
  );
}

/**
 * `fields` of the resource `own_id` after `operations`, one after the other.
 * @throws ScimFault for a shape or path that is not understood, and for what cannot be changed.
 */
export function patched(
  schema: Schema,
  fields: Fields,
  own_id: string,
  operations: readonly Operation[],
): Fields {
  let next = fields;
  for (const operation of operations.flatMap((one) => withPaths(one, own_id))) {
    const path = findTarget(schema, operation.path);
    if (path === null) continue;
    next = operation.op === 'remove' ? removeAt(next, path, operation.value) : setAt(next, path, operation);
    if (path.attribute.multiValued)
      refuseTwoPrimary(path.attribute, (next[path.attribute.name] ?? []) as readonly Element[]);
  }
  return next;
}
