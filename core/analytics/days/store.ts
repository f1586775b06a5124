// SQL of days: made from rows, and read for everybody's figures. Days are UTC, a call belongs to the day on which it began, and a
// sandbox call to none, nor one that the sandbox answered for a live key: it is free.
import { SANDBOX } from '../../catalog/index.ts';
import type { Db } from '../../kernel/index.ts';
import type { AppDaySum, EndpointDaySum } from '../engine/types.ts';

const LOCK = 7_305_118_217;

/** Classes of faults that the caller caused (docs/outcomes.md#faults-of-a-provider); with an own key also what its account causes. */
/** Of attempts `of` (`a.`, or nothing), in the SQL of either engine. */
export const excusedOf = (of: string): string => `
  (${of}outcome in ('cancelled', 'hedge_lost')
   or ${of}error_class in ('context_length', 'content_filter', 'client', 'too_large', 'client_gone')
   or ${of}pool_id = 'byok' and ${of}error_class in ('auth', 'quota', 'rate_limit'))`;
const EXCUSED = excusedOf('a.');

/** Steps of times: 5 % each, so that a middle of several days is exact to 2.5 %. */
export const STEP = 1.05;

/** Makes whoever sums days take turns until the transaction ends. */
export async function lockDays(db: Db): Promise<void> {
  await db.query({ name: 'analytics.lock_days', text: 'select pg_advisory_xact_lock($1)', values: [LOCK] });
}

/** When each of `days` was last summed; those that never were are absent. */
export async function readSummed(db: Db, days: readonly string[]): Promise<Map<string, Date>> {
  const { rows } = await db.query<{ day: string; summed_at: Date }>({
    name: 'analytics.read_summed',
    text: 'select day::text, summed_at from summed_day where day = any ($1::date[])',
    values: [days],
  });
  return new Map(rows.map(({ day, summed_at }) => [day, summed_at]));
}

/** Notes that `day` was summed at `at`. */
export async function markSummed(db: Db, day: string, at: Date): Promise<void> {
  await db.query({
    name: 'analytics.mark_summed',
    text: `
      insert into summed_day (day, summed_at) values ($1, $2)
      on conflict (day) do update set summed_at = excluded.summed_at`,
    values: [day, at],
  });
}

/** Sums the attempts of the calls of `day`. */
export async function sumEndpointsOf(db: Db, day: string): Promise<EndpointDaySum[]> {
  const { rows } = await db.query<EndpointDaySum>({
    name: 'analytics.sum_endpoint_day',
    text: `
      with attempt as materialized (
        select a.endpoint_id, a.outcome = 'ok' as ok, ${EXCUSED} and a.outcome <> 'ok' as excused,
               case when a.outcome = 'ok' then a.ttft_ms end as ttft_ms,
               case when a.outcome = 'ok' and a.output_tokens > 1 and a.duration_ms > a.ttft_ms
                    then (a.duration_ms - a.ttft_ms) / (a.output_tokens - 1) * 1000 end as tpot_us
          from request_attempt a
          join request_row r on r.request_id = a.request_id and r.ts = a.call_ts
         where a.call_ts >= $1::date::timestamp at time zone 'UTC'
           and a.call_ts < ($1::date + 1)::timestamp at time zone 'UTC'
           and r.ts >= $1::date::timestamp at time zone 'UTC'
           and r.ts < ($1::date + 1)::timestamp at time zone 'UTC'
           and r.environment = 'live' and a.endpoint_id <> '' and a.provider <> $2),
      day as (
        select endpoint_id, count(*) as attempts, count(*) filter (where ok) as ok,
               count(*) filter (where excused) as excused,
               percentile_cont(0.5) within group (order by ttft_ms) as ttft_p50_ms,
               percentile_cont(0.95) within group (order by ttft_ms) as ttft_p95_ms,
               percentile_cont(0.5) within group (order by tpot_us) / 1000 as tpot_p50_ms
          from attempt group by endpoint_id),
      steps as (
        select endpoint_id, kind, jsonb_object_agg(step, n) as counts from (
          select endpoint_id, kind, floor(ln(greatest(amount, 1)) / ln(${STEP}))::int as step, count(*) as n
            from attempt cross join lateral (values ('ttft', ttft_ms), ('tpot', tpot_us)) as time (kind, amount)
           where amount is not null group by 1, 2, 3) as step
         group by 1, 2)
      select endpoint_id, attempts, ok, excused, ttft_p50_ms, ttft_p95_ms, tpot_p50_ms,
             coalesce(ttft.counts, '{}') as ttft_counts, coalesce(tpot.counts, '{}') as tpot_counts
        from day
        left join (select * from steps where kind = 'ttft') as ttft using (endpoint_id)
        left join (select * from steps where kind = 'tpot') as tpot using (endpoint_id)`,
    values: [day, SANDBOX],
  });
  return rows;
}

/** Puts `sums` in the place of what was summed of `day` before. Needs the lock. */
export async function putEndpointDay(db: Db, day: string, sums: readonly EndpointDaySum[]): Promise<void> {
  await db.query({
    name: 'analytics.drop_endpoint_day',
    text: 'delete from endpoint_day where day = $1',
    values: [day],
  });
  await db.query({
    name: 'analytics.put_endpoint_day',
    text: `
      insert into endpoint_day (day, endpoint_id, attempts, ok, excused, ttft_p50_ms, ttft_p95_ms, tpot_p50_ms,
                                ttft_counts, tpot_counts)
      select $1, * from jsonb_to_recordset($2::jsonb)
        as s (endpoint_id text, attempts bigint, ok bigint, excused bigint, ttft_p50_ms float8, ttft_p95_ms float8,
              tpot_p50_ms float8, ttft_counts jsonb, tpot_counts jsonb)`,
    values: [day, JSON.stringify(sums)],
  });
}

