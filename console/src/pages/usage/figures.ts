// From the answer to what is drawn and listed. Pure.
import type { UsageExportQuery } from '../../api/gen/tools/graphql.ts';
import type { ChartSeries } from '../../ui/chart.tsx';
import { plainText } from '../../ui/format/money.ts';
import { shareText } from '../../ui/format/numbers.ts';
import type { Grouping } from './wanted.ts';

interface Usage {
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

/** What a bucket has of a group, with everything that is counted. */
type ExportRow = Omit<
  NonNullable<NonNullable<UsageExportQuery['usage']>['groupSeries']>[number],
  '__typename'
>;

const COLOURS = ['var(--c1)', 'var(--c2)', 'var(--c3)', 'var(--c4)', 'var(--c5)'] as const;
const REST = '__other';

const without: Readonly<Record<Grouping, string>> = {
  ...{ model: 'No model', provider: 'Not sent to a provider', project: 'No project', key: 'No key' },
  ...{ user: 'No end user', session: 'No session', app: 'No app', tag: 'Without this tag', byok: '' },
};

/** What a group is called. `names` are of keys and projects by id. */
export function nameOf(key: string, by: Grouping, names: ReadonlyMap<string, string>): string {
  if (key === REST) return 'Other';
  if (key === '') return without[by];
  if (by === 'byok') return key === 'true' ? 'Your provider keys' : 'Our provider keys';
  if (by === 'user') return `${key.slice(0, 12)}…`;
  return names.get(key) ?? key;
}

/** The most expensive groups, each a series, and all others as one; the series of a bucket add up to the bucket. */
export function seriesOf(usage: Usage, nameOfKey: (key: string) => string): ChartSeries[] {
  const shown = usage.groups
    .filter(({ key, costMicro }) => key !== REST && costMicro !== '0')
    .slice(0, COLOURS.length);
  const costs = new Map(
    (usage.groupSeries ?? []).map((row) => [`${row.bucket} ${row.key}`, Number(row.costMicro)]),
  );
  const series = shown.map(({ key }, i) => ({
    name: nameOfKey(key),
    color: COLOURS[i] as string,
    values: usage.series.map(({ bucket }) => costs.get(`${bucket} ${key}`) ?? 0),
  }));
  const rest = usage.series.map(
    ({ costMicro }, i) => Number(costMicro) - series.reduce((sum, { values }) => sum + (values[i] ?? 0), 0),
  );
  if (rest.every((value) => value === 0)) return series;
  // A group may be called so, and names are apart.
  const name = series.some((one) => one.name === 'Other') ? 'All others' : 'Other';
  return [...series, { name, color: 'var(--c0)', values: rest }];
}

/** "+12.5%", "no change", or "new" where there was nothing before. */
export function changeText(now: number, before: number): string {
  if (before === now) return 'no change';
  if (before === 0) return 'none before';
  const share = (now - before) / before;
  return `${share > 0 ? '+' : '−'}${shareText(Math.abs(share))}`;
}

/** A value as a cell; what a spreadsheet would run as a formula is made text, since callers choose the names. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A line for each bucket and group, exact in money, in UTC. */
export function csvOf(rows: readonly ExportRow[], nameOfKey: (key: string) => string): string {
  const head = [
    ...['bucket_utc', 'group', 'key', 'requests', 'ok', 'errors', 'input_tokens', 'output_tokens'],
    ...['cache_read_tokens', 'cache_write_tokens', 'reasoning_tokens', 'cost_usd'],
  ];
  const lines = rows.map((row) => [
    ...[row.bucket, cell(nameOfKey(row.key)), cell(row.key)],
    ...[row.requests, row.ok, row.errors, row.inputTokens, row.outputTokens],
    ...[row.cacheReadTokens, row.cacheWriteTokens, row.reasoningTokens, plainText(row.costMicro)],
  ]);
  return [head, ...lines].map((line) => `${line.join(',')}\r\n`).join('');
}

/** Where bucket `i` ends; null: it is the last, and may go on. */
export function endOf(usage: Usage, i: number): string | null {
  return usage.series[i + 1]?.bucket ?? null;
}
