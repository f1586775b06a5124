// Amounts of money that a person types, in a currency with 0, 2 or 3 places.

const proposals: Readonly<Record<string, readonly number[]>> = {
  INR: [1_000, 2_500, 5_000, 10_000],
  JPY: [1_000, 3_000, 5_000, 10_000],
};

/** Places after the point that `currency` has. */
export function placesOf(currency: string): number {
  const format = new Intl.NumberFormat('en-US', { style: 'currency', currency });
  return format.resolvedOptions().maximumFractionDigits ?? 2;
}

/** Four amounts to choose from, in the smallest unit. */
export function proposedMinor(currency: string): readonly string[] {
  const scale = 10 ** placesOf(currency);
  return (proposals[currency] ?? [10, 25, 50, 100]).map((amount) => String(amount * scale));
}

/**
 * Digits, ungrouped or grouped in the Western or the Indian way. A comma in any other place may be a decimal point and
 * is refused.
 */
const AMOUNT = /^(\d{1,12}|\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})*,\d{3})(?:\.(\d*))?$/;

/** "1,250.50" in the smallest unit; undefined when it is no amount, has too many places, or is zero. */
export function minorOf(text: string, currency: string): string | undefined {
  const places = placesOf(currency);
  const match = AMOUNT.exec(text.trim().replaceAll(/\s/g, ','));
  const fraction = match?.[2] ?? '';
  if (match === null || fraction.length > places) return undefined;
  const whole = (match[1] as string).replaceAll(',', '');
  const minor = BigInt(whole + fraction.padEnd(places, '0'));
  return minor === 0n ? undefined : minor.toString();
}

/** `minor` as a person would type it: "25", "25.50". */
export function typedText(minor: string, currency: string): string {
  const places = placesOf(currency);
  const scale = 10n ** BigInt(places);
  const value = BigInt(minor);
  const rest = value % scale;
  return rest === 0n ? String(value / scale) : `${value / scale}.${rest.toString().padStart(places, '0')}`;
}
