// SQL of the sums of several organizations together.
import type { Db, Id } from '../../kernel/index.ts';
import type { UsageSum } from './sums-store.ts';

const OF_ROW = `
    select ts, org_id, model, 1, (status = 'ok')::int, (status in ('error', 'rejected'))::int, input_tokens, output_tokens,
           cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_micro
      from request_row
     where org_id = any ($1) and environment = 'live' and ts >= $2 and ts < $3`;

/** Whole hours before the seal are read from their sums, all others from rows. Buckets begin with an hour. */
const TEXT = `
  with edge as (
    select date_trunc('hour', $2::timestamptz + interval '1 hour - 1 microsecond', 'UTC') as first,
           least(coalesce((select until from usage_seal), '-infinity'), date_trunc('hour', $3::timestamptz, 'UTC')) as until),
  counted as (
    select hour as ts, org_id, model, requests, ok, errors, input_tokens, output_tokens, cache_read_tokens,
           cache_write_tokens, reasoning_tokens, cost_micro
      from usage_hour
     where org_id = any ($1) and environment = 'live'
       and hour >= (select first from edge) and hour < (select until from edge)
    union all ${OF_ROW} and ts >= (select greatest(first, until) from edge)
    union all ${OF_ROW} and ts < (select first from edge))
  select ($4::timestamptz[])[width_bucket(ts, $4::timestamptz[])] as bucket,
         case $5::text when 'org' then org_id when 'model' then model else '' end as key,
         sum(requests)::bigint as requests, sum(ok)::bigint as ok, sum(errors)::bigint as errors,
         sum(input_tokens)::bigint as input_tokens, sum(output_tokens)::bigint as output_tokens,
         sum(cache_read_tokens)::bigint as cache_read_tokens, sum(cache_write_tokens)::bigint as cache_write_tokens,
         sum(reasoning_tokens)::bigint as reasoning_tokens, sum(cost_micro)::bigint as cost_micro
    from counted
   group by 1, 2`;

/** Sums of the live calls of several organizations; buckets begin with an hour of UTC. */
export async function sumOrgs(
  db: Db,
  args: { readonly org_ids: readonly Id<'org'>[]; readonly from: Date; readonly to: Date },
  by: { readonly starts: readonly number[]; readonly group: 'org' | 'model' | null },
): Promise<UsageSum[]> {
  const starts = by.starts.map((at) => new Date(at));
  const { rows } = await db.query<UsageSum>({
    name: 'analytics.sum_orgs',
    text: TEXT,
    values: [args.org_ids, args.from, args.to, starts, by.group],
  });
  return rows;
}
