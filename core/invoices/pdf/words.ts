// Amounts in words, as documents print them: `Rupees One Lakh Eighteen Thousand Only`. Rupees are counted in lakh and
// crore, other currencies in thousand and million. Exact: it reads digits and never divides money.
const ONES = [
  ...[
    'Zero',
    'One',
    'Two',
    'Three',
    'Four',
    'Five',
    'Six',
    'Seven',
    'Eight',
    'Nine',
    'Ten',
    'Eleven',
    'Twelve',
  ],
  ...['Thirteen', 'Fourteen', 'Fifteen', 'Sixteen', 'Seventeen', 'Eighteen', 'Nineteen'],
];
const TENS = ['', '', 'Twenty', 'Thirty', 'Forty', 'Fifty', 'Sixty', 'Seventy', 'Eighty', 'Ninety'];

/** Many and one of a currency, then of its hundredth. */
const names: Readonly<Record<string, readonly [string, string, string, string]>> = {
  INR: ['Rupees', 'Rupee', 'Paise', 'Paisa'],
  USD: ['US Dollars', 'US Dollar', 'Cents', 'Cent'],
  EUR: ['Euros', 'Euro', 'Cents', 'Cent'],
  GBP: ['Pounds Sterling', 'Pound Sterling', 'Pence', 'Penny'],
  SGD: ['Singapore Dollars', 'Singapore Dollar', 'Cents', 'Cent'],
  AED: ['UAE Dirhams', 'UAE Dirham', 'Fils', 'Fils'],
  AUD: ['Australian Dollars', 'Australian Dollar', 'Cents', 'Cent'],
  CAD: ['Canadian Dollars', 'Canadian Dollar', 'Cents', 'Cent'],
  JPY: ['Japanese Yen', 'Japanese Yen', '', ''],
};

/** 0 to 99. */
function small(n: number): string {
  if (n < 20) return ONES[n] as string;
  const ones = n % 10;
  return ones === 0 ? (TENS[n / 10] as string) : `${TENS[Math.floor(n / 10)]}-${ONES[ones]}`;
}

/** 0 to 999. */
function hundreds(n: number): string {
  if (n < 100) return small(n);
  const rest = n % 100;
  return `${ONES[Math.floor(n / 100)]} Hundred${rest === 0 ? '' : ` ${small(rest)}`}`;
}

/** `n` in words, cut at `units` from the largest down; what is above the largest is itself counted in all of them. */
function count(n: number, units: readonly (readonly [number, string])[]): string {
  const words: string[] = [];
  let left = n;
  for (const [size, name] of units) {
    if (left < size) continue;
    words.push(`${count(Math.floor(left / size), units)} ${name}`);
    left %= size;
  }
  if (left > 0 || words.length === 0) words.push(hundreds(left));
  return words.join(' ');
}

const INDIAN = [
  [10_000_000, 'Crore'],
  [100_000, 'Lakh'],
  [1_000, 'Thousand'],
] as const;
const WESTERN = [
  [1_000_000_000, 'Billion'],
  [1_000_000, 'Million'],
  [1_000, 'Thousand'],
] as const;

/** An amount of the smallest unit of `currency` in words. @throws Error (a defect) for a currency without words. */
export function amountInWords(amount_minor: number, currency: string): string {
  const name = names[currency];
  if (name === undefined) throw new Error(`no words for ${currency}`);
  const [many, one, parts, part] = name;
  const scale = parts === '' ? 1 : 100;
  const whole = Math.floor(amount_minor / scale);
  const rest = amount_minor % scale;
  const units = currency === 'INR' ? INDIAN : WESTERN;
  const wholes = `${whole === 1 ? one : many} ${count(whole, units)}`;
  const rests = `${small(rest)} ${rest === 1 ? part : parts}`;
  if (rest === 0) return `${wholes} Only`;
  return whole === 0 ? `${rests} Only` : `${wholes} and ${rests} Only`;
}
