// SQL of requests for access.
import type { Db, Id } from '../../kernel/index.ts';

/** What somebody says who asks for access. */
export interface AccessFacts {
  readonly name: string;
  readonly company: string;
  readonly job_title: string;
  readonly country: string;
  readonly website: string;
  readonly use_case: string;
  readonly monthly_spend: string;
}

/** A request as stored; one that is approved after `expires_at` has expired all the same. */
export interface AccessRequest extends AccessFacts {
  readonly id: Id<'access_request'>;
  readonly email: string;
  readonly email_key: string;
  readonly status: 'received' | 'approved' | 'declined' | 'activated';
  readonly reviewed_by: string | null;
  /** How often a link was mailed. */
  readonly mails: number;
  readonly expires_at: Date | null;
  readonly created_at: Date;
}

const COLUMNS = `
  id, email, email_key, name, company, job_title, country, website, use_case, monthly_spend, status, reviewed_by, mails,
  expires_at, created_at`;

/**
 * Stores a request. An address has one: asked again it says what was said last, and one that was declined, or whose link
 * lapsed, is before the staff again; one that was approved stays as it is.
 */
export async function putAccessRequest(
  db: Db,
  request: AccessFacts & Pick<AccessRequest, 'id' | 'email' | 'email_key'> & { readonly at: Date },
): Promise<void> {
  const { id, email, email_key, name, company, job_title, country, website, use_case } = request;
  await db.query({
    name: 'identity.put_access_request',
    text: `
      insert into access_request as stored
        (id, email, email_key, name, company, job_title, country, website, use_case, monthly_spend, created_at, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)
      on conflict (email_key) do update
         set email = $2, name = $4, company = $5, job_title = $6, country = $7, website = $8, use_case = $9,
             monthly_spend = $10, updated_at = $11, reviewed_by = null, status = 'received', hash = null, expires_at = null,
             created_at = case when stored.status = 'received' then stored.created_at else $11 end
       where stored.status in ('received', 'declined') or (stored.status = 'approved' and stored.expires_at <= $11)`,
    values: [
      ...[id, email, email_key, name, company, job_title, country, website, use_case],
      ...[request.monthly_spend, request.at],
    ],
  });
}

/** Requests that wait for staff, oldest first, strictly after `after`. */
export async function listWaitingAccess(
  db: Db,
  args: { after: { at: number; id: string } | null; limit: number },
): Promise<AccessRequest[]> {
  const { rows } = await db.query<AccessRequest>({
    name: 'identity.list_waiting_access',
    text: `
      select ${COLUMNS} from access_request
       where status = 'received' and (created_at, id) > ($1, $2)
       order by created_at, id limit $3`,
    values: [new Date(args.after?.at ?? 0), args.after?.id ?? '', args.limit],
  });
  return rows;
}

/** A request, held until the transaction ends; null when there is none. */
export async function lockAccessRequest(db: Db, id: Id<'access_request'>): Promise<AccessRequest | null> {
  const { rows } = await db.query<AccessRequest>({
    name: 'identity.lock_access_request',
    text: `select ${COLUMNS} from access_request where id = $1 for update`,
    values: [id],
  });
  return rows[0] ?? null;
}

/** Approves a request, which is locked, with the hash of its link's token. */
export async function approveAccessRequest(
  db: Db,
  args: { id: Id<'access_request'>; hash: Buffer; expires_at: Date; reviewed_by: string; at: Date },
): Promise<AccessRequest> {
  const { rows } = await db.query<AccessRequest>({
    name: 'identity.approve_access_request',
    text: `
      update access_request
         set status = 'approved', hash = $2, expires_at = $3, reviewed_by = $4, mails = mails + 1, updated_at = $5
       where id = $1 returning ${COLUMNS}`,
    values: [args.id, args.hash, args.expires_at, args.reviewed_by, args.at],
  });
  return rows[0] as AccessRequest;
}

/** Ends a request, which is locked: declined by staff, or activated by whoever asked. */
export async function endAccessRequest(
  db: Db,
  args: { id: Id<'access_request'>; to: 'declined' | 'activated'; reviewed_by: string | null; at: Date },
): Promise<AccessRequest> {
  const { rows } = await db.query<AccessRequest>({
    name: 'identity.end_access_request',
    text: `
      update access_request
         set status = $2, reviewed_by = coalesce($3, reviewed_by), hash = null, expires_at = null, updated_at = $4
       where id = $1 returning ${COLUMNS}`,
    values: [args.id, args.to, args.reviewed_by, args.at],
  });
  return rows[0] as AccessRequest;
}

/** The approved request whose newest link has the token with this hash; null when there is none. */
export async function findAccessByHash(db: Db, hash: Buffer): Promise<AccessRequest | null> {
  const { rows } = await db.query<AccessRequest>({
    name: 'identity.find_access_by_hash',
    text: `select ${COLUMNS} from access_request where hash = $1`,
    values: [hash],
  });
  return rows[0] ?? null;
}

/** As `findAccessByHash`, and holds it: of two who open one link at once the second waits, and finds none. */
export async function lockAccessByHash(db: Db, hash: Buffer): Promise<AccessRequest | null> {
  const { rows } = await db.query<AccessRequest>({
    name: 'identity.lock_access_by_hash',
    text: `select ${COLUMNS} from access_request where hash = $1 for update`,
    values: [hash],
  });
  return rows[0] ?? null;
}

/** Deletes what was declined half a year ago; returns how many. */
export async function purgeAccess(db: Db, at: Date): Promise<number> {
  const { rowCount } = await db.query({
    name: 'identity.purge_access',
    text: `
      delete from access_request
       where status = 'declined' and updated_at < $1::timestamptz - interval '180 days'`,
    values: [at],
  });
  return rowCount;
}
