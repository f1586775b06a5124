// SQL of people and of their recovery codes.
import type { Db, Id, KeyedHash } from '../kernel/index.ts';
import type { Person } from './types.ts';

const COLUMNS = `
  id, email, name, password_hash, totp_pending, totp_secret, totp_last_step, last_seen_at, created_at`;

/** Inserts a person; false when the address is taken. */
export async function insertPerson(
  db: Db,
  person: {
    readonly id: Id<'user'>;
    readonly email: string;
    readonly email_key: string;
    readonly name: string;
    readonly password_hash: string;
    readonly at: Date;
    /** Whether they may make an organization while sign-up is not open: staff or an organization let them in. */
    readonly is_admitted: boolean;
    readonly invite_code_id?: Id<'invite_code'> | null;
  },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'identity.insert_person',
    text: `
      insert into person (id, email, email_key, name, password_hash, password_changed_at, created_at, updated_at,
                          admitted_at, invite_code_id)
      values ($1, $2, $3, $4, $5, $6, $6, $6, $7, $8)
      on conflict (email_key) do nothing`,
    values: [
      ...[person.id, person.email, person.email_key, person.name, person.password_hash, person.at],
      ...[person.is_admitted ? person.at : null, person.invite_code_id ?? null],
    ],
  });
  return rowCount === 1;
}

/** The person with this address; null when there is none. */
export async function findPersonByEmail(db: Db, email_key: string): Promise<Person | null> {
  const { rows } = await db.query<Person>({
    name: 'identity.find_person_by_email',
    text: `select ${COLUMNS} from person where email_key = $1`,
    values: [email_key],
  });
  return rows[0] ?? null;
}

/** The person with this id; null when there is none. */
export async function findPerson(db: Db, id: string): Promise<Person | null> {
  const { rows } = await db.query<Person>({
    name: 'identity.find_person',
    text: `select ${COLUMNS} from person where id = $1`,
    values: [id],
  });
  return rows[0] ?? null;
}

/** People by id, in no order. */
export async function findPeople(db: Db, ids: readonly string[]): Promise<Person[]> {
  const { rows } = await db.query<Person>({
    name: 'identity.find_people',
    text: `select ${COLUMNS} from person where id = any($1)`,
    values: [ids],
  });
  return rows;
}

/** Holds a person's row until the transaction ends: changes of password and second factor take turns. */
export async function lockPerson(db: Db, id: Id<'user'>): Promise<Person | null> {
  const { rows } = await db.query<Person>({
    name: 'identity.lock_person',
    text: `select ${COLUMNS} from person where id = $1 for no key update`,
    values: [id],
  });
  return rows[0] ?? null;
}

/** Holds the rows of people until the transaction ends, in the order of their ids, so that nobody waits in a circle. */
export async function lockPeople(db: Db, ids: readonly string[]): Promise<void> {
  await db.query({
    name: 'identity.lock_people',
    text: 'select id from person where id = any($1) order by id for no key update',
    values: [ids],
  });
}

/** Sets a password. */
export async function setPassword(
  db: Db,
  args: { id: Id<'user'>; password_hash: string; at: Date },
): Promise<void> {
  await db.query({
    name: 'identity.set_password',
    text: `
      update person set password_hash = $2, password_changed_at = $3, updated_at = $3 where id = $1`,
    values: [args.id, args.password_hash, args.at],
  });
}

/** Replaces a hash by one of the same password with stronger parameters; nothing when it changed meanwhile. */
export async function replaceHash(
  db: Db,
  args: { id: Id<'user'>; old: string; fresh: string },
): Promise<void> {
  await db.query({
    name: 'identity.replace_hash',
    text: 'update person set password_hash = $3 where id = $1 and password_hash = $2',
    values: [args.id, args.old, args.fresh],
  });
}

/** Takes step `step` of a person's codes; false when it or a later one was taken before: a code works once. */
export async function takeStep(db: Db, args: { id: Id<'user'>; step: number }): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'identity.take_step',
    text: `
      update person set totp_last_step = $2
       where id = $1 and totp_last_step < $2`,
    values: [args.id, args.step],
  });
  return rowCount === 1;
}

/** Keeps the sealed secret of an enrolment until its first code. */
export async function setPendingTotp(db: Db, args: { id: Id<'user'>; sealed: Buffer }): Promise<void> {
  await db.query({
    name: 'identity.set_pending_totp',
    text: 'update person set totp_pending = $2 where id = $1',
    values: [args.id, args.sealed],
  });
}

/** Puts a secret in force, its first code's step taken. */
export async function confirmTotp(
  db: Db,
  args: { id: Id<'user'>; sealed: Buffer; step: number; at: Date },
): Promise<void> {
  await db.query({
    name: 'identity.confirm_totp',
    text: `
      update person set totp_secret = $2, totp_pending = null, totp_last_step = $3, totp_confirmed_at = $4,
                        updated_at = $4
       where id = $1`,
    values: [args.id, args.sealed, args.step, args.at],
  });
}

/** Takes a person's second factor away. */
export async function clearTotp(db: Db, args: { id: Id<'user'>; at: Date }): Promise<void> {
  await db.query({
    name: 'identity.clear_totp',
    text: `
      update person set totp_secret = null, totp_pending = null, totp_confirmed_at = null, updated_at = $2
       where id = $1`,
    values: [args.id, args.at],
  });
}

/** Replaces all recovery codes of a person by `hashes`. */
export async function replaceRecoveryCodes(
  db: Db,
  args: { user_id: Id<'user'>; hashes: readonly KeyedHash[]; at: Date },
): Promise<void> {
  await db.query({
    name: 'identity.replace_recovery_codes',
    text: `
      with gone as (delete from recovery_code where user_id = $1 and hash <> all($2::bytea[]))
      insert into recovery_code (user_id, hash, hash_key_id, created_at)
      select $1, hash, hash_key_id, $4 from unnest($2::bytea[], $3::bytea[]) as code (hash, hash_key_id)
      on conflict do nothing`,
    values: [
      args.user_id,
      args.hashes.map(({ hash }) => hash),
      args.hashes.map(({ hash_key_id }) => hash_key_id),
      args.at,
    ],
  });
}

/** Uses up a recovery code, which has one of `hashes`; how many the person has left, null when they have no such one any more. */
export async function takeRecoveryCode(
  db: Db,
  args: { user_id: Id<'user'>; hashes: readonly Buffer[] },
): Promise<number | null> {
  const { rows } = await db.query<{ left: number }>({
    name: 'identity.take_recovery_code',
    // What is counted is what was there before the statement.
    text: `
      with taken as (delete from recovery_code where user_id = $1 and hash = any($2) returning 1)
      select (select count(*) from recovery_code where user_id = $1)::int - 1 as left from taken`,
    values: [args.user_id, args.hashes],
  });
  return rows[0]?.left ?? null;
}
