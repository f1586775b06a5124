// JSON whose numbers survive: tool arguments carry ids beyond 2^53, and a parse followed by a stringify would
// change them. Costs nothing where no such number stands in the text.

interface ExactJson {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): object;
  isRawJSON(value: unknown): value is { readonly rawJSON: string };
}
// Source text of primitives and rawJSON are in V8 since Node 22; the TypeScript library does not name them
// yet.
const exact = JSON as unknown as ExactJson;

const SUSPECT = /[\d.]{16}|\d[eE][+-]?\d{3}/;

/** Whether `JSON.parse` may lose digits of a number in `text`. */
export function mayLoseDigits(text: string): boolean {
  return SUSPECT.test(text);
}

/**
 * Parses `text` so that `JSON.stringify` gives every number back with its digits: one that a double cannot
 * hold becomes a raw JSON object. @throws SyntaxError when `text` is not JSON.
 */
export function parseExact(text: string): unknown {
  if (!mayLoseDigits(text)) return JSON.parse(text);
  return exact.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && source.length >= 5 && !holds(value, source)
      ? exact.rawJSON(source)
      : value,
  );
}

/** The nearest double of a number that `parseExact` kept by its digits; any other value as it is. */
export function rounded(value: unknown): unknown {
  return exact.isRawJSON(value) ? Number(value.rawJSON) : value;
}

// Fewer than 16 significant digits always survive a double; with more, only its own shortest form does.
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