/** Sums the answered calls of `day` by organization, app and model. */
export async function sumAppCalls(db: Db, day: string): Promise<AppDaySum[]> {
  const { rows } = await db.query<AppDaySum>({
    name: 'analytics.sum_app_day',
    text: `
      select org_id, app_id, model, count(*) as requests,
             sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens)::bigint as tokens,
             min(ts) as first_at
        from request_row
       where ts >= $1::date::timestamp at time zone 'UTC' and ts < ($1::date + 1)::timestamp at time zone 'UTC'
         and environment = 'live' and status = 'ok' and provider <> $2
       group by org_id, app_id, model`,
    values: [day, SANDBOX],
  });
  return rows;
}

/** Puts `sums` in the place of what was summed of `day` before. Needs the lock. */
export async function putAppDay(db: Db, day: string, sums: readonly AppDaySum[]): Promise<void> {
  await db.query({
    name: 'analytics.drop_app_day',
    text: 'delete from app_day where day = $1',
    values: [day],
  });
  await db.query({
    name: 'analytics.put_app_day',
    text: `
      insert into app_day (day, org_id, app_id, model, requests, tokens, first_at)
      select $1, * from jsonb_to_recordset($2::jsonb)
        as s (org_id text, app_id text, model text, requests bigint, tokens bigint, first_at timestamptz)`,
    values: [day, JSON.stringify(sums)],
  });
}

/** Removes what was summed of days before `day`; returns how many rows that were. */
export async function dropDaysBefore(db: Db, day: string): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'analytics.drop_days',
    text: `
      with endpoints as (delete from endpoint_day where day < $1::date returning 1),
      apps as (delete from app_day where day < $1::date returning 1),
      models as (delete from model_day where day < $1::date returning 1),
      days as (delete from summed_day where day < $1::date returning 1)
      select ((select count(*) from endpoints) + (select count(*) from apps) +
              (select count(*) from models) + (select count(*) from days))::int as n`,
    values: [day],
  });
  return rows[0]?.n ?? 0;
}

export interface EndpointDay {
  readonly endpoint_id: string;
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly attempts: number;
  readonly ok: number;
  readonly excused: number;
  readonly ttft_p50_ms: number | null;
  readonly ttft_p95_ms: number | null;
  readonly tpot_p50_ms: number | null;
}

/** The days of `endpoint_ids` from `since` on that have attempts. */
export async function readEndpointDays(
  db: Db,
  of: { endpoint_ids: readonly string[]; since: string },
): Promise<EndpointDay[]> {
  const { rows } = await db.query<EndpointDay>({
    name: 'analytics.read_endpoint_days',
    text: `
      select endpoint_id, day::text, attempts, ok, excused, ttft_p50_ms, ttft_p95_ms, tpot_p50_ms
        from endpoint_day where endpoint_id = any ($1) and day >= $2::date`,
    values: [of.endpoint_ids, of.since],
  });
  return rows;
}

export interface EndpointSum {
  readonly endpoint_id: string;
  readonly attempts: number;
  readonly ok: number;
  readonly excused: number;
  /** The same of the days from `recent` on. */
  readonly recent_attempts: number;
  readonly recent_ok: number;
  readonly recent_excused: number;
}

/** All endpoints with attempts from `since` on. */
export async function sumEndpoints(db: Db, of: { since: string; recent: string }): Promise<EndpointSum[]> {
  const { rows } = await db.query<EndpointSum>({
    name: 'analytics.sum_endpoints',
    text: `
      select endpoint_id, sum(attempts)::bigint as attempts, sum(ok)::bigint as ok,
             sum(excused)::bigint as excused,
             coalesce(sum(attempts) filter (where day >= $2::date), 0)::bigint as recent_attempts,
             coalesce(sum(ok) filter (where day >= $2::date), 0)::bigint as recent_ok,
             coalesce(sum(excused) filter (where day >= $2::date), 0)::bigint as recent_excused
        from endpoint_day where day >= $1::date group by endpoint_id`,
    values: [of.since, of.recent],
  });
  return rows;
}

export interface StepCount {
  readonly endpoint_id: string;
  readonly kind: 'ttft' | 'tpot';
  /** Of the logarithm to base `STEP` of milliseconds (`ttft`) or microseconds (`tpot`). */
  readonly step: number;
  readonly n: number;
}

/** How many attempts from `since` on took how long. */
export async function sumSteps(db: Db, since: string): Promise<StepCount[]> {
  const { rows } = await db.query<StepCount>({
    name: 'analytics.sum_steps',
    text: `
      select endpoint_id, kind, key::int as step, sum(value::bigint)::bigint as n
        from endpoint_day
       cross join lateral (
         select 'ttft' as kind, key, value from jsonb_each_text(ttft_counts)
         union all select 'tpot', key, value from jsonb_each_text(tpot_counts)) as counted
       where day >= $1::date
       group by 1, 2, 3`,
    values: [since],
  });
  return rows;
}
