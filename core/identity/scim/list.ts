// Which part of a list is wanted, and which attributes of a resource (RFC 7644 sections 3.4.2 and 3.9). Pure.
import { isObject, type JsonObject } from '../../kernel/index.ts';
import { wrong } from './fault.ts';
import { LIST, SEARCH } from './schemas.ts';
import { memberOf } from './values.ts';

const COUNT = 100;
export const COUNT_MAX = 200;

export interface Slice {
  readonly filter: string | null;
  readonly offset: number;
  readonly limit: number;
}

/** Which attributes are shown: `only` these, or all but `without`; both null: all. */
export interface Shown {
  readonly only: readonly string[] | null;
  readonly without: readonly string[] | null;
}

export interface Wanted {
  readonly slice: Slice;
  readonly shown: Shown;
}

function whole(name: string, given: unknown, absent: number): number {
  if (given === undefined || given === null || given === '') return absent;
  const text = String(given);
  if (!/^-?\d{1,9}$/.test(text)) throw wrong('invalidValue', `${name} is not a whole number.`);
  return Number(text);
}

function textOf(name: string, given: unknown): string | null {
  if (given === undefined || given === null || given === '') return null;
  if (typeof given !== 'string') throw wrong('invalidValue', `${name} is not one text.`);
  return given;
}

/** Names of attributes: a list, or a text with commas; without the names of schemas, in lower case. */
function namesOf(name: string, given: unknown): readonly string[] | null {
  if (given === undefined || given === null || given === '') return null;
  const list = Array.isArray(given) ? given : [given];
  if (list.some((one) => typeof one !== 'string'))
    throw wrong('invalidValue', `${name} is not a list of names.`);
  const names = (list as string[]).flatMap((one) => one.split(',')).map((one) => one.trim().toLowerCase());
  return names.filter((one) => one !== '').map((one) => one.replace(/^urn:[^\s]+:/, ''));
}

/** What the query of a request wants. @throws ScimFault invalidValue. */
export function readQuery(query: JsonObject): Wanted {
  const start = whole('startIndex', query['startIndex'], 1);
  const count = whole('count', query['count'], COUNT);
  return {
    slice: {
      filter: textOf('filter', query['filter']),
      offset: Math.max(1, start) - 1,
      limit: Math.min(COUNT_MAX, Math.max(0, count)),
    },
    shown: {
      only: namesOf('attributes', query['attributes']),
      without: namesOf('excludedAttributes', query['excludedAttributes']),
    },
  };
}

/** What the body of a `.search` wants. @throws ScimFault invalidSyntax, invalidValue. */
export function readSearch(body: unknown): Wanted {
  const schemas = isObject(body) ? memberOf(body, 'schemas') : undefined;
  if (!isObject(body) || !Array.isArray(schemas) || !schemas.includes(SEARCH))
    throw wrong('invalidSyntax', `schemas does not name ${SEARCH}.`);
  const names = ['startIndex', 'count', 'filter', 'attributes', 'excludedAttributes'];
  return readQuery(Object.fromEntries(names.map((name) => [name, memberOf(body, name)])));
}

/** Whether an attribute is shown. */
export function shows({ only, without }: Shown, name: string): boolean {
  const own = name.toLowerCase();
  if (only !== null) return only.some((one) => one === own || one.startsWith(`${own}.`));
  return without === null || !without.includes(own);
}

function partsOf(value: unknown, fits: (part: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => partsOf(one, fits));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([part]) => fits(part.toLowerCase())));
}

/** `resource` with what is wanted of it; `schemas` and `id` are always there. */
export function showing({ only, without }: Shown, resource: JsonObject): JsonObject {
  const entries = Object.entries(resource).flatMap(([name, value]): [string, unknown][] => {
    if (name === 'schemas' || name === 'id') return [[name, value]];
    if (!shows({ only, without }, name)) return [];
    const own = `${name.toLowerCase()}.`;
    if (only?.includes(own.slice(0, -1)) === false)
      return [[name, partsOf(value, (part) => only.includes(own + part))]];
    if (only !== null || without === null) return [[name, value]];
    return [[name, partsOf(value, (part) => !without.includes(own + part))]];
  });
  return Object.fromEntries(entries);
}

/** The answer of a list. */
export function listOfResources(total: number, offset: number, resources: readonly object[]): object {
  return {
    ...{ schemas: [LIST], totalResults: total, startIndex: offset + 1, itemsPerPage: resources.length },
    Resources: resources,
  };
}
