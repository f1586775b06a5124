// Readers of parsed JSON values that know the path of what they read. JSON null counts as absent everywhere, because
// clients serialise unset fields as null.
import { isObject, type JsonObject, ServiceError } from '../../kernel/index.ts';
import { rounded } from '../wire/exact.ts';

/** @throws ServiceError invalid_request with `param`. */
export function fail(param: string, message: string): never {
  throw new ServiceError('invalid_request', message, { param });
}

/** @throws ServiceError unsupported_parameter with `param`. */
export function unsupported(param: string, message: string, details?: JsonObject): never {
  throw new ServiceError(
    'unsupported_parameter',
    message,
    details === undefined ? { param } : { param, details },
  );
}

/** Whether `value` is neither undefined nor null. */
export function present(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** A string of at most `max` UTF-16 units, or undefined. @throws ServiceError invalid_request */
export function optionalString(value: unknown, param: string, limits?: { max?: number }): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') fail(param, `'${param}' must be a string.`);
  if (limits?.max !== undefined && value.length > limits.max) {
    fail(param, `'${param}' must have at most ${limits.max} characters.`);
  }
  return value;
}

/** @throws ServiceError invalid_request when absent or not a string. */
export function requireString(value: unknown, param: string, limits?: { max?: number }): string {
  return optionalString(value, param, limits) ?? fail(param, `'${param}' is required.`);
}

const BASE64 = /^[A-Za-z0-9+/_\s-]*={0,2}\s*$/;
/** Characters at either end of a medium that are looked at: all of a film would stop other calls for too long. */
const LOOKED_AT = 65_536;

/** `text`, a medium in base64, which every provider would refuse otherwise. @throws ServiceError invalid_request */
export function requireBase64(value: unknown, param: string): string {
  const text = requireString(value, param);
  const ends = text.length > 2 * LOOKED_AT ? [text.slice(0, LOOKED_AT), text.slice(-LOOKED_AT)] : [text];
  if (text === '' || !ends.every((end) => BASE64.test(end))) fail(param, `'${param}' is not base64.`);
  return text;
}

/**
 * A number within the bounds (inclusive), or undefined. Such numbers are read as doubles, however many digits they
 * were written with. @throws ServiceError invalid_request
 */
export function optionalNumber(
  given: unknown,
  param: string,
  limits: { min?: number; max?: number; integer?: boolean } = {},
): number | undefined {
  const value = typeof given === 'number' ? given : rounded(given);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isFinite(value)) fail(param, `'${param}' must be a number.`);
  if (limits.integer === true && !Number.isInteger(value)) fail(param, `'${param}' must be an integer.`);
  if (limits.min !== undefined && value < limits.min)
    fail(param, `'${param}' must be at least ${limits.min}.`);
  if (limits.max !== undefined && value > limits.max)
    fail(param, `'${param}' must be at most ${limits.max}.`);
  return value;
}

/** @throws ServiceError invalid_request */
export function optionalBoolean(value: unknown, param: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean') fail(param, `'${param}' must be true or false.`);
  return value;
}

/** One of `allowed`, or undefined. @throws ServiceError invalid_request */
export function optionalChoice<T extends string>(
  value: unknown,
  param: string,
  allowed: readonly T[],
): T | undefined {
  const text = optionalString(value, param);
  if (text === undefined) return undefined;
  if (!(allowed as readonly string[]).includes(text)) {
    fail(param, `'${param}' must be one of ${allowed.join(', ')}.`);
  }
  return text as T;
}

/** @throws ServiceError invalid_request when absent or not an array. */
export function requireArray(value: unknown, param: string): unknown[] {
  return optionalArray(value, param) ?? fail(param, `'${param}' is required.`);
}

/** @throws ServiceError invalid_request */
export function optionalArray(value: unknown, param: string): unknown[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) fail(param, `'${param}' must be an array.`);
  return value;
}

/** @throws ServiceError invalid_request when absent or not an object. */
export function requireObject(value: unknown, param: string): JsonObject {
  return optionalObject(value, param) ?? fail(param, `'${param}' is required.`);
}

/** @throws ServiceError invalid_request */
export function optionalObject(value: unknown, param: string): JsonObject | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) fail(param, `'${param}' must be an object.`);
  return value;
}

/** An array of strings, or undefined. @throws ServiceError invalid_request */
export function optionalStrings(
  value: unknown,
  param: string,
  limits?: { max?: number },
): string[] | undefined {
  const list = optionalArray(value, param);
  if (list === undefined) return undefined;
  if (limits?.max !== undefined && list.length > limits.max) {
    fail(param, `'${param}' must have at most ${limits.max} items.`);
  }
  return list.map((item, i) => requireString(item, `${param}[${i}]`));
}

/**
 * An object whose values are strings, or undefined; null values count as absent.
 * @throws ServiceError invalid_request
 */
export function stringMap(
  value: unknown,
  param: string,
  limits: { max_keys?: number; max_key?: number; max_value?: number } = {},
): Record<string, string> | undefined {
  const object = optionalObject(value, param);
  if (object === undefined) return undefined;
  const map: Record<string, string> = {};
  let keys = 0;
  for (const [key, item] of Object.entries(object)) {
    if (item === null) continue;
    keys++;
    if (limits.max_keys !== undefined && keys > limits.max_keys) {
      fail(param, `'${param}' must have at most ${limits.max_keys} keys.`);
    }
    if (limits.max_key !== undefined && key.length > limits.max_key) {
      fail(param, `A key of '${param}' has more than ${limits.max_key} characters.`);
    }
    const text = requireString(
      item,
      `${param}.${key}`,
      limits.max_value === undefined ? {} : { max: limits.max_value },
    );
    // Like defineProperty and unlike assignment: a key named __proto__ stays a key.
    Object.defineProperty(map, key, { value: text, enumerable: true, writable: true, configurable: true });
  }
  return map;
}

/** @throws ServiceError invalid_request naming the first member of `object` that is not in `known`. */
export function refuseUnknown(object: JsonObject, known: ReadonlySet<string>, path: string): void {
  for (const key of Object.keys(object)) {
    if (!known.has(key)) fail(`${path}.${key}`, `Unknown field '${path}.${key}'.`);
  }
}

/** Members of `object` that are not in `known`, as `ext`; nulls count as absent. `{}` when there are none. */
export function restOf(object: JsonObject, known: ReadonlySet<string>): { ext?: JsonObject } {
  let ext: JsonObject | undefined;
  for (const name in object) {
    if (known.has(name) || !present(object[name])) continue;
    ext ??= {};
    ext[name] = object[name];
  }
  return ext === undefined ? {} : { ext };
}

/** Headers by their names in small letters. */
export type Headers = Readonly<Record<string, string | undefined>>;

/** The JSON object that a header holds, `{}` without it. @throws ServiceError invalid_request */
export function headerObject(headers: Headers, name: string): JsonObject {
  const text = headers[name];
  if (text === undefined) return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    fail(name, `Header '${name}' must be a JSON object.`);
  }
  return isObject(value) ? value : fail(name, `Header '${name}' must be a JSON object.`);
}
