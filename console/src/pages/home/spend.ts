// From the usage answer to what Home shows. Pure.
import type { ChartSeries } from '../../ui/chart.tsx';

/** The part of the usage answer that is looked at. Buckets are UTC days, money is micro-USD as text. */
export interface Usage {
  readonly series: readonly { readonly bucket: string; readonly costMicro: string }[];
  readonly groups: readonly { readonly key: string; readonly costMicro: string }[];
  readonly groupSeries:
    | readonly {
        readonly bucket: string;
        readonly key: string;
        readonly costMicro: string;
      }[]
    | null;
}

const COLOURS = ['var(--c1)', 'var(--c2)', 'var(--c3)'] as const;
const OTHER = 'Other';

const dayOf = (bucket: string) => bucket.slice(0, 10);

/** The days of the answer, oldest first, as "2026-11-21". */
export function daysOf(usage: Usage): string[] {
  return usage.series.map(({ bucket }) => dayOf(bucket));
}

/** The most expensive models by name, the rest as one series; the series of a day add up to the day. */
export function spendSeries(usage: Usage): ChartSeries[] {
  const days = daysOf(usage);
  const totals = usage.series.map(({ costMicro }) => Number(costMicro));
  const named = usage.groups
    .filter(({ key, costMicro }) => key !== '__other' && costMicro !== '0')
    .slice(0, COLOURS.length)
    .map(({ key }) => key);
  const series = named.map((name, i) => {
    const by_day = new Map(
      (usage.groupSeries ?? [])
        .filter(({ key }) => key === name)
        .map((row) => [dayOf(row.bucket), Number(row.costMicro)]),
    );
    return { name, color: COLOURS[i] as string, values: days.map((day) => by_day.get(day) ?? 0) };
  });
  const rest = totals.map(
    (total, i) => total - series.reduce((sum, { values }) => sum + (values[i] ?? 0), 0),
  );
  if (rest.every((value) => value <= 0)) return series;
  return [...series, { name: OTHER, color: 'var(--c0)', values: rest.map((value) => Math.max(0, value)) }];
}

/** How long the credit lasts at the mean of the last seven full days, in words. */
export function lastsText(available_micro: string, usage: Usage): string {
  if (Number(available_micro) <= 0) return 'Nothing left: calls are refused';
  const full = usage.series.slice(0, -1).slice(-7);
  const spent = full.reduce((sum, { costMicro }) => sum + Number(costMicro), 0);
  if (spent === 0) {
    const today = Number(usage.series.at(-1)?.costMicro ?? 0);
    if (today > 0) return 'First spend today: too early to say how long it lasts';
    return full.length < 7 ? 'No spend yet' : 'No spend in the last seven days';
  }
  const days = Math.floor((Number(available_micro) * full.length) / spent);
  if (days > 90) return 'Lasts more than 90 days at this week’s rate';
  if (days < 1) return 'Lasts less than a day at this week’s rate';
  return `Lasts about ${days === 1 ? '1 day' : `${days} days`} at this week’s rate`;
}

/** The middle of `values`, null without any. */
export function median(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] as number;
}
