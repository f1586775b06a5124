// Reads what a directory sends into the values of a schema. Pure. Names of attributes are compared without case.
import { isObject, type JsonObject } from '../../kernel/index.ts';
import { wrong } from './fault.ts';
import type { Attribute, Schema } from './schemas.ts';

/** Values of a resource, under the names of its schema. */
export type Fields = Readonly<Record<string, unknown>>;
/** One of several values, such as an address with its type. */
export type Element = Readonly<Record<string, string | boolean>>;

const TEXT_MAX = 256;
const ELEMENTS_MAX = 100;

/** The attribute called `name`; null when there is none. */
export function attributeOf(attributes: readonly Attribute[], name: string): Attribute | null {
  const wanted = name.toLowerCase();
  return attributes.find((own) => own.name.toLowerCase() === wanted) ?? null;
}

/** A member of `object`, whatever its case. @throws ScimFault invalidSyntax when two differ by case alone. */
export function memberOf(object: JsonObject, name: string): unknown {
  const wanted = name.toLowerCase();
  const found = Object.keys(object).filter((own) => own.toLowerCase() === wanted);
  if (found.length > 1) throw wrong('invalidSyntax', `${name} is given more than once.`);
  return found[0] === undefined ? undefined : object[found[0]];
}

function readText({ name }: Attribute, given: unknown): string | undefined {
  if (typeof given !== 'string') throw wrong('invalidValue', `${name} is not a text.`);
  if (given.length > TEXT_MAX) throw wrong('invalidValue', `${name} is longer than ${TEXT_MAX} characters.`);
  if (given.includes('\u0000') || !given.isWellFormed())
    throw wrong('invalidValue', `${name} holds characters that no text has.`);
  return given === '' ? undefined : given;
}

/** Directories send booleans as such and as words: Entra ID has "True" and "False". */
function readFlag({ name }: Attribute, given: unknown): boolean {
  if (typeof given === 'boolean') return given;
  const word = typeof given === 'string' ? given.toLowerCase() : '';
  if (word === 'true') return true;
  if (word === 'false') return false;
  throw wrong('invalidValue', `${name} is neither true nor false.`);
}

function readParts(attribute: Attribute, given: unknown): Element | undefined {
  if (!isObject(given)) throw wrong('invalidValue', `${attribute.name} is not an object.`);
  const parts: Record<string, string | boolean> = {};
  for (const part of attribute.subAttributes ?? []) {
    const value = readOne(part, memberOf(given, part.name));
    if (value !== undefined) parts[part.name] = value as string | boolean;
  }
  return Object.keys(parts).length === 0 ? undefined : parts;
}

function readOne(attribute: Attribute, given: unknown): string | boolean | Element | undefined {
  if (given === null || given === undefined) return undefined;
  if (attribute.type === 'complex') return readParts(attribute, given);
  if (attribute.type === 'boolean') return given === '' ? undefined : readFlag(attribute, given);
  return readText(attribute, given);
}

function readElement(attribute: Attribute, given: unknown): Element {
  const element = readParts(attribute, given);
  if (element?.['value'] === undefined)
    throw wrong('invalidValue', `An element of ${attribute.name} has no value.`);
  return element;
}

/** @throws ScimFault invalidValue when more than one element is the preferred one. */
export function refuseTwoPrimary({ name }: Attribute, elements: readonly Element[]): void {
  if (elements.filter(({ primary }) => primary === true).length > 1)
    throw wrong('invalidValue', `Only one element of ${name} can be primary.`);
}

function readAll(attribute: Attribute, given: unknown): readonly Element[] | undefined {
  if (given === null || given === undefined) return undefined;
  const list = Array.isArray(given) ? given : [given];
  if (list.length > ELEMENTS_MAX)
    throw wrong('invalidValue', `${attribute.name} has more than ${ELEMENTS_MAX} elements.`);
  const elements = list.map((one) => readElement(attribute, one));
  refuseTwoPrimary(attribute, elements);
  return elements.length === 0 ? undefined : elements;
}

/** The value of an attribute; undefined when nothing is given. @throws ScimFault invalidValue for another shape. */
export function readValue(attribute: Attribute, given: unknown): unknown {
  return attribute.multiValued ? readAll(attribute, given) : readOne(attribute, given);
}

/**
 * What `body` says of the attributes of `schema` that can be written, but for `except`; what else it says is ignored.
 * @throws ScimFault invalidSyntax, invalidValue.
 */
export function readResource(schema: Schema, body: unknown, except: readonly string[] = []): Fields {
  if (!isObject(body)) throw wrong('invalidSyntax', 'The body is not a JSON object.');
  const schemas = memberOf(body, 'schemas');
  const is_ours = (one: unknown) => typeof one === 'string' && one.toLowerCase() === schema.id.toLowerCase();
  if (!Array.isArray(schemas) || !schemas.some(is_ours))
    throw wrong('invalidSyntax', `schemas does not name ${schema.id}.`);
  const fields: Record<string, unknown> = {};
  for (const attribute of schema.attributes) {
    if (attribute.mutability === 'readOnly' || except.includes(attribute.name)) continue;
    const value = readValue(attribute, memberOf(body, attribute.name));
    if (value !== undefined) fields[attribute.name] = value;
    // A flag that is not given is what it was, or what it is at first.
    else if (attribute.required && attribute.type !== 'boolean')
      throw wrong('invalidValue', `${attribute.name} is missing.`);
  }
  return fields;
}
