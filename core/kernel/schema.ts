// Schema parts that every concept shares (text, times, lists: docs/api.md), and the formats behind
// them. Importing this file registers the formats.
import { type Static, type TSchema, Type } from 'typebox';
import Format from 'typebox/format';
import { ServiceError } from './errors.ts';

const TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d))?$/;

/** Whether `text` is a time of the years 0 to 9999 on a day that there is: the engine takes 30 February for 2 March. */
export function isTime(text: string): boolean {
  if (!TIME.test(text)) return false;
  const day = text.slice(0, 10);
  const year = new Date(text).getUTCFullYear();
  return new Date(day).toISOString().startsWith(day) && year >= 0 && year <= 9_999;
}

// A date alone is midnight UTC where a date-time is asked.
Format.Set('date-time', isTime);
Format.Set('line', (text) => !/[\u0000-\u001f\u007f\u0085\u2028\u2029]/.test(text));
Format.Set('lines', (text) => !/[\u0000-\u0008\u000b-\u001f\u007f]/.test(text));

/** One line of text, `min` (default 1) to `max` characters, without control characters. */
export function lineOf(max: number, min = 1) {
  return Type.String({ minLength: min, maxLength: max, format: 'line' });
}

/** A time in an answer: milliseconds and `Z`. */
export const Time = Type.String({ format: 'date-time', description: 'UTC, milliseconds, Z' });

/** A time in a request: RFC 3339 with any offset; a date alone is midnight UTC. */
export const TimeIn = Type.String({ format: 'date-time' });

/** `schema` or null. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/** One of `values`. */
export function oneOf<const T extends readonly string[]>(values: T) {
  return Type.Unsafe<T[number]>(Type.String({ enum: [...values] }));
}

/** A list returned whole. */
export function listOf<T extends TSchema>(item: T) {
  return Type.Object({ object: Type.Literal('list'), data: Type.Array(item) });
}

/** A page of a list; `next_cursor` is empty on the last one. */
export function pageOf<T extends TSchema>(item: T) {
  return Type.Object({ object: Type.Literal('list'), data: Type.Array(item), next_cursor: Type.String() });
}

/** The cursor after each row of a page, beside what goes out: an edge of GraphQL has one, a page of REST one in all. */
const cursors = new WeakMap<object, (at: number) => string>();

/** A page on the wire; `next_cursor` "" on the last one. `cursorAt` of the walk lets `cursorOf` answer for each row. */
export function page<T>(
  data: T[],
  next_cursor: string,
  cursorAt?: (at: number) => string,
): { object: 'list'; data: T[]; next_cursor: string } {
  const made = { object: 'list' as const, data, next_cursor };
  if (cursorAt !== undefined) cursors.set(made, cursorAt);
  return made;
}

/** The cursor after row `at` of a page that `page` made. @throws Error (a defect) when it was made without. */
export function cursorOf(made: object, at: number): string {
  const cursorAt = cursors.get(made);
  if (cursorAt === undefined) throw new Error('this page knows no cursors of its rows');
  return cursorAt(at);
}

/** Query members of a paged list. */
export function pageInput(max: number) {
  return {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: max })),
    cursor: Type.Optional(Type.String()),
  };
}

/** Milliseconds of a `TimeIn`. */
export function timeInMs(text: Static<typeof TimeIn>): number {
  return Date.parse(text);
}

/** The 404 of every object that is missing, of the wrong shape, or another organisation's: one body for all. */
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
