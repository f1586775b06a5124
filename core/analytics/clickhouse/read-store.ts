// Reading rows from ClickHouse. `final` reads each call once, however often it was stored; conditions on the day and on the
// organization keep what it looks at small.
import { type Environment, type Id, nowMs, type RequestId, ulidMs } from '../../kernel/index.ts';
import type { ListedRow } from '../engine/types.ts';
import type { Answered } from '../read-store.ts';
import type { RowFilter } from '../store.ts';
import type { SubjectCall } from '../subjects/store.ts';
import type { StoredAttempt, StoredRow } from '../types.ts';
import type { ClickHouse } from './client.ts';
import { at, filtered } from './filter-store.ts';
import { RANKS, ROW_TYPES } from './tables-store.ts';

const COLUMNS = [...Object.keys(ROW_TYPES), 'toUnixTimestamp64Milli(ts) as ts_ms'].join(', ');

type Read = Omit<StoredRow, 'ts' | 'route_trace' | 'warnings' | 'replays'> & {
  readonly ts_ms: number;
  readonly route_trace: string;
  readonly warnings: string;
};

function rowOf<R extends Read>({ ts_ms, route_trace, warnings, ...row }: R): ListedRow {
  return {
    ...row,
    ts: new Date(ts_ms),
    route_trace: route_trace === '' ? null : JSON.parse(route_trace),
    warnings: JSON.parse(warnings),
  };
}

/** The environment, or both, so that the order of the table is used in either case. */
const SIGHT = `environment in if({environment:Nullable(String)} is null, ['live', 'test'], [ifNull({environment:Nullable(String)}, '')])`;
const WITHIN = `ts >= ${at('first')} and ts <= ${at('last')} and request_id in {ids:Array(String)}`;

/** The calls of `ids` and when the first and the last of them began. */
export function callsOf(ids: readonly string[]) {
  const times = ids.map(ulidMs);
  return { ids, first: Math.min(...times), last: Math.max(...times) };
}

interface Sight {
  readonly org_id: Id<'org'>;
  readonly environment: Environment | null;
}

/** The rows of calls that an organization has. */
export async function findRows(
  db: ClickHouse,
  { org_id, environment, request_ids }: Sight & { readonly request_ids: readonly string[] },
): Promise<StoredRow[]> {
  if (request_ids.length === 0) return [];
  const calls = callsOf(request_ids);
  const [rows, counts] = await Promise.all([
    db.query<Read & { base: number }>({
      name: 'analytics.find_rows',
      text: `
        select ${COLUMNS}, replays as base from request_row final
         where org_id = {org_id:String} and ${SIGHT} and ${WITHIN}`,
      values: { org_id, environment, ...calls },
    }),
    db.query<{ request_id: string; times: number }>({
      name: 'analytics.find_replays',
      text: `
        select request_id, sum(times) as times from request_replay
         where request_id in {ids:Array(String)} group by request_id`,
      values: { ids: request_ids },
    }),
  ]);
  const times = new Map(counts.map((one) => [one.request_id, one.times]));
  return rows.map(({ base, ...row }) => ({
    ...rowOf(row as Read),
    replays: base + (times.get(row.request_id) ?? 0),
  }));
}

type ReadAttempt = Omit<StoredAttempt, 'ts'> & { readonly request_id: string; readonly ts_ms: number };

/** The attempts of calls whose rows the caller has found. */
export async function listAttemptsOf(
  db: ClickHouse,
  request_ids: readonly string[],
): Promise<(StoredAttempt & { readonly request_id: string })[]> {
  if (request_ids.length === 0) return [];
  const rows = await db.query<ReadAttempt>({
    name: 'analytics.list_attempts_of',
    text: `
      select request_id, attempt, toUnixTimestamp64Milli(ts) as ts_ms, provider, endpoint_id, pool_id, key_hint, outcome,
             http_status, error_class, ttft_ms, duration_ms, output_tokens
        from request_attempt final
       where call_ts >= ${at('first')} and call_ts <= ${at('last')} and request_id in {ids:Array(String)}
       order by request_id, attempt`,
    values: callsOf(request_ids),
  });
  return rows.map(({ ts_ms, ...row }) => ({ ...row, ts: new Date(ts_ms) }));
}

