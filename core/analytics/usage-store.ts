// SQL of usage: hours that are over and sealed, and the rows of those that are not.
import { type Db, type Environment, type Id, type RequestId, ulidMs } from '../kernel/index.ts';
import type { CallerFilter } from './usage/caller-filters.ts';
import {
  answerText,
  isSaid,
  readApart,
  SUMMED_FIGURES,
  type UsageApart,
  type UsageSum,
} from './usage/sums-store.ts';

/** The figures of rows `r`, in the order of usage_hour's columns. */
const FIGURES = `
  count(*), count(*) filter (where status = 'ok'), count(*) filter (where status in ('error', 'rejected')),
  coalesce(sum(input_tokens), 0)::bigint, coalesce(sum(output_tokens), 0)::bigint,
  coalesce(sum(cache_read_tokens), 0)::bigint, coalesce(sum(cache_write_tokens), 0)::bigint,
  coalesce(sum(reasoning_tokens), 0)::bigint, coalesce(sum(cost_micro), 0)::bigint`;
const HOUR_COLUMNS = `
  org_id, environment, hour, project_id, key_id, model, provider, byok, app_id, requests, ok, errors, input_tokens,
  output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_micro`;
const GROUPS = `org_id, environment, date_trunc('hour', ts, 'UTC'), project_id, key_id, model, provider, byok, app_id`;

export interface UsageFilter extends CallerFilter {
  readonly org_id: Id<'org'>;
  readonly environment: Environment;
  /** Inclusive. */
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
  readonly project_id: string | null;
  readonly key_id: string | null;
  readonly model: string | null;
  readonly provider: string | null;
}

/** Whether nothing but a group is asked of the calls of an organization: sums by value then answer. */
export function isPlain({ org_id, environment, from, to, ...asked }: UsageFilter): boolean {
  return Object.values(asked).every((value) => value === null);
}

/** A filter that asks nothing of what callers said. */
export const ANY_CALLER: CallerFilter = { user: null, session: null, app: null, tag: null, tag_value: null };

const OF_ROW = `
    select ts, project_id, key_id, model, provider, byok, app_id, user_hash, session_id, tags, 1, (status = 'ok')::int,
           (status in ('error', 'rejected'))::int, input_tokens, output_tokens, cache_read_tokens,
           cache_write_tokens, reasoning_tokens, cost_micro`;

/**
 * Whole hours before the seal are read from their sums, all others from rows, and so is an hour that a bucket ends in ($12).
 * Only rows have user, session and tags: for these sums are read where rows are gone ($13), and say "" of all three.
 * `narrow` is a further condition on rows that an index helps with.
 */
const sumText = (narrow: string, apart: boolean) => `
  with edge as (
    select date_trunc('hour', $3::timestamptz + interval '1 hour - 1 microsecond', 'UTC') as first,
           least(coalesce((select until from usage_seal), '-infinity'),
                 date_trunc('hour', $4::timestamptz, 'UTC'), coalesce($13::timestamptz, 'infinity')) as until),
  counted as (
    select hour as ts, project_id, key_id, model, provider, byok, app_id, '' as user_hash, '' as session_id,
           '{}'::jsonb as tags, requests, ok, errors, input_tokens, output_tokens, cache_read_tokens,
           cache_write_tokens, reasoning_tokens, cost_micro
      from usage_hour
     where org_id = $1 and environment = $2
       and hour >= (select first from edge) and hour < (select until from edge) and not hour = any ($12::timestamptz[])
    union all ${OF_ROW}
      from request_row
     where org_id = $1 and environment = $2 and ts >= $3 and ts < $4
       and ts >= (select greatest(first, until) from edge) ${narrow}
    union all ${OF_ROW}
      from unnest($12::timestamptz[]) as split (hour)
      join request_row on ts >= split.hour and ts < split.hour + interval '1 hour'
     where org_id = $1 and environment = $2 and ts >= $3 and ts < $4
       and split.hour >= (select first from edge) and split.hour < (select until from edge) ${narrow}
    union all ${OF_ROW}
      from request_row
     where org_id = $1 and environment = $2 and ts >= $3 and ts < $4 and ts < (select first from edge) ${narrow}),
  asked as (
  select ts,
         case $10::text
           when 'project' then project_id
           when 'key' then key_id
           when 'model' then model
           when 'provider' then provider
           when 'byok' then byok::text
           when 'app' then app_id
           when 'user' then user_hash
           when 'session' then session_id
           when 'tag' then coalesce(tags ->> $11::text, '')
           else '' end as key,
         ${SUMMED_FIGURES.join(', ')}
    from counted
   where ($5::text is null or project_id = $5)
     and ($6::text is null or key_id = $6)
     and ($7::text is null or model = $7)
     and ($8::text is null or provider = $8)
     and ($14::text is null or app_id = $14)
     and ($15::text is null or user_hash = $15)
     and ($16::text is null or session_id = $16)
     and ($17::text is null or ($18::text is null and tags ? $17) or coalesce(tags ->> $17, '') = $18)),
  ${answerText('asked', { starts: '$9', most: '$19' }, apart)}`;

