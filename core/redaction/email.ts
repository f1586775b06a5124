// The preset `email`, by hand: each `@` is looked at once, so a text of nothing but local parts stays linear. The
// expression, leftmost first:
// [A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}
import type { Scan } from './types.ts';

const LOCAL_MAX = 64;
const LABEL_MAX = 63;
const TOP_MIN = 2;
const HYPHEN = 45;
const DOT = 46;

function isLetter(code: number): boolean {
  return (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

function isAlphanumeric(code: number): boolean {
  return isLetter(code) || (code >= 48 && code <= 57);
}

function isLocal(code: number): boolean {
  // . _ % + -
  return isAlphanumeric(code) || code === DOT || code === 95 || code === 37 || code === 43 || code === HYPHEN;
}

/** End of the label at `at`, 1 to 63 letters, digits and inner hyphens; -1 when none stands there. */
function labelEnd(text: string, at: number): number {
  if (!isAlphanumeric(text.charCodeAt(at))) return -1;
  let to = at + 1;
  while (to - at <= LABEL_MAX) {
    const code = text.charCodeAt(to);
    if (!isAlphanumeric(code) && code !== HYPHEN) break;
    to++;
  }
  return to - at <= LABEL_MAX && isAlphanumeric(text.charCodeAt(to - 1)) ? to : -1;
}

/** How many letters, at most 63, stand at `at`. */
function letters(text: string, at: number): number {
  let to = at;
  while (to - at < LABEL_MAX && isLetter(text.charCodeAt(to))) to++;
  return to - at;
}

/** End of the domain at `at`; -1 when there is none. As many labels as leave a top level of two letters behind them. */
function domainEnd(text: string, at: number): number {
  let end = -1;
  let from = at;
  for (;;) {
    const to = labelEnd(text, from);
    if (to < 0 || text.charCodeAt(to) !== DOT) return end;
    from = to + 1;
    const top = letters(text, from);
    if (top >= TOP_MIN) end = from + top;
  }
}

/** E-mail addresses. */
export const scanEmails: Scan = (text) => {
  let spans: number[] | null = null;
  let behind = 0;
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    let from = at;
    const least = Math.max(behind, at - LOCAL_MAX);
    while (from > least && isLocal(text.charCodeAt(from - 1))) from--;
    if (from === at) continue;
    const end = domainEnd(text, at + 1);
    if (end < 0) continue;
    spans ??= [];
    spans.push(from, end);
    behind = end;
  }
  return spans;
};
