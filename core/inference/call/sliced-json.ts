// A large JSON text read in slices. The text is cut at commas; each piece, with brackets put around it that stand for
// what is open there, is a small document for JSON.parse, whose values are hung into the whole. Long strings are decoded
// by parts. The result and every refusal are those of JSON.parse over the whole.
import {
  duplicateRefused,
  type JsonObject,
  membersInSteps,
  parseJson,
  ServiceError,
  type Steps,
  secureBytes,
} from '../../kernel/index.ts';
import { parseExact } from '../wire/exact.ts';
import { stringEnd } from '../wire/scan.ts';

/** A piece is cut at the first comma behind so many bytes, or so many commas and brackets. */
const PIECE_BYTES = 65_536;
const PIECE_TOKENS = 4_000;
/** Longer strings are decoded by parts of this length. */
const LONG_STRING = 262_144;
/** The member under which what is open goes on in the next piece; nobody can guess it. */
const CONTINUED = secureBytes(12).toString('hex');

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;

type Container = unknown[] | JsonObject;

/** An object or list that is open. */
interface Frame {
  readonly list: boolean;
  /** null until the piece that it begins in is read. */
  value: Container | null;
  /** Of an object: where the name of its last member stands. */
  name_from: number;
  name_to: number;
}

function isSpace(c: number | undefined): boolean {
  return c === 32 || c === 10 || c === 13 || c === 9;
}

/** As JSON.parse does it: `__proto__` is a member like others. */
function setMember(object: JsonObject, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
}

/** Hangs `from`, whose first value continues `into` where `continues`, into `into`. */
function hang(into: Container, from: Container, continues: boolean): void {
  if (Array.isArray(into)) {
    const list = from as unknown[];
    for (let i = continues ? 1 : 0; i < list.length; i++) into.push(list[i]);
    return;
  }
  for (const [name, value] of Object.entries(from)) {
    if (name !== CONTINUED) setMember(into, name, value);
  }
}

class SlicedJson {
  readonly #body: Buffer;
  readonly #parse: (text: string) => unknown;
  #open: Frame[] = [];
  /** Frames that were open where the piece begins. */
  #begun: Frame[] = [];
  #from = 0;
  /** Characters before `#from`, for the place of a fault. */
  #characters = 0;
  #root: unknown;

  constructor(body: Buffer, parse: (text: string) => unknown) {
    this.#body = body;
    this.#parse = parse;
  }

