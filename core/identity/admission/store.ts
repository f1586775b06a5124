// SQL of invite codes, of the waitlist, and of whom staff or an organization let in.
import type { Db, Id, KeyedHash } from '../../kernel/index.ts';

/** A code that lets its holder make an account and an organization while sign-up is not open. */
export interface InviteCode {
  readonly id: Id<'invite_code'>;
  /** Whose customers its holders become; null: it is ours, and they become nobody's. */
  readonly reseller_id: Id<'org'> | null;
  /** Its last four characters. */
  readonly hint: string;
  readonly note: string;
  readonly max_uses: number;
  readonly uses: number;
  readonly expires_at: Date;
  readonly revoked_at: Date | null;
  readonly created_by: string;
  readonly created_at: Date;
}

export interface WaitlistEntry {
  readonly id: Id<'waitlist_entry'>;
  readonly user_id: Id<'user'>;
  readonly company: string;
  readonly use_case: string;
  readonly status: 'waiting' | 'invited';
  readonly reviewed_by: string | null;
  readonly created_at: Date;
}

/** How far a person has been let in. */
export interface Admission {
  readonly is_admitted: boolean;
  /** The code their account was made with. */
  readonly invite_code_id: Id<'invite_code'> | null;
}

type Place = { readonly at: number; readonly id: string } | null;

const CODE = 'id, reseller_id, hint, note, max_uses, uses, expires_at, revoked_at, created_by, created_at';
const ENTRY = 'id, user_id, company, use_case, status, reviewed_by, created_at';

/** `Admission` of a person; null when there is none. */
export async function findAdmission(db: Db, user_id: Id<'user'>): Promise<Admission | null> {
  const { rows } = await db.query<Admission>({
    name: 'identity.find_admission',
    text: 'select admitted_at is not null as is_admitted, invite_code_id from person where id = $1',
    values: [user_id],
  });
  return rows[0] ?? null;
}

/** Lets a person in for good. */
export async function admitPerson(db: Db, { id, at }: { id: Id<'user'>; at: Date }): Promise<void> {
  await db.query({
    name: 'identity.admit_person',
    text: 'update person set admitted_at = coalesce(admitted_at, $2), updated_at = $2 where id = $1',
    values: [id, at],
  });
}

