// Writing rows to ClickHouse.
import { type Id, type RequestId, sha256, ulidMs } from '../../kernel/index.ts';
import type { RowSink } from '../engine/types.ts';
import type { AttemptRow, RequestRow } from '../types.ts';
import { type ClickHouse, isRowFault } from './client.ts';
import { prepareTables, RANKS, ROW_TYPES } from './tables-store.ts';
import { openDays } from './values-store.ts';

/** A row, and what only a row that is copied from another engine brings with it. */
export type CopiedRow = RequestRow & { readonly stored_at?: Date; readonly replays?: number };

const COLUMNS = Object.keys(ROW_TYPES) as (keyof typeof ROW_TYPES)[];

/** As PostgreSQL keeps text: without U+0000, and half of a surrogate pair as U+FFFD. */
function text(value: string): string {
  return value.replaceAll('\0', '').toWellFormed();
}

function json(value: unknown): string {
  return value === null
    ? ''
    : text(JSON.stringify(value, (_, one) => (typeof one === 'string' ? text(one) : one)));
}

function timeOf(ms: number): string {
  return new Date(Math.floor(ms)).toISOString().slice(0, 23).replace('T', ' ');
}

/** By who wrote the row: the sweeper, for a call whose process seemed to be dead; the job that rebuilds; or the call itself. */
function rankOf(attempt: Pick<AttemptRow, 'error_class'> | undefined): number {
  if (attempt?.error_class === 'gateway_lost') return RANKS.lost;
  return attempt?.error_class === 'rebuilt' ? RANKS.rebuilt : RANKS.ended;
}

function cellOf(row: CopiedRow, column: (typeof COLUMNS)[number]): unknown {
  if (column === 'route_trace' || column === 'warnings') return json(row[column]);
  if (column === 'tags')
    return Object.fromEntries(Object.entries(row.tags).map(([name, value]) => [text(name), text(value)]));
  const value = row[column];
  return typeof value === 'string' ? text(value) : value;
}

function rowValues(row: CopiedRow): object {
  return {
    ...Object.fromEntries(COLUMNS.map((column) => [column, cellOf(row, column)])),
    ts: timeOf(ulidMs(row.request_id)),
    rank: rankOf(row.attempt_rows[0]),
    ...(row.replays === undefined ? {} : { replays: row.replays }),
    ...(row.stored_at === undefined ? {} : { stored_at: timeOf(row.stored_at.getTime()) }),
  };
}

function attemptValues(row: RequestRow, { ts_ms, ...attempt }: AttemptRow): object {
  const { request_id, org_id, environment } = row;
  return {
    ...{
      request_id,
      org_id,
      environment,
      call_ts: timeOf(ulidMs(request_id)),
      ts: timeOf(ts_ms),
      ...attempt,
    },
    rank: rankOf(attempt),
  };
}

/** Two batches with the same rows have the same token; rows of a call with other ranks are not the same. */
function tokenOf(batch: readonly RequestRow[]): string {
  const ids = batch.map((row) => `${row.request_id}${rankOf(row.attempt_rows[0])}`);
  return sha256(ids.join('')).toString('hex');
}

/**
 * Stores rows with their attempts, these first, so that who finds a row finds them. `repeats` false: the batch is stored even if the
 * same one was stored lately and has gone since (a copy that is made again).
 */
export async function writeRows(
  db: ClickHouse,
  batch: readonly CopiedRow[],
  { repeats = true }: { repeats?: boolean } = {},
): Promise<void> {
  const token = repeats ? tokenOf(batch) : null;
  const attempts = batch.flatMap((row) => row.attempt_rows.map((attempt) => attemptValues(row, attempt)));
  await db.insert({ table: 'request_attempt', values: attempts, token });
  await db.insert({ table: 'request_row', values: batch.map(rowValues), token });
}

async function addReplays(
  db: ClickHouse,
  counts: readonly { readonly request_id: RequestId; readonly times: number }[],
): Promise<RequestId[]> {
  const ids = counts.map(({ request_id }) => request_id);
  const found = await db.query<{ request_id: RequestId }>({
    name: 'analytics.find_replayed',
    text: `
      select distinct request_id from request_row
       where request_id in {ids:Array(String)} and toUnixTimestamp64Milli(ts) in {times:Array(Int64)}
         and ts >= fromUnixTimestamp64Milli({first:Int64}, 'UTC') and ts <= fromUnixTimestamp64Milli({last:Int64}, 'UTC')`,
    values: {
      ids,
      times: ids.map(ulidMs),
      first: Math.min(...ids.map(ulidMs)),
      last: Math.max(...ids.map(ulidMs)),
    },
  });
  const there = new Set(found.map(({ request_id }) => request_id));
  const values = counts
    .filter(({ request_id }) => there.has(request_id))
    .map(({ request_id, times }) => ({ call_ts: timeOf(ulidMs(request_id)), request_id, times }));
  await db.insert({ table: 'request_replay', values, token: null });
  return [...there];
}

/** Writes to `db`, whose tables are made before the first row. */
export function clickHouseSink(db: ClickHouse): RowSink {
  let prepared = false;
  return {
    engine: 'clickhouse',
    async insert(batch) {
      if (!prepared) await prepareTables(db);
      prepared = true;
      await writeRows(db, batch);
    },
    addReplays: (counts) => addReplays(db, counts),
    // Whatever is not the fault of a row may pass: rows wait in the spool, and none is lost.
    isAway: (error) => !isRowFault(error),
  };
}

/** Takes hash, session and tags out of rows of an organization: each is written anew, and takes the place of the one before. */
export async function unlinkRows(
  db: ClickHouse,
  { org_id, request_ids }: { org_id: Id<'org'>; request_ids: readonly string[] },
): Promise<void> {
  if (request_ids.length === 0) return;
  const columns = [...COLUMNS, 'ts', 'replays', 'stored_at'];
  const read = columns.map((column) => {
    if (column === 'user_hash' || column === 'session_id') return `''`;
    return column === 'tags' ? `cast(map(), 'Map(LowCardinality(String), String)')` : column;
  });
  const times = request_ids.map(ulidMs);
  await openDays(db, { org_id, request_ids });
  await db.run({
    name: 'analytics.unlink',
    text: `
      insert into request_row (${columns.join(', ')}, rank)
      select ${read.join(', ')}, rank + 1 from request_row final
       where org_id = {org_id:String} and environment in ('live', 'test')
         and ts >= fromUnixTimestamp64Milli({first:Int64}, 'UTC') and ts <= fromUnixTimestamp64Milli({last:Int64}, 'UTC')
         and request_id in {ids:Array(String)} and rank in (${Object.values(RANKS).join(', ')})`,
    values: { org_id, ids: request_ids, first: Math.min(...times), last: Math.max(...times) },
  });
}

/** Deletes rows, attempts and sums of an organization; a mask is written, and merges leave them out. */
export async function eraseOrgRows(db: ClickHouse, org_id: Id<'org'>): Promise<void> {
  for (const table of ['request_row', 'request_attempt', 'usage_hour', 'usage_value', 'usage_value_seal'])
    await db.run({
      name: 'analytics.erase_org',
      text: `delete from ${table} where org_id = {org_id:String}`,
      values: { org_id },
    });
}
