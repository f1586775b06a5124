// What rails send, read with doubt: an answer may be a page of a proxy, a text where a number belongs, somebody else's.
import { isObject, type JsonObject } from '../../kernel/index.ts';
import { RailError } from './types.ts';

/** Code of an answer that came and cannot be read: the rail may have done what it was asked. */
export const UNREADABLE = 'UNREADABLE_ANSWER';
/** Names at rails have some twenty letters. */
const NAME_MAX = 255;

/** An answer that cannot be read; it says what was missing, and nothing that was in it. */
export function unreadable(what: string): RailError {
  return new RailError(`The payment rail answered ${what}.`, { declined: false, code: UNREADABLE });
}

/** A name at a rail; null for anything else. */
export function nameOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= NAME_MAX ? value : null;
}

/** Money that moved, in the smallest unit; null for a text, a fraction, nothing and less than nothing. */
export function amountOf(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : null;
}

/** The object that an answer is. @throws RailError for a page, a text or nothing. */
export function objectIn(answer: unknown): JsonObject {
  if (!isObject(answer)) throw unreadable('without an object');
  return answer;
}

/** The name of what an answer is about. @throws RailError */
export function nameIn(answer: unknown): string {
  const name = nameOf(objectIn(answer)['id']);
  if (name === null) throw unreadable('with an object without a name');
  return name;
}

/** The objects of a list. @throws RailError for what is no list. */
export function listIn(answer: unknown): JsonObject[] {
  const { items } = objectIn(answer);
  if (!Array.isArray(items)) throw unreadable('with a list without items');
  return items.filter(isObject);
}

/** Without letters that no text of a database may have. */
function cleaned(_: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value;
}

/** The event that the bytes of a callback are; null where they are none. */
export function eventIn(raw: Uint8Array): JsonObject | null {
  try {
    const event: unknown = JSON.parse(Buffer.from(raw).toString('utf8'), cleaned);
    return isObject(event) ? event : null;
  } catch {
    return null;
  }
}
