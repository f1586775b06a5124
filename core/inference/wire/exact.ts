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

const SUSPECT = /[\d.]{16}|\d[eE][+-]?\d{3}/;

/** Whether `JSON.parse` could lose digits of a number in `text`. */
export function mayLoseDigits(text: string): boolean {
  return SUSPECT.test(text);
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