/** Inserts a code by its keyed hash. */
export async function insertCode(
  db: Db,
  code: Omit<InviteCode, 'uses' | 'revoked_at'> & KeyedHash,
): Promise<void> {
  const { id, reseller_id, hash, hash_key_id, hint, note, max_uses, expires_at } = code;
  await db.query({
    name: 'identity.insert_invite_code',
    text: `
      insert into invite_code (id, reseller_id, hash, hash_key_id, hint, note, max_uses, expires_at, created_by, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    values: [
      ...[id, reseller_id, hash, hash_key_id, hint, note, max_uses, expires_at],
      ...[code.created_by, code.created_at],
    ],
  });
}

/** The code that has one of these keyed hashes; null when there is none. */
export async function findCode(
  db: Db,
  hashes: readonly Buffer[],
): Promise<(InviteCode & Pick<KeyedHash, 'hash'>) | null> {
  const { rows } = await db.query<InviteCode & Pick<KeyedHash, 'hash'>>({
    name: 'identity.find_invite_code',
    text: `select ${CODE}, hash from invite_code where hash = any($1)`,
    values: [hashes],
  });
  return rows[0] ?? null;
}

/** Keeps a code by its hash under another root key. */
export async function rehashCode(
  db: Db,
  code: KeyedHash & { readonly id: Id<'invite_code'> },
): Promise<void> {
  await db.query({
    name: 'identity.rehash_invite_code',
    text: 'update invite_code set hash = $2, hash_key_id = $3 where id = $1',
    values: [code.id, code.hash, code.hash_key_id],
  });
}

/** A code, held until the transaction ends; null when there is none. */
export async function lockCode(db: Db, id: Id<'invite_code'>): Promise<InviteCode | null> {
  const { rows } = await db.query<InviteCode>({
    name: 'identity.lock_invite_code',
    text: `select ${CODE} from invite_code where id = $1 for update`,
    values: [id],
  });
  return rows[0] ?? null;
}

/** Counts that a code, which is locked, let an organization be made. */
export async function insertUse(
  db: Db,
  use: { id: Id<'invite_code'>; org_id: Id<'org'>; user_id: Id<'user'>; at: Date },
): Promise<void> {
  await db.query({
    name: 'identity.insert_invite_use',
    text: `
      with counted as (update invite_code set uses = uses + 1 where id = $1)
      insert into invite_code_use (org_id, invite_code_id, user_id, used_at) values ($2, $1, $3, $4)`,
    values: [use.id, use.org_id, use.user_id, use.at],
  });
}

/** Revokes a code, which is locked. */
export async function revokeCodeRow(db: Db, { id, at }: { id: Id<'invite_code'>; at: Date }): Promise<void> {
  await db.query({
    name: 'identity.revoke_invite_code',
    text: 'update invite_code set revoked_at = $2 where id = $1',
    values: [id, at],
  });
}

/** Codes of a reseller, or with null ours, newest first, strictly after `after`. */
export async function listCodes(
  db: Db,
  args: { reseller_id: Id<'org'> | null; after: Place; limit: number },
): Promise<InviteCode[]> {
  const { rows } = await db.query<InviteCode>({
    name: 'identity.list_invite_codes',
    text: `
      select ${CODE} from invite_code
       where ($1::timestamptz is null or (created_at, id) < ($1, $2)) and reseller_id is not distinct from $4
       order by created_at desc, id desc limit $3`,
    values: [
      ...[args.after === null ? null : new Date(args.after.at), args.after?.id ?? '', args.limit],
      args.reseller_id,
    ],
  });
  return rows;
}

/** Stores an entry of a person; false when the person has one. */
export async function insertEntry(
  db: Db,
  entry: Pick<WaitlistEntry, 'id' | 'user_id' | 'company' | 'use_case'> & { readonly at: Date },
): Promise<boolean> {
  const { id, user_id, company, use_case, at } = entry;
  const { rowCount } = await db.query({
    name: 'identity.insert_waitlist_entry',
    text: `
      insert into waitlist_entry (id, user_id, company, use_case, created_at, updated_at)
      values ($1, $2, $3, $4, $5, $5)
      on conflict (user_id) do nothing`,
    values: [id, user_id, company, use_case, at],
  });
  return rowCount === 1;
}

/** The entry of a person; null when there is none. */
export async function findEntry(db: Db, user_id: Id<'user'>): Promise<WaitlistEntry | null> {
  const { rows } = await db.query<WaitlistEntry>({
    name: 'identity.find_waitlist_entry',
    text: `select ${ENTRY} from waitlist_entry where user_id = $1`,
    values: [user_id],
  });
  return rows[0] ?? null;
}

/** An entry with the address of its person. */
export type WaitingEntry = WaitlistEntry & { readonly email: string; readonly name: string };

/** Entries that wait for staff, oldest first, strictly after `after`. */
export async function listWaitingEntries(
  db: Db,
  args: { after: Place; limit: number },
): Promise<WaitingEntry[]> {
  const { rows } = await db.query<WaitingEntry>({
    name: 'identity.list_waitlist',
    text: `
      select e.id, e.user_id, e.company, e.use_case, e.status, e.reviewed_by, e.created_at, p.email, p.name
        from waitlist_entry e join person p on p.id = e.user_id
       where e.status = 'waiting' and (e.created_at, e.id) > ($1, $2)
       order by e.created_at, e.id limit $3`,
    values: [new Date(args.after?.at ?? 0), args.after?.id ?? '', args.limit],
  });
  return rows;
}

/** An entry with the address of its person, held until the transaction ends; null when there is none. */
export async function lockEntry(db: Db, id: Id<'waitlist_entry'>): Promise<WaitingEntry | null> {
  const { rows } = await db.query<WaitingEntry>({
    name: 'identity.lock_waitlist_entry',
    text: `
      select e.id, e.user_id, e.company, e.use_case, e.status, e.reviewed_by, e.created_at, p.email, p.name
        from waitlist_entry e join person p on p.id = e.user_id
       where e.id = $1 for update of e`,
    values: [id],
  });
  return rows[0] ?? null;
}

/** Notes that staff invited the person of an entry, which is locked. */
export async function markInvited(
  db: Db,
  args: { id: Id<'waitlist_entry'>; reviewed_by: string; at: Date },
): Promise<void> {
  await db.query({
    name: 'identity.invite_from_waitlist',
    text: `update waitlist_entry set status = 'invited', reviewed_by = $2, updated_at = $3 where id = $1`,
    values: [args.id, args.reviewed_by, args.at],
  });
}
