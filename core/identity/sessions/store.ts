// SQL of sessions. A session exists as long as its row; ending it deletes the row.
import type { Db, Id } from '../../kernel/index.ts';
import type { SessionRow } from '../types.ts';

const COLUMNS = `
  session.id, session.user_id, person.email, session.org_id, session.sso_org_id, session.method, session.transport,
  session.two_factor, session.ip_prefix, session.user_agent, session.proved_at, session.created_at,
  session.last_seen_at, session.idle_seconds, session.expires_at`;
const LIVING = `session.expires_at > $2
         and session.last_seen_at + session.idle_seconds * interval '1 second' > $2`;

/** The session of the token with this hash, valid at `at`; null when there is none. */
export async function findSessionByHash(db: Db, hash: Buffer, at: Date): Promise<SessionRow | null> {
  const { rows } = await db.query<SessionRow>({
    name: 'identity.find_session_by_hash',
    text: `
      select ${COLUMNS} from session join person on person.id = session.user_id
       where session.hash = $1 and ${LIVING}`,
    values: [hash, at],
  });
  return rows[0] ?? null;
}

/** One living session of a person; null when it ended or is another's. */
export async function findSession(
  db: Db,
  args: { user_id: Id<'user'>; id: string; at: Date },
): Promise<SessionRow | null> {
  const { rows } = await db.query<SessionRow>({
    name: 'identity.find_session',
    text: `
      select ${COLUMNS} from session join person on person.id = session.user_id
       where session.id = $1 and ${LIVING} and session.user_id = $3`,
    values: [args.id, args.at, args.user_id],
  });
  return rows[0] ?? null;
}

/** Whose sessions: all of a person, or those that the identity provider of one organization made. */
interface SessionsOf {
  readonly user_id: Id<'user'>;
  readonly sso_org_id: Id<'org'> | null;
}

/** The living sessions of a person, newest first. */
export async function listSessions(db: Db, of: SessionsOf, at: Date): Promise<SessionRow[]> {
  const { rows } = await db.query<SessionRow>({
    name: 'identity.list_sessions',
    text: `
      select ${COLUMNS} from session join person on person.id = session.user_id
       where session.user_id = $1 and ${LIVING} and ($3::text is null or session.sso_org_id = $3)
       order by session.created_at desc, session.id desc`,
    values: [of.user_id, at, of.sso_org_id],
  });
  return rows;
}

/** The living sessions that stand in an organization, newest first, at most `limit`. */
export async function listOrgSessions(
  db: Db,
  args: { org_id: Id<'org'>; at: Date; limit: number },
): Promise<SessionRow[]> {
  const { rows } = await db.query<SessionRow>({
    name: 'identity.list_org_sessions',
    text: `
      select ${COLUMNS} from session join person on person.id = session.user_id
       where session.org_id = $1 and ${LIVING}
       order by session.created_at desc, session.id desc limit $3`,
    values: [args.org_id, args.at, args.limit],
  });
  return rows;
}

/** Whom the provider of an organization signed in, and in which session of its own, where it says so; both as hashes. */
export interface ProviderLogin {
  readonly subject: Buffer;
  readonly sid: Buffer | null;
}

type NewSession = Omit<SessionRow, 'email' | 'last_seen_at'> & {
  readonly hash: Buffer;
  readonly login?: ProviderLogin | undefined;
};

/** Stores a session that begins now. */
export async function insertSession(db: Db, session: NewSession): Promise<void> {
  await db.query({
    name: 'identity.insert_session',
    text: `
      insert into session (id, hash, user_id, org_id, method, transport, two_factor, ip_prefix, user_agent,
                           proved_at, created_at, last_seen_at, idle_seconds, expires_at, sso_org_id, sso_subject_hash, sso_sid_hash)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, $13, $14, $15, $16)`,
    values: [
      session.id,
      session.hash,
      session.user_id,
      session.org_id,
      session.method,
      session.transport,
      session.two_factor,
      session.ip_prefix,
      session.user_agent,
      session.proved_at,
      session.created_at,
      session.idle_seconds,
      session.expires_at,
      session.sso_org_id,
      session.login?.subject ?? null,
      session.login?.sid ?? null,
    ],
  });
}

/** Ends all but the `keep` newest sessions of a person. */
export async function endOldestSessions(db: Db, user_id: Id<'user'>, keep: number): Promise<void> {
  await db.query({
    name: 'identity.end_oldest_sessions',
    text: `
      delete from session where user_id = $1 and id not in (
        select id from session where user_id = $1 order by created_at desc, id desc limit $2)`,
    values: [user_id, keep],
  });
}

/**
 * Gives a session a new token and what else changed; the old token ends at once. False when it had ended already, by
 * the session's end or by another rotation: the `where` is the lock, of rotations of one token at once one gets the
 * row.
 */
export async function rotateSession(
  db: Db,
  args: {
    id: Id<'session'>;
    old_hash: Uint8Array;
    hash: Buffer;
    org_id: Id<'org'> | null;
    two_factor: boolean;
    proved_at: Date;
    at: Date;
  },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'identity.rotate_session',
    text: `
      update session set hash = $2, org_id = $3, two_factor = $4, proved_at = $5, last_seen_at = $6
       where id = $1 and hash = $7`,
    values: [args.id, args.hash, args.org_id, args.two_factor, args.proved_at, args.at, args.old_hash],
  });
  return rowCount === 1;
}

