// SQL of erasures of organizations. What deletes rows counts them in the transaction of the caller.
import type { OrgDay } from '../analytics/index.ts';
import type { Db, Id } from '../kernel/index.ts';
import type { OrgErasure, RowCounts } from './types.ts';

type OrgId = Id<'org'>;
const COLUMNS = `
  org_id, status, refund_requested, requested_at, due_at, began_at, step, erased, kept, digest, completed_at`;

/** Writes down that an erasure was asked for; one that was cancelled begins anew. */
export async function putErasure(
  db: Db,
  asked: Pick<OrgErasure, 'org_id' | 'refund_requested' | 'requested_at' | 'due_at'>,
): Promise<void> {
  await db.query({
    name: 'org_erasure.put',
    text: `
      insert into org_erasure (org_id, status, refund_requested, requested_at, due_at) values ($1, 'asked', $2, $3, $4)
      on conflict (org_id) do update
         set status = 'asked', refund_requested = excluded.refund_requested, requested_at = excluded.requested_at,
             due_at = excluded.due_at`,
    values: [asked.org_id, asked.refund_requested, asked.requested_at, asked.due_at],
  });
}

/** The erasure of an organization; null when none was ever asked for. */
export async function findErasure(db: Db, org_id: string): Promise<OrgErasure | null> {
  const { rows } = await db.query<OrgErasure>({
    name: 'org_erasure.find',
    text: `select ${COLUMNS} from org_erasure where org_id = $1`,
    values: [org_id],
  });
  return rows[0] ?? null;
}

/** The same, held until the transaction ends: its batches take turns. */
export async function lockErasure(db: Db, org_id: OrgId): Promise<OrgErasure | null> {
  const { rows } = await db.query<OrgErasure>({
    name: 'org_erasure.lock',
    text: `select ${COLUMNS} from org_erasure where org_id = $1 for no key update`,
    values: [org_id],
  });
  return rows[0] ?? null;
}

/** Those that have not ended, the one due first at the top. */
export async function listOpenErasures(db: Db, limit: number): Promise<OrgErasure[]> {
  const { rows } = await db.query<OrgErasure>({
    name: 'org_erasure.list_open',
    text: `
      select ${COLUMNS} from org_erasure where status in ('asked', 'closing', 'running')
       order by due_at, org_id limit $1`,
    values: [limit],
  });
  return rows;
}

/** Moves an erasure, which is locked, to another status. */
export async function setStatus(
  db: Db,
  args: { org_id: OrgId; status: 'cancelled' | 'closing' | 'running'; began_at: Date | null },
): Promise<void> {
  await db.query({
    name: 'org_erasure.set_status',
    text: 'update org_erasure set status = $2, began_at = $3 where org_id = $1',
    values: [args.org_id, args.status, args.began_at],
  });
}

/** Shows the organization's people what is asked for; null: nothing is. */
export async function showErasure(
  db: Db,
  args: { org_id: OrgId; times: { requested_at: Date; due_at: Date } | null; at: Date },
): Promise<void> {
  await db.query({
    name: 'org_erasure.show',
    text: `
      update org set erasure_requested_at = $2, erasure_due_at = $3, updated_at = $4 where id = $1`,
    values: [args.org_id, args.times?.requested_at ?? null, args.times?.due_at ?? null, args.at],
  });
}

/** Notes what a batch of the step `table` has erased, and that the step has ended where nothing was left. */
export async function noteBatch(
  db: Db,
  args: { org_id: OrgId; table: string; rows: number; step: number },
): Promise<void> {
  await db.query({
    name: 'org_erasure.note_batch',
    text: `
      update org_erasure
         set step = $4, erased = erased || jsonb_build_object($2::text, coalesce((erased ->> $2)::bigint, 0) + $3)
       where org_id = $1`,
    values: [args.org_id, args.table, args.rows, args.step],
  });
}

/** Deletes at most `limit` rows of a table; the function of the database refuses what is not under erasure. */
export async function eraseRows(
  db: Db,
  args: { table: string; org_id: OrgId; limit: number },
): Promise<number> {
  const { rows } = await db.query<{ erased: number }>({
    name: 'org_erasure.erase_rows',
    text: 'select erase_org_rows($1, $2, $3)::int as erased',
    values: [args.table, args.org_id, args.limit],
  });
  return rows[0]?.erased ?? 0;
}

/** Deletes stored content, and returns how many payloads. */
export async function erasePayloadRows(db: Db, args: { org_id: OrgId; limit: number }): Promise<number> {
  const { rowCount } = await db.query({
    name: 'org_erasure.erase_payloads',
    text: `
      delete from request_payload where (request_id, ts) in (
        select request_id, ts from request_payload where org_id = $1 limit $2)`,
    values: [args.org_id, args.limit],
  });
  return rowCount;
}

/** Deletes rows of calls with their attempts, and returns how many calls. */
export async function eraseCalls(db: Db, args: { org_id: OrgId; limit: number }): Promise<number> {
  const { rowCount } = await db.query({
    name: 'org_erasure.erase_calls',
    text: `
      with calls as (select request_id, ts from request_row where org_id = $1 limit $2),
           attempts as (delete from request_attempt a using calls c
                         where a.request_id = c.request_id and a.call_ts = c.ts)
      delete from request_row r using calls c where r.request_id = c.request_id and r.ts = c.ts`,
    values: [args.org_id, args.limit],
  });
  return rowCount;
}