/** By what the index of a subject or of a session finds rows; both leave out rows that name none. */
const NARROW = {
  any: { name: '', condition: '' },
  user: { name: '_of_user', condition: `and user_hash = $15 and user_hash <> ''` },
  session: { name: '_of_session', condition: `and session_id = $16 and session_id <> ''` },
};
type Narrow = keyof typeof NARROW;
const texts = (kind: string, apart: boolean) =>
  Object.fromEntries(
    Object.entries(NARROW).map(([narrow, { name, condition }]) => [
      narrow,
      { name: `analytics.sum_usage${kind}${name}`, text: sumText(condition, apart) },
    ]),
  ) as Record<Narrow, { name: string; text: string }>;
const PRODUCT = texts('', false);
const APART = texts('_apart', true);

function narrowestOf({ session, user }: UsageFilter): Narrow {
  if ((session ?? '') !== '') return 'session';
  return (user ?? '') === '' ? 'any' : 'user';
}

const HOUR_MS = 3_600_000;

/** What a usage is summed by. */
export interface UsageBy {
  /** Starts of the buckets, ascending; the first is not after the range. */
  readonly starts: readonly number[];
  /** Null: one group "". */
  readonly group: string | null;
  /** Names the tag of group `tag`. */
  readonly tag: string | null;
  /** So many groups with the highest cost, and the rest as `OTHER`; null: all. */
  readonly most: number | null;
  /** Rows of calls before this time are gone, and only sums of hours are left. Milliseconds. */
  readonly kept_from: number;
}

function valuesOf(filter: UsageFilter, { starts, group, tag, kept_from, most }: UsageBy): unknown[] {
  const split = starts.map((at) => Math.floor(at / HOUR_MS) * HOUR_MS);
  // An hour without rows cannot be split any more: it is in the bucket that it begins in.
  const inside = split.filter((hour, i) => i > 0 && hour !== starts[i] && hour >= kept_from);
  const of_rows = isSaid(group) || [filter.user, filter.session, filter.tag].some((value) => value !== null);
  const dates = (times: readonly number[]) => times.map((at) => new Date(at));
  return [
    ...[filter.org_id, filter.environment, filter.from, filter.to],
    ...[filter.project_id, filter.key_id, filter.model, filter.provider],
    ...[dates(starts), group, tag, dates(inside), of_rows ? new Date(kept_from) : null],
    ...[filter.app, filter.user, filter.session, filter.tag, filter.tag_value, most],
  ];
}

/** Sums per bucket and value of `group`, in no order. */
export async function sumUsage(db: Db, filter: UsageFilter, by: UsageBy): Promise<UsageSum[]> {
  const { rows } = await db.query<UsageSum>({
    ...PRODUCT[narrowestOf(filter)],
    values: valuesOf(filter, by),
  });
  return rows;
}

/** Sums per bucket, and sums per value of `group`. */
export function sumUsageApart(db: Db, filter: UsageFilter, by: UsageBy): Promise<UsageApart> {
  return readApart(db, { ...APART[narrowestOf(filter)], values: valuesOf(filter, by) });
}

/**
 * Locks the seal until the transaction ends and returns its time: hours before it are sealed; null before the first.
 */
export async function lockSeal(db: Db): Promise<Date | null> {
  const { rows } = await db.query<{ until: Date | null }>({
    name: 'analytics.lock_seal',
    text: 'select until from usage_seal for update',
  });
  return rows[0]?.until ?? null;
}

/** The earliest hour that has a row before `before`; null where none has. */
export async function findFirstHour(db: Db, before: Date): Promise<Date | null> {
  const { rows } = await db.query<{ hour: Date | null }>({
    name: 'analytics.find_first_hour',
    text: `select date_trunc('hour', min(ts), 'UTC') as hour from request_row where ts < $1`,
    values: [before],
  });
  return rows[0]?.hour ?? null;
}

/**
 * Sums the hours of `[from, until)`, which no seal covers yet, and moves the seal to `until`; returns the sums made.
 */
export async function sealUntil(db: Db, args: { from: Date; until: Date }): Promise<number> {
  const { rows } = await db.query<{ sums: number }>({
    name: 'analytics.seal_hours',
    text: `
      with sums as (
        insert into usage_hour (${HOUR_COLUMNS})
        select ${GROUPS}, ${FIGURES} from request_row where ts >= $1 and ts < $2 group by ${GROUPS}
        returning 1),
      moved as (update usage_seal set until = $2)
      select count(*)::int as sums from sums`,
    values: [args.from, args.until],
  });
  return rows[0]?.sums ?? 0;
}

