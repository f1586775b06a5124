// The JSON text of a request or an answer with its strings redacted and every other character as it was: numbers keep
// their digits, members their order, unknown fields their place. Nothing is parsed but strings with escapes.
import { stringEndIn } from '../kernel/index.ts';
import type { Redactor, Tally } from './redactor.ts';

const QUOTE = 34;
const COMMA = 44;
const ID = /^[\w.:-]{1,256}$/;
/**
 * Forms of ids that providers make for tool calls and answers; any other `id` may hold personal data and is scanned.
 */
const KNOWN_ID = /^(?:call|toolu|srvtoolu|fc|ctc|rs|msg|chatcmpl|functions|tool|tooluse)[_.-][\w.:-]{1,200}$/;
const WORD = /^[a-z0-9_]{1,40}$/;
const DATA_URL = /^data:[\w.+/;=-]{1,120};base64,/;
const NOT_BASE64 = /[^A-Za-z0-9+/=_-]/;
const NOT_LINES = /[^A-Za-z0-9+/=\r\n]/;
/** Lengths of lines in which MIME and PEM have base64, and command line tools and Python write it. */
const LINE_LENGTHS: readonly number[] = [64, 76];
/** Shorter strings are scanned like text: that costs little, and a secret can have the form of base64. */
const BASE64_MIN = 1_024;

const callIds: ReadonlySet<string> = new Set(['tool_call_id', 'tool_use_id', 'call_id']);
const opaque: ReadonlySet<string> = new Set([
  ...['data', 'file_data', 'b64_json', 'base64', 'b64', 'bytes'],
  // A provider's own state, sealed or signed: a changed character makes it worthless.
  ...['signature', 'thought_signature', 'thoughtSignature', 'encrypted_content'],
]);
/** The arguments of a tool call are content, whatever their keys are named. */
const contents: ReadonlySet<string> = new Set(['input', 'arguments', 'args']);

interface Frame {
  readonly array: boolean;
  /** Of the member that is being read; '' in an array. */
  key: string;
  /** Of an array the member that it is, however deep: kept here, since a walk up would be quadratic in the depth. */
  readonly owner: string;
  /** Everything below is content. */
  readonly content: boolean;
  readonly spared: boolean;
}

/** The string between two quotes; null when its escapes are wrong, and with them the whole document. */
function decoded(text: string, from: number, to: number): string | null {
  const raw = text.slice(from, to);
  if (!raw.includes('\\')) return raw;
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return null;
  }
}

/** Base64 in lines of one length. By hand: one expression for it would run out of stack in a long text. */
function isInLines(text: string): boolean {
  const first = text.indexOf('\n');
  const length = text[first - 1] === '\r' ? first - 1 : first;
  if (!LINE_LENGTHS.includes(length) || NOT_LINES.test(text)) return false;
  let at = 0;
  for (let end = first; end >= 0; end = text.indexOf('\n', at)) {
    if (end - at !== first) return end - at < first && end === text.length - 1;
    at = end + 1;
  }
  return text.length - at <= first;
}

function isBase64(value: string, from: number): boolean {
  const text = from === 0 ? value : value.slice(from);
  return !NOT_BASE64.test(text) || isInLines(text);
}

/** Media and sealed state. */
function isOpaque(value: string, key: string): boolean {
  if (value.length >= BASE64_MIN && opaque.has(key)) return isBase64(value, 0);
  if (!value.startsWith('data:')) return false;
  const head = DATA_URL.exec(value);
  return head !== null && isBase64(value, head[0].length);
}

/** Words of the wire format. */
function isStructure(value: string, key: string): boolean {
  if (key === 'type' || key === 'role') return WORD.test(value);
  if (callIds.has(key)) return ID.test(value);
  return key === 'id' && KNOWN_ID.test(value);
}

class Walk {
  readonly #text: string;
  readonly #redactor: Redactor;
  readonly #tally: Tally;
  readonly #spared: ReadonlySet<string>;
  /** The text is the arguments of a tool call: all of it is content, and numbers are scanned as text. */
  readonly #inside: boolean;
  readonly #stack: Frame[] = [];
  #out: string[] | null = null;
  #copied = 0;

