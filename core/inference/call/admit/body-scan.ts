// What reading a body would cost, counted from its bytes as they come: what nobody needs is refused before it has come
// whole, and what takes long is read in slices.
import { ServiceError } from '../../../kernel/index.ts';
import { objectAt, type TopLevel } from '../../wire/scan.ts';

/**
 * Objects, lists and members of a body at most. Each takes two characters of text or more, which a compressed body has
 * for nothing, and up to a microsecond of every caller's time.
 */
const ITEMS_MAX = 100_000;
/** Members of one object at most: whoever looks at all of them takes half a microsecond for each. */
const MEMBERS_MAX = 10_000;
/** Values in lists and objects at most: token ids and vectors have many that are cheaper than items. */
const VALUES_MAX = 500_000;
/** Parameters of a call at most; no format has a tenth of them. */
const PARAMETERS_MAX = 1_000;
/** Bytes outside of strings at most: white space, brackets and digits. */
const STRUCTURE_BYTES_MAX = 8_388_608;
/** Levels at most; no schema and no arguments of use nest so deep. */
const LEVELS_MAX = 1_000;

/** Beyond one of these a body is read in slices; below them all, at once, within a few milliseconds. */
const AT_ONCE = { items: 4_000, values: 50_000, bytes: 1_048_576 };
/** Bytes of a string looked at one by one before the native search is asked, and where that found only an escape. */
const NEAR = 48;
const DENSE = 4_096;

const QUOTE = 34;
const BACKSLASH = 92;

function tooMuch(what: string, limit: Record<string, number>): ServiceError {
  return new ServiceError('request_too_large', `The body holds more than ${what}.`, { details: limit });
}

/** Counts the bytes of one body, pushed in order; it validates nothing. */
export class BodyScan {
  readonly #items_max: number;
  #bytes = 0;
  #structure = 0;
  #items = 0;
  #values = 0;
  #parameters = 0;
  #depth = 0;
  /** Members so far of what is open, by depth. */
  readonly #members: number[] = [];
  #most_members = 0;
  #all_members = 0;
  #deepest = 0;
  #inside = false;
  /** Inside a string the next byte is escaped. */
  #escaped = false;

  /** Bytes before the chunk that is looked at. */
  #before = 0;
  /** Marks of the body where it is one object (`objectAt`). */
  #open = -1;
  #close = -1;
  readonly #colons: number[] = [];
  readonly #commas: number[] = [];

  constructor(items_max = ITEMS_MAX) {
    this.#items_max = items_max;
  }

  /** Members of all objects, duplicates included, where the body is JSON. */
  get members(): number {
    return this.#all_members;
  }

  /** Where the members of `body` are, which is what was pushed; null where it is no JSON object. */
  topOf(body: Buffer): TopLevel | null {
    if (this.#open < 0 || this.#close < 0) return null;
    return objectAt(body, {
      ...{ open: this.#open, colons: this.#colons },
      ...{ commas: this.#commas, close: this.#close },
    });
  }

  /** Whether the body is to be read in slices. */
  get inSlices(): boolean {
    return this.#items > AT_ONCE.items || this.#values > AT_ONCE.values || this.#bytes > AT_ONCE.bytes;
  }

  /** @throws ServiceError request_too_large for a body that holds more than anybody needs, invalid_json for its depth. */
  push(bytes: Buffer): void {
    this.#before = this.#bytes;
    this.#bytes += bytes.length;
    for (let at = 0; at < bytes.length; ) {
      at = this.#inside ? this.#stringEnd(bytes, at) : this.#structureEnd(bytes, at);
    }
    if (this.inSlices && this.#deepest > LEVELS_MAX) {
      throw new ServiceError('invalid_json', `The body nests deeper than ${LEVELS_MAX} levels.`);
    }
    if (this.#items > this.#items_max) {
      throw tooMuch(`${this.#items_max} objects, lists and members`, { limit_items: this.#items_max });
    }
    if (this.#most_members > MEMBERS_MAX) {
      throw tooMuch(`${MEMBERS_MAX} members in one object`, { limit_members: MEMBERS_MAX });
    }
    if (this.#values > VALUES_MAX) throw tooMuch(`${VALUES_MAX} values`, { limit_values: VALUES_MAX });
    if (this.#parameters > PARAMETERS_MAX) {
      throw tooMuch(`${PARAMETERS_MAX} parameters`, { limit_parameters: PARAMETERS_MAX });
    }
    if (this.#structure > STRUCTURE_BYTES_MAX) {
      const limit = { limit_structure_bytes: STRUCTURE_BYTES_MAX };
      throw tooMuch(`${STRUCTURE_BYTES_MAX} bytes outside of strings`, limit);
    }
  }

  /** Index behind the quote that opens the next string, or of the end. */
  #structureEnd(bytes: Buffer, from: number): number {
    let at = from;
    while (at < bytes.length) {
      const c = bytes[at++] as number;
      if (c === QUOTE) {
        this.#inside = true;
        break;
      }
      if (c === 123 || c === 91) {
        if (this.#items++ === 0 && c === 123) this.#open = this.#before + at - 1;
        this.#values++;
        if (++this.#depth > this.#deepest) this.#deepest = this.#depth;
        this.#members[this.#depth] = 0;
      } else if (c === 125 || c === 93) {
        if (--this.#depth === 0) this.#close = this.#before + at - 1;
      } else if (c === 58) {
        this.#items++;
        this.#all_members++;
        if (this.#depth === 1) {
          this.#parameters++;
          if (this.#open >= 0) this.#colons.push(this.#before + at - 1);
        }
        if (this.#depth < 1) continue;
        const members = (this.#members[this.#depth] ?? 0) + 1;
        this.#members[this.#depth] = members;
        if (members > this.#most_members) this.#most_members = members;
      } else if (c === 44) {
        this.#values++;
        if (this.#depth === 1 && this.#commas.length < this.#colons.length)
          this.#commas.push(this.#before + at - 1);
      }
    }
    this.#structure += at - from;
    return at;
  }

  /** Index behind the quote that closes the string, or of the end. */
  #stringEnd(bytes: Buffer, from: number): number {
    const { length } = bytes;
    let at = from;
    if (this.#escaped) {
      this.#escaped = false;
      at++;
    }
    let stride = NEAR;
    while (at < length) {
      const near = Math.min(length, at + stride);
      while (at < near) {
        const c = bytes[at++] as number;
        // Most letters are above both.
        if (c > BACKSLASH) continue;
        if (c === BACKSLASH) {
          if (at === length) this.#escaped = true;
          at++;
        } else if (c === QUOTE) {
          this.#inside = false;
          return at;
        }
      }
      if (at >= length) break;
      const quote = bytes.indexOf(QUOTE, at);
      const end = quote < 0 ? length : quote;
      // Of the backslashes before it each first one escapes the second; an odd one escapes what follows.
      let run = end;
      while (run > at && bytes[run - 1] === BACKSLASH) run--;
      const escaped = ((end - run) & 1) === 1;
      if (quote < 0) this.#escaped = escaped;
      else if (!escaped) {
        this.#inside = false;
        return quote + 1;
      }
      // Source code in JSON has an escape every few bytes, and each search costs as much as looking at many.
      stride = end - at < NEAR ? DENSE : NEAR;
      at = end + 1;
    }
    return length;
  }
}
