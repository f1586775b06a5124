// Usage as sums per bucket and sums per group, apart. Whole UTC days are read from their sums by value, other hours from sums of hours,
// and what neither knows from rows, each row once for both: so the two come to the same, while rows come in.
import {
  OTHER,
  SUMMED_FIGURES,
  type UsageApart,
  type UsageFigures,
  type UsageSum,
} from '../usage/sums-store.ts';
import { isPlain, type UsageBy, type UsageFilter } from '../usage-store.ts';
import type { ClickHouse } from './client.ts';
import { FIGURES, SUMMED } from './figures-store.ts';
import { at } from './filter-store.ts';
import { OF_ROWS, OF_SUMS, type SummedHours, summedValues } from './hours-store.ts';
import { daysOf, hoursOf, OF_SPAN, type Question, questionOf } from './question-store.ts';

/** A bucket as a key: no text that callers give has U+0000. One key of text is summed by in half the time of three. */
const bucketKey = (ms: string) => `concat('\\0', toString(roundDown(${ms}, {starts:Array(Int64)})))`;
const MARK = '\0';
const DAY_MS = 86_400_000;

/** Whether a time is in a day that is read from its sums by value. */
const inDays = (time: string) =>
  `${time} in (select fromUnixTimestamp64Milli(arrayJoin({days:Array(Int64)}), 'UTC'))`;

/** Rows; of an hour that two buckets divide, in a day whose groups are known, for the buckets alone. */
function rowsText({ of, said, key }: Question, hours: SummedHours | null): string {
  const inside = hours === null || hours.days.length === 0 ? 'false' : inDays('toStartOfDay(ts)');
  return `
    select if(grouping(group) = 1, bucket, group) as key, ${FIGURES}
      from (select ${bucketKey('toUnixTimestamp64Milli(ts)')} as bucket, toString(${key}) as group, ${inside} as inside, status,
                   input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_micro
              from request_row final where ${of} and ${OF_SPAN}${said} ${hours === null ? '' : `and ${OF_ROWS}`})
     group by grouping sets ((bucket), (group, inside)) having grouping(group) = 1 or not inside`;
}

/** Hours that are in none of these days, said so that the order of the table leads past the days. */
const OUTSIDE = `
  (hour < ${at('first_day')} or hour >= ${at('after_days')}
   or toStartOfDay(hour) in (select fromUnixTimestamp64Milli(arrayJoin({gaps:Array(Int64)}), 'UTC')))`;

function hoursText({ of, key_of_sums }: Question): string {
  return `
    select if(grouping(group) = 1, bucket, group) as key, ${SUMMED}
      from (select *, ${bucketKey('toInt64(toUnixTimestamp(hour)) * 1000')} as bucket, toString(${key_of_sums}) as group
              from usage_hour where ${of} and ${OF_SUMS} and ${OUTSIDE}) as s
     group by grouping sets ((bucket), (group))`;
}

/** Sums of days by value, those by hour for the buckets. A tag has a name, everything else "". */
const DAYS = `
    select if(kind = 'hour', ${bucketKey('toInt64OrZero(value) * 1000')}, value) as key, ${SUMMED_FIGURES.join(', ')}
      from usage_value
     where org_id = {org_id:String} and environment = {environment:String}
       and kind in ('hour', {kind:String}) and name in ('', {tag_name:String}) and (kind <> 'tag' or name = {tag_name:String})
       and day >= ${at('first_day')} and day < ${at('after_days')}
       and (toUnixTimestamp(day) * 1000, toUnixTimestamp64Micro(made_at)) in (
         select arrayJoin(arrayZip({days:Array(Int64)}, {made:Array(Int64)})))
       and not (kind = 'hour' and has({of_rows:Array(Int64)}, toInt64OrZero(value) * 1000))`;

/** The first of days in order, the end of the last, and the days between that are none of them. */
function spanOf(days: readonly number[]) {
  const first_day = days[0] ?? 0;
  const after_days = days.length === 0 ? 0 : (days.at(-1) as number) + DAY_MS;
  const all = Array.from({ length: (after_days - first_day) / DAY_MS }, (_, i) => first_day + i * DAY_MS);
  const summed = new Set(days);
  return { first_day, after_days, gaps: [0, ...all.filter((day) => !summed.has(day))] };
}

