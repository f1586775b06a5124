// Finds where the members of a JSON object are in its bytes, so that some can be replaced while all others keep their
// numbers, order and spelling. The scan does not validate: the same bytes are also parsed as a whole elsewhere. It
// accepts some invalid documents, and finds every member of the valid ones.
import { ServiceError, stringEndIn } from '../../kernel/index.ts';

export interface Member {
  /** Unescaped. */
  name: string;
  /** Index of the opening quote of the key. */
  key_from: number;
  /** First byte of the value. */
  from: number;
  /** Index after the last byte of the value. */
  to: number;
}

export interface TopLevel {
  members: Member[];
  /** Index of `{`. */
  open: number;
  /** Index of the matching `}`. */
  close: number;
}

export interface Edit {
  from: number;
  to: number;
  text: string;
}

const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const COLON = 58;
const BACKSLASH = 92;

/** Whether `literal` is at `at` in `b`. Compares backwards, because events tend to differ near the end. */
export function startsWith(b: Buffer, at: number, literal: Buffer): boolean {
  if (at + literal.length > b.length) return false;
  for (let i = literal.length - 1; i >= 0; i--) if (b[at + i] !== literal[i]) return false;
  return true;
}

/** Bytes that are checked one by one before the native search is used, which costs as much as a few dozen of them. */
const NEAR = 48;

/** Index of the quote that closes the string whose first content byte is at `at`; -1 when there is none. */
export function stringEnd(b: Buffer, at: number): number {
  let i = at;
  for (;;) {
    const near = Math.min(b.length, i + NEAR);
    for (; i < near; i++) {
      const c = b[i]!;
      if (c === QUOTE) return i;
      if (c === BACKSLASH) i++;
    }
    // An escape may have moved `i` past `near`; bytes before `i` must not be searched.
    const quote = b.indexOf(QUOTE, i);
    if (quote < 0) return -1;
    let k = quote - 1;
    while (k >= i && b[k] === BACKSLASH) k--;
    if (((quote - 1 - k) & 1) === 0) return quote;
    i = quote + 1;
  }
}

function isSpace(c: number): boolean {
  return c === 32 || c === 10 || c === 13 || c === 9;
}

function skipSpace(b: Buffer, at: number): number {
  let i = at;
  while (i < b.length) {
    if (!isSpace(b[i]!)) break;
    i++;
  }
  return i;
}

/** Index after the value that starts at `at`; -1 when it does not end. `text` as in `scanObject`. */
function valueEnd(b: Buffer, at: number, text: string | null = null): number {
  const first = b[at];
  if (first === undefined) return -1;
  if (first === QUOTE) {
    const end = stringEnd(b, at + 1);
    return end < 0 ? -1 : end + 1;
  }
  if (first === 123 || first === 91) return text === null ? nestedEnd(b, at) : nestedEndIn(text, at);
  let i = at;
  for (; i < b.length; i++) {
    const c = b[i]!;
    if (c === COMMA || c === 125 || c === 93 || c <= 32) break;
    if (c === QUOTE || c === COLON || c === 123 || c === 91) return -1;
  }
  return i > at ? i : -1;
}

/** Shorter lists of numbers are scanned byte by byte; the native searches would cost as much. */
const LONG_LIST = 256;

/** Whether the list that begins at `at` begins with a number. */
function beginsWithNumber(b: Buffer, at: number): boolean {
  const first = b[at + 1]!;
  return first === MINUS || (first >= 48 && first <= 57);
}

/**
 * Whether the first closing bracket, at `close`, ends the list at `at`, and the list is a long one of numbers, as
 * vectors are. It contains nothing that opens or closes, so a byte-by-byte scan would find the same end.
 */
function isLongNumbers(b: Buffer, at: number, close: number): boolean {
  if (close - at < LONG_LIST) return false;
  const inner = b.subarray(at + 1, close);
  return !inner.includes(QUOTE) && !inner.includes(91) && !inner.includes(123) && !inner.includes(125);
}

function nestedEnd(b: Buffer, at: number): number {
  let depth = 0;
  // The first closing bracket was searched up to this index, once for all lists that begin before it.
  let looked = 0;
  for (let i = at; i < b.length; i++) {
    const c = b[i]!;
    if (c === QUOTE) {
      i = stringEnd(b, i + 1);
      if (i < 0) return -1;
    } else if (c === 123 || c === 91) {
      depth++;
      if (c === 91 && i >= looked && beginsWithNumber(b, i)) {
        const close = b.indexOf(93, i + 1);
        looked = close < 0 ? b.length : close;
        if (isLongNumbers(b, i, close)) i = close - 1;
      }
    } else if (c === 125 || c === 93) {
      depth--;
      if (depth === 0) return i + 1;
    }
  }
  return -1;
}