  *read(): Steps<{ value: unknown; members: number }> {
    const body = this.#body;
    let tokens = 0;
    let members = 0;
    let at = 0;
    while (at < body.length) {
      const c = body[at] as number;
      if (c === QUOTE) {
        const end = yield* this.#stringEnd(at + 1);
        if (end - at > LONG_STRING && this.#open.length > 0) {
          yield* this.#longString(at, end);
          at = this.#from;
          tokens = 0;
          continue;
        }
        this.#named(at, end);
        at = end;
      } else if (c === COMMA) {
        tokens++;
        if ((at - this.#from >= PIECE_BYTES || tokens >= PIECE_TOKENS) && this.#isCut(at)) {
          yield* this.#cut(at, at + 1);
          tokens = 0;
        }
      } else if (c === COLON) members++;
      else if (this.#bracket(c)) tokens++;
      at++;
    }
    yield;
    // Nothing is put behind the last piece: what is still open there is the fault of the text.
    this.#piece(body.length, '');
    yield;
    return { value: this.#root, members };
  }

  /** Index of the quote that closes the string whose content begins at `from`. @throws ServiceError where none does. */
  *#stringEnd(from: number): Steps<number> {
    const body = this.#body;
    for (let at = from; at < body.length; ) {
      const to = Math.min(body.length, at + LONG_STRING);
      const end = stringEnd(body.subarray(0, to), at);
      if (end >= 0) return end;
      // The next part begins with a whole escape.
      let run = to;
      while (run > at && body[run - 1] === BACKSLASH) run--;
      at = (to - run) % 2 === 1 && to < body.length ? to - 1 : to;
      yield;
    }
    const { length } = body.toString('utf8', this.#from);
    const opened = this.#characters + body.toString('utf8', this.#from, from - 1).length;
    const first = this.#faultBefore(from - 1);
    throw faultAt(first <= opened ? first : this.#characters + length);
  }

  /** Where the piece up to `to`, with a string behind it, is wrong first. */
  #faultBefore(to: number): number {
    try {
      this.#value(this.#body.toString('utf8', this.#from, to), '""');
    } catch (error) {
      return Number((error as ServiceError).details['offset']);
    }
    return Number.POSITIVE_INFINITY;
  }

  /** Opens or closes; brackets that do not match are found when their piece is read. */
  #bracket(c: number): boolean {
    if (c === 123 || c === 91) this.#open.push({ list: c === 91, value: null, name_from: 0, name_to: 0 });
    else if (c === 125 || c === 93) this.#open.pop();
    else return false;
    return true;
  }

  #named(from: number, end: number): void {
    const frame = this.#open.at(-1);
    if (frame === undefined || frame.list) return;
    let next = end + 1;
    while (isSpace(this.#body[next])) next++;
    if (this.#body[next] !== COLON) return;
    frame.name_from = from;
    frame.name_to = end + 1;
  }

  /** Whether values stand on both sides of the comma at `at`: only then both pieces are as wrong as the whole. */
  #isCut(at: number): boolean {
    const before = this.#neighbour(at, -1);
    const behind = this.#neighbour(at, 1);
    const opens = before === 123 || before === 91 || before === COMMA || before === COLON;
    const closes = behind === 125 || behind === 93 || behind === COMMA || behind === COLON;
    return this.#open.length > 0 && !opens && !closes && behind !== undefined;
  }

  #neighbour(from: number, step: 1 | -1): number | undefined {
    let at = from + step;
    while (isSpace(this.#body[at])) at += step;
    return this.#body[at];
  }

  /** Reads the piece up to `to`; the next begins at `next`. */
  *#cut(to: number, next: number): Steps<void> {
    this.#piece(to, this.#closing());
    this.#characters += next - to;
    this.#from = next;
    this.#begun = [...this.#open];
    yield;
  }

  #closing(): string {
    let text = '';
    for (let i = this.#open.length - 1; i >= 0; i--) text += this.#open[i]?.list === true ? ']' : '}';
    return text;
  }

  #piece(to: number, behind: string): void {
    const text = this.#body.toString('utf8', this.#from, to);
    const value = this.#value(text, behind);
    this.#characters += text.length;
    this.#join(value);
  }

  /** The value of a piece. @throws ServiceError invalid_json with the place in the whole text. */
  #value(text: string, behind: string): unknown {
    const before = this.#before();
    try {
      return this.#parse(before + text + behind);
    } catch (error) {
      const found = error instanceof ServiceError ? error.details['offset'] : undefined;
      if (typeof found !== 'number') throw error;
      throw faultAt(this.#characters + Math.max(0, found - before.length));
    }
  }

  /** Brackets that stand for what is open where the piece begins. */
  #before(): string {
    const last = this.#begun.length - 1;
    return this.#begun
      .map(({ list }, i) => {
        if (list) return '[';
        return i === last ? '{' : `{"${CONTINUED}":`;
      })
      .join('');
  }

  #join(value: unknown): void {
    let part = value;
    const last = this.#begun.length - 1;
    if (last < 0) this.#root = value;
    this.#begun.forEach((frame, i) => {
      const inside: unknown = Array.isArray(part) ? part[0] : (part as JsonObject)[CONTINUED];
      hang(frame.value as Container, part as Container, i < last);
      part = inside;
    });
    // What was opened in the piece and goes on: always the last of what it stands in.
    this.#open.forEach((frame, i) => {
      frame.value ??= (i === 0 ? this.#root : this.#lastOf(this.#open[i - 1] as Frame)) as Container;
    });
  }

  #lastOf(frame: Frame): unknown {
    const { value } = frame;
    return Array.isArray(value) ? value.at(-1) : (value as JsonObject)[this.#nameOf(frame)];
  }

  #nameOf({ name_from, name_to }: Frame): string {
    return JSON.parse(this.#body.toString('utf8', name_from, name_to)) as string;
  }

  /** The string from quote to quote, which is too long for one piece. */
  *#longString(from: number, end: number): Steps<void> {
    const behind = this.#skipSpace(end + 1);
    if (this.#body[behind] === COLON) throw nameTooLong();
    // An empty string stands for it, so that the piece has its faults and nothing else.
    this.#piece(from, `""${this.#closing()}`);
    const frame = this.#open.at(-1) as Frame;
    this.#characters++;
    const text = yield* this.#decoded(from + 1, end);
    if (Array.isArray(frame.value)) frame.value[frame.value.length - 1] = text;
    else setMember(frame.value as JsonObject, this.#nameOf(frame), text);
    this.#characters++;
    const comma = this.#body[behind] === COMMA && this.#isCut(behind);
    if (!comma && this.#body[behind] !== 125 && this.#body[behind] !== 93) {
      const at = this.#body[behind] === COMMA ? this.#skipSpace(behind + 1) : behind;
      throw faultAt(this.#characters + (at - end - 1));
    }
    this.#from = comma ? behind + 1 : behind;
    this.#characters += this.#from - end - 1;
    this.#begun = [...this.#open];
  }

  #skipSpace(from: number): number {
    let at = from;
    while (isSpace(this.#body[at])) at++;
    return at;
  }

  /** The content of a string, decoded by parts that end between characters and escapes. */
  *#decoded(from: number, end: number): Steps<string> {
    let text = '';
    for (let at = from; at < end; ) {
      yield;
      const to = this.#partEnd(at, end);
      const part = this.#body.toString('utf8', at, to);
      try {
        text += part.includes('\\') || hasControl(part) ? (JSON.parse(`"${part}"`) as string) : part;
      } catch (error) {
        const position = /position (\d+)/.exec((error as Error).message)?.[1];
        throw faultAt(this.#characters + (position === undefined ? 0 : Number(position) - 1));
      }
      this.#characters += part.length;
      at = to;
    }
    return text;
  }

  #partEnd(from: number, end: number): number {
    const body = this.#body;
    let to = from + LONG_STRING;
    if (to >= end) return end;
    while (((body[to] as number) & 0xc0) === 0x80) to--;
    // An escape has six bytes at most.
    for (let i = to - 1; i >= to - 6; i--) {
      if (body[i] !== BACKSLASH) continue;
      let run = i;
      while (run > from && body[run - 1] === BACKSLASH) run--;
      // Of a run of backslashes the first escapes the second, and so on.
      const begins = ((i - run) & 1) === 0;
      const length = body[i + 1] === 117 ? 6 : 2;
      return begins && i + length > to ? i : to;
    }
    return to;
  }
}

const CONTROL = /[\u0000-\u001f]/;

function hasControl(text: string): boolean {
  return CONTROL.test(text);
}

function faultAt(offset: number): ServiceError {
  return new ServiceError('invalid_json', `The body is not JSON: fault at offset ${offset}.`, {
    details: { offset },
  });
}

function nameTooLong(): ServiceError {
  const message = `The name of a member is longer than ${LONG_STRING} bytes.`;
  return new ServiceError('request_too_large', message, { details: { limit_name_bytes: LONG_STRING } });
}

/**
 * The JSON value of `body`, in steps.
 * @throws ServiceError invalid_json as `parseJson`; invalid_request for a list or a string; request_too_large for a name
 *   that is as long as a text.
 */
export function* parseInSteps(body: Buffer): Steps<unknown> {
  let at = 0;
  while (isSpace(body[at])) at++;
  if (body[at] === 91 || body[at] === QUOTE)
    throw new ServiceError('invalid_request', 'The body must be a JSON object.');
  const { value, members } = yield* new SlicedJson(body, parseJson).read();
  if (members !== (yield* membersInSteps(value))) throw duplicateRefused(null);
  return value;
}

/** The value of `body`, which was read before, with all digits of its numbers. */
export function* parseExactInSteps(body: Buffer): Steps<unknown> {
  return (yield* new SlicedJson(body, parseExact).read()).value;
}