/** Puts the sums of the organization's first day left under `as`, a day each, without keys, projects and apps. */
export async function loosenUsage(db: Db, args: { org_id: OrgId; as: string }): Promise<number> {
  const { rows } = await db.query<{ loosened: number }>({
    name: 'org_erasure.loosen_usage',
    text: `
      with first as (select date_trunc('day', min(hour), 'UTC') as day from usage_hour where org_id = $1),
           gone as (delete from usage_hour u using first
                     where u.org_id = $1 and u.hour >= first.day and u.hour < first.day + interval '1 day'
                    returning u.*),
           summed as (
             insert into usage_hour
             select $2, environment, date_trunc('day', hour, 'UTC'), '', '', model, provider, byok, '', sum(requests),
                    sum(ok), sum(errors), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens),
                    sum(cache_write_tokens), sum(reasoning_tokens), sum(cost_micro)
               from gone group by 2, 3, 6, 7, 8
             on conflict (org_id, environment, hour, project_id, key_id, model, provider, byok, app_id) do update
                set requests = usage_hour.requests + excluded.requests, ok = usage_hour.ok + excluded.ok,
                    errors = usage_hour.errors + excluded.errors,
                    input_tokens = usage_hour.input_tokens + excluded.input_tokens,
                    output_tokens = usage_hour.output_tokens + excluded.output_tokens,
                    cache_read_tokens = usage_hour.cache_read_tokens + excluded.cache_read_tokens,
                    cache_write_tokens = usage_hour.cache_write_tokens + excluded.cache_write_tokens,
                    reasoning_tokens = usage_hour.reasoning_tokens + excluded.reasoning_tokens,
                    cost_micro = usage_hour.cost_micro + excluded.cost_micro)
      select count(*)::int as loosened from gone`,
    values: [args.org_id, args.as],
  });
  return rows[0]?.loosened ?? 0;
}

/** Puts sums of days in the place of the organization's own. */
export async function replaceUsage(db: Db, args: { org_id: OrgId; days: readonly OrgDay[] }): Promise<void> {
  await deleteUsage(db, args.org_id);
  await db.query({
    name: 'org_erasure.put_usage',
    text: `
      insert into usage_hour
      select $1, environment, day::timestamp at time zone 'UTC', '', '', model, provider, byok, '', requests, ok, errors,
             input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_micro
        from jsonb_to_recordset($2::jsonb)
          as d (environment text, day date, model text, provider text, byok boolean, requests bigint, ok bigint,
                errors bigint, input_tokens bigint, output_tokens bigint, cache_read_tokens bigint,
                cache_write_tokens bigint, reasoning_tokens bigint, cost_micro bigint)`,
    values: [args.org_id, JSON.stringify(args.days)],
  });
}

/** Empties the notes of gifts. */
export async function emptyNotes(db: Db, org_id: OrgId): Promise<number> {
  const { rowCount } = await db.query({
    name: 'org_erasure.empty_notes',
    text: `update gift set note = '' where org_id = $1 and note <> ''`,
    values: [org_id],
  });
  return rowCount;
}

/** Overwrites what names the organization, and the key of its hashes; 0 when that was done before. */
export async function overwriteOrg(
  db: Db,
  args: { org_id: OrgId; name: string; pepper: Buffer; at: Date },
): Promise<number> {
  const { rowCount } = await db.query({
    name: 'org_erasure.overwrite_org',
    text: `
      update org
         set name = $2, slug = $2, billing_email = null, legal_name = null, gstin = null, billing_address = null,
             settings = '{}', limit_overrides = '{}', pepper = $3, pepper_sealed = null,
             updated_at = $4, data_policy = jsonb_build_object(
               'logging', 'off', 'retention_days', 30, 'zdr', false, 'no_train', false, 'regions', '[]'::jsonb)
       where id = $1 and slug <> $2`,
    values: [args.org_id, args.name, args.pepper, args.at],
  });
  return rowCount;
}

/** Completes an erasure, which is locked. */
export async function completeErasure(
  db: Db,
  args: { org_id: OrgId; kept: RowCounts; digest: string; at: Date },
): Promise<void> {
  await db.query({
    name: 'org_erasure.complete',
    text: `
      update org_erasure set status = 'completed', kept = $2, digest = $3, completed_at = $4 where org_id = $1`,
    values: [args.org_id, JSON.stringify(args.kept), args.digest, args.at],
  });
}

/** Organizations whose erasure was completed at `since` or later. */
export async function listErasedSince(db: Db, since: Date): Promise<OrgId[]> {
  const { rows } = await db.query<{ org_id: OrgId }>({
    name: 'org_erasure.list_erased_since',
    text: `select org_id from org_erasure where status = 'completed' and completed_at >= $1 order by org_id`,
    values: [since],
  });
  return rows.map(({ org_id }) => org_id);
}

/** Deletes days and windows of apps, and apps, that were noted of calls which arrived after an erasure or were summed while it ran; how many. */
export async function deleteAppSums(db: Db, org_id: OrgId): Promise<number> {
  const { rows } = await db.query<{ deleted: number }>({
    name: 'org_erasure.delete_app_sums',
    text: `
      with days as (delete from app_day where org_id = $1 returning 1),
           windows as (delete from app_window where org_id = $1 returning 1),
           apps as (delete from app where org_id = $1 returning 1)
      select ((select count(*) from days) + (select count(*) from windows) + (select count(*) from apps))::int as deleted`,
    values: [org_id],
  });
  return rows[0]?.deleted ?? 0;
}

/** Deletes sums that were made of calls which arrived after an erasure; how many. */
export async function deleteUsage(db: Db, org_id: OrgId): Promise<number> {
  const { rowCount } = await db.query({
    name: 'org_erasure.delete_usage',
    text: 'delete from usage_hour where org_id = $1',
    values: [org_id],
  });
  return rowCount;
}
