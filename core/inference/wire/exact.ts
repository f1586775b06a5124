// JSON whose numbers keep all digits. Tool arguments contain ids beyond 2^53, which parsing and printing would
// change. Costs nothing when the text contains no such number.

interface ExactJson {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): object;
  isRawJSON(value: unknown): value is { readonly rawJSON: string };
}
// V8 has had source text of primitives and rawJSON since Node 22; the TypeScript library does not declare them yet.
const exact = JSON as unknown as ExactJson;

/** Digits and points in a row that a double may not hold. */
const MANY = 16;
const LARGE_EXPONENT = /\d[eE][+-]?\d{3}/;

/** Whether `text` has a digit or a point at `at`. */
function isNumeric(text: string, at: number): boolean {
  const c = text.charCodeAt(at);
  return (c >= 48 && c <= 57) || c === 46;
}

/** Any run of so many has one at a multiple: only around those is anything looked at. A million token ids cost 1/15. */
function hasLongRun(text: string): boolean {
  for (let at = MANY - 1; at < text.length; at += MANY) {
    if (!isNumeric(text, at)) continue;
    let from = at;
    while (at - from < MANY - 1 && isNumeric(text, from - 1)) from--;
    let to = at + 1;
    while (to - from < MANY && isNumeric(text, to)) to++;
    if (to - from === MANY) return true;
  }
  return false;
}

/** Whether `JSON.parse` could lose digits of a number in `text`. */
export function mayLoseDigits(text: string): boolean {
  return hasLongRun(text) || LARGE_EXPONENT.test(text);
}

/**
 * Parses `text` so that `JSON.stringify` returns every number with its digits: a number that a double cannot
 * represent becomes a raw JSON object. @throws SyntaxError when `text` is not JSON.
 */
export function parseExact(text: string): unknown {
  if (!mayLoseDigits(text)) return JSON.parse(text);
  return exact.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && source.length >= 5 && !holds(value, source)
      ? exact.rawJSON(source)
      : value,
  );
}

/** The nearest double to a number that `parseExact` kept by its digits; any other value unchanged. */
export function rounded(value: unknown): unknown {
  return exact.isRawJSON(value) ? Number(value.rawJSON) : value;
}

// A double preserves every number of fewer than 16 significant digits; with more, only its own shortest form.
function holds(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return false;
  if (source === String(value)) return true;
  const digits = source
    .replace(/[eE].*$/, '')
    .replace(/\D/g, '')
    .replace(/^0+/, '')
    .replace(/0+$/, '');
  return digits.length < 16;
}