function nestedEndIn(text: string, at: number): number {
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) {
      i = stringEndIn(text, i + 1);
      if (i < 0) return -1;
    } else if (c === 123 || c === 91) {
      depth++;
    } else if (c === 125 || c === 93) {
      depth--;
      if (depth === 0) return i + 1;
    }
  }
  return -1;
}

/** Whether objects and arrays are nested more than `levels` deep. */
export function nestsDeeper(body: Buffer, levels: number): boolean {
  let depth = 0;
  for (let i = 0; i < body.length; i++) {
    const c = body[i]!;
    if (c === QUOTE) {
      i = stringEnd(body, i + 1);
      if (i < 0) return false;
    } else if (c === 123 || c === 91) {
      if (++depth > levels) return true;
    } else if (c === 125 || c === 93) depth--;
  }
  return false;
}

/** The key between two quotes, unescaped; null when it is not a JSON string. */
function keyText(b: Buffer, from: number, to: number): string | null {
  let plain = true;
  for (let i = from; i < to && plain; i++) {
    const c = b[i]!;
    plain = c >= 32 && c < 128 && c !== BACKSLASH;
  }
  if (plain) return b.toString('latin1', from, to);
  try {
    return JSON.parse(b.toString('utf8', from - 1, to + 1)) as string;
  } catch {
    return null;
  }
}

/**
 * Members of the object in `body`, in order, including duplicates. With `from` the object starts there (after white
 * space) and what follows it is ignored; without `from` only white space may follow. Null: the scan is not certain,
 * and the caller must use `JSON.parse`. `text` is the decoded `body` when it is at hand: if every byte became one
 * character, nested values are searched in it, which takes a third of the time.
 */
export function scanObject(body: Buffer, from?: number, text?: string): TopLevel | null {
  const in_text = text?.length === body.length ? text : null;
  const open = skipSpace(body, from ?? 0);
  if (body[open] !== 123) return null;
  const members: Member[] = [];
  let at = skipSpace(body, open + 1);
  if (body[at] !== 125) {
    for (;;) {
      const member = memberAt(body, at, in_text);
      if (member === null) return null;
      members.push(member);
      at = skipSpace(body, member.to);
      if (body[at] === 125) break;
      if (body[at] !== COMMA) return null;
      at = skipSpace(body, at + 1);
    }
  }
  if (from === undefined && skipSpace(body, at + 1) !== body.length) return null;
  return { members, open, close: at };
}

function memberAt(body: Buffer, key_from: number, text: string | null): Member | null {
  if (body[key_from] !== QUOTE) return null;
  const key_to = stringEnd(body, key_from + 1);
  if (key_to < 0) return null;
  const name = keyText(body, key_from + 1, key_to);
  const colon = skipSpace(body, key_to + 1);
  if (name === null || body[colon] !== COLON) return null;
  const from = skipSpace(body, colon + 1);
  const to = valueEnd(body, from, text);
  return to < 0 ? null : { name, key_from, from, to };
}

/** Marks of an object that were noted as its bytes came: offsets of bytes outside of strings, at its own level. */
interface ObjectMarks {
  readonly open: number;
  /** One behind the name of each member. */
  readonly colons: readonly number[];
  /** One behind the value of each member but the last. */
  readonly commas: readonly number[];
  readonly close: number;
}

function skipSpaceBack(b: Buffer, at: number): number {
  let i = at;
  while (i >= 0 && isSpace(b[i]!)) i--;
  return i;
}

/** What `scanObject(body)` finds in a JSON object, without looking at its values again; null as there. */
export function objectAt(body: Buffer, { open, colons, commas, close }: ObjectMarks): TopLevel | null {
  if (commas.length !== Math.max(0, colons.length - 1)) return null;
  const members: Member[] = [];
  for (const [i, colon] of colons.entries()) {
    const key_from = skipSpace(body, (i === 0 ? open : commas[i - 1]!) + 1);
    const key_to = skipSpaceBack(body, colon - 1);
    if (body[key_from] !== QUOTE || key_to <= key_from || body[key_to] !== QUOTE) return null;
    const name = keyText(body, key_from + 1, key_to);
    if (name === null) return null;
    const from = skipSpace(body, colon + 1);
    const to = skipSpaceBack(body, (commas[i] ?? close) - 1) + 1;
    members.push({ name, key_from, from, to });
  }
  return { members, open, close };
}