  constructor(
    text: string,
    how: { redactor: Redactor; tally: Tally; spared: ReadonlySet<string>; inside: boolean },
  ) {
    this.#text = text;
    this.#redactor = how.redactor;
    this.#tally = how.tally;
    this.#spared = how.spared;
    this.#inside = how.inside;
  }

  run(): string {
    const text = this.#text;
    let expects_key = false;
    for (let i = 0; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if (c === QUOTE) {
        const end = stringEndIn(text, i + 1);
        // Not JSON: the parser that reads it later refuses it.
        if (end < 0) return text;
        if (expects_key) {
          (this.#stack.at(-1) as Frame).key = decoded(text, i + 1, end) ?? '';
          expects_key = false;
        } else this.#string(i, end);
        i = end;
      } else if (c === 123 || c === 91) {
        this.#push(c === 91);
        expects_key = c === 123;
      } else if (c === 125 || c === 93) {
        this.#stack.pop();
        expects_key = false;
      } else if (c === COMMA) {
        expects_key = this.#stack.at(-1)?.array === false;
      } else if ((c === 45 || (c >= 48 && c <= 57)) && this.#isInContent()) {
        i = this.#number(i);
      }
    }
    if (this.#out === null) return text;
    this.#out.push(text.slice(this.#copied));
    return this.#out.join('');
  }

  #push(array: boolean): void {
    const stack = this.#stack;
    const above = stack.at(-1);
    const key = above?.key ?? '';
    stack.push({
      array,
      key: '',
      owner: above?.array === true ? above.owner : key,
      content: this.#inside || above?.content === true || this.#opensContent(key),
      spared: above !== undefined && this.#isSpared(above),
    });
  }

  /** Whether tags or arguments of a tool call begin here; a property of that name in a JSON schema does not count. */
  #opensContent(key: string): boolean {
    const stack = this.#stack;
    if (key === 'metadata') return true;
    return stack.length > 1 && contents.has(key) && stack.at(-2)?.key !== 'properties';
  }

  #isInContent(): boolean {
    return this.#inside || this.#stack.at(-1)?.content === true;
  }

  #isSpared(frame: Frame): boolean {
    const { length } = this.#stack;
    if (frame.spared) return true;
    if (frame.array || length > 2) return false;
    const path = length === 1 ? frame.key : `${(this.#stack[0] as Frame).key}.${frame.key}`;
    return this.#spared.has(path);
  }

  #string(from: number, end: number): void {
    const frame = this.#stack.at(-1);
    if (frame !== undefined && this.#isSpared(frame)) return;
    const value = decoded(this.#text, from + 1, end);
    if (value === null || value === '') return;
    // Of an array the array's own.
    const key = (frame?.array === true ? frame.owner : frame?.key) ?? '';
    if (frame?.content !== true && isStructure(value, key)) return;
    if (isOpaque(value, key)) return;
    const redacted = key === 'arguments' ? this.#arguments(value) : this.#redactor.text(value, this.#tally);
    if (redacted !== value) this.#replace(from, end + 1, JSON.stringify(redacted));
  }

  /** JSON inside a string stays valid: a marker that replaces a number there becomes a string. */
  #arguments(value: string): string {
    if (!isJson(value)) return this.#redactor.text(value, this.#tally);
    return new Walk(value, {
      redactor: this.#redactor,
      tally: this.#tally,
      spared: NOTHING,
      inside: true,
    }).run();
  }

  #number(from: number): number {
    let to = from + 1;
    while (/[\d.eE+-]/.test(this.#text[to] ?? '')) to++;
    const digits = this.#text.slice(from, to);
    const redacted = this.#redactor.text(digits, this.#tally);
    if (redacted !== digits) this.#replace(from, to, JSON.stringify(redacted));
    return to - 1;
  }

  #replace(from: number, to: number, text: string): void {
    this.#out ??= [];
    this.#out.push(this.#text.slice(this.#copied, from), text);
    this.#copied = to;
  }
}

const NOTHING: ReadonlySet<string> = new Set();

function isJson(value: string): boolean {
  if (!/^\s*[{[]/.test(value)) return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

/**
 * The JSON text `text` with its strings redacted, but for the paths in `spared`; what is not JSON comes back as it is.
 */
export function redactJson(
  redactor: Redactor,
  text: string,
  tally: Tally,
  spared: ReadonlySet<string> = NOTHING,
): string {
  return new Walk(text, { redactor, tally, spared, inside: false }).run();
}
