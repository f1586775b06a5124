// Removes from a text what the organization's policy names. Pure, apart from the clock that ends patterns which take
// too long.
import { scanApiKeys } from './api-key.ts';
import { scanPattern } from './custom.ts';
import { scanAadhaar, scanCards, scanPans, scanPhones } from './digits.ts';
import { scanEmails } from './email.ts';
import {
  BUDGET_CHARACTERS,
  type Preset,
  presets,
  type Redacted,
  type RedactionSettings,
  type Scan,
} from './types.ts';

const scans: Readonly<Record<Preset, Scan>> = {
  api_key: scanApiKeys,
  email: scanEmails,
  card: scanCards,
  aadhaar: scanAadhaar,
  pan: scanPans,
  phone: scanPhones,
};

/** Replaces text that was dropped without being scanned. */
const UNSCANNED = '[REDACTED:unscanned]';
const MARKER = /\[REDACTED:(?:api_key|email|card|aadhaar|pan|phone|pattern_\d{1,2}|unscanned)\]/g;
/** Most passes: replacing a match can make another one visible, for example by a new word boundary next to it. */
const ROUNDS_MAX = 8;
/** Strings so short are structure more often than content; they have a reserve of their own behind the budget. */
const SHORT = 64;
const RESERVE_CHARACTERS = 262_144;
/**
 * When the budget cuts a string, this much before the cut is dropped too, since it could be the first half of a secret.
 */
const MARGIN = 4_096;

interface Pass {
  readonly marker: string;
  readonly scan: Scan;
}

/** A stretch of text between matches, or with `marker` a match. */
interface Piece {
  readonly text: string;
  readonly marker: boolean;
  /** Where it began in the text. */
  readonly from: number;
  /** Round that made it: its edges are new to the passes of the next. */
  readonly round: number;
}

/** How much of one call has been scanned, and what was found. */
export class Tally {
  redactions = 0;
  unscanned = 0;
  #left = BUDGET_CHARACTERS;
  #reserve = RESERVE_CHARACTERS;

  /** How many characters of a string of `length` may be looked at. */
  take(length: number): number {
    if (length <= this.#left) {
      this.#left -= length;
      return length;
    }
    if (length <= SHORT && length <= this.#reserve) {
      this.#reserve -= length;
      return length;
    }
    const taken = this.#left;
    this.#left = 0;
    return taken;
  }
}

function split(piece: Piece, spans: readonly number[], pass: Pass, round: number): Piece[] {
  const { text } = piece;
  const pieces: Piece[] = [];
  let at = 0;
  for (let i = 0; i < spans.length; i += 2) {
    const from = spans[i] as number;
    if (from > at) pieces.push({ text: text.slice(at, from), marker: false, from: piece.from + at, round });
    pieces.push({ text: pass.marker, marker: true, from: piece.from + from, round });
    at = spans[i + 1] as number;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), marker: false, from: piece.from + at, round });
  return pieces;
}

/** Markers that are in the text already: redacted text is not scanned again. */
function piecesOf(text: string): Piece[] {
  const whole: Piece = { text, marker: false, from: 0, round: 0 };
  if (!text.includes('[REDACTED:')) return [whole];
  const pieces: Piece[] = [];
  let at = 0;
  for (const { 0: marker, index } of text.matchAll(MARKER)) {
    if (index > at) pieces.push({ ...whole, text: text.slice(at, index), from: at });
    pieces.push({ ...whole, text: marker, marker: true, from: index });
    at = index + marker.length;
  }
  if (at < text.length) pieces.push({ ...whole, text: text.slice(at), from: at });
  return pieces;
}

export class Redactor {
  readonly #passes: readonly Pass[];
  #deadline_ms = Number.POSITIVE_INFINITY;

  /** @throws ServiceError invalid_pattern; `now_ms` is a monotonic clock, asked only where there are patterns. */
  constructor(settings: RedactionSettings, now_ms: () => number = () => 0) {
    const check = () => {
      if (now_ms() > this.#deadline_ms) throw new RangeError('the patterns took too long');
    };
    this.#passes = [
      ...presets
        .filter((preset) => settings.presets.includes(preset))
        .map((preset) => ({ marker: `[REDACTED:${preset}]`, scan: scans[preset] })),
      ...settings.patterns.map((pattern, at) => ({
        marker: `[REDACTED:pattern_${at + 1}]`,
        scan: scanPattern(pattern, check),
      })),
    ];
  }

  /** Searches of patterns that begin after `deadline_ms` throw a RangeError. */
  endAt(deadline_ms: number): void {
    this.#deadline_ms = deadline_ms;
  }

  /** `text` without what the policy names, within what `tally` has left. */
  text(text: string, tally: Tally): string {
    const taken = tally.take(text.length);
    if (taken === text.length) return this.#scanned(text, text.length, tally);
    let kept = Math.max(0, taken - MARGIN);
    if (kept > 0 && (text.charCodeAt(kept - 1) & 0xfc00) === 0xd800) kept--;
    tally.unscanned += text.length - kept;
    return `${kept === 0 ? '' : this.#scanned(text.slice(0, taken), kept, tally)}${UNSCANNED}`;
  }

  /** `text` redacted, of which what begins before `keep` is given back. */
  #scanned(text: string, keep: number, tally: Tally): string {
    let pieces: Piece[] | null = null;
    for (let round = 1; round <= ROUNDS_MAX; round++) {
      const before: Piece[] = pieces ?? piecesOf(text);
      const after = this.#round(before, round, tally);
      if (after === before) break;
      pieces = after;
    }
    if (pieces === null) return keep === text.length ? text : text.slice(0, keep);
    return pieces
      .filter((piece) => piece.from < keep)
      .map((piece) => (piece.marker ? piece.text : piece.text.slice(0, keep - piece.from)))
      .join('');
  }

  #round(before: Piece[], round: number, tally: Tally): Piece[] {
    let pieces = before;
    for (const pass of this.#passes) {
      let next: Piece[] | null = null;
      for (let i = 0; i < pieces.length; i++) {
        const piece = pieces[i] as Piece;
        const spans = piece.marker || piece.round < round - 1 ? null : pass.scan(piece.text);
        if (spans === null) {
          next?.push(piece);
          continue;
        }
        next ??= pieces.slice(0, i);
        tally.redactions += spans.length / 2;
        // One by one: as arguments of a single call, many matches would overflow the stack.
        for (const part of split(piece, spans, pass, round)) next.push(part);
      }
      if (next !== null) pieces = next;
    }
    return pieces;
  }
}

/** One text, with a budget of its own. */
export function redactText(redactor: Redactor, text: string): Redacted {
  const tally = new Tally();
  const redacted = redactor.text(text, tally);
  return { text: redacted, redactions: tally.redactions, unscanned: tally.unscanned };
}
