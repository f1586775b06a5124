// Exact decimal numbers, for the grader `numeric`: 0.1 + 0.2 is 0.3 there, and a tolerance has no rounding.

/** A number as `digits` × 10^-`places`. */
interface Decimal {
  readonly digits: bigint;
  readonly places: number;
}

/** Digits and exponent at most: more is no number that anybody expects, and would cost time to compare. */
const DIGITS_MAX = 400;
const EXPONENT_MAX = 400;
const FORM = /^([-+]?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/;

/** `text` as a decimal; null when it is none, or has more digits or a larger exponent than a number that is graded. */
export function decimalFrom(text: string): Decimal | null {
  if (text.length > DIGITS_MAX * 2) return null;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = FORM.exec(text) ?? [];
  if (whole === '' || whole.length + fraction.length > DIGITS_MAX) return null;
  const shift = Number(exponent);
  if (Math.abs(shift) > EXPONENT_MAX) return null;
  const digits = BigInt(whole + fraction) * (sign === '-' ? -1n : 1n);
  const places = fraction.length - shift;
  return places >= 0 ? { digits, places } : { digits: digits * 10n ** BigInt(-places), places: 0 };
}

/** The digits of both at the same number of places. */
function aligned(a: Decimal, b: Decimal): [bigint, bigint] {
  const places = Math.max(a.places, b.places);
  return [a.digits * 10n ** BigInt(places - a.places), b.digits * 10n ** BigInt(places - b.places)];
}

function magnitude(n: bigint): bigint {
  return n < 0n ? -n : n;
}

/** |a − b|. */
export function distance(a: Decimal, b: Decimal): Decimal {
  const [x, y] = aligned(a, b);
  return { digits: magnitude(x - y), places: Math.max(a.places, b.places) };
}

/** a × |b|. */
export function timesMagnitude(a: Decimal, b: Decimal): Decimal {
  return { digits: a.digits * magnitude(b.digits), places: a.places + b.places };
}

/** Whether a ≤ b. */
export function isAtMost(a: Decimal, b: Decimal): boolean {
  const [x, y] = aligned(a, b);
  return x <= y;
}
