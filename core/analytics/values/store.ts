// SQL of sums by value: what is summed of an hour, and when it is summed again (the job `roll_up_usage`).
import type { Db } from '../../kernel/index.ts';
import { SUMMED_FIGURES } from '../usage/sums-store.ts';

/** What of a call every sum of an hour knows; the groups of usage that sums by value answer from these. */
export const KNOWN_KINDS = {
  project: 'project_id',
  key: 'key_id',
  model: 'model',
  provider: 'provider',
  byok: 'byok::text',
  app: 'app_id',
} as const;
/** Of what callers say, an hour of an organization keeps so many values of one thing, and so many names of tags. */
const VALUES_MAX = 200;
const NAMES_MAX = 64;

const FIGURES = SUMMED_FIGURES.join(', ');
const sums = (of: string) => SUMMED_FIGURES.map((name) => `sum(${of}.${name})::bigint`).join(', ');
const nothing = SUMMED_FIGURES.map(() => '0').join(', ');
const COLUMNS = `org_id, environment, kind, name, hour, value, ${FIGURES}`;

interface UnsummedHour {
  readonly org_id: string;
  readonly environment: string;
  readonly hour: Date;
  readonly changed_at: Date | null;
}

/**
 * At most `limit` hours before the seal whose sums by value are missing, of the newest UTC day that has such; held until the
 * transaction ends.
 */
export async function lockUnsummed(db: Db, limit: number): Promise<UnsummedHour[]> {
  const { rows } = await db.query<UnsummedHour>({
    name: 'analytics.lock_unsummed',
    text: `
      with newest as (
        select date_trunc('day', max(hour), 'UTC') as day from usage_unsummed
         where hour < coalesce((select until from usage_seal), '-infinity'))
      select org_id, environment, hour, changed_at from usage_unsummed
       where hour < coalesce((select until from usage_seal), '-infinity')
         and hour >= (select day from newest)
       order by hour desc limit $1 for update skip locked`,
    values: [limit],
  });
  return rows;
}

const HOUR_MS = 3_600_000;
/** From the first of `hours` to the end of the last: which days of rows they lie in is then known before they are read. */
function spanOf(hours: readonly UnsummedHour[]): [Date, Date] {
  const times = hours.map(({ hour }) => hour.getTime());
  return [new Date(Math.min(...times)), new Date(Math.max(...times) + HOUR_MS)];
}

const places = (hours: readonly UnsummedHour[]) => [
  hours.map(({ org_id }) => org_id),
  hours.map(({ environment }) => environment),
  hours.map(({ hour }) => hour),
];
const OPEN =
  'open as (select * from unnest($1::text[], $2::text[], $3::timestamptz[]) as o (org_id, environment, hour))';

/** Removes what was summed of hours; they are found by the time alone. */
export async function dropValues(db: Db, hours: readonly UnsummedHour[]): Promise<void> {
  await db.query({
    name: 'analytics.drop_values',
    text: `
      delete from usage_value v
       where hour = any ($3::timestamptz[])
         and (org_id, environment, hour) in (select * from unnest($1::text[], $2::text[], $3::timestamptz[]))`,
    values: places(hours),
  });
}

const KNOWN = Object.entries(KNOWN_KINDS)
  .map(
    ([kind, column]) => `
      select org_id, environment, '${kind}', '', hour, ${column}, ${sums('h')}
        from open join usage_hour h using (org_id, environment, hour) where hour >= $4 and hour < $5 group by 1, 2, 5, 6`,
  )
  .join(' union all ');

/**
 * Sums hours by what is known of every call, from the sums of hours, and by what callers said, from rows. Names no value: calls that
 * said nothing are the rest.
 */
