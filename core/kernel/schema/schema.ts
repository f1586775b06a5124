// Schemas that every concept shares (text, times, lists: docs/api.md), and the formats they use. Importing this file
// registers the formats.
import { type Static, type TSchema, Type } from 'typebox';
import Format from 'typebox/format';
import { ServiceError } from '../errors.ts';
import { type Kind, prefixes } from '../ids.ts';

const TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d))?$/;

/**
 * Whether `text` is a time in the years 0 to 9999 on a day that exists. `Date` alone would read 30 February as 2
 * March.
 */
export function isTime(text: string): boolean {
  if (!TIME.test(text)) return false;
  const day = text.slice(0, 10);
  const year = new Date(text).getUTCFullYear();
  return new Date(day).toISOString().startsWith(day) && year >= 0 && year <= 9_999;
}

// A date without a time is midnight UTC.
Format.Set('date-time', isTime);

/** Our own formats, each as a pattern, because other programs know a format only by its pattern. */
export const textFormats = {
  line: '^[^\\u0000-\\u001f\\u007f\\u0085\\u2028\\u2029]*$',
  lines: '^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f]*$',
} as const;
for (const [name, pattern] of Object.entries(textFormats)) {
  const form = new RegExp(pattern, 'u');
  Format.Set(name, (text) => form.test(text));
}

/**
 * `schema` with additional keywords that appear in the OpenAPI document but are not checked: a rule whose breach has
 * its own refusal code, which the check would hide behind `invalid_request`.
 */
export function documented<T extends TSchema>(schema: T, facts: Readonly<Record<string, unknown>>): T {
  return Object.assign(schema, { documented: facts });
}

/** One line of text, `min` (default 1) to `max` characters, without control characters. */
export function lineOf(max: number, min = 1) {
  return Type.String({ minLength: min, maxLength: max, format: 'line' });
}

const ULID_EXAMPLE = '01KACZ3V8S6T5R4Q3P2N1M0K9J';

/** An id of `kind`. The form is not checked: an id of the wrong form in a path is an object that does not exist. */
export function idOf(kind: Kind) {
  return Type.String({ examples: [`${prefixes[kind]}_${ULID_EXAMPLE}`] });
}

/** The id of a call. */
export function requestId() {
  return Type.String({ examples: [ULID_EXAMPLE] });
}

/** A time in an answer: UTC with milliseconds and `Z`. */
export const Time = Type.String({ format: 'date-time', description: 'UTC, milliseconds, Z' });

/** A time in a request: RFC 3339 with any offset; a date alone is midnight UTC. */
export const TimeIn = Type.String({ format: 'date-time' });

/** `schema` or null. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/**
 * `schema` under its own name: the OpenAPI document defines it once, under `components`, and refers to it everywhere
 * else. A name stands for the same schema throughout the document.
 */
export function named<T extends TSchema>(name: string, schema: T): T {
  return Object.assign(schema, { $id: name });
}

/** The name that `named` gave, undefined for a schema without one. */
export function nameOf(schema: TSchema): string | undefined {
  return (schema as { readonly $id?: string }).$id;
}

/** One of `values`. */
export function oneOf<const T extends readonly string[]>(values: T, name?: string) {
  const schema = Type.Unsafe<T[number]>(Type.String({ enum: [...values] }));
  return name === undefined ? schema : named(name, schema);
}

function namedAfter<T extends TSchema>(item: TSchema, suffix: string, schema: T): T {
  const name = nameOf(item);
  return name === undefined ? schema : named(`${name}${suffix}`, schema);
}

/** A list that is returned whole. */
export function listOf<T extends TSchema>(item: T) {
  const list = Type.Object({ object: Type.Literal('list'), data: Type.Array(item) });
  return namedAfter(item, 'List', list);
}

/** A page of a list; `next_cursor` is empty on the last one. */
export function pageOf<T extends TSchema>(item: T) {
  const next_cursor = Type.String({
    description: 'for `cursor` of the next request; empty on the last page',
  });
  const page = Type.Object({ object: Type.Literal('list'), data: Type.Array(item), next_cursor });
  return namedAfter(item, 'Page', page);
}

/** The body of an answer that has nothing to report but success. */
export const Nothing = named('Nothing', Type.Object({}));

/**
 * The cursor after each row of a page, kept beside the page that is sent: GraphQL has a cursor on each edge, REST one
 * per page.
 */
const cursors = new WeakMap<object, (at: number) => string>();

/**
 * A page as it is sent; `next_cursor` is "" on the last one. With `cursorAt`, `cursorOf` can return the cursor of
 * each row.
 */
export function page<T>(
  data: T[],
  next_cursor: string,
  cursorAt?: (at: number) => string,
): { object: 'list'; data: T[]; next_cursor: string } {
  const made = { object: 'list' as const, data, next_cursor };
  if (cursorAt !== undefined) cursors.set(made, cursorAt);
  return made;
}

/**
 * The cursor after row `at` of a page from `page`. @throws Error (a defect) when `page` was called without
 * `cursorAt`.
 */
export function cursorOf(made: object, at: number): string {
  const cursorAt = cursors.get(made);
  if (cursorAt === undefined) throw new Error('the page was made without cursors of its rows');
  return cursorAt(at);
}

/** Query members of a paginated list. */
export function pageInput(max: number) {
  return {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: max, description: 'rows of a page' })),
    cursor: Type.Optional(Type.String({ description: '`next_cursor` of the page before' })),
  };
}

/** Milliseconds since the epoch of a `TimeIn`. */
export function timeInMs(text: Static<typeof TimeIn>): number {
  return Date.parse(text);
}

/**
 * The 404 for every object that does not exist, has a malformed id or belongs to another organization: the same body
 * for all.
 */
export function notFound(): ServiceError {
  return new ServiceError('not_found', 'There is no such object in this organization.');
}

/** A 400 about one field. */
export function invalid(param: string, reason: string, message: string): ServiceError {
  return new ServiceError('invalid_request', message, {
    param,
    details: { faults: [{ param, reason, message }] },
  });
}
