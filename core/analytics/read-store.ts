// SQL of many rows at once: details for one answer, arrivals for the tail, sums for usage.
import { type Db, type Environment, type Id, type RequestId, ulidMs } from '../kernel/index.ts';
import { FILTERED, filterValues, ROW_COLUMNS, type RowFilter } from './store.ts';
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

/** A spool that was kept back for longer is not in a tail; its rows are in every list. */
const LATE_WITHIN = `interval '2 days'`;

/**
 * Rows that were stored in `(from, until]` and are not among `sent`, in the order in which they were; at most `limit`.
 * `filter` concerns calls, and `from` and `until` the clock of the database.
 */
export async function listStored(
  db: Db,
  args: {
    readonly org_id: Id<'org'>;
    readonly environment: Environment;
    readonly filter: RowFilter;
    readonly from: Date;
    readonly until: Date;
    readonly sent: readonly string[];
    readonly limit: number;
  },
): Promise<(StoredRow & { readonly stored_at: Date })[]> {
  const { rows } = await db.query<StoredRow & { stored_at: Date }>({
    name: 'analytics.list_stored',
    text: `
      select ${ROW_COLUMNS}, replays, stored_at
        from analytics_stored($1, $2, $20, $21, ${LATE_WITHIN})
       where true ${FILTERED}
         and not request_id = any ($22)
       order by stored_at, request_id
       limit $23`,
    values: [
      ...[args.org_id, args.environment, ...filterValues(args.filter)],
      ...[args.from, args.until, args.sent, args.limit],
    ],
  });
  return rows;
}

/** When a row of an organization became readable; of one from before that was kept, when its call began. Null: there is none. */
export async function findArrival(
  db: Db,
  args: { org_id: Id<'org'>; environment: Environment; request_id: RequestId },
): Promise<Date | null> {
  const { rows } = await db.query<{ stored_at: Date }>({
    name: 'analytics.find_arrival',
    text: `
      select coalesce(stored_at, ts) as stored_at from request_row
       where request_id = $1 and ts = $2 and org_id = $3 and environment = $4`,
    values: [args.request_id, new Date(ulidMs(args.request_id)), args.org_id, args.environment],
  });
  return rows[0]?.stored_at ?? null;
}

/**
 * Whole seconds after the end of its call at which a row of an organization that came in the last minute has come, at most;
 * 0 where none came. It counts rows of every process, of which each knows its own queue alone.
 */
export async function readArrivalLag(
  db: Db,
  args: { org_id: Id<'org'>; environment: Environment },
): Promise<number> {
  const { rows } = await db.query<{ lag_s: number }>({
    name: 'analytics.read_arrival_lag',
    text: `
      select coalesce(max(greatest(0, floor(extract(epoch from
               stored_at - ts - coalesce(duration_ms, 0) * interval '1 millisecond')))), 0)::int as lag_s
        from analytics_stored($1, $2, clock_timestamp() - interval '1 minute', clock_timestamp(), ${LATE_WITHIN})`,
    values: [args.org_id, args.environment],
  });
  return rows[0]?.lag_s ?? 0;
}

/** Which of these calls, of whatever organization, have a row that is not the sweeper's. */
export async function findKnown(db: Db, request_ids: readonly RequestId[]): Promise<Set<RequestId>> {
  const { rows } = await db.query<{ request_id: RequestId }>({
    name: 'analytics.find_known',
    text: `
      select r.request_id
        from unnest($1::text[], $2::timestamptz[]) as c (request_id, ts)
        join request_row r on r.request_id = c.request_id and r.ts = c.ts
       where not exists (select from request_attempt a
                          where a.request_id = r.request_id and a.call_ts = r.ts and a.attempt = 1
                            and a.error_class = 'gateway_lost')`,
    values: [request_ids, request_ids.map((id) => new Date(ulidMs(id)))],
  });
  return new Set(rows.map(({ request_id }) => request_id));
}

/** Summarises the newest blocks of rows for `listStored`; returns how many ranges. A job. */
export async function summariseArrivals(db: Db): Promise<number> {
  const { rows } = await db.query<{ made: number }>({
    name: 'analytics.summarise',
    text: 'select analytics_summarise() as made',
  });
  return rows[0]?.made ?? 0;
}

/** The clock of the database, by which rows are stored. */
export async function readClock(db: Db): Promise<Date> {
  const { rows } = await db.query<{ now: Date }>({
    name: 'analytics.read_clock',
    text: 'select clock_timestamp() as now',
  });
  return rows[0]?.now as Date;
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
