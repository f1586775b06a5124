// The presets that are rows of digits: cards, aadhaar numbers, phone numbers; and pan, which is almost one. Each has a
// check beside its form, so that an order number is not taken for a card.
import type { Scan } from './types.ts';

/**
 * A whole row of digits, each at most one space or hyphen from the next: what lies inside is never a match of its own.
 */
const ROW = /\d(?:[ -]?\d){11,}/g;
const AADHAAR = /^[2-9]\d{3}[ -]?\d{4}[ -]?\d{4}$/;
const PAN = /\b[A-Z]{3}[ABCFGHJLPT][A-Z]\d{4}[A-Z]\b/g;
const PHONE = /\+[1-9]\d{0,2}(?:[ ().-]{0,2}\d){6,13}|\b(?:0|91)?[6-9]\d{9}\b/g;
const CARD_MIN = 13;
const CARD_MAX = 19;

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isGap(code: number): boolean {
  return code === 32 || code === 45;
}

/**
 * Whether a digit stands before `from` or behind `to`, also across one space or hyphen; `least` is where text begins.
 */
function isBesideDigit(text: string, from: number, to: number, least: number): boolean {
  if (from > least) {
    const before = text.charCodeAt(from - 1);
    if (isDigit(before)) return true;
    if (from - 1 > least && isGap(before) && isDigit(text.charCodeAt(from - 2))) return true;
  }
  const behind = text.charCodeAt(to);
  return isDigit(behind) || (isGap(behind) && isDigit(text.charCodeAt(to + 1)));
}

/** ISO/IEC 7812-1 annex B. */
function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    let digit = digits.charCodeAt(digits.length - 1 - i) - 48;
    if ((i & 1) === 1) {
      digit *= 2;
      if (digit > 9) digit -= 9;
    }
    sum += digit;
  }
  return sum % 10 === 0;
}

function isCard(row: string): boolean {
  const digits = row.replace(/[ -]/g, '');
  if (digits.length < CARD_MIN || digits.length > CARD_MAX) return false;
  const first = digits.charCodeAt(0);
  if (first < 50 || first > 54) return false;
  return !/^(\d)\1*$/.test(digits) && passesLuhn(digits);
}

/** Products of the dihedral group of order 10. */
const PRODUCT = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  [1, 2, 3, 4, 0, 6, 7, 8, 9, 5],
  [2, 3, 4, 0, 1, 7, 8, 9, 5, 6],
  [3, 4, 0, 1, 2, 8, 9, 5, 6, 7],
  [4, 0, 1, 2, 3, 9, 5, 6, 7, 8],
  [5, 9, 8, 7, 6, 0, 4, 3, 2, 1],
  [6, 5, 9, 8, 7, 1, 0, 4, 3, 2],
  [7, 6, 5, 9, 8, 2, 1, 0, 4, 3],
  [8, 7, 6, 5, 9, 3, 2, 1, 0, 4],
  [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
] as const;
const PERMUTATION = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  [1, 5, 7, 6, 2, 8, 3, 0, 9, 4],
  [5, 8, 0, 3, 7, 9, 6, 1, 4, 2],
  [8, 9, 1, 6, 0, 4, 3, 5, 2, 7],
  [9, 4, 5, 3, 1, 2, 6, 8, 7, 0],
  [4, 2, 8, 6, 5, 7, 3, 9, 0, 1],
  [2, 7, 9, 3, 8, 0, 6, 4, 1, 5],
  [7, 0, 4, 6, 9, 1, 3, 2, 5, 8],
] as const;

/** J. Verhoeff, Error Detecting Decimal Codes, 1969: the check digit of aadhaar numbers. */
function passesVerhoeff(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 48;
    sum = PRODUCT[sum]?.[PERMUTATION[i % 8]?.[digit] as number] as number;
  }
  return sum === 0;
}

function isAadhaar(row: string): boolean {
  return AADHAAR.test(row) && passesVerhoeff(row.replace(/[ -]/g, ''));
}

/**
 * Every match of `pattern` for which `holds` is true; it gets the match's place and the end of the previous match,
 * which is a boundary. In a match that does not hold, the search goes on at its second character.
 */
function matches(
  text: string,
  pattern: RegExp,
  holds: (from: number, to: number, behind: number) => boolean,
): number[] | null {
  let spans: number[] | null = null;
  let behind = 0;
  pattern.lastIndex = 0;
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const to = pattern.lastIndex;
    if (holds(found.index, to, behind)) {
      spans ??= [];
      spans.push(found.index, to);
      behind = to;
    } else pattern.lastIndex = found.index + 1;
  }
  return spans;
}

/** Rows of twelve or more digits for which `is` is true; a row is taken as a whole or not at all. */
function rows(is: (row: string) => boolean): Scan {
  return (text) => {
    let spans: number[] | null = null;
    ROW.lastIndex = 0;
    for (let found = ROW.exec(text); found !== null; found = ROW.exec(text)) {
      if (!is(found[0])) continue;
      spans ??= [];
      spans.push(found.index, ROW.lastIndex);
    }
    return spans;
  };
}

/** Card numbers, 13 to 19 digits. */
export const scanCards: Scan = rows(isCard);

/** Aadhaar numbers. */
export const scanAadhaar: Scan = rows(isAadhaar);

/** Indian permanent account numbers. */
export const scanPans: Scan = (text) => matches(text, PAN, () => true);

/** Phone numbers: international with `+`, Indian mobile ones without. */
export const scanPhones: Scan = (text) =>
  matches(text, PHONE, (from, to, behind) => !isBesideDigit(text, from, to, behind));
