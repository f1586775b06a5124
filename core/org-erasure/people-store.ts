// SQL that takes people out of an organization under erasure, and those who are in no other out of the service.
import type { Db, Id } from '../kernel/index.ts';

interface Leaver {
  readonly user_id: Id<'user'>;
  readonly email_key: string;
  /** Member of another organization too. */
  readonly stays: boolean;
}

/** At most `limit` members, held until the transaction ends: nobody makes them members elsewhere meanwhile. */
export async function lockLeavers(db: Db, args: { org_id: Id<'org'>; limit: number }): Promise<Leaver[]> {
  const { rows } = await db.query<Leaver>({
    name: 'org_erasure.lock_leavers',
    text: `
      select p.id as user_id, p.email_key,
             exists (select from org_member o where o.user_id = p.id and o.org_id <> $1) as stays
        from org_member m join person p on p.id = m.user_id
       where m.org_id = $1 order by p.id limit $2 for update of p`,
    values: [args.org_id, args.limit],
  });
  return rows;
}

/** Ends memberships; what a directory knows of them goes with them. */
export async function deleteMembers(
  db: Db,
  args: { org_id: Id<'org'>; user_ids: readonly string[] },
): Promise<number> {
  const { rowCount } = await db.query({
    name: 'org_erasure.delete_members',
    text: 'delete from org_member where org_id = $1 and user_id = any ($2)',
    values: [args.org_id, args.user_ids],
  });
  return rowCount;
}

/** Deletes what stands by itself about people: sessions, mails, requests for access. */
export async function deleteTraces(
  db: Db,
  args: { user_ids: readonly string[]; email_keys: readonly string[] },
): Promise<void> {
  await db.query({
    name: 'org_erasure.delete_traces',
    text: `
      with sessions as (delete from session where user_id = any ($1)),
           codes as (delete from recovery_code where user_id = any ($1)),
           challenges as (delete from sign_in_challenge where subject = any ($1)),
           mails as (delete from mail where recipient_key = any ($2)),
           addresses as (delete from mail_address where recipient_key = any ($2)),
           registrations as (delete from registration where email_key = any ($2)),
           invitations as (delete from invitation where email_key = any ($2) and status <> 'accepted')
      delete from access_request where email_key = any ($2)`,
    values: [args.user_ids, args.email_keys],
  });
}

/**
 * Deletes people. Whoever once invited somebody to an organization that goes on, or was invited there, stays as a row without
 * name, address and password.
 */
export async function deletePeople(db: Db, user_ids: readonly string[]): Promise<void> {
  await db.query({
    name: 'org_erasure.delete_people',
    text: `
      delete from person p where id = any ($1)
         and not exists (select from invitation i where i.invited_by = p.id or i.accepted_by = p.id)`,
    values: [user_ids],
  });
  await db.query({
    name: 'org_erasure.overwrite_people',
    text: `
      with invited as (update invitation set email = 'erased@erased.invalid', email_key = 'erased@erased.invalid'
                        where accepted_by = any ($1)),
           changes as (delete from email_change where user_id = any ($1)),
           resets as (delete from password_reset where user_id = any ($1)),
           waiting as (delete from waitlist_entry where user_id = any ($1))
      update person set email = lower(id) || '@erased.invalid', email_key = lower(id) || '@erased.invalid', name = '',
             password_hash = '', totp_pending = null, totp_secret = null, totp_confirmed_at = null, last_seen_at = null
       where id = any ($1)`,
    values: [user_ids],
  });
}

/**
 * Forgets that mail was refused at addresses that the organization alone has named: of bills, and of people it had invited.
 */
export async function deleteAddresses(db: Db, org_id: Id<'org'>): Promise<void> {
  await db.query({
    name: 'org_erasure.delete_addresses',
    text: `
      delete from mail_address a
       where recipient_key in (
               select lower(billing_email) from org where id = $1 and billing_email is not null
               union select email_key from invitation where org_id = $1
               union select recipient_key from mail where org_id = $1)
         and not exists (select from person p where p.email_key = a.recipient_key)
         and not exists (select from org o where o.id <> $1 and lower(o.billing_email) = a.recipient_key)`,
    values: [org_id],
  });
}
