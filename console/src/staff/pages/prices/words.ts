// Prices and rates in words. Pure.
import { plural, shareText } from '../../../ui/format/numbers.ts';
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

interface Day {
  readonly day: string;
  readonly state: 'IN_FORCE' | 'WAITING';
  readonly rates: readonly { readonly currency: string; readonly rate: string }[];
}

/** One currency over `days`, which come newest first, each with how far it moved since the day that came before. */
export function historyOf(days: readonly Day[], currency: string) {
  const rows = days.flatMap(({ day, state, rates }) => {
    const rate = rates.find((one) => one.currency === currency)?.rate;
    return rate === undefined ? [] : [{ day, rate, waits: state === 'WAITING' }];
  });
  return rows.map((row, i) => ({ ...row, change: movedText(row.rate, rows[i + 1]?.rate) }));
}

function movedText(rate: string, before: string | undefined): string {
  if (before === undefined || Number(before) === 0) return '–';
  const share = Number(rate) / Number(before) - 1;
  return share === 0 ? 'none' : `${share > 0 ? '+' : '−'}${shareText(Math.abs(share))}`;
}
