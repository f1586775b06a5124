// SQL of requests about end users.
import type { Db, Id } from '../../kernel/index.ts';
import type { SubjectRequest } from './types.ts';

const COLUMNS = `
  id, org_id, kind, subject_hash, status, records, payloads_deleted, digest, created_at, completed_at`;
type DsrId = Id<'data_subject_request'>;

/** Inserts a request. */
export async function insertRequest(
  db: Db,
  request: Omit<SubjectRequest, 'payloads_deleted' | 'digest'>,
): Promise<void> {
  const { id, org_id, kind, subject_hash, status, records, created_at, completed_at } = request;
  await db.query({
    name: 'privacy.insert_request',
    text: `
      insert into data_subject_request (id, org_id, kind, subject_hash, status, records, created_at, completed_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: [id, org_id, kind, subject_hash, status, records, created_at, completed_at],
  });
}

/** A request; `org_id` null: of any organization, for staff and workflows. Null when there is none. */
export async function findRequest(
  db: Db,
  args: { id: string; org_id: Id<'org'> | null },
): Promise<SubjectRequest | null> {
  const { rows } = await db.query<SubjectRequest>({
    name: 'privacy.find_request',
    text: `select ${COLUMNS} from data_subject_request where id = $1 and ($2::text is null or org_id = $2)`,
    values: [args.id, args.org_id],
  });
  return rows[0] ?? null;
}

/** A request, held until the transaction ends: its batches take turns. */
export async function lockRequest(db: Db, id: DsrId): Promise<SubjectRequest | null> {
  const { rows } = await db.query<SubjectRequest>({
    name: 'privacy.lock_request',
    text: `select ${COLUMNS} from data_subject_request where id = $1 for no key update`,
    values: [id],
  });
  return rows[0] ?? null;
}

/** A page of an organization's requests, newest first, strictly after `after`. */
export async function listRequests(
  db: Db,
  args: { org_id: Id<'org'>; after: { at: number; id: string } | null; limit: number },
): Promise<SubjectRequest[]> {
  const { rows } = await db.query<SubjectRequest>({
    name: 'privacy.list_requests',
    text: `
      select ${COLUMNS} from data_subject_request
       where org_id = $1 and ($2::timestamptz is null or (created_at, id) < ($2, $3))
       order by created_at desc, id desc limit $4`,
    values: [
      ...[args.org_id, args.after === null ? null : new Date(args.after.at), args.after?.id ?? null],
      args.limit,
    ],
  });
  return rows;
}

/** Notes what a batch of an erasure, which is locked, has done, and which calls it was. */
export async function noteBatch(
  db: Db,
  args: { id: DsrId; request_ids: readonly string[]; payloads_deleted: number },
): Promise<void> {
  const { id, request_ids, payloads_deleted } = args;
  await db.query({
    name: 'privacy.note_batch',
    text: `
      with called as (
        insert into erased_call (dsr_id, request_id) select $1, unnest($2::text[]) on conflict do nothing returning 1)
      update data_subject_request
         set status = 'running', records = records + (select count(*) from called),
             payloads_deleted = payloads_deleted + $3
       where id = $1`,
    values: [id, request_ids, payloads_deleted],
  });
}

/** The calls of an erasure in the order of their ids, strictly after `after`. */
export async function listErasedCalls(
  db: Db,
  args: { id: DsrId; after: string; limit: number },
): Promise<string[]> {
  const { rows } = await db.query<{ request_id: string }>({
    name: 'privacy.list_erased_calls',
    text: `
      select request_id from erased_call where dsr_id = $1 and request_id > $2 order by request_id limit $3`,
    values: [args.id, args.after, args.limit],
  });
  return rows.map(({ request_id }) => request_id);
}

/** Completes an erasure, which is locked, and forgets which calls it was. */
export async function completeErasure(
  db: Db,
  args: { id: DsrId; digest: string; at: Date },
): Promise<SubjectRequest> {
  await db.query({
    name: 'privacy.forget_calls',
    text: 'delete from erased_call where dsr_id = $1',
    values: [args.id],
  });
  const { rows } = await db.query<SubjectRequest>({
    name: 'privacy.complete_erasure',
    text: `
      update data_subject_request set status = 'completed', digest = $2, completed_at = $3
       where id = $1 returning ${COLUMNS}`,
    values: [args.id, args.digest, args.at],
  });
  return rows[0] as SubjectRequest;
}

/** Notes that an erasure could not be brought to its end. */
export async function failRequest(db: Db, id: DsrId): Promise<void> {
  await db.query({
    name: 'privacy.fail_request',
    text: `update data_subject_request set status = 'failed' where id = $1 and status in ('received', 'running')`,
    values: [id],
  });
}

interface Tombstone {
  readonly org_id: Id<'org'>;
  readonly subject_hash: string;
  readonly erased_at: Date;
  readonly expires_at: Date;
}

/** Sets until when late rows of a subject are unlinked; a later erasure of the same subject moves both times. */
export async function putTombstone(
  db: Db,
  { org_id, subject_hash, erased_at, expires_at }: Tombstone,
): Promise<void> {
  await db.query({
    name: 'privacy.put_tombstone',
    text: `
      insert into erasure_tombstone (org_id, subject_hash, erased_at, expires_at) values ($1, $2, $3, $4)
      on conflict (org_id, subject_hash) do update
         set erased_at = excluded.erased_at, expires_at = excluded.expires_at`,
    values: [org_id, subject_hash, erased_at, expires_at],
  });
}

/** Tombstones in force at `at` whose erasure has ended: what one under way finds is its own to count. */
export async function listTombstones(db: Db, at: Date): Promise<Tombstone[]> {
  const { rows } = await db.query<Tombstone>({
    name: 'privacy.list_tombstones',
    text: `
      select t.org_id, t.subject_hash, t.erased_at, t.expires_at from erasure_tombstone t
       where t.expires_at > $1
         and not exists (select from data_subject_request r
                          where r.org_id = t.org_id and r.subject_hash = t.subject_hash
                            and r.status in ('received', 'running'))`,
    values: [at],
  });
  return rows;
}

/** Remembers calls whose content may still arrive. */
export async function rememberContent(
  db: Db,
  args: { request_ids: readonly string[]; expires_at: Date },
): Promise<void> {
  if (args.request_ids.length === 0) return;
  await db.query({
    name: 'privacy.remember_content',
    text: `
      insert into erased_content (request_id, expires_at) select unnest($1::text[]), $2
      on conflict (request_id) do nothing`,
    values: [args.request_ids, args.expires_at],
  });
}

/** Calls whose content may still arrive, strictly after `after`. */
export async function listRemembered(db: Db, args: { after: string; limit: number }): Promise<string[]> {
  const { rows } = await db.query<{ request_id: string }>({
    name: 'privacy.list_remembered',
    text: 'select request_id from erased_content where request_id > $1 order by request_id limit $2',
    values: [args.after, args.limit],
  });
  return rows.map(({ request_id }) => request_id);
}

/** Forgets what is not waited for any more; returns how many rows. */
export async function purgeErasures(db: Db, at: Date): Promise<number> {
  const tombstones = await db.query({
    name: 'privacy.purge_tombstones',
    text: 'delete from erasure_tombstone where expires_at <= $1',
    values: [at],
  });
  const content = await db.query({
    name: 'privacy.purge_content',
    text: 'delete from erased_content where expires_at <= $1',
    values: [at],
  });
  return tombstones.rowCount + content.rowCount;
}
