// SQL of many rows at once: details for one answer, arrivals for the tail, sums for usage.
import { type Db, type Environment, type Id, type RequestId, ulidMs } from '../kernel/index.ts';
import { ROW_COLUMNS } from './store.ts';
import type { StoredAttempt, StoredRow } from './types.ts';

/** The rows of `request_ids` that `org_id` has; `environment` null sees both. Ids of other organizations are missing. */
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

/** A copy begins when its call has ended, which takes some minutes at most. */
const COPY_WITHIN = `interval '1 hour'`;

/** The copies of calls that shadows got, by the call; first come first. `environment` null sees both. */
export async function listCopies(
  db: Db,
  of: { org_id: Id<'org'>; environment: Environment | null; request_ids: readonly string[] },
): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await db.query<{ call: string; copies: string[] }>({
    name: 'analytics.list_copies',
    text: `
      select tags->>'shadow_of' as call, array_agg(request_id order by ts, request_id) as copies
        from request_row
       where org_id = $1 and tags ? 'shadow_of' and tags->>'shadow_of' = any ($2)
         and ts >= $3 and ts < $4::timestamptz + ${COPY_WITHIN}
         and ($5::text is null or environment = $5)
       group by 1`,
    values: [of.org_id, of.request_ids, ...rangeOf(of.request_ids), of.environment],
  });
  return new Map(rows.map(({ call, copies }) => [call, copies]));
}

/** When the first and the last of the calls began. */
function rangeOf(request_ids: readonly string[]): [Date, Date] {
  const times = request_ids.map(ulidMs);
  return [new Date(Math.min(...times)), new Date(Math.max(...times))];
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

/** Of a call that was answered, what a route is chosen by and what it used. */
export interface Answered {
  readonly request_id: RequestId;
  readonly ts: Date;
  readonly project_id: string;
  readonly key_id: string;
  readonly model: string;
  readonly dialect_in: string;
  readonly stream: boolean;
  readonly has_images: boolean;
  readonly has_tools: boolean;
  readonly has_schema: boolean;
  readonly app_id: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly reasoning_tokens: number;
}

/**
 * The newest `limit` calls in `[from, to)` that an endpoint of the pool answered, newest first, and how many there are.
 * `project_id` null: those of every project but `without`.
 */
export async function listAnswered(
  db: Db,
  args: {
    readonly org_id: Id<'org'>;
    readonly environment: Environment;
    readonly project_id: string | null;
    readonly without: readonly string[];
    readonly from: Date;
    readonly to: Date;
    readonly limit: number;
  },
): Promise<{ readonly rows: readonly Answered[]; readonly total: number }> {
  const { rows } = await db.query<Answered & { total: number }>({
    name: 'analytics.list_answered',
    text: `
      select request_id, ts, project_id, key_id, model, dialect_in, stream, has_images, has_tools, has_schema,
             app_id, tags, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens,
             count(*) over ()::bigint as total
        from request_row
       where org_id = $1 and environment = $2 and ts >= $5 and ts < $6
         and status in ('ok', 'cancelled') and endpoint_id <> '' and not byok
         and ($3::text is null or project_id = $3) and not project_id = any ($4)
       order by ts desc, request_id desc
       limit $7`,
    values: [
      ...[args.org_id, args.environment, args.project_id, args.without, args.from, args.to],
      args.limit,
    ],
  });
  return { rows, total: rows[0]?.total ?? 0 };
}
