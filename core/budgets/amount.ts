// Amounts of micro-USD as people read them in mails.
import { mulDivFloor } from '../kernel/index.ts';

const format = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });

/** Micro-USD as US dollars, rounded down to cents, below a cent to the micro-dollar: a small budget is not "$0.00". */
export function creditsText(micro: number): string {
  const cents = mulDivFloor(Math.abs(micro), 1, 10_000);
  const sign = micro < 0 ? '-' : '';
  if (cents === 0 && micro !== 0) return `${sign}$${(Math.abs(micro) / 1_000_000).toFixed(6)}`;
  const text = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
  return sign + format.format(text as `${number}`);
}
