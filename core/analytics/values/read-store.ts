// SQL of usage from sums by value, for questions that ask of all calls. An hour without such sums is read as before: from sums of hours
// what these know, else from rows.
import type { Db } from '../../kernel/index.ts';
import {
  answerText,
  apartText,
  bucketOf,
  isSaid,
  NEGATED,
  readApart,
  SUMMED_FIGURES,
  type UsageApart,
  type UsageSum,
} from '../usage/sums-store.ts';
import type { UsageBy, UsageFilter } from '../usage-store.ts';
import { KNOWN_KINDS } from './store.ts';

const FIGURES = SUMMED_FIGURES.join(', ');
const AGAIN = SUMMED_FIGURES.map((name) => `sum_bigint(${name}) as ${name}`).join(', ');

/** What a row is grouped by, and what sums of hours are; $8 is the group, $9 the tag. */
const KEY_OF_ROW = `
  case $8::text ${Object.entries(KNOWN_KINDS)
    .map(([kind, column]) => `when '${kind}' then ${column}`)
    .join(' ')}
    when 'user' then user_hash when 'session' then session_id when 'tag' then coalesce(tags ->> $9::text, '') else '' end`;
const KEY_OF_HOUR = `
  case $8::text ${Object.entries(KNOWN_KINDS)
    .map(([kind, column]) => `when '${kind}' then ${column}`)
    .join(' ')} else '' end`;
const OF_ROW = `
  select ts, ${KEY_OF_ROW} as key, 1, (status = 'ok')::int, (status in ('error', 'rejected'))::int, input_tokens, output_tokens,
         cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_micro`;
const OF_ORG = 'org_id = $1 and environment = $2';
const BETWEEN = 'hour >= (select first from edge) and hour < (select until from edge)';

/** Of what callers said hours before $7 are the rest alone: their rows are gone. What is no value of $9 is the rest too. */
const SAID = `
  select hour, value, ${FIGURES} from usage_value
   where ${OF_ORG} and kind = $8 and name = $9 and ${BETWEEN} and hour >= $7
     and hour not in (select hour from of_rows)`;
const KNOWN = `
  select hour, case when $8::text = $10::text then value else '' end, ${FIGURES} from usage_value
   where ${OF_ORG} and kind = $10 and name = '' and ${BETWEEN} and hour not in (select hour from of_rows)
     and hour not in (select hour from unsummed)`;

const EDGE = `
  edge as (
    select date_trunc('hour', $3::timestamptz + interval '1 hour - 1 microsecond', 'UTC') as first,
           least(coalesce((select until from usage_seal), '-infinity'), date_trunc('hour', $4::timestamptz, 'UTC')) as until,
           $7::timestamptz as kept_from, $9::text as tag),
  unsummed as (select hour from usage_unsummed where ${OF_ORG} and ${BETWEEN})`;
const SPLIT = `select hour from unnest($6::timestamptz[]) as split (hour) where ${BETWEEN}`;
const MANY = `
  select hour from usage_value
   where ${OF_ORG} and kind = $8 || '_many' and name in ('', $9) and ${BETWEEN} and hour >= $7`;
const EDGE_ROWS = `
  ${OF_ROW} from request_row where ${OF_ORG} and ts >= $3 and ts < $4 and ts >= (select greatest(first, until) from edge)
  union all ${OF_ROW} from request_row where ${OF_ORG} and ts >= $3 and ts < $4 and ts < (select first from edge)`;
/** The `offset` has each hour looked up by itself: joined otherwise, all rows of the organization are read for a few hours. */
const rowsOf = (hours: string) => `
  select call.* from ${hours} as of_hour cross join lateral (
    ${OF_ROW} from request_row
     where ${OF_ORG} and ts >= of_hour.hour and ts < of_hour.hour + interval '1 hour' and ts >= $3 and ts < $4
    offset 0) as call`;

/** What hours sum to, by what is known of them and, if `said`, by what callers said. */
const countedText = (said: boolean, edge_rows = EDGE_ROWS) => `
  of_rows as (
    ${SPLIT} ${said ? `union select hour from unsummed where hour >= $7 union ${MANY}` : ''}),
  ${said ? `said as materialized (${SAID}),` : ''}
  counted (ts, key, ${FIGURES}) as (
    ${KNOWN}
    ${said ? `union all select * from said union all select hour, '', ${NEGATED} from said` : ''}
    union all
    select hour, ${KEY_OF_HOUR}, ${FIGURES} from usage_hour
     where ${OF_ORG} and hour in (select hour from unsummed) and hour not in (select hour from of_rows)
    union all ${rowsOf('of_rows')}
    union all ${edge_rows})`;
