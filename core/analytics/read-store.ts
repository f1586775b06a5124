// SQL of many rows at once: details for one answer, arrivals for the tail, sums for usage.
import { type Db, type Environment, type Id, ulidMs } from '../kernel/index.ts';
import { ROW_COLUMNS } from './store.ts';
import type { StoredAttempt, StoredRow } from './types.ts';

/** The rows of `request_ids` that `org_id` has; `environment` null sees both. Ids of other organisations are missing. */
export async function findRows(
  db: Db,
  args: { org_id: Id<'org'>; environment: Environment | null; request_ids: readonly string[] },
): Promise<StoredRow[]> {
  const { rows } = await db.query<StoredRow>({
    name: 'analytics.find_rows',
    text: `
      select ${ROW_COLUMNS}, replays from request_row
       where request_id = any ($1) and ts = any ($2) and org_id = $3
         and ($4::text is null or environment = $4)`,
    values: [
      args.request_ids,
      args.request_ids.map((id) => new Date(ulidMs(id))),
      args.org_id,
      args.environment,
    ],
  });
  return rows;
}

/** The attempts of calls whose rows the caller has found, by call and in order. */
export async function listAttemptsOf(
  db: Db,
  request_ids: readonly string[],
): Promise<(StoredAttempt & { readonly request_id: string })[]> {
  const { rows } = await db.query<StoredAttempt & { request_id: string }>({
    name: 'analytics.list_attempts_of',
    text: `
      select request_id, attempt, ts, provider, endpoint_id, pool_id, key_hint, outcome, http_status, error_class,
             ttft_ms, duration_ms, output_tokens
        from request_attempt where request_id = any ($1) and call_ts = any ($2) order by request_id, attempt`,
    values: [request_ids, request_ids.map((id) => new Date(ulidMs(id)))],
  });
  return rows;
}

/** The newest rows of calls begun at or after `since`, at most `limit`, newest first, without those in `known`. */
export async function listArrivals(
  db: Db,
  args: {
    org_id: Id<'org'>;
    environment: Environment;
    since: Date;
    known: readonly string[];
    limit: number;
  },
): Promise<StoredRow[]> {
  const { rows } = await db.query<StoredRow>({
    name: 'analytics.list_arrivals',
    text: `
      select ${ROW_COLUMNS}, replays from request_row
       where org_id = $1 and environment = $2 and ts >= $3 and not request_id = any ($4)
       order by ts desc, request_id desc
       limit $5`,
    values: [args.org_id, args.environment, args.since, args.known, args.limit],
  });
  return rows;
}

export interface UsageFilter {
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

export interface UsageSum {
  /** Start of the bucket. */
  readonly bucket: Date;
  readonly key: string;
  readonly requests: number;
  readonly ok: number;
  readonly errors: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly reasoning_tokens: number;
  readonly cost_micro: number;
}

/**
 * Sums per bucket (`hour`, `day`, or `all` for one) and value of `group` ("" everywhere where it is null), in no
 * order. `tag` names the tag of group `tag`.
 */
export async function sumUsage(
  db: Db,
  filter: UsageFilter,
  by: { unit: 'hour' | 'day' | 'all'; group: string | null; tag: string | null },
): Promise<UsageSum[]> {
  const { rows } = await db.query<UsageSum>({
    name: 'analytics.sum_usage',
    text: `
      select case when $9 = 'all' then $3::timestamptz else date_trunc($9, ts, 'UTC') end as bucket,
             case $10::text
               when 'project' then project_id
               when 'key' then key_id
               when 'model' then model
               when 'provider' then provider
               when 'byok' then byok::text
               when 'app' then app_id
               when 'tag' then coalesce(tags ->> $11::text, '')
               else '' end as key,
             count(*) as requests,
             count(*) filter (where status = 'ok') as ok,
             count(*) filter (where status in ('error', 'rejected')) as errors,
             sum(input_tokens)::bigint as input_tokens,
             sum(output_tokens)::bigint as output_tokens,
             sum(cache_read_tokens)::bigint as cache_read_tokens,
             sum(cache_write_tokens)::bigint as cache_write_tokens,
             sum(reasoning_tokens)::bigint as reasoning_tokens,
             sum(cost_micro)::bigint as cost_micro
        from request_row
       where org_id = $1 and environment = $2 and ts >= $3 and ts < $4
         and ($5::text is null or project_id = $5)
         and ($6::text is null or key_id = $6)
         and ($7::text is null or model = $7)
         and ($8::text is null or provider = $8)
       group by 1, 2`,
    values: [
      filter.org_id,
      filter.environment,
      filter.from,
      filter.to,
      filter.project_id,
      filter.key_id,
      filter.model,
      filter.provider,
      by.unit,
      by.group,
      by.tag,
    ],
  });
  return rows;
}
