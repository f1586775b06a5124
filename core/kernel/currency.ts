// Currencies that can be paid in, and how people read them. Pure.

export const currencies = ['INR', 'USD', 'EUR', 'GBP', 'SGD', 'AED', 'AUD', 'CAD', 'JPY'] as const;
export type Currency = (typeof currencies)[number];

/** Whether `text` names a currency that can be paid in. */
export function isCurrency(text: string): text is Currency {
  return (currencies as readonly string[]).includes(text);
}

/** Decimal places of a currency. */
export function exponentOf(currency: Currency): number {
  return currency === 'JPY' ? 0 : 2;
}

/** An amount of the smallest unit as a decimal: `118000` INR is `1180.00`. */
export function decimalOf(amount_minor: number, currency: Currency): string {
  const exponent = exponentOf(currency);
  if (exponent === 0) return String(amount_minor);
  const scale = 10 ** exponent;
  return `${Math.floor(amount_minor / scale)}.${String(amount_minor % scale).padStart(exponent, '0')}`;
}

/** An amount as people of the currency write it: `₹1,180.00`, `SGD 25.00`. */
export function formatMoney(amount_minor: number, currency: Currency): string {
  const locale = currency === 'INR' ? 'en-IN' : 'en-US';
  const digits = exponentOf(currency);
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  // The decimal goes in as text, so that no amount is rounded through a binary fraction.
  return format.format(decimalOf(amount_minor, currency) as `${number}`).replaceAll('\u00a0', ' ');
}