/** A copy begins when its call has ended, which takes some minutes at most. */
const COPY_WITHIN_MS = 3_600_000;

/** The copies that shadows got, by the call that was copied. */
export async function listCopies(
  db: ClickHouse,
  { org_id, environment, request_ids }: Sight & { readonly request_ids: readonly string[] },
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (request_ids.length === 0) return new Map();
  const { ids, first, last } = callsOf(request_ids);
  const rows = await db.query<{ call: string; request_id: string }>({
    name: 'analytics.list_copies',
    text: `
      select tags['shadow_of'] as call, request_id from request_row final
       where org_id = {org_id:String} and ${SIGHT} and ts >= ${at('first')} and ts < ${at('last')}
         and tags['shadow_of'] in {ids:Array(String)}
       order by ts, request_id`,
    values: { org_id, environment, ids, first, last: last + COPY_WITHIN_MS },
  });
  return new Map(
    [...Map.groupBy(rows, ({ call }) => call)].map(([call, of]) => [call, of.map((row) => row.request_id)]),
  );
}

interface Place {
  readonly org_id: Id<'org'>;
  readonly environment: Environment;
}
const PLACE = 'org_id = {org_id:String} and environment = {environment:String}';

const HOUR_MS = 3_600_000;
/** How far back a page looks, step by step; the last step is as long as rows are kept, and longer. */
const PAGE_HOURS = [1, 24, 8 * 24, 500 * 24] as const;

/** A page of rows, newest first, strictly after `after`. */
export async function listRows(
  db: ClickHouse,
  args: Place & {
    readonly filter: RowFilter;
    readonly after: { readonly at: number; readonly id: string } | null;
    readonly limit: number;
  },
): Promise<ListedRow[]> {
  let found: ListedRow[] = [];
  const newest = Math.min(
    args.after?.at ?? nowMs() + HOUR_MS,
    args.filter.until?.getTime() ?? nowMs() + HOUR_MS,
  );
  // All rows of a range are read before the newest of them are known, so the range grows until there are enough.
  for (const hours of PAGE_HOURS) {
    const least_ms = newest - hours * HOUR_MS;
    found = await pageSince(db, args, new Date(Math.max(0, least_ms)));
    if (found.length >= args.limit || least_ms <= (args.filter.since?.getTime() ?? 0)) break;
  }
  return found;
}

async function pageSince(
  db: ClickHouse,
  args: Parameters<typeof listRows>[1],
  least: Date,
): Promise<ListedRow[]> {
  const { org_id, environment, after, limit } = args;
  const { text, values } = filtered(args.filter);
  const later =
    after === null
      ? ''
      : ` and ts <= ${at('after')} and (ts < ${at('after')} or request_id < {after_id:String})`;
  const rows = await db.query<Read>({
    name: 'analytics.list_rows',
    text: `
      select ${COLUMNS} from request_row final where ${PLACE} and ts >= ${at('oldest')}${text}${later}
       order by ts desc, request_id desc limit {limit:UInt32}`,
    values: {
      ...{ org_id, environment, limit, ...values, oldest: least.getTime() },
      ...(after === null ? {} : { after: after.at, after_id: after.id }),
    },
  });
  return rows.map(rowOf);
}

/** The newest rows of calls begun at or after `since` that are not `known`. */
export async function listArrivals(
  db: ClickHouse,
  args: Place & { readonly since: Date; readonly known: readonly string[]; readonly limit: number },
): Promise<ListedRow[]> {
  const { org_id, environment, since, known, limit } = args;
  const rows = await db.query<Read>({
    name: 'analytics.list_arrivals',
    text: `
      select ${COLUMNS} from request_row final
       where ${PLACE} and ts >= ${at('since')} and request_id not in {known:Array(String)}
       order by ts desc, request_id desc limit {limit:UInt32}`,
    values: { org_id, environment, since: since.getTime(), known: known.length === 0 ? [''] : known, limit },
  });
  return rows.map(rowOf);
}

