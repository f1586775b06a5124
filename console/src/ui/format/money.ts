// Money as text. Integers in, text out: nothing here computes with fractions of a dollar, so no digit is ever made
// up. One micro-USD is 1e-6 USD; `_minor` amounts are cents, paise, or whole yen.

const MINUS = '−';
const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

interface Parts {
  readonly sign: string;
  /** Grouped dollars. */
  readonly dollars: string;
  /** Six digits after the point. */
  readonly micro: string;
}

/** `micro` (an integer, as the API's text or a number) cut into what is shown. @throws RangeError on a fraction. */
export function moneyParts(micro: bigint | number | string): Parts {
  const value = BigInt(micro);
  const size = value < 0n ? -value : value;
  return {
    sign: value < 0n ? MINUS : '',
    dollars: whole.format(size / 1_000_000n),
    micro: (size % 1_000_000n).toString().padStart(6, '0'),
  };
}

/** Rows and price lines: all six digits, "$0.007412". */
export function exactText(micro: bigint | number | string): string {
  const { sign, dollars, micro: digits } = moneyParts(micro);
  return BigInt(micro) === 0n ? '$0' : `${sign}$${dollars}.${digits}`;
}

/** A balance in cents, rounded down, so that it never shows more than there is: "$1,284.37". */
export function balanceText(micro: bigint | number | string): string {
  const { sign, dollars, micro: digits } = moneyParts(micro);
  return `${sign}$${dollars}.${digits.slice(0, 2)}`;
}

function rounded(size: bigint, step: bigint): bigint {
  return ((size + step / 2n) / step) * step;
}

/** Tiles and charts: cents from a dollar on, below that three significant digits: "$31.18", "$0.00741". */
export function spendText(micro: bigint | number | string): string {
  const value = BigInt(micro);
  if (value === 0n) return '$0';
  const size = value < 0n ? -value : value;
  const sign = value < 0n ? MINUS : '';
  if (rounded(size, 10_000n) >= 1_000_000n) {
    const cents = moneyParts(rounded(size, 10_000n));
    return `${sign}$${cents.dollars}.${cents.micro.slice(0, 2)}`;
  }
  const places = Math.min(6, 6 - size.toString().length + 3);
  const { micro: digits } = moneyParts(rounded(size, 10n ** BigInt(6 - places)));
  return `${sign}$0.${digits.slice(0, places)}`;
}

/** Ticks of an axis: "$0", "$20", "$1.2k", "$3.4M"; below a dollar as many places as `step` needs. */
export function axisText(micro: number): string {
  const dollars = micro / 1e6;
  if (dollars === 0) return '$0';
  if (dollars >= 1e6) return `$${trimmed(dollars / 1e6, 2)}M`;
  if (dollars >= 1e3) return `$${trimmed(dollars / 1e3, 2)}k`;
  return `$${trimmed(dollars, dollars >= 10 ? 2 : 6)}`;
}

function trimmed(value: number, places: number): string {
  return String(Number(value.toFixed(places)));
}

/** The plain decimal a person pastes into a sheet: "0.007412". */
export function plainText(micro: bigint | number | string): string {
  const value = BigInt(micro);
  const size = value < 0n ? -value : value;
  return `${value < 0n ? '-' : ''}${size / 1_000_000n}.${(size % 1_000_000n).toString().padStart(6, '0')}`;
}

/** A price of `nano` per unit as dollars per million units: 2500 is "$2.50". */
export function perMillionText(nano: bigint | number | string): string {
  // One nano-USD a unit is $0.001 a million units, so a nano price is milli-dollars per million.
  const { dollars, micro } = moneyParts(BigInt(nano) * 1000n);
  const places = micro.replace(/0+$/, '').length;
  return `$${dollars}.${micro.slice(0, Math.max(2, places))}`;
}

/** An amount in its own currency: ₹1,18,000.00 grouped as in India. `minor` is an integer of the smallest unit. */
export function currencyText(minor: bigint | number | string, currency: string): string {
  const format = new Intl.NumberFormat(currency === 'INR' ? 'en-IN' : 'en-US', {
    style: 'currency',
    currency,
  });
  const places = format.resolvedOptions().maximumFractionDigits ?? 2;
  const value = BigInt(minor);
  const size = value < 0n ? -value : value;
  const scale = 10n ** BigInt(places);
  const fraction = (size % scale).toString().padStart(places, '0');
  const decimal = `${value < 0n ? '-' : ''}${size / scale}${places > 0 ? `.${fraction}` : ''}`;
  // A decimal text is formatted digit by digit; a number would lose what lies beyond 2^53.
  return format.format(decimal as `${number}`).replace('-', MINUS);
}
