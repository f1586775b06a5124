// SQL of usage from sums by value, for questions that ask of all calls. An hour without such sums is read as before: from sums of hours
// what these know, else from rows.
import type { Db } from '../../kernel/index.ts';
import {
  answerText,
  isSaid,
  readApart,
  SUMMED_FIGURES,
  type UsageApart,
  type UsageSum,
} from '../usage/sums-store.ts';
import type { UsageBy, UsageFilter } from '../usage-store.ts';
import { KNOWN_KINDS } from './store.ts';

const FIGURES = SUMMED_FIGURES.join(', ');
const NEGATED = SUMMED_FIGURES.map((name) => `-${name}`).join(', ');

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

/** The `offset` has each hour looked up by itself: joined otherwise, all rows of the organization are read for a few hours. */
const text = (said: boolean, apart: boolean) => `
  with edge as (
    select date_trunc('hour', $3::timestamptz + interval '1 hour - 1 microsecond', 'UTC') as first,
           least(coalesce((select until from usage_seal), '-infinity'), date_trunc('hour', $4::timestamptz, 'UTC')) as until,
           $7::timestamptz as kept_from, $9::text as tag),
  unsummed as (select hour from usage_unsummed where ${OF_ORG} and ${BETWEEN}),
  of_rows as (
    select hour from unnest($6::timestamptz[]) as split (hour) where ${BETWEEN}
    ${
      said
        ? `union select hour from unsummed where hour >= $7
    union select hour from usage_value
           where ${OF_ORG} and kind = $8 || '_many' and name in ('', $9) and ${BETWEEN} and hour >= $7`
        : ''
    }),
  ${said ? `said as materialized (${SAID}),` : ''}
  counted (ts, key, ${FIGURES}) as (
    ${KNOWN}
    ${said ? `union all select * from said union all select hour, '', ${NEGATED} from said` : ''}
    union all
    select hour, ${KEY_OF_HOUR}, ${FIGURES} from usage_hour
     where ${OF_ORG} and hour in (select hour from unsummed) and hour not in (select hour from of_rows)
    union all
    select call.* from of_rows cross join lateral (
      ${OF_ROW} from request_row
       where ${OF_ORG} and ts >= of_rows.hour and ts < of_rows.hour + interval '1 hour' and ts >= $3 and ts < $4
      offset 0) as call
    union all ${OF_ROW} from request_row
     where ${OF_ORG} and ts >= $3 and ts < $4 and ts >= (select greatest(first, until) from edge)
    union all ${OF_ROW} from request_row
     where ${OF_ORG} and ts >= $3 and ts < $4 and ts < (select first from edge)),
  ${answerText('counted', { starts: '$5', most: '$11' }, apart)}`;
const PRODUCT = {
  known: { name: 'analytics.sum_known_usage', text: text(false, false) },
  said: { name: 'analytics.sum_said_usage', text: text(true, false) },
};
const APART = {
  known: { name: 'analytics.sum_known_usage_apart', text: text(false, true) },
  said: { name: 'analytics.sum_said_usage_apart', text: text(true, true) },
};

const HOUR_MS = 3_600_000;

/** Whether sums by value answer: nothing but a group is asked of the calls of an organization. */
export function isPlain({ org_id, environment, from, to, ...asked }: UsageFilter): boolean {
  return Object.values(asked).every((value) => value === null);
}

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
