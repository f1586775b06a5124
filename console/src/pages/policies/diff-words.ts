// What a difference between policies says. Pure.
import { exactText } from '../../ui/format/money.ts';
import { countText, plural } from '../../ui/format/numbers.ts';

/** "−$0.003290", "+$0.100000", "$0": every digit, since calls cost little. */
export function differenceOf(micro: string): string {
  const amount = BigInt(micro);
  if (amount === 0n) return exactText(0n);
  return `${amount < 0n ? '−' : '+'}${exactText(amount < 0n ? -amount : amount)}`;
}

interface Found {
  readonly compared: number;
  readonly moved: number;
  readonly newlyRefused: number;
  readonly differenceMicroUsd: string;
}

/** One sentence: how many calls go elsewhere, how many would be refused, and what it costs. */
export function diffText({ compared, moved, newlyRefused, differenceMicroUsd }: Found): string {
  if (compared === 0) return 'No call was answered in this time.';
  if (moved === 0) return `None of ${plural(compared, 'call')} goes elsewhere.`;
  const where = `${countText(moved)} of ${plural(compared, 'call')} ${moved === 1 ? 'goes' : 'go'} elsewhere`;
  const refused = newlyRefused === 0 ? '' : `, ${countText(newlyRefused)} of them refused`;
  return `${where}${refused}: ${differenceOf(differenceMicroUsd)}.`;
}