const text = (said: boolean, apart: boolean) => `
  with ${EDGE}, ${countedText(said)},
  ${answerText('counted', { starts: '$5', most: '$11' }, apart)}`;

/**
 * Of what callers said, buckets are summed of what is known of hours, and keys of as long spans as are kept, then of hours, then of rows.
 * What no key has is of calls that said nothing, and of those whose rows are gone. Keys are summed once, together with the sum of them
 * all, and only the dearest are kept: 150,000 sums that are kept to be read again cost as much as making them.
 */
const SPANNED = `
  with ${EDGE},
  edge_rows (ts, key, ${FIGURES}) as materialized (${EDGE_ROWS}),
  ${countedText(false, 'select * from edge_rows')},
  series as (select bucket, ${AGAIN} from (select ${bucketOf('$5')} as bucket, ${FIGURES} from counted) as one group by bucket),
  spans as materialized (
    select level, start, start + usage_span_length(level) as stop from usage_spanned as s
     where ${OF_ORG} and kind = $8 and name = $9 and start >= $7
       and start >= (select first from edge) and start + usage_span_length(level) <= (select until from edge)
       and not exists (
         select from unsummed where hour >= s.start and hour < s.start + usage_span_length(s.level))),
  chosen as materialized (
    select * from spans as s
     where not exists (select from spans as b where b.level > s.level and b.start <= s.start and b.stop > s.start)),
  many as (
    select hour from (select hour from unsummed where hour >= $7 union ${MANY}) as one
     where not exists (select from chosen where hour >= start and hour < stop)),
  named (key, ${FIGURES}) as (
    select value, ${FIGURES} from chosen join usage_span as s using (level, start)
     where ${OF_ORG} and kind = $8 and name = $9
    union all
    select value, ${FIGURES} from usage_value
     where ${OF_ORG} and kind = $8 and name = $9 and ${BETWEEN} and hour >= $7
       and hour not in (select hour from many) and not exists (select from chosen where hour >= start and hour < stop)
    union all
    select key, ${FIGURES} from (${rowsOf('many')} union all select * from edge_rows) as call (ts, key, ${FIGURES})),
  dearest as materialized (
    select key, grouping(key) = 1 as is_all, ${AGAIN} from named where key <> '' group by grouping sets ((key), ())
    having sum_bigint(requests) > 0
     order by is_all desc, cost_micro desc, key collate "C" limit 1 + $11::int),
  keyed as (
    select key, ${FIGURES} from dearest where not is_all
    union all
    select '', ${AGAIN}
      from (select ${FIGURES} from series union all select ${NEGATED} from dearest where is_all) as rest (${FIGURES})),
  ${apartText('$11')}`;
const PRODUCT = {
  known: { name: 'analytics.sum_known_usage', text: text(false, false) },
  said: { name: 'analytics.sum_said_usage', text: text(true, false) },
};
const APART = {
  known: { name: 'analytics.sum_known_usage_apart', text: text(false, true) },
  said: { name: 'analytics.sum_said_usage_apart', text: SPANNED },
};

const HOUR_MS = 3_600_000;

type Place = Pick<UsageFilter, 'org_id' | 'environment' | 'from' | 'to'>;

function valuesOf(
  { org_id, environment, from, to }: Place,
  { starts, group, tag, kept_from, most }: UsageBy,
): unknown[] {
  // An hour without rows cannot be split any more: it is in the bucket that it begins in.
  const split = starts
    .filter((start, i) => i > 0 && start % HOUR_MS !== 0)
    .map((start) => Math.floor(start / HOUR_MS) * HOUR_MS)
    .filter((hour) => hour >= kept_from);
  const dates = (times: readonly number[]) => times.map((at) => new Date(at));
  return [
    ...[org_id, environment, from, to, dates(starts), dates(split), new Date(kept_from)],
    ...[group ?? '', group === 'tag' ? tag : '', isSaid(group) || group === null ? 'project' : group, most],
  ];
}

/** Sums per bucket and value of the group, of all calls, in no order. */
export async function sumPlainUsage(db: Db, of: Place, by: UsageBy): Promise<UsageSum[]> {
  const { rows } = await db.query<UsageSum>({
    ...PRODUCT[isSaid(by.group) ? 'said' : 'known'],
    values: valuesOf(of, by),
  });
  return rows;
}

/** Sums per bucket, and sums per value of the group, of all calls. */
export function sumPlainApart(db: Db, of: Place, by: UsageBy): Promise<UsageApart> {
  return readApart(db, { ...APART[isSaid(by.group) ? 'said' : 'known'], values: valuesOf(of, by) });
}