/** A spool that was kept back for longer is not in a tail; its rows are in every list. */
const LATE_WITHIN_MS = 2 * 86_400_000;

/** Rows stored in `(from, until]` and not `sent`, in the order in which they were. */
export async function listStored(
  db: ClickHouse,
  args: Place & {
    readonly filter: RowFilter;
    readonly from: Date;
    readonly until: Date;
    readonly sent: readonly string[];
    readonly limit: number;
  },
): Promise<(ListedRow & { readonly stored_at: Date })[]> {
  const { org_id, environment, sent, limit } = args;
  const { text, values } = filtered(args.filter);
  const arrived = `stored_at > ${at('from')} and stored_at <= ${at('until')}`;
  const rows = await db.query<Read & { stored_ms: number }>({
    name: 'analytics.list_stored',
    // Inside, an index finds what was stored then; outside, \`final\` says of those which are rows.
    text: `
      select ${COLUMNS}, toUnixTimestamp64Milli(stored_at) as stored_ms from request_row final
       where ${PLACE} and ts >= ${at('earliest')} and (ts, request_id) in (
               select ts, request_id from request_row
                where ${PLACE} and ts >= ${at('earliest')} and ${arrived})
         and ${arrived}${text} and request_id not in {sent:Array(String)}
       order by stored_at, request_id limit {limit:UInt32}`,
    values: {
      ...{ org_id, environment, limit, ...values, sent: sent.length === 0 ? [''] : sent },
      ...{ from: args.from.getTime(), until: args.until.getTime() },
      earliest: args.from.getTime() - LATE_WITHIN_MS,
    },
  });
  return rows.map(({ stored_ms, ...row }) => ({
    ...rowOf(row as Read),
    stored_at: new Date(stored_ms),
  }));
}

/** When a row was stored first; null: there is none. */
export async function findArrival(
  db: ClickHouse,
  { org_id, environment, request_id }: Place & { readonly request_id: RequestId },
): Promise<Date | null> {
  const [row] = await db.query<{ stored_ms: number }>({
    name: 'analytics.find_arrival',
    text: `
      select toUnixTimestamp64Milli(stored_at) as stored_ms from request_row final
       where ${PLACE} and ts = ${at('ts')} and request_id = {request_id:String}`,
    values: { org_id, environment, request_id, ts: ulidMs(request_id) },
  });
  return row === undefined ? null : new Date(row.stored_ms);
}

/** For how many whole seconds the rows that came in the last minute had waited. */
export async function readArrivalLag(db: ClickHouse, { org_id, environment }: Place): Promise<number> {
  const [row] = await db.query<{ lag_s: number }>({
    name: 'analytics.read_arrival_lag',
    text: `
      select max(greatest(0, intDiv(toUnixTimestamp64Milli(stored_at) - toUnixTimestamp64Milli(ts)
                                    - toInt64(ifNull(duration_ms, 0)), 1000))) as lag_s
        from request_row
       where ${PLACE} and ts >= now64(3) - toIntervalMillisecond({late:Int64}) and stored_at > now64(6) - 60`,
    values: { org_id, environment, late: LATE_WITHIN_MS },
  });
  return row?.lag_s ?? 0;
}

/** Which of these calls have a row that is not the sweeper's. */
export async function findKnown(db: ClickHouse, request_ids: readonly RequestId[]): Promise<Set<RequestId>> {
  const rows = await db.query<{ request_id: RequestId }>({
    name: 'analytics.find_known',
    // Without `final`: it is enough that one was stored.
    text: `select distinct request_id from request_row where ${WITHIN} and rank >= ${RANKS.rebuilt}`,
    values: callsOf(request_ids),
  });
  return new Set(rows.map(({ request_id }) => request_id));
}

/** The clock by which rows are stored. */
export async function readClock(db: ClickHouse): Promise<Date> {
  const [row] = await db.query<{ ms: number }>({
    name: 'analytics.read_clock',
    text: 'select toUnixTimestamp64Milli(now64(3)) as ms',
  });
  return new Date(row?.ms ?? 0);
}