interface Part extends Omit<UsageSum, 'bucket'> {
  /** Of what all groups, or all buckets, come to. */
  readonly is_all: boolean;
  readonly of_bucket: boolean;
}

/** Buckets and groups and, by a tag, what each of them come to; of the groups those with the highest cost where not all are asked for. */
function readParts(
  db: ClickHouse,
  question: Question,
  hours: SummedHours | null,
  by: UsageBy,
): Promise<Part[]> {
  const { starts, group, tag, most } = by;
  const days = hours?.days ?? [];
  const parts = [
    rowsText(question, hours),
    ...(hours === null ? [] : [hoursText(question)]),
    ...(days.length === 0 ? [] : [DAYS]),
  ];
  const sets = group === 'tag' ? 'grouping sets ((key), (is_bucket))' : 'key';
  return db.query<Part>({
    name: 'analytics.sum_usage_apart',
    text: `
      select toBool(${group === 'tag' ? 'grouping(key) = 1' : 'false'}) as is_all, toBool(any(is_bucket)) as of_bucket, key, ${SUMMED}
        from (select *, startsWith(key, '\\0') as is_bucket from (${parts.join(' union all ')})) as s
       group by ${sets}
       order by is_all desc, of_bucket desc, key = '' desc, cost_micro desc, key
       ${most === null ? '' : `limit ${starts.length + most + 4}`}`,
    values: {
      ...question.values,
      ...{ from: question.from.getTime(), to: question.to.getTime() },
      ...(hours === null ? {} : summedValues(hours)),
      ...spanOf(days.map(([day]) => day)),
      ...{ days: [0, ...days.map(([day]) => day)], made: [0, ...days.map(([, made_us]) => made_us)] },
      ...{ kind: group ?? '', tag_name: group === 'tag' ? tag : '' },
    },
    is_large: true,
  });
}

const figuresOf = (of: (name: (typeof SUMMED_FIGURES)[number]) => number): UsageFigures =>
  Object.fromEntries(SUMMED_FIGURES.map((name) => [name, of(name)])) as unknown as UsageFigures;
const NOTHING = figuresOf(() => 0);
const plus = (a: UsageFigures, b: UsageFigures) => figuresOf((name) => a[name] + b[name]);
const minus = (a: UsageFigures, b: UsageFigures) => figuresOf((name) => a[name] - b[name]);

/** The groups by cost, at most `most` and the rest as one. Calls without a tag are what the buckets have more than the groups. */
function groupsOf(parts: readonly Part[], by: UsageBy): (UsageFigures & { readonly key: string })[] {
  const total = parts
    .filter(({ is_all, of_bucket }) => of_bucket && !is_all)
    .reduce<UsageFigures>((sum, one) => plus(sum, one), NOTHING);
  if (by.group === null) return total.requests === 0 ? [] : [{ ...total, key: '' }];
  const named = parts.filter(({ is_all, of_bucket }) => !is_all && !of_bucket);
  const all =
    parts.find(({ is_all, of_bucket }) => is_all && !of_bucket) ?? (by.group === 'tag' ? NOTHING : total);
  const blank = plus(named.find(({ key }) => key === '') ?? NOTHING, minus(total, all));
  const groups = [...named.filter(({ key }) => key !== ''), { ...blank, key: '' }]
    .filter(({ requests }) => requests > 0)
    .map((one) => ({ ...figuresOf((name) => one[name]), key: one.key }))
    .sort((a, b) => b.cost_micro - a.cost_micro || (a.key < b.key ? -1 : 1));
  if (by.most === null || groups.length <= by.most) return groups;
  const shown = groups.slice(0, by.most);
  return [...shown, { ...minus(total, shown.reduce<UsageFigures>(plus, NOTHING)), key: OTHER }];
}

/** Sums per bucket, and sums per value of the group. */
export async function sumUsageApart(db: ClickHouse, filter: UsageFilter, by: UsageBy): Promise<UsageApart> {
  const hours = await (isPlain(filter) ? daysOf : hoursOf)(db, filter, by);
  const parts = await readParts(db, questionOf(filter, by), hours, by);
  return {
    series: parts
      .filter(({ is_all, of_bucket }) => of_bucket && !is_all)
      .map(({ is_all: _, of_bucket: __, key, ...sum }) => ({
        ...{ ...sum, bucket: new Date(Number(key.slice(MARK.length))) },
      })),
    groups: groupsOf(parts, by),
  };
}
