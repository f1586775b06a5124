// SQL of staff and their sessions.
import type { Db, Id, StaffRole } from '../kernel/index.ts';
import type { StaffMember, Transport } from './types.ts';

const COLUMNS = 'id, email, password_hash, totp_secret, totp_last_step, roles, status';

/** Inserts a member of staff; false when the address is taken. */
export async function insertStaff(
  db: Db,
  staff: {
    id: Id<'staff'>;
    email: string;
    email_key: string;
    password_hash: string;
    totp_secret: Buffer;
    roles: readonly StaffRole[];
    at: Date;
  },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'identity.insert_staff',
    text: `
      insert into staff (id, email, email_key, password_hash, totp_secret, roles, created_at, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $7)
      on conflict (email_key) do nothing`,
    values: [
      staff.id,
      staff.email,
      staff.email_key,
      staff.password_hash,
      staff.totp_secret,
      staff.roles,
      staff.at,
    ],
  });
  return rowCount === 1;
}

/** The active member of staff with this address; null when there is none. */
export async function findStaffByEmail(db: Db, email_key: string): Promise<StaffMember | null> {
  const { rows } = await db.query<StaffMember>({
    name: 'identity.find_staff_by_email',
    text: `select ${COLUMNS} from staff where email_key = $1 and status = 'active'`,
    values: [email_key],
  });
  return rows[0] ?? null;
}

/** The active member of staff with this id; null when there is none. */
export async function findStaff(db: Db, id: string): Promise<StaffMember | null> {
  const { rows } = await db.query<StaffMember>({
    name: 'identity.find_staff',
    text: `select ${COLUMNS} from staff where id = $1 and status = 'active'`,
    values: [id],
  });
  return rows[0] ?? null;
}

/** Takes step `step` of a member of staff's codes; false when it or a later one was taken before. */
export async function takeStaffStep(db: Db, args: { id: Id<'staff'>; step: number }): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'identity.take_staff_step',
    text: 'update staff set totp_last_step = $2 where id = $1 and totp_last_step < $2',
    values: [args.id, args.step],
  });
  return rowCount === 1;
}

interface StaffSessionRow {
  readonly id: Id<'session'>;
  readonly staff_id: Id<'staff'>;
  readonly email: string;
  readonly roles: readonly StaffRole[];
  readonly transport: Transport;
  readonly last_seen_at: Date;
  readonly idle_seconds: number;
  readonly expires_at: Date;
}

/** Stores a session of staff that begins now. */
export async function insertStaffSession(
  db: Db,
  session: Omit<StaffSessionRow, 'email' | 'roles' | 'last_seen_at'> & {
    hash: Buffer;
    ip_prefix: string | null;
    user_agent: string | null;
    at: Date;
  },
): Promise<void> {
  await db.query({
    name: 'identity.insert_staff_session',
    text: `
      insert into staff_session (id, hash, staff_id, transport, ip_prefix, user_agent, created_at, last_seen_at,
                                 idle_seconds, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9)`,
    values: [
      session.id,
      session.hash,
      session.staff_id,
      session.transport,
      session.ip_prefix,
      session.user_agent,
      session.at,
      session.idle_seconds,
      session.expires_at,
    ],
  });
}

/** The staff session of the token with this hash, living at `at`, of someone still active; null when there is none. */
export async function findStaffSession(db: Db, hash: Buffer, at: Date): Promise<StaffSessionRow | null> {
  const { rows } = await db.query<StaffSessionRow>({
    name: 'identity.find_staff_session',
    text: `
      select session.id, session.staff_id, staff.email, staff.roles, session.transport, session.last_seen_at,
             session.idle_seconds, session.expires_at
        from staff_session as session join staff on staff.id = session.staff_id
       where session.hash = $1 and session.expires_at > $2
         and session.last_seen_at + session.idle_seconds * interval '1 second' > $2
         and staff.status = 'active'`,
    values: [hash, at],
  });
  return rows[0] ?? null;
}

/** Notes that a staff session was seen. */
export async function touchStaffSession(db: Db, args: { id: Id<'session'>; at: Date }): Promise<void> {
  await db.query({
    name: 'identity.touch_staff_session',
    text: 'update staff_session set last_seen_at = $2 where id = $1 and last_seen_at < $2',
    values: [args.id, args.at],
  });
}

/** Ends the staff session of the token with this hash, where there is one. */
export async function endHeldStaffSession(db: Db, hash: Buffer): Promise<void> {
  await db.query({
    name: 'identity.end_held_staff_session',
    text: 'delete from staff_session where hash = $1',
    values: [hash],
  });
}

/** Ends a session of staff. */
export async function endStaffSession(db: Db, id: Id<'session'>): Promise<void> {
  await db.query({
    name: 'identity.end_staff_session',
    text: 'delete from staff_session where id = $1',
    values: [id],
  });
}

/** Deletes lapsed sessions of staff; returns how many. */
export async function purgeStaffSessions(db: Db, at: Date): Promise<number> {
  const { rowCount } = await db.query({
    name: 'identity.purge_staff_sessions',
    text: `
      delete from staff_session
       where expires_at <= $1 or last_seen_at + idle_seconds * interval '1 second' <= $1`,
    values: [at],
  });
  return rowCount;
}
