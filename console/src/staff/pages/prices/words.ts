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

const RATE = /^\d{1,7}(\.\d{1,8})?$/;
type RatesForm = Readonly<Record<'currency' | 'day' | 'rate' | 'source' | 'reason', string>>;

/** What is typed of a rate, as the API takes it, and what is wrong of it by field. */
export function ratesOf({ currency, day, rate, source, reason }: RatesForm) {
  const faults: Record<string, string> = {};
  if (!RATE.test(rate.trim())) faults['rate'] = 'A rate such as 88.70, with at most eight places.';
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) faults['day'] = 'A day, such as 2026-12-31.';
  if (source.trim() === '') faults['source'] = 'Say where it comes from.';
  if (reason.trim() === '') faults['reason'] = 'Say why, in one line.';
  const rates = [{ currency, rate: rate.trim() }];
  return { faults, input: { day, rates, source: source.trim(), reason: reason.trim() } };
}

/** The days of a currency with the one that is typed at their head, once it is a rate. */
export function proposedRows(
  rows: ReturnType<typeof historyOf>,
  { day, rate }: Pick<RatesForm, 'day' | 'rate'>,
): ReturnType<typeof historyOf> {
  if (!RATE.test(rate.trim())) return rows;
  return [{ day, rate: rate.trim(), waits: true, change: movedText(rate, rows[0]?.rate) }, ...rows];
}

/** A proposal of rates as it is kept, in words. */
export function rateFacts(input: readonly { readonly name: string; readonly value: string }[]) {
  const textOf = (name: string) => input.find((one) => one.name === name)?.value ?? '';
  const tableOf = (name: string) =>
    JSON.parse(textOf(name) || '[]') as readonly { readonly currency: string; readonly rate: string }[];
  const before = new Map(tableOf('before').map(({ currency, rate }) => [currency, rate]));
  const since = textOf('before_day');
  return [
    { name: 'day', value: textOf('day') },
    ...tableOf('rates').map(({ currency, rate }) => ({
      name: currency,
      value: `${rate} for one US dollar`,
    })),
    ...tableOf('rates').flatMap(({ currency, rate }) => {
      const was = before.get(currency);
      if (was === undefined) return [];
      const day = since === '' ? '' : ` of ${dateText(since)}`;
      return [{ name: 'before', value: `${rateText(was)}${day}, change ${movedText(rate, was)}` }];
    }),
    { name: 'source', value: textOf('source') },
  ];
}