/** Moves the seal back to `hour` and forgets the sums from there on. */
export async function unsealFrom(db: Db, hour: Date): Promise<void> {
  await db.query({
    name: 'analytics.unseal',
    text: `
      with gone as (delete from usage_hour where hour >= $1)
      update usage_seal set until = $1`,
    values: [hour],
  });
}

/** Removes the sums of one sealed hour of one organization; `resumHour` makes them anew in the same transaction. */
export async function dropHour(
  db: Db,
  args: { org_id: Id<'org'>; environment: Environment; hour: Date },
): Promise<void> {
  await db.query({
    name: 'analytics.drop_hour',
    text: 'delete from usage_hour where org_id = $1 and environment = $2 and hour = $3',
    values: [args.org_id, args.environment, args.hour],
  });
}

/** Sums one hour of one organization again from its rows. */
export async function resumHour(
  db: Db,
  args: { org_id: Id<'org'>; environment: Environment; hour: Date },
): Promise<void> {
  await db.query({
    name: 'analytics.resum_hour',
    text: `
      insert into usage_hour (${HOUR_COLUMNS})
      select ${GROUPS}, ${FIGURES} from request_row
       where org_id = $1 and environment = $2 and ts >= $3 and ts < $3::timestamptz + interval '1 hour'
       group by ${GROUPS}`,
    values: [args.org_id, args.environment, args.hour],
  });
}

/** Calls since `since` that ended because no provider had capacity. */
export async function countCapacity(
  db: Db,
  args: { org_id: Id<'org'>; environment: Environment; since: Date },
): Promise<number> {
  const { rows } = await db.query<{ calls: number }>({
    name: 'analytics.count_capacity',
    text: `
      select count(*)::int as calls from request_row
       where org_id = $1 and environment = $2 and ts >= $3
         and error_code in ('upstream_rate_limited', 'upstream_overloaded')`,
    values: [args.org_id, args.environment, args.since],
  });
  return rows[0]?.calls ?? 0;
}

/** What the rows of these calls of an organization say that they cost, by request id; one without a row is left out. */
export async function readCosts(
  db: Db,
  args: { org_id: Id<'org'>; request_ids: readonly RequestId[] },
): Promise<Map<RequestId, number>> {
  const { rows } = await db.query<{ request_id: RequestId; cost_micro: number }>({
    name: 'analytics.read_costs',
    text: `
      select r.request_id, r.cost_micro
        from unnest($2::text[], $3::timestamptz[]) as c (request_id, ts)
        join request_row r on r.request_id = c.request_id and r.ts = c.ts
       where r.org_id = $1`,
    values: [args.org_id, args.request_ids, args.request_ids.map((id) => new Date(ulidMs(id)))],
  });
  return new Map(rows.map(({ request_id, cost_micro }) => [request_id, cost_micro]));
}

/** Which of `models` each of `org_ids` has called since `since`, with whichever keys; those of it that called none are absent. */
export async function listModelsUsed(
  db: Db,
  of: { org_ids: readonly Id<'org'>[]; models: readonly string[]; since: Date },
): Promise<Map<Id<'org'>, readonly string[]>> {
  const { rows } = await db.query<{ org_id: Id<'org'>; models: string[] }>({
    name: 'analytics.list_models_used',
    // Per organization, so that each is a walk through its own hours and days.
    text: `
      select org.org_id, used.models
        from unnest($1::text[]) as org (org_id)
       cross join lateral (
         select array_agg(distinct model) as models from (
           select model from usage_hour
            where usage_hour.org_id = org.org_id and environment in ('live', 'test') and hour >= $3
              and model = any ($2)
           union
           select model from request_row
            where request_row.org_id = org.org_id and environment in ('live', 'test')
              and ts >= $3 and ts >= coalesce((select until from usage_seal), '-infinity')
              and model = any ($2)) as call) as used
       where used.models is not null`,
    values: [of.org_ids, of.models, of.since],
  });
  return new Map(rows.map(({ org_id, models }) => [org_id, models]));
}

/** Organizations with live usage since `since`. */
export async function listUsers(db: Db, since: Date): Promise<Id<'org'>[]> {
  const { rows } = await db.query<{ org_id: Id<'org'> }>({
    name: 'analytics.list_users',
    text: `
      select org_id from usage_hour where environment = 'live' and hour >= $1
      union
      select org_id from request_row
       where environment = 'live' and ts >= $1 and ts >= coalesce((select until from usage_seal), '-infinity')`,
    values: [since],
  });
  return rows.map(({ org_id }) => org_id);
}
