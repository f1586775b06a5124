// The preset `api_key`: secrets of known forms. One expression of RE2 in redaction.test.ts; here native where that is
// linear, and by hand where a backtracking engine would be quadratic (tokens of three parts, keys between header and
// footer).
import type { Scan } from './types.ts';

const FORMS = [
  'svc-(?:live|test)-[0-9A-Za-z]{38}',
  'svc_scim_[0-9A-Za-z]{38}',
  'svc-sess-[A-Za-z0-9_-]{43}',
  'sk-ant-[A-Za-z0-9_-]{20,}',
  'sk-[A-Za-z0-9_-]{20,}',
  '[sr]k_(?:live|test)_[A-Za-z0-9]{16,}',
  'AKIA[0-9A-Z]{16}',
  'AIza[0-9A-Za-z_-]{35}',
  'gh[pousr]_[A-Za-z0-9]{36}',
  'github_pat_[A-Za-z0-9_]{22,}',
  'xox[abprs]-[A-Za-z0-9-]{10,}',
  'glpat-[A-Za-z0-9_-]{20}',
  'whsec_[A-Za-z0-9+/=]{24,}',
  'hf_[A-Za-z0-9]{30,}',
].join('|');
const FORM = new RegExp(`\\b(?:${FORMS})`, 'g');
/** At a place that is a boundary because a match ended there. */
const FORM_HERE = new RegExp(`(?:${FORMS})`, 'y');
const HEADER = /-----BEGIN [A-Z ]*PRIVATE KEY-----/g;
const FOOTER = /-----END [A-Z ]*PRIVATE KEY-----/g;

/** Start and end of a match. */
type Span = readonly [from: number, to: number];
/** There is no further match from any place on. */
const NONE: Span = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];

function isWord(code: number): boolean {
  return (
    (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122)
  );
}

/** First character from `at` on that is not of `[A-Za-z0-9_-]`. */
function runEnd(text: string, at: number): number {
  let i = at;
  while (i < text.length) {
    const code = text.charCodeAt(i);
    if (!isWord(code) && code !== 45) break;
    i++;
  }
  return i;
}

const PART_MIN = 8;

/** End of the token of three parts whose `eyJ` stands at `at` and whose first part ends at `first`; -1: it is none. */
function tokenEnd(text: string, at: number, first: number): number {
  if (first - at - 3 < PART_MIN || !text.startsWith('.eyJ', first)) return -1;
  const second = runEnd(text, first + 4);
  if (second - first - 4 < PART_MIN || text[second] !== '.') return -1;
  const third = runEnd(text, second + 1);
  return third - second - 1 < PART_MIN ? -1 : third;
}

/** The last first part that failed: a start inside it fails as well, so it is not scanned again. */
interface Failed {
  from: number;
  to: number;
}

/** The token that begins at `at`, a boundary; null when none does. */
function tokenAt(text: string, at: number, failed: Failed): Span | null {
  if (at >= failed.from && at < failed.to) return null;
  const first = runEnd(text, at + 3);
  const to = tokenEnd(text, at, first);
  if (to >= 0) return [at, to];
  failed.from = at;
  failed.to = first;
  return null;
}

/** The first token at or after `from`, itself a boundary. */
function findToken(text: string, from: number, failed: Failed): Span {
  for (let at = text.indexOf('eyJ', from); at >= 0; ) {
    if (at === from || !isWord(text.charCodeAt(at - 1))) {
      const found = tokenAt(text, at, failed);
      if (found !== null) return found;
      at = text.indexOf('eyJ', failed.to);
    } else at = text.indexOf('eyJ', at + 1);
  }
  return NONE;
}

/** The first private key at or after `from`; `footer` is the first one behind the header before, and stays it. */
function findPrivateKey(text: string, from: number, footer: [from: number, to: number]): Span {
  HEADER.lastIndex = from;
  const header = HEADER.exec(text);
  if (header === null) return NONE;
  if (footer[0] <= HEADER.lastIndex) {
    FOOTER.lastIndex = HEADER.lastIndex + 1;
    footer[0] = FOOTER.exec(text)?.index ?? Number.POSITIVE_INFINITY;
    footer[1] = FOOTER.lastIndex;
  }
  // When one header has no footer after it, no later header has one either.
  return footer[0] === Number.POSITIVE_INFINITY ? NONE : [header.index, footer[1]];
}

function findForm(text: string, from: number): Span {
  FORM.lastIndex = from;
  const found = FORM.exec(text);
  return found === null ? NONE : [found.index, FORM.lastIndex];
}

function formAt(text: string, at: number): Span | null {
  FORM_HERE.lastIndex = at;
  return FORM_HERE.test(text) ? [at, FORM_HERE.lastIndex] : null;
}

/**
 * Secrets of known forms. The end of a match counts as a boundary, so that keys without a gap between them are all
 * found.
 */
export const scanApiKeys: Scan = (text) => {
  const failed: Failed = { from: 0, to: 0 };
  const footer: [number, number] = [-1, -1];
  let form = findForm(text, 0);
  let token = findToken(text, 0, failed);
  let key = findPrivateKey(text, 0, footer);
  const spans: number[] = [];
  for (;;) {
    let first = form[0] <= token[0] ? form : token;
    if (key[0] < first[0]) first = key;
    if (first === NONE) return spans.length === 0 ? null : spans;
    const [, end] = first;
    spans.push(first[0], end);
    form = formAt(text, end) ?? (form[0] < end ? findForm(text, end) : form);
    if (token[0] < end) token = findToken(text, end, failed);
    else if (text.startsWith('eyJ', end)) token = tokenAt(text, end, failed) ?? token;
    if (key[0] < end) key = findPrivateKey(text, end, footer);
  }
};