export async function sumValues(db: Db, hours: readonly UnsummedHour[]): Promise<void> {
  await db.query({
    name: 'analytics.sum_known_values',
    text: `with ${OPEN} insert into usage_value (${COLUMNS}) ${KNOWN}`,
    values: [...places(hours), ...spanOf(hours)],
  });
  await db.query({
    name: 'analytics.sum_said_values',
    text: `
      with ${OPEN},
      call as (
        select o.org_id, o.environment, o.hour, user_hash, session_id, tags, 1 as requests, (status = 'ok')::int as ok,
               (status in ('error', 'rejected'))::int as errors, input_tokens, output_tokens, cache_read_tokens,
               cache_write_tokens, reasoning_tokens, cost_micro
          from open o join request_row r on r.org_id = o.org_id and r.environment = o.environment
                                        and r.ts >= o.hour and r.ts < o.hour + interval '1 hour'
         where r.ts >= $4 and r.ts < $5),
      said as (
        select org_id, environment, 'user' as kind, '' as name, hour, user_hash as value, ${sums('call')}
          from call where user_hash <> '' group by 1, 2, 5, 6
        union all
        select org_id, environment, 'session', '', hour, session_id, ${sums('call')}
          from call where session_id <> '' group by 1, 2, 5, 6
        union all
        select org_id, environment, 'tag', tag.key, hour, tag.value, ${sums('call')}
          from call cross join jsonb_each_text(tags) as tag where tag.key <> '' and tag.value <> '' group by 1, 2, 4, 5, 6),
      kept as (
        select s.*, count(*) over (partition by org_id, environment, kind, name, hour) > ${VALUES_MAX} as is_many
          from said as s (${COLUMNS})),
      named as (
        select org_id, environment, hour, count(distinct name) > ${NAMES_MAX} as is_many
          from said as s (${COLUMNS}) where kind = 'tag' group by 1, 2, 3)
      insert into usage_value (${COLUMNS})
      select ${COLUMNS} from kept left join named n using (org_id, environment, hour)
       where not kept.is_many and not (kind = 'tag' and n.is_many)
      union all
      select distinct org_id, environment, kind || '_many', name, hour, '', ${nothing} from kept where is_many
      union all
      select org_id, environment, 'tag_many', '', hour, '', ${nothing} from named where is_many`,
    values: [...places(hours), ...spanOf(hours)],
  });
}

/** Notes that hours are summed. They are held. */
export async function markSummed(db: Db, hours: readonly UnsummedHour[]): Promise<void> {
  await db.query({
    name: 'analytics.mark_values_summed',
    text: `
      delete from usage_unsummed
       where (org_id, environment, hour) in (select * from unnest($1::text[], $2::text[], $3::timestamptz[]))`,
    values: places(hours),
  });
}

/**
 * Notes that hours of these calls will be summed again, in one order: transactions that then change the same hours take turns, and
 * none waits for another that waits for it.
 */
export async function noteChanged(
  db: Db,
  args: { request_ids: readonly string[]; times: readonly Date[] },
): Promise<void> {
  // Who sums holds this alone, and hours only after it.
  await db.query({ name: 'analytics.share_sums', text: 'select pg_advisory_xact_lock_shared(20260102)' });
  await db.query({
    name: 'analytics.note_changed_hours',
    text: `
      insert into usage_unsummed (org_id, environment, hour, changed_at)
      select distinct org_id, environment, date_trunc('hour', ts, 'UTC'), now() from request_row
       where request_id = any ($1) and ts = any ($2)
       order by 1, 2, 3
      on conflict (org_id, environment, hour) do update set changed_at = excluded.changed_at`,
    values: [args.request_ids, args.times],
  });
}

/** Removes sums by what callers said of hours before `before`, whose rows are gone; how many. */
export async function dropSaid(db: Db, before: Date): Promise<number> {
  const { rowCount } = await db.query({
    name: 'analytics.drop_said_values',
    text: `
      delete from usage_value
       where hour < $1 and kind in ('tag', 'user', 'session', 'tag_many', 'user_many', 'session_many')`,
    values: [before],
  });
  return rowCount;
}
