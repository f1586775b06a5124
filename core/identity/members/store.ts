// SQL of invitations.
import type { Db, Id, Role } from '../../kernel/index.ts';

/** An invitation as stored; one that is pending after `expires_at` has expired all the same. */
export interface Invitation {
  readonly id: Id<'invitation'>;
  readonly org_id: Id<'org'>;
  readonly email: string;
  readonly email_key: string;
  readonly role: Role;
  readonly status: 'pending' | 'accepted' | 'revoked' | 'expired';
  /** How often its link was mailed. */
  readonly mails: number;
  readonly invited_by: Id<'user'>;
  readonly expires_at: Date;
  readonly created_at: Date;
}

const COLUMNS = 'id, org_id, email, email_key, role, status, mails, invited_by, expires_at, created_at';

/** Inserts an invitation; null when one waits for this address already. */
export async function insertInvitation(
  db: Db,
  invitation: Omit<Invitation, 'status' | 'mails'> & { readonly hash: Buffer },
): Promise<Invitation | null> {
  const { id, org_id, email, email_key, role, hash, invited_by, expires_at, created_at } = invitation;
  const { rows } = await db.query<Invitation>({
    name: 'identity.insert_invitation',
    text: `
      insert into invitation (id, org_id, email, email_key, role, hash, invited_by, expires_at, created_at, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)
      on conflict (org_id, email_key) where status = 'pending' do nothing
      returning ${COLUMNS}`,
    values: [id, org_id, email, email_key, role, hash, invited_by, expires_at, created_at],
  });
  return rows[0] ?? null;
}

/** The invitations of an organization, newest first, at most `limit`. */
export async function listInvitations(
  db: Db,
  args: { org_id: Id<'org'>; limit: number },
): Promise<Invitation[]> {
  const { rows } = await db.query<Invitation>({
    name: 'identity.list_invitations',
    text: `
      select ${COLUMNS} from invitation where org_id = $1 order by created_at desc, id desc limit $2`,
    values: [args.org_id, args.limit],
  });
  return rows;
}

/** One invitation of an organization, locked until the transaction ends; null when it is not there. */
export async function lockInvitation(
  db: Db,
  args: { org_id: Id<'org'>; id: string },
): Promise<Invitation | null> {
  const { rows } = await db.query<Invitation>({
    name: 'identity.lock_invitation',
    text: `select ${COLUMNS} from invitation where org_id = $1 and id = $2 for update`,
    values: [args.org_id, args.id],
  });
  return rows[0] ?? null;
}

/** The invitation whose newest link has the token with this hash; null when there is none. */
export async function findInvitationByHash(db: Db, hash: Buffer): Promise<Invitation | null> {
  const { rows } = await db.query<Invitation>({
    name: 'identity.find_invitation_by_hash',
    text: `select ${COLUMNS} from invitation where hash = $1`,
    values: [hash],
  });
  return rows[0] ?? null;
}

/** Gives a pending invitation, which is locked, a new link and a new end. */
export async function renewInvitation(
  db: Db,
  args: { id: Id<'invitation'>; hash: Buffer; expires_at: Date; at: Date },
): Promise<Invitation> {
  const { rows } = await db.query<Invitation>({
    name: 'identity.renew_invitation',
    text: `
      update invitation set hash = $2, expires_at = $3, mails = mails + 1, updated_at = $4
       where id = $1 returning ${COLUMNS}`,
    values: [args.id, args.hash, args.expires_at, args.at],
  });
  return rows[0] as Invitation;
}

/** Ends an invitation, which is locked. */
export async function endInvitation(
  db: Db,
  args: { id: Id<'invitation'>; to: 'accepted' | 'revoked'; accepted_by: Id<'user'> | null; at: Date },
): Promise<void> {
  await db.query({
    name: 'identity.end_invitation',
    text: 'update invitation set status = $2, accepted_by = $3, updated_at = $4 where id = $1',
    values: [args.id, args.to, args.accepted_by, args.at],
  });
}

/** Notes that the invitation of an address has lapsed, so that the address can be invited again. */
export async function lapseInvitation(
  db: Db,
  args: { org_id: Id<'org'>; email_key: string; at: Date },
): Promise<void> {
  await db.query({
    name: 'identity.lapse_invitation',
    text: `
      update invitation set status = 'expired', updated_at = $3
       where org_id = $1 and email_key = $2 and status = 'pending' and expires_at <= $3`,
    values: [args.org_id, args.email_key, args.at],
  });
}

/** Revokes what waits of a person's invitations; returns how many. */
export async function revokeInvitationsOf(
  db: Db,
  args: { org_id: Id<'org'>; user_id: Id<'user'>; at: Date },
): Promise<number> {
  const { rowCount } = await db.query({
    name: 'identity.revoke_invitations_of',
    text: `
      update invitation set status = 'revoked', updated_at = $3
       where org_id = $1 and invited_by = $2 and status = 'pending'`,
    values: [args.org_id, args.user_id, args.at],
  });
  return rowCount;
}

/** Revokes every invitation of an organization that waits; returns how many. */
export async function revokeAllInvitations(db: Db, args: { org_id: Id<'org'>; at: Date }): Promise<number> {
  const { rowCount } = await db.query({
    name: 'identity.revoke_all_invitations',
    text: `
      update invitation set status = 'revoked', updated_at = $2 where org_id = $1 and status = 'pending'`,
    values: [args.org_id, args.at],
  });
  return rowCount;
}
