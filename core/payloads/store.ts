// SQL of stored content.
import { type Db, type Id, type RequestId, ulidMs } from '../kernel/index.ts';

export interface SealedPayload {
  readonly request_id: RequestId;
  readonly org_id: Id<'org'>;
  readonly sealed: Buffer;
}

function timeOf(request_id: string): Date {
  return new Date(ulidMs(request_id));
}

/** Stores a batch; a payload that is there already stays. */
export async function insertPayloads(db: Db, batch: readonly SealedPayload[]): Promise<void> {
  await db.query({
    name: 'payloads.insert',
    text: `
      insert into request_payload (request_id, ts, org_id, sealed)
      select * from unnest($1::text[], $2::timestamptz[], $3::text[], $4::bytea[])
      on conflict do nothing`,
    values: [
      batch.map(({ request_id }) => request_id),
      batch.map(({ request_id }) => timeOf(request_id)),
      batch.map(({ org_id }) => org_id),
      batch.map(({ sealed }) => sealed),
    ],
  });
}

/** Makes the day partitions from `first` to `last` (dates, UTC) that are missing; returns how many were made. */
export async function preparePayloadDays(db: Db, args: { first: string; last: string }): Promise<number> {
  const { rows } = await db.query<{ made: number }>({
    name: 'payloads.prepare_days',
    text: 'select payloads_prepare_days($1, $2) as made',
    values: [args.first, args.last],
  });
  return rows[0]?.made ?? 0;
}

/** Those of `ids` whose content an organization has stored. */
export async function listStored(
  db: Db,
  args: { org_id: Id<'org'>; request_ids: readonly string[] },
): Promise<string[]> {
  const { rows } = await db.query<{ request_id: string }>({
    name: 'payloads.list_stored',
    text: 'select request_id from request_payload where request_id = any ($1) and ts = any ($2) and org_id = $3',
    values: [args.request_ids, args.request_ids.map(timeOf), args.org_id],
  });
  return rows.map(({ request_id }) => request_id);
}

/** The sealed content of one call; null when there is none. */
export async function findSealed(
  db: Db,
  args: { org_id: Id<'org'>; request_id: string },
): Promise<Buffer | null> {
  const { rows } = await db.query<{ sealed: Buffer }>({
    name: 'payloads.find',
    text: 'select sealed from request_payload where request_id = $1 and ts = $2 and org_id = $3',
    values: [args.request_id, timeOf(args.request_id), args.org_id],
  });
  return rows[0]?.sealed ?? null;
}

/** The first organization behind `after` that has content; null at the end. One look at an index, not at every row. */
export async function findNextOrg(db: Db, after: string): Promise<Id<'org'> | null> {
  const { rows } = await db.query<{ org_id: Id<'org'> | null }>({
    name: 'payloads.find_next_org',
    text: 'select min(org_id) as org_id from request_payload where org_id > $1',
    values: [after],
  });
  return rows[0]?.org_id ?? null;
}

/** Deletes at most `limit` payloads of calls begun before `before`, oldest first; returns how many. */
export async function deletePayloads(
  db: Db,
  args: { org_id: Id<'org'>; before: Date; limit: number },
): Promise<number> {
  const { rowCount } = await db.query({
    name: 'payloads.delete',
    text: `
      delete from request_payload where (request_id, ts) in (
        select request_id, ts from request_payload where org_id = $1 and ts < $2 order by ts limit $3)`,
    values: [args.org_id, args.before, args.limit],
  });
  return rowCount;
}

/** Drops the days before `until` (date, UTC) that are empty; returns how many. */
export async function dropEmptyDays(db: Db, until: string): Promise<number> {
  const { rows } = await db.query<{ dropped: number }>({
    name: 'payloads.drop_days',
    text: 'select payloads_drop_days($1) as dropped',
    values: [until],
  });
  return rows[0]?.dropped ?? 0;
}

/** Deletes the content of these calls at once; returns how many had some. */
export async function erasePayloads(db: Db, request_ids: readonly string[]): Promise<number> {
  const { rowCount } = await db.query({
    name: 'payloads.erase',
    text: 'delete from request_payload where request_id = any ($1) and ts = any ($2)',
    values: [request_ids, request_ids.map(timeOf)],
  });
  return rowCount;
}
