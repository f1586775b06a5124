// Money is an integer `number` with a brand for its unit. 2^53-1 micro-USD is 9 billion dollars, more than any
// balance here. Products can exceed that, so they go through the functions below, the only use of BigInt.

declare const unit: unique symbol;
type Unit<U extends string> = number & { readonly [unit]: U };

/** Integer micro-USD (1e-6 USD): balances, holds, ledger entries, costs. */
export type MicroUsd = Unit<'micro_usd'>;
/** Integer nano-USD (1e-9 USD) per token or per unit: prices. */
export type NanoUsd = Unit<'nano_usd'>;
/** Integer basis points (1/10,000). */
type Bps = Unit<'bps'>;

/** `n` as micro-USD. @throws RangeError on a fraction or beyond ±2^53-1; that is a defect, never a refusal. */
export function microUsd(n: number): MicroUsd {
  if (!Number.isSafeInteger(n)) throw new RangeError(`not an integer of micro-USD: ${n}`);
  return n as MicroUsd;
}

/** `n` as nano-USD. @throws RangeError on a fraction, a negative number or beyond 2^53-1. */
export function nanoUsd(n: number): NanoUsd {
  if (!Number.isSafeInteger(n) || n < 0) throw new RangeError(`not an integer of nano-USD: ${n}`);
  return n as NanoUsd;
}

/** `n` as basis points. @throws RangeError on a fraction or a negative number. */
export function bps(n: number): Bps {
  if (!Number.isSafeInteger(n) || n < 0) throw new RangeError(`not basis points: ${n}`);
  return n as Bps;
}

function toSafe(value: bigint): number {
  const n = Number(value);
  if (!Number.isSafeInteger(n)) throw new RangeError(`beyond 2^53-1: ${value}`);
  return n;
}

/** floor(a × b / d) for non-negative integers, exact. @throws RangeError when the result passes 2^53-1. */
export function mulDivFloor(a: number, b: number, d: number): number {
  const product = a * b;
  if (product <= Number.MAX_SAFE_INTEGER) return Math.floor(product / d);
  return toSafe((BigInt(a) * BigInt(b)) / BigInt(d));
}

/** ceil(a × b / d) for non-negative integers, exact. @throws RangeError when the result passes 2^53-1. */
export function mulDivCeil(a: number, b: number, d: number): number {
  const product = a * b;
  if (product + d <= Number.MAX_SAFE_INTEGER) return Math.floor((product + d - 1) / d);
  return toSafe((BigInt(a) * BigInt(b) + BigInt(d) - 1n) / BigInt(d));
}

/** a × b / d to the nearest integer, halves up, for non-negative integers, exact. @throws RangeError as above. */
export function mulDivHalfUp(a: number, b: number, d: number): number {
  const doubled = 2 * a * b + d;
  if (doubled <= Number.MAX_SAFE_INTEGER) return Math.floor(doubled / (2 * d));
  return toSafe((2n * BigInt(a) * BigInt(b) + BigInt(d)) / (2n * BigInt(d)));
}

/**
 * A decimal string of USD per million units as an exact integer of thousandths of a nano-USD per unit, so that a
 * markup can be applied before the only rounding: `"2.50"` is 2,500 nano-USD per token, returned as 2,500,000. At
 * most six decimals.
 * @throws RangeError when `text` is not such a decimal.
 */
export function milliNanoFromDecimal(text: string): number {
  const match = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text);
  if (match === null) throw new RangeError(`not a decimal with at most six places: ${text}`);
  const whole = Number(match[1]);
  const fraction = Number((match[2] ?? '').padEnd(6, '0'));
  return whole * 1_000_000 + fraction;
}
