// SQL of what a person says of themselves.
import type { Db, Id } from '../../kernel/index.ts';

/** A new address that waits until it is proved. */
export interface EmailChange {
  readonly user_id: Id<'user'>;
  readonly email: string;
  readonly email_key: string;
  readonly expires_at: Date;
}

export interface Profile {
  readonly id: Id<'user'>;
  readonly email: string;
  readonly name: string;
  readonly locale: string;
  /** The address that waits; null: none does. */
  readonly email_pending: string | null;
}

const CHANGE = 'user_id, email, email_key, expires_at';

/** `Profile` of a person at `at`; null when there is none. */
export async function findProfile(db: Db, { id, at }: { id: Id<'user'>; at: Date }): Promise<Profile | null> {
  const { rows } = await db.query<Profile>({
    name: 'identity.find_profile',
    text: `
      select p.id, p.email, p.name, p.locale, c.email as email_pending
        from person p left join email_change c on c.user_id = p.id and c.expires_at > $2
       where p.id = $1`,
    values: [id, at],
  });
  return rows[0] ?? null;
}

/** Sets name and language; what is null stays. */
export async function updateProfile(
  db: Db,
  args: { id: Id<'user'>; name: string | null; locale: string | null; at: Date },
): Promise<void> {
  await db.query({
    name: 'identity.update_profile',
    text: `
      update person set name = coalesce($2, name), locale = coalesce($3, locale), updated_at = $4 where id = $1`,
    values: [args.id, args.name, args.locale, args.at],
  });
}

/** Stores the address that a person wants; the one before leads nowhere any more. */
export async function putEmailChange(
  db: Db,
  change: EmailChange & { readonly hash: Buffer; readonly at: Date },
): Promise<void> {
  const { user_id, email, email_key, hash, expires_at, at } = change;
  await db.query({
    name: 'identity.put_email_change',
    text: `
      insert into email_change (user_id, email, email_key, hash, expires_at, created_at)
      values ($1, $2, $3, $4, $5, $6)
      on conflict (user_id) do update
         set email = $2, email_key = $3, hash = $4, expires_at = $5, created_at = $6`,
    values: [user_id, email, email_key, hash, expires_at, at],
  });
}

/** The change whose mail has the token with this hash; null when there is none. */
export async function findEmailChange(db: Db, hash: Buffer): Promise<EmailChange | null> {
  const { rows } = await db.query<EmailChange>({
    name: 'identity.find_email_change',
    text: `select ${CHANGE} from email_change where hash = $1`,
    values: [hash],
  });
  return rows[0] ?? null;
}

/** Forgets the address that a person wanted. */
export async function deleteEmailChange(db: Db, user_id: Id<'user'>): Promise<void> {
  await db.query({
    name: 'identity.delete_email_change',
    text: 'delete from email_change where user_id = $1',
    values: [user_id],
  });
}

/** What PostgreSQL says when somebody else took the address at the same moment. */
const UNIQUE_VIOLATION = '23505';

/** Gives a person, whose row is locked, another address; false when somebody has it, and the transaction must be given up. */
export async function setEmail(
  db: Db,
  args: { id: Id<'user'>; email: string; email_key: string; at: Date },
): Promise<boolean> {
  const { id, email, email_key, at } = args;
  try {
    await db.query({
      name: 'identity.set_email',
      text: 'update person set email = $2, email_key = $3, updated_at = $4 where id = $1',
      values: [id, email, email_key, at],
    });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === UNIQUE_VIOLATION) return false;
    throw error;
  }
}

/** Deletes changes that lapsed a day ago and more; returns how many. */
export async function purgeEmailChanges(db: Db, at: Date): Promise<number> {
  const { rowCount } = await db.query({
    name: 'identity.purge_email_changes',
    text: `delete from email_change where expires_at < $1::timestamptz - interval '1 day'`,
    values: [at],
  });
  return rowCount;
}
