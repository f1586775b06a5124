// Prices and rates in words. Pure.
import { plural } from '../../../ui/format/numbers.ts';
import { dateText } from '../../../ui/format/time.ts';

/** A rate without the zeros at its end, but with two places. */
export function rateText(rate: string): string {
  return rate.replace(/(\.\d{2}\d*?)0+$/, '$1');
}

/** What a price has besides its rates; empty where it has nothing. */
export function feeText({ bands, ownKeyFeeBps }: { bands: number; ownKeyFeeBps: number | null }): string {
  const parts = [
    bands > 0 ? `${plural(bands, 'further price')} for long prompts` : '',
    ownKeyFeeBps === null ? '' : `${ownKeyFeeBps / 100} % of the list cost with a key of one’s own`,
  ];
  return parts.filter(Boolean).join('; ');
}

const sources = {
  STATIC: 'The table of the release',
  ECB: 'European Central Bank',
  JSON: 'The address of SVC_FX_SOURCE',
} as const;

/** Where rates come from, and the day that is sold by. */
export function sourceText({ source, day }: { source: keyof typeof sources; day: string | null }): string {
  return day === null ? `${sources[source]}; none has come yet.` : `${sources[source]}, of ${dateText(day)}.`;
}
