// JSON texts in which a member occurs twice. Parsers disagree which of the two counts (RFC 8259, 4): a provider that
// reads the other one would get another prompt, model or cap than was redacted, measured and priced.
import { ServiceError } from './errors.ts';
import { stringEndIn } from './json.ts';

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;

/** How many members the objects of `text` have, duplicates included; `text` is JSON. */
function membersIn(text: string): number {
  let members = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) i = stringEndIn(text, i + 1);
    else if (c === COLON) members++;
  }
  return members;
}

/** How many members the objects in a parsed `value` have. */
export function membersOf(value: unknown): number {
  let members = 0;
  // Not by recursion: a body may nest deeper than the stack.
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (next === null || typeof next !== 'object') continue;
    const values: unknown[] = Array.isArray(next) ? next : Object.values(next);
    if (!Array.isArray(next)) members += values.length;
    for (const inside of values) if (inside !== null && typeof inside === 'object') open.push(inside);
  }
  return members;
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
export function firstDuplicate(text: string): string | null {
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

/** `value` is what was parsed from `text`. @throws ServiceError invalid_json where a member occurs twice */
export function refuseDuplicates(text: string, value: unknown): void {
  if (membersIn(text) !== membersOf(value)) throw duplicateRefused(firstDuplicate(text));
}
