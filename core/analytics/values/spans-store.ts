// SQL of sums of several hours by what callers said: which are to be made, and how.
import type { Db } from '../../kernel/index.ts';
import { SUMMED_FIGURES } from '../usage/sums-store.ts';

const FIGURES = SUMMED_FIGURES.join(', ');
const AGAIN = SUMMED_FIGURES.map((name) => `sum_bigint(${name}) as ${name}`).join(', ');

/** Hours of an organization whose sums are to be made, with the kinds of values that some hour has too many of. */
interface OpenSpan {
  readonly org_id: string;
  readonly environment: string;
  readonly level: number;
  readonly start: Date;
  readonly stop: Date;
  readonly kinds: readonly { readonly kind: string; readonly name: string }[];
}

/**
 * Until the transaction ends nobody else sums hours or spans, and no end user is erased: taken before what is summed is read, and before
 * any row of `usage_unsummed` is held.
 */
export async function lockSums(db: Db): Promise<void> {
  await db.query({ name: 'analytics.lock_sums', text: 'select pg_advisory_xact_lock(20260102)' });
}

/** At most `limit` spans all of whose hours are summed, short ones first and of these the newest. */
export async function findUnspanned(db: Db, limit: number): Promise<OpenSpan[]> {
  const { rows } = await db.query<OpenSpan>({
    name: 'analytics.find_unspanned',
    text: `
      with open as (
        select org_id, environment, level, start, start + usage_span_length(level) as stop from usage_unspanned as q
         where start + usage_span_length(level) <= coalesce((select until from usage_seal), '-infinity')
           and not exists (
             select from usage_unsummed as u
              where u.org_id = q.org_id and u.environment = q.environment
                and u.hour >= q.start and u.hour < q.start + usage_span_length(q.level))
         order by level, start desc limit $1)
      select open.*, coalesce(many.kinds, '[]') as kinds
        from open left join lateral (
          select json_agg(distinct jsonb_build_object('kind', split_part(v.kind, '_', 1), 'name', v.name)) as kinds
            from usage_value as v
           where v.org_id = open.org_id and v.environment = open.environment
             and v.kind in ('tag_many', 'user_many', 'session_many') and (v.kind, v.name) <> ('tag_many', '')
             and v.hour >= open.start and v.hour < open.stop) as many on true
       order by level, start desc`,
    values: [limit],
  });
  return rows;
}

/** Removes what was summed of a span. */
export async function dropSpan(db: Db, { org_id, environment, level, start }: OpenSpan): Promise<void> {
  await db.query({
    name: 'analytics.drop_span',
    text: `
      with unmarked as (
        delete from usage_spanned where org_id = $1 and environment = $2 and level = $3 and start = $4)
      delete from usage_span where org_id = $1 and environment = $2 and level = $3 and start = $4`,
    values: [org_id, environment, level, start],
  });
}

/**
 * Sums a span by one kind of value, of the longest shorter spans that are kept, else of rows, and keeps it if that is a quarter less to
 * read than these. Calls without a value are not in it. Sums are stored in the order in which they are read: otherwise a question reads a
 * page of the table for each of them.
 */
export async function sumSpan(
  db: Db,
  { org_id, environment, level, start, stop }: OpenSpan,
  { kind, name }: { readonly kind: string; readonly name: string },
): Promise<void> {
  await db.query({
    name: 'analytics.sum_span',
    text: `
      with shorter as (
        select level, start, start + usage_span_length(level) as stop from usage_spanned
         where org_id = $1 and environment = $2 and level < $3::smallint and start >= $4 and start < $5
           and kind = $6 and name = $7),
      part as (
        select * from shorter as s
         where not exists (select from shorter as b where b.level > s.level and b.start <= s.start and b.stop > s.start)),
      piece as (
        select at from generate_series($4::timestamptz, $5::timestamptz - interval '1 hour', interval '6 hours', 'UTC') as at
         where not exists (select from part where at >= start and at < stop)),
      said as (
        select value, ${FIGURES}
          from part join usage_span as s using (level, start)
         where s.org_id = $1 and s.environment = $2 and s.kind = $6 and s.name = $7
        union all
        select call.* from piece cross join lateral (
          select case $6 when 'user' then user_hash when 'session' then session_id else coalesce(tags ->> $7, '') end as value,
                 1, (status = 'ok')::int, (status in ('error', 'rejected'))::int, input_tokens, output_tokens,
                 cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_micro
            from request_row
           where org_id = $1 and environment = $2 and ts >= piece.at and ts < piece.at + interval '6 hours' offset 0) as call
         where call.value <> ''),
      summed as materialized (select value, ${AGAIN}, count(*) as parts from said group by value),
      made as (
        insert into usage_span (org_id, environment, kind, name, level, start, value, ${FIGURES})
        select $1, $2, $6, $7, $3, $4, value, ${FIGURES} from summed
         where (select 4 * count(*) <= 3 * sum(parts) from summed)
         order by value
        returning 1)
      insert into usage_spanned (org_id, environment, level, start, kind, name)
      select $1, $2, $3, $4, $6, $7 where exists (select from made)`,
    values: [org_id, environment, level, start, stop, kind, name],
  });
}

/** Notes that spans are made. */
export async function markSpanned(db: Db, spans: readonly OpenSpan[]): Promise<void> {
  await db.query({
    name: 'analytics.mark_spanned',
    text: `
      delete from usage_unspanned
       where (org_id, environment, level, start) in (
         select * from unnest($1::text[], $2::text[], $3::smallint[], $4::timestamptz[]))`,
    values: [
      ...[spans.map(({ org_id }) => org_id), spans.map(({ environment }) => environment)],
      ...[spans.map(({ level }) => level), spans.map(({ start }) => start)],
    ],
  });
}

/** Removes spans with an hour before `before`, whose rows are gone; how many sums. */
export async function dropOldSpans(db: Db, before: Date): Promise<number> {
  const { rowCount } = await db.query({
    name: 'analytics.drop_old_spans',
    text: `
      with unmarked as (delete from usage_spanned where start < $1),
           unnoted as (delete from usage_unspanned where start < $1)
      delete from usage_span where start < $1`,
    values: [before],
  });
  return rowCount;
}