/** Spans of the values of the array that starts at `from`; null: the scan is not certain. */
export function scanArray(body: Buffer, from: number): { from: number; to: number }[] | null {
  const open = skipSpace(body, from);
  if (body[open] !== 91) return null;
  const items: { from: number; to: number }[] = [];
  let at = skipSpace(body, open + 1);
  if (body[at] === 93) return items;
  for (;;) {
    const to = valueEnd(body, at);
    if (to < 0) return null;
    items.push({ from: at, to });
    at = skipSpace(body, to);
    if (body[at] === 93) return items;
    if (body[at] !== COMMA) return null;
    at = skipSpace(body, at + 1);
  }
}

/** The member `name`; of duplicates the last, as in `JSON.parse`. */
export function memberOf(top: TopLevel, name: string): Member | undefined {
  for (let i = top.members.length - 1; i >= 0; i--) {
    const member = top.members[i]!;
    if (member.name === name) return member;
  }
  return undefined;
}

/** A name that occurs twice, or null. */
export function duplicated(top: TopLevel): string | null {
  const { members } = top;
  if (members.length <= 16) {
    for (let i = 1; i < members.length; i++) {
      const { name } = members[i]!;
      for (let k = 0; k < i; k++) if (members[k]!.name === name) return name;
    }
    return null;
  }
  const seen = new Set<string>();
  for (const { name } of top.members) {
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return null;
}

/** `top`, whose members all differ. @throws ServiceError invalid_json when a key occurs twice */
export function distinct(top: TopLevel | null): TopLevel {
  if (top === null) throw new ServiceError('invalid_json', 'The body is not a JSON object.');
  const twice = duplicated(top);
  if (twice !== null) {
    // A provider that reads the other copy would see another model, cap or tier than was held and priced.
    throw new ServiceError('invalid_json', `The key '${twice}' occurs twice.`, { param: twice });
  }
  return top;
}

/**
 * `body` with all edits applied, in one allocation and one copy. Edits may be in any order; those that insert at the
 * same place are applied in the given order. @throws RangeError when two overlap.
 */
export function splice(body: Buffer, edits: readonly Edit[]): Buffer {
  const ordered = edits.length > 1 ? [...edits].sort((a, b) => a.from - b.from || a.to - b.to) : edits;
  let size = body.length;
  let behind = 0;
  for (const edit of ordered) {
    if (edit.from < behind || edit.to < edit.from) throw new RangeError('edits overlap');
    behind = edit.to;
    size += Buffer.byteLength(edit.text) - (edit.to - edit.from);
  }
  const out = Buffer.allocUnsafe(size);
  let at = 0;
  let read = 0;
  for (const edit of ordered) {
    at += body.copy(out, at, read, edit.from);
    at += out.write(edit.text, at);
    read = edit.to;
  }
  body.copy(out, at, read);
  return out;
}

/** Removes `name` and one comma; null when it is absent. To remove several members at once, use `changeMembers`. */
export function removeMember(top: TopLevel, _body: Buffer, name: string): Edit | null {
  const [edit] = changeMembers(top, { [name]: null });
  return edit ?? null;
}

/** Appends `text` (`"name":value`) as the last member. Cannot be combined with removing every other member. */
export function addMember(top: TopLevel, text: string): Edit {
  return { from: top.close, to: top.close, text: top.members.length > 0 ? `,${text}` : text };
}

/**
 * Edits that set each member of `changes` to its JSON text (replaced in place, or appended) and remove those whose
 * text is null. Correct for any combination, including neighbours and all members. The names must not be duplicated
 * in `top`.
 */
export function changeMembers(top: TopLevel, changes: Readonly<Record<string, string | null>>): Edit[] {
  const { members } = top;
  const names = Object.keys(changes);
  const found = new Array<boolean>(names.length).fill(false);
  const edits: Edit[] = [];
  let any_kept = false;
  for (let i = 0; i < members.length; i++) {
    const member = members[i]!;
    const at = names.indexOf(member.name);
    const text = at < 0 ? undefined : changes[member.name];
    if (at >= 0) found[at] = true;
    if (text !== null) {
      any_kept = true;
      if (text !== undefined) edits.push({ from: member.from, to: member.to, text });
      continue;
    }
    // A removal includes the comma before the member, or the one after it for the first member.
    const next = members[i + 1];
    if (any_kept) edits.push({ from: members[i - 1]!.to, to: member.to, text: '' });
    else edits.push({ from: member.key_from, to: next === undefined ? member.to : next.key_from, text: '' });
  }
  for (let at = 0; at < names.length; at++) {
    const name = names[at]!;
    const text = changes[name];
    if (found[at] === true || text === null || text === undefined) continue;
    const comma = any_kept ? ',' : '';
    edits.push({ from: top.close, to: top.close, text: `${comma}${JSON.stringify(name)}:${text}` });
    any_kept = true;
  }
  return edits;
}
