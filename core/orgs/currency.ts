// The currency that an organization begins with. Its people may choose another one until they have paid
// (core/topups/billing.ts).

const EURO =
  'AD AT AX BE BG BL CY DE EE ES FI FR GF GP GR HR IE IT LT LU LV MC ME MF MQ MT NL PM PT RE SI SK SM VA XK YT';

const currencies: ReadonlyMap<string, string> = new Map([
  ...EURO.split(' ').map((country) => [country, 'EUR'] as const),
  ...(['GB', 'GG', 'IM', 'JE'] as const).map((country) => [country, 'GBP'] as const),
  ['IN', 'INR'],
  ['SG', 'SGD'],
  ['AE', 'AED'],
  ['AU', 'AUD'],
  ['CA', 'CAD'],
  ['JP', 'JPY'],
]);

/** The currency that credits are paid in by an organization in `country` (ISO 3166 alpha-2), as ISO 4217. */
export function currencyOf(country: string): string {
  return currencies.get(country) ?? 'USD';
}
