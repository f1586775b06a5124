// SQL of looks of staff at organizations.
import type { Db, Id } from '../../kernel/index.ts';

export interface LookRow {
  readonly id: Id<'session'>;
  readonly staff_id: Id<'staff'>;
  readonly staff_email: string;
  readonly org_id: Id<'org'>;
  readonly reason: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  /** What the organization pays above catalog prices as a reseller's customer; null: it is nobody's. */
  readonly tier_bps: number | null;
}

const COLUMNS = `look.id, look.staff_id, staff.email as staff_email, look.org_id, look.reason, look.created_at,
  look.expires_at, reseller_bps(look.org_id) as tier_bps`;
/** It lives as long as the session of staff that began it, and that session as long as it is used. */
const LIVING = `look.expires_at > $2 and staff.status = 'active' and began.expires_at > $2
         and began.last_seen_at + began.idle_seconds * interval '1 second' > $2`;
const TABLES = `staff_look as look join staff on staff.id = look.staff_id
          join staff_session as began on began.id = look.staff_session_id`;

/** Inserts a look that nobody has opened yet. */
export async function insertLook(
  db: Db,
  look: Omit<LookRow, 'staff_email' | 'tier_bps'> & { hash: Buffer; staff_session_id: Id<'session'> },
): Promise<void> {
  await db.query({
    name: 'identity.insert_look',
    text: `
      insert into staff_look (id, hash, staff_id, staff_session_id, org_id, reason, created_at, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    values: [
      ...[look.id, look.hash, look.staff_id, look.staff_session_id, look.org_id, look.reason],
      ...[look.created_at, look.expires_at],
    ],
  });
}

/** Exchanges a link made after `since` for a session, once; null when it is none, was opened, or has ended. */
export async function openLookRow(
  db: Db,
  args: { link_hash: Buffer; hash: Buffer; since: Date; at: Date },
): Promise<LookRow | null> {
  const { rows } = await db.query<{ id: string }>({
    name: 'identity.open_look',
    text: `
      update staff_look set hash = $3, opened_at = $2
       where hash = $1 and opened_at is null and created_at > $4 and expires_at > $2
      returning id`,
    values: [args.link_hash, args.at, args.hash, args.since],
  });
  return rows[0] === undefined ? null : findLook(db, args.hash, args.at);
}

/** The look whose session has this hash, living at `at`; null when there is none. */
export async function findLook(db: Db, hash: Buffer, at: Date): Promise<LookRow | null> {
  const { rows } = await db.query<LookRow>({
    name: 'identity.find_look',
    text: `select ${COLUMNS} from ${TABLES} where look.hash = $1 and look.opened_at is not null and ${LIVING}`,
    values: [hash, at],
  });
  return rows[0] ?? null;
}

/** Ends a look. */
export async function deleteLook(db: Db, id: Id<'session'>): Promise<void> {
  await db.query({
    name: 'identity.delete_look',
    text: 'delete from staff_look where id = $1',
    values: [id],
  });
}

/** Deletes lapsed looks; returns how many. */
export async function purgeLooks(db: Db, at: Date): Promise<number> {
  const { rowCount } = await db.query({
    name: 'identity.purge_looks',
    text: 'delete from staff_look where expires_at <= $1',
    values: [at],
  });
  return rowCount;
}