/**
 * Notes that a session and its person were seen; at most once a minute. A person whose row is held by a sign-in
 * or a change is passed over: those hold it while they end sessions, so waiting for it here would be a deadlock.
 */
export async function touchSession(db: Db, args: { id: Id<'session'>; at: Date }): Promise<void> {
  await db.query({
    name: 'identity.touch_session',
    text: `
      with seen as (
        update session set last_seen_at = $2
         where id = $1 and last_seen_at <= $2::timestamptz - interval '1 minute' returning user_id)
      update person set last_seen_at = $2
       where id in (select id from person where id in (select user_id from seen) for no key update skip locked)`,
    values: [args.id, args.at],
  });
}

/** Ends the session of the token with this hash, where there is one. */
export async function endHeldSession(db: Db, hash: Buffer): Promise<void> {
  await db.query({
    name: 'identity.end_held_session',
    text: 'delete from session where hash = $1',
    values: [hash],
  });
}

/** Ends one session of `of`; false when it is not there. */
export async function endSession(db: Db, of: SessionsOf & { readonly id: string }): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'identity.end_session',
    text: 'delete from session where id = $1 and user_id = $2 and ($3::text is null or sso_org_id = $3)',
    values: [of.id, of.user_id, of.sso_org_id],
  });
  return rowCount === 1;
}

/** Ends one session that stands in an organization and returns whose it was; null when it is not there. */
export async function endOrgSession(
  db: Db,
  args: { org_id: Id<'org'>; id: string },
): Promise<Id<'user'> | null> {
  const { rows } = await db.query<{ user_id: Id<'user'> }>({
    name: 'identity.end_org_session',
    text: 'delete from session where id = $1 and org_id = $2 returning user_id',
    values: [args.id, args.org_id],
  });
  return rows[0]?.user_id ?? null;
}

/**
 * Ends the sessions that the identity provider of an organization made, of one person or of all; returns how many.
 */
export async function endSsoSessions(
  db: Db,
  args: { org_id: Id<'org'>; user_id: Id<'user'> | null },
): Promise<number> {
  const { rowCount } = await db.query({
    name: 'identity.end_sso_sessions',
    text: 'delete from session where sso_org_id = $1 and ($2::text is null or user_id = $2)',
    values: [args.org_id, args.user_id],
  });
  return rowCount;
}

/**
 * Ends the sessions that came of a sign-in at the provider of an organization and began before `before`: those of the provider's
 * session where it is named, and where none was named at the sign-in, those of the subject. Returns whose they were.
 */
export async function endProviderSessions(
  db: Db,
  args: { org_id: Id<'org'>; subject: Buffer | null; sid: Buffer | null; before: Date },
): Promise<{ id: Id<'session'>; user_id: Id<'user'> }[]> {
  const { rows } = await db.query<{ id: Id<'session'>; user_id: Id<'user'> }>({
    name: 'identity.end_provider_sessions',
    text: `
      delete from session
       where sso_org_id = $1 and created_at < $4
         and (sso_sid_hash = $3 or sso_subject_hash = $2 and ($3::bytea is null or sso_sid_hash is null))
       returning id, user_id`,
    values: [args.org_id, args.subject, args.sid, args.before],
  });
  return rows;
}

/** Ends the sessions by password of these people; returns how many. */
export async function endPasswordSessions(db: Db, user_ids: readonly Id<'user'>[]): Promise<number> {
  const { rowCount } = await db.query({
    name: 'identity.end_password_sessions',
    text: `delete from session where user_id = any($1) and method = 'password'`,
    values: [user_ids],
  });
  return rowCount;
}

/** Ends the sessions of a person but for `except`; returns how many. */
export async function endSessions(
  db: Db,
  args: { user_id: Id<'user'>; except: Id<'session'> | null },
): Promise<number> {
  const { rowCount } = await db.query({
    name: 'identity.end_sessions',
    text: 'delete from session where user_id = $1 and ($2::text is null or id <> $2)',
    values: [args.user_id, args.except],
  });
  return rowCount;
}

/** Ends the sessions of a person that are in an organization; returns how many. */
export async function endMemberSessions(
  db: Db,
  args: { org_id: Id<'org'>; user_id: Id<'user'> },
): Promise<number> {
  const { rowCount } = await db.query({
    name: 'identity.end_member_sessions',
    text: 'delete from session where user_id = $1 and org_id = $2',
    values: [args.user_id, args.org_id],
  });
  return rowCount;
}

/**
 * Ends the sessions that stand in an organization or were made by its identity provider, and began before `before`; returns
 * how many.
 */
export async function endOrgSessions(db: Db, args: { org_id: Id<'org'>; before: Date }): Promise<number> {
  const { rowCount } = await db.query({
    name: 'identity.end_org_sessions',
    text: 'delete from session where (org_id = $1 or sso_org_id = $1) and created_at < $2',
    values: [args.org_id, args.before],
  });
  return rowCount;
}

/** Deletes lapsed sessions of people and staff; returns how many. An hourly job. */
export async function purgeSessions(db: Db, at: Date): Promise<number> {
  const { rowCount } = await db.query({
    name: 'identity.purge_sessions',
    text: `
      delete from session
       where expires_at <= $1 or last_seen_at + idle_seconds * interval '1 second' <= $1`,
    values: [at],
  });
  return rowCount;
}