/** The newest calls in `[from, to)` that an endpoint of the pool answered, and how many there are. */
export async function listAnswered(
  db: ClickHouse,
  args: Place & {
    readonly project_id: string | null;
    readonly without: readonly string[];
    readonly from: Date;
    readonly to: Date;
    readonly limit: number;
  },
): Promise<{ readonly rows: readonly Answered[]; readonly total: number }> {
  const { org_id, environment, project_id, without, limit } = args;
  const rows = await db.query<Omit<Answered, 'ts'> & { ts_ms: number; total: number }>({
    name: 'analytics.list_answered',
    text: `
      select request_id, toUnixTimestamp64Milli(ts) as ts_ms, project_id, key_id, model, dialect_in, stream, has_images,
             has_tools, has_schema, app_id, tags, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
             reasoning_tokens, count() over () as total
        from request_row final
       where ${PLACE} and ts >= ${at('from')} and ts < ${at('to')}
         and status in ('ok', 'cancelled') and endpoint_id <> '' and not byok
         and ({project_id:Nullable(String)} is null or project_id = {project_id:Nullable(String)})
         and project_id not in {without:Array(String)}
       order by ts desc, request_id desc limit {limit:UInt32}`,
    values: {
      ...{ org_id, environment, project_id, without: without.length === 0 ? ['-'] : without, limit },
      ...{ from: args.from.getTime(), to: args.to.getTime() },
    },
  });
  return {
    rows: rows.map(({ ts_ms, total: _, ...row }) => ({ ...row, ts: new Date(ts_ms) })),
    total: rows[0]?.total ?? 0,
  };
}

type Subject = { readonly org_id: Id<'org'>; readonly subject_hash: string };

/**
 * Calls that some stored row links to the subject; `final` says which of them still are. Times alone lead to them: with their ids too,
 * these were read of all rows around and it took half as long again.
 */
const LINKED = `
  org_id = {org_id:String} and environment in ('live', 'test') and ts in (
    select ts from request_row
     where org_id = {org_id:String} and environment in ('live', 'test') and user_hash = {hash:String})
  and user_hash = {hash:String} and user_hash <> ''`;

/** A page of the calls of an end user, newest first, strictly after `after`. */
export async function pageSubjectCalls(
  db: ClickHouse,
  args: Subject & { readonly after: SubjectCall | null; readonly limit: number },
): Promise<SubjectCall[]> {
  const { org_id, subject_hash: hash, after, limit } = args;
  const later =
    after === null ? '' : ` and (ts < ${at('after')} or ts = ${at('after')} and request_id < {id:String})`;
  const rows = await db.query<Omit<SubjectCall, 'ts'> & { ts_ms: number }>({
    name: 'analytics.page_subject_calls',
    text: `
      select request_id, toUnixTimestamp64Milli(ts) as ts_ms, model, input_tokens + output_tokens as tokens, cost_micro,
             logged
        from request_row final where ${LINKED}${later}
       order by ts desc, request_id desc limit {limit:UInt32}`,
    values: {
      ...{ org_id, hash, limit },
      ...(after === null ? {} : { after: after.ts.getTime(), id: after.request_id }),
    },
  });
  return rows.map(({ ts_ms, ...row }) => ({ ...row, ts: new Date(ts_ms) }));
}

/** At most `limit` calls of a subject that began until `until`. */
export function listSubjectCalls(
  db: ClickHouse,
  { org_id, subject_hash: hash, until, limit }: Subject & { readonly until: Date; readonly limit: number },
): Promise<Pick<SubjectCall, 'request_id' | 'logged'>[]> {
  return db.query<Pick<SubjectCall, 'request_id' | 'logged'>>({
    name: 'analytics.list_subject_calls',
    text: `
      select request_id, logged from request_row final where ${LINKED} and ts <= ${at('until')}
       order by ts desc, request_id desc limit {limit:UInt32}`,
    values: { org_id, hash, until: until.getTime(), limit },
  });
}
