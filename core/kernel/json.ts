// Canonical JSON text, for fingerprints and content hashes: members sorted by code unit, no white space. And JSON
// parsing that reports where the first fault is, and refuses members that occur twice.

import { ServiceError } from './errors.ts';
import { atOnce, type Steps } from './steps.ts';

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;

/** `value` as JSON text with sorted members; members that are undefined are left out. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(',')}]`;
  const object = value as Record<string, unknown>;
  const members: string[] = [];
  for (const key of Object.keys(object).sort()) {
    if (object[key] !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(object[key])}`);
  }
  return `{${members.join(',')}}`;
}

export type JsonObject = Record<string, unknown>;

/** Whether `value` is a JSON object (not null, not an array). */
export function isObject(value: unknown): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** The JSON value of `text`. @throws ServiceError invalid_json, with `details.offset` counted in characters. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = /position (\d+)/.exec((error as Error).message)?.[1];
    const offset = position === undefined ? misplacedAt(text) : Number(position);
    throw new ServiceError('invalid_json', `The body is not JSON: fault at offset ${offset}.`, {
      details: { offset },
    });
  }
}

/**
 * Index of the closing quote of the string whose text begins at `at`; -1 when there is none. `indexOf` does the
 * search.
 */
export function stringEndIn(text: string, at: number): number {
  for (let i = at; ; ) {
    const quote = text.indexOf('"', i);
    if (quote < 0) return -1;
    let k = quote - 1;
    while (k >= i && text.charCodeAt(k) === BACKSLASH) k--;
    if (((quote - 1 - k) & 1) === 0) return quote;
    i = quote + 1;
  }
}

const LITERAL = /-?\d[\d.eE+-]*|true|false|null/y;

/**
 * Index at which a value was expected but none begins. This is the only fault for which the engine reports no
 * position.
 */
function misplacedAt(text: string): number {
  const open: string[] = [];
  let wanted: 'value' | 'value or end' | 'other' = 'value';
  for (let at = 0; at < text.length; at++) {
    const c = text.charAt(at);
    if (c === ' ' || c === '\n' || c === '\r' || c === '\t') continue;
    if (c === '{' || c === '[') {
      open.push(c);
      wanted = c === '[' ? 'value or end' : 'other';
    } else if (c === '}' || c === ']' || c === ',' || c === ':') {
      if (wanted === 'value' || (wanted === 'value or end' && c !== ']')) return at;
      if (c === '}' || c === ']') open.pop();
      wanted = c === ':' || (c === ',' && open.at(-1) === '[') ? 'value' : 'other';
    } else {
      const end = c === '"' ? stringEndIn(text, at + 1) : literalEnd(text, at);
      if (end < 0) return at;
      at = end;
      wanted = 'other';
    }
  }
  return text.length;
}

/** Index of the last character of the literal at `at`; -1 when no literal begins there. */
function literalEnd(text: string, at: number): number {
  LITERAL.lastIndex = at;
  return LITERAL.test(text) ? LITERAL.lastIndex - 1 : -1;
}

/** `object` without its undefined members, so that an absent field stays absent. */
export function compact<T extends object>(object: T): Compacted<T> {
  const result: JsonObject = {};
  for (const key in object) {
    const value = object[key];
    if (value !== undefined && value !== null) result[key] = value;
  }
  return result as Compacted<T>;
}

type Compacted<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** How many members the objects of the JSON `text` have, duplicates included. */
function membersIn(text: string): number {
  let members = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) i = stringEndIn(text, i + 1);
    else if (c === COLON) members++;
  }
  return members;
}

/** Values between two steps of counting. */
const COUNTED = 20_000;

/** How many members the objects in a parsed `value` have. */
export function* membersInSteps(value: unknown): Steps<number> {
  let members = 0;
  let looked = 0;
  // Not by recursion: a body may nest deeper than the stack.
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (next === null || typeof next !== 'object') continue;
    const values: unknown[] = Array.isArray(next) ? next : Object.values(next);
    if (!Array.isArray(next)) members += values.length;
    for (const inside of values) {
      if (inside !== null && typeof inside === 'object') open.push(inside);
      if (++looked % COUNTED === 0) yield;
    }
  }
  return members;
}

/** The same at once. */
export function membersOf(value: unknown): number {
  return atOnce(membersInSteps(value));
}

interface Level {
  /** Names so far; null in a list. */
  readonly names: Set<string> | null;
  at: number | string | null;
}

function pathOf(levels: readonly Level[]): string {
  return levels
    .map(({ names, at }, i) => {
      if (names === null) return `[${at}]`;
      return i === 0 ? at : `.${at}`;
    })
    .join('');
}

/** Path of the first member whose object has another of its name before it; null when there is none. */
function firstDuplicate(text: string): string | null {
  const levels: Level[] = [];
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    const level = levels.at(-1);
    if (c === QUOTE) {
      const end = stringEndIn(text, i + 1);
      // Between a name and the next comma stands a value.
      if (level?.names != null && level.at === null) {
        const name = JSON.parse(text.slice(i, end + 1)) as string;
        level.at = name;
        if (level.names.has(name)) return pathOf(levels);
        level.names.add(name);
      }
      i = end;
    } else if (c === 123) levels.push({ names: new Set(), at: null });
    else if (c === 91) levels.push({ names: null, at: 0 });
    else if (c === 125 || c === 93) levels.pop();
    else if (c === COMMA && level !== undefined)
      level.at = level.names === null ? Number(level.at) + 1 : null;
  }
  return null;
}

/** The refusal of a text with the duplicate at `path`; of a long text nobody looked where. */
export function duplicateRefused(path: string | null): ServiceError {
  if (path === null) return new ServiceError('invalid_json', 'A key occurs twice in one object.');
  return new ServiceError('invalid_json', `The key '${path}' occurs twice.`, { param: path });
}

/**
 * `value` is what was parsed from `text`, which has so many `members`, unless null. Parsers disagree which of two equal members counts (RFC 8259, 4): a provider
 * that reads the other one would get another prompt, model or cap than was redacted, measured and priced.
 * @throws ServiceError invalid_json where a member occurs twice
 */
export function refuseDuplicates(text: string, value: unknown, members: number | null = null): void {
  if ((members ?? membersIn(text)) !== membersOf(value)) throw duplicateRefused(firstDuplicate(text));
}
