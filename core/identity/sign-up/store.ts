// SQL of accounts that are asked for, and of links that set a new password.
import type { Db, Id } from '../../kernel/index.ts';

/** An account whose address is not proved yet. */
export interface Registration {
  /** The id that the person will have. */
  readonly id: Id<'user'>;
  readonly email: string;
  readonly email_key: string;
  readonly name: string;
  readonly password_hash: string;
  /** How often its link was mailed. */
  readonly mails: number;
  readonly expires_at: Date;
  readonly invite_code_id: Id<'invite_code'> | null;
}

const COLUMNS = 'id, email, email_key, name, password_hash, mails, expires_at, invite_code_id';

/** Inserts a registration. */
export async function insertRegistration(
  db: Db,
  registration: Omit<Registration, 'mails'> & { readonly hash: Buffer; readonly at: Date },
): Promise<void> {
  const { id, email, email_key, name, password_hash, hash, expires_at, at, invite_code_id } = registration;
  await db.query({
    name: 'identity.insert_registration',
    text: `
      insert into registration
        (id, email, email_key, name, password_hash, hash, expires_at, created_at, invite_code_id)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [id, email, email_key, name, password_hash, hash, expires_at, at, invite_code_id],
  });
}

/** The registration whose newest link has the token with this hash; null when there is none. */
export async function findRegistration(db: Db, hash: Buffer): Promise<Registration | null> {
  const { rows } = await db.query<Registration>({
    name: 'identity.find_registration',
    text: `select ${COLUMNS} from registration where hash = $1`,
    values: [hash],
  });
  return rows[0] ?? null;
}

/** As `findRegistration`, and holds it: of two who open one link at once the second waits, and finds none. */
export async function lockRegistration(db: Db, hash: Buffer): Promise<Registration | null> {
  const { rows } = await db.query<Registration>({
    name: 'identity.lock_registration',
    text: `select ${COLUMNS} from registration where hash = $1 for update`,
    values: [hash],
  });
  return rows[0] ?? null;
}

/** Gives the newest registration of an address another link; null when the address has none that waits at `at`. */
export async function renewRegistration(
  db: Db,
  args: { email_key: string; hash: Buffer; expires_at: Date; at: Date },
): Promise<Registration | null> {
  const { rows } = await db.query<Registration>({
    name: 'identity.renew_registration',
    text: `
      update registration set hash = $2, expires_at = $3, mails = mails + 1
       where id = (
         select id from registration where email_key = $1 and expires_at > $4
          order by created_at desc, id desc limit 1 for update)
      returning ${COLUMNS}`,
    values: [args.email_key, args.hash, args.expires_at, args.at],
  });
  return rows[0] ?? null;
}

/**
 * Deletes the registrations of an address, which a person has now. Those that another transaction holds stay, because
 * waiting for it could be waiting in a circle; they lead nowhere either, and lapse.
 */
export async function deleteRegistrations(db: Db, email_key: string): Promise<void> {
  await db.query({
    name: 'identity.delete_registrations',
    text: `
      delete from registration
       where id in (select id from registration where email_key = $1 for update skip locked)`,
    values: [email_key],
  });
}

/** Stores what a link that sets a new password needs. */
export async function insertReset(
  db: Db,
  reset: { hash: Buffer; user_id: Id<'user'>; expires_at: Date; at: Date },
): Promise<void> {
  await db.query({
    name: 'identity.insert_reset',
    text: `
      insert into password_reset (hash, user_id, expires_at, created_at) values ($1, $2, $3, $4)`,
    values: [reset.hash, reset.user_id, reset.expires_at, reset.at],
  });
}

/** Whose password the token with this hash sets, and until when; null when there is none. */
export async function findReset(
  db: Db,
  hash: Buffer,
): Promise<{ user_id: Id<'user'>; expires_at: Date } | null> {
  const { rows } = await db.query<{ user_id: Id<'user'>; expires_at: Date }>({
    name: 'identity.find_reset',
    text: 'select user_id, expires_at from password_reset where hash = $1',
    values: [hash],
  });
  return rows[0] ?? null;
}

/** Ends every link that sets a person's password. */
export async function deleteResets(db: Db, user_id: Id<'user'>): Promise<void> {
  await db.query({
    name: 'identity.delete_resets',
    text: 'delete from password_reset where user_id = $1',
    values: [user_id],
  });
}

/** Deletes what lapsed a day ago and more; until then the answer is that it has expired. Returns how many. */
export async function purgeSignUp(db: Db, at: Date): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'identity.purge_sign_up',
    text: `
      with asked as (delete from registration where expires_at < $1::timestamptz - interval '1 day' returning 1),
           links as (delete from password_reset where expires_at < $1::timestamptz - interval '1 day' returning 1)
      select ((select count(*) from asked) + (select count(*) from links))::int as n`,
    values: [at],
  });
  return rows[0]?.n ?? 0;
}
