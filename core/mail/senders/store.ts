// SQL of senders.
import type { Db, Id } from '../../kernel/index.ts';
import type { Found, MailSender } from './types.ts';

const SENDER = `
  org_id, domain, from_local, public_key, private_key, return_host, status, dkim_found, return_found, misses,
  checked_at, created_at`;

/** The sender of a reseller; null when it has none. */
export async function findSender(db: Db, org_id: Id<'org'>): Promise<MailSender | null> {
  const { rows } = await db.query<MailSender>({
    name: 'mail.find_sender',
    text: `select ${SENDER} from mail_sender where org_id = $1`,
    values: [org_id],
  });
  return rows[0] ?? null;
}

/** The sender of a reseller, locked until the transaction ends. */
export async function lockSender(db: Db, org_id: Id<'org'>): Promise<MailSender | null> {
  const { rows } = await db.query<MailSender>({
    name: 'mail.lock_sender',
    text: `select ${SENDER} from mail_sender where org_id = $1 for update`,
    values: [org_id],
  });
  return rows[0] ?? null;
}

/** Puts a new sender in the place of the one before, whose key is gone with it. */
export async function putSender(
  db: Db,
  made: Pick<MailSender, 'org_id' | 'domain' | 'from_local' | 'public_key' | 'private_key'> &
    Pick<MailSender, 'return_host' | 'created_at'>,
): Promise<void> {
  await db.query({
    name: 'mail.put_sender',
    text: `
      insert into mail_sender (org_id, domain, from_local, public_key, private_key, return_host, created_at)
      values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (org_id) do update
         set domain = $2, from_local = $3, public_key = $4, private_key = $5, return_host = $6, created_at = $7,
             status = 'pending', dkim_found = false, return_found = false, misses = 0, checked_at = null`,
    values: [
      ...[made.org_id, made.domain, made.from_local, made.public_key, made.private_key, made.return_host],
      made.created_at,
    ],
  });
}

/** Deletes the sender of a reseller with its key; false when it has none. */
export async function deleteSender(db: Db, org_id: Id<'org'>): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'mail.delete_sender',
    text: 'delete from mail_sender where org_id = $1',
    values: [org_id],
  });
  return rowCount === 1;
}

/** Notes a look at the records of a sender, which is locked. */
export async function noteLook(
  db: Db,
  args: Pick<MailSender, 'org_id' | 'status' | 'misses'> & Found & { at: Date },
): Promise<void> {
  await db.query({
    name: 'mail.note_sender_look',
    text: `
      update mail_sender set status = $2, misses = $3, dkim_found = $4, return_found = $5, checked_at = $6
       where org_id = $1`,
    values: [args.org_id, args.status, args.misses, args.dkim_found, args.return_found, args.at],
  });
}

/** Notes that nobody answered for the records of a sender, so that the next day asks again. */
export async function noteNoAnswer(
  db: Db,
  args: Pick<MailSender, 'org_id' | 'public_key'> & { at: Date },
): Promise<void> {
  await db.query({
    name: 'mail.note_sender_no_answer',
    text: 'update mail_sender set checked_at = $3 where org_id = $1 and public_key = $2',
    values: [args.org_id, args.public_key, args.at],
  });
}

/** Senders whose records were not looked at since `before`, longest first. */
export async function listDueSenders(db: Db, args: { before: Date; limit: number }): Promise<MailSender[]> {
  const { rows } = await db.query<MailSender>({
    name: 'mail.list_due_senders',
    text: `
      select ${SENDER} from mail_sender where coalesce(checked_at, created_at) < $1
       order by coalesce(checked_at, created_at), org_id limit $2`,
    values: [args.before, args.limit],
  });
  return rows;
}
