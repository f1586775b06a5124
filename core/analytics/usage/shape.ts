// Sums of calls as they are shown: totals, series and groups of the same figures, so that they agree.
import { type Static, Type } from 'typebox';
import { csv, named, Time } from '../../kernel/index.ts';
import type { UsageRange } from './buckets.ts';
import { OTHER, type UsageApart, type UsageFigures, type UsageSum } from './sums-store.ts';

export const GROUPS_MAX = 200;

const figures = {
  requests: Type.Integer(),
  ok: Type.Integer(),
  errors: Type.Integer(),
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  cache_read_tokens: Type.Integer(),
  cache_write_tokens: Type.Integer(),
  reasoning_tokens: Type.Integer(),
  cost_micro: Type.Integer(),
};
const names = Object.keys(figures) as (keyof typeof figures)[];
export const Figures = named('UsageFigures', Type.Object(figures));
type Figures = Static<typeof Figures>;

/** The members that every answer with sums has. */
export const usageParts = {
  totals: Figures,
  series: Type.Array(named('UsageBucket', Type.Object({ bucket: Time, ...figures })), {
    description: 'one per bucket, oldest first; empty ones are zeros',
  }),
  groups: Type.Array(named('UsageGroup', Type.Object({ key: Type.String(), ...figures })), {
    description: 'by cost descending, at most 200, the rest under `__other`',
  }),
  group_series: Type.Optional(
    Type.Array(named('UsageGroupBucket', Type.Object({ bucket: Time, key: Type.String(), ...figures })), {
      description:
        'where it is asked for: one per bucket and key of `groups`, oldest first; those without calls are left out',
    }),
  ),
};

/** What an answer has only if it is asked for: as many sums as there are buckets times groups. */
export const groupSeriesInput = Type.Optional(
  Type.Boolean({ description: 'also the figures of each bucket and group, `group_series`' }),
);

function nothing(): Figures {
  return Object.fromEntries(names.map((name) => [name, 0])) as Figures;
}

function add(to: Figures, sum: UsageFigures): void {
  for (const name of names) to[name] += sum[name];
}

/** All of `sums` together. */
export function totalOf(sums: readonly UsageFigures[]): Figures {
  const total = nothing();
  for (const sum of sums) add(total, sum);
  return total;
}

function seriesOf(sums: UsageApart['series'], { starts }: UsageRange): ({ bucket: string } & Figures)[] {
  const buckets = new Map(
    starts.map((at) => [at, { bucket: new Date(at).toISOString(), ...nothing() }] as const),
  );
  for (const sum of sums) {
    const bucket = buckets.get(sum.bucket.getTime());
    if (bucket !== undefined) add(bucket, sum);
  }
  return [...buckets.values()];
}

function groupsOf(sums: UsageApart['groups']): ({ key: string } & Figures)[] {
  const groups = new Map<string, { key: string } & Figures>();
  for (const sum of sums) {
    const group = groups.get(sum.key) ?? { key: sum.key, ...nothing() };
    add(group, sum);
    groups.set(sum.key, group);
  }
  // The rest may have been summed where rows are.
  const rest = groups.get(OTHER);
  groups.delete(OTHER);
  const sorted = [...groups.values()].sort((a, b) => b.cost_micro - a.cost_micro || (a.key < b.key ? -1 : 1));
  if (sorted.length <= GROUPS_MAX) return rest === undefined ? sorted : [...sorted, rest];
  const other = rest ?? { key: OTHER, ...nothing() };
  for (const group of sorted.slice(GROUPS_MAX)) add(other, group);
  return [...sorted.slice(0, GROUPS_MAX), other];
}

function groupSeriesOf(sums: readonly UsageSum[], groups: readonly { key: string }[]) {
  const shown = new Set(groups.map(({ key }) => key));
  const rows = new Map<string, { bucket: string; key: string } & Figures>();
  for (const sum of sums) {
    const key = shown.has(sum.key) ? sum.key : OTHER;
    const bucket = sum.bucket.toISOString();
    const row = rows.get(`${bucket} ${key}`) ?? { bucket, key, ...nothing() };
    add(row, sum);
    rows.set(`${bucket} ${key}`, row);
  }
  return [...rows.values()].sort((a, b) => (a.bucket + a.key < b.bucket + b.key ? -1 : 1));
}

/** One row per bucket and group, oldest first; without a group one per bucket, empty ones too. */
export function exportOf(sums: readonly UsageSum[], range: UsageRange, group_by: string | null): string {
  const rows =
    group_by === null
      ? seriesOf(sums, range).map((row) => ({ ...row, key: '' }))
      : sums.map((sum) => ({ ...sum, bucket: sum.bucket.toISOString() }));
  const shown = rows.map((row) => ({ ...row, group_by: group_by ?? '' }));
  shown.sort((a, b) => (a.bucket + a.key < b.bucket + b.key ? -1 : 1));
  return csv(['bucket', 'group_by', 'key', ...names], shown);
}

/** What is shown of sums that were made by `group`. */
export function partsOf(sums: UsageApart, range: UsageRange, group: string | null) {
  return {
    totals: totalOf(sums.series),
    series: seriesOf(sums.series, range),
    groups: group === null ? [] : groupsOf(sums.groups),
  };
}

/** The same of sums by bucket and key, with the figures of each. */
export function allPartsOf(sums: readonly UsageSum[], range: UsageRange, group: string | null) {
  const parts = partsOf({ series: sums, groups: sums }, range, group);
  return { ...parts, group_series: group === null ? [] : groupSeriesOf(sums, parts.groups) };
}
