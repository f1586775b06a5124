// SQL of mails and of the addresses that were refused.
import type { Db, Id } from '../kernel/index.ts';
import type { AttachmentRef, DueMail, MailBacklog, MailStatus } from './types.ts';

/** Whoever takes mails holds it to the end of the transaction, so that the count of an address is exact. */
const TAKE_LOCK = 7_305_118_231;
const LEASE_SECONDS = 180;

/** Inserts a mail that is to be sent from `at` on; false when this address was asked for it before. */
export async function insertMail(
  db: Db,
  mail: {
    readonly id: Id<'mail'>;
    readonly org_id: Id<'org'> | null;
    readonly template: string;
    readonly reference: string;
    readonly recipient: string;
    readonly recipient_key: string;
    readonly data: object;
    readonly sealed: Buffer | null;
    readonly attachments: readonly AttachmentRef[];
    readonly at: Date;
    readonly expires_at: Date;
  },
): Promise<boolean> {
  const { id, org_id, template, reference, recipient, recipient_key, data, sealed, attachments, at } = mail;
  const { rowCount } = await db.query({
    name: 'mail.insert',
    text: `
      insert into mail (id, org_id, template, reference, recipient, recipient_key, data, sealed, attachments,
                        next_at, created_at, expires_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11)
      on conflict (template, reference, recipient_key) do nothing`,
    values: [
      ...[id, org_id, template, reference, recipient, recipient_key, JSON.stringify(data), sealed],
      ...[JSON.stringify(attachments), at, mail.expires_at],
    ],
  });
  return rowCount === 1;
}

/** How many mails of `template` were asked for since `since` whose reference begins with `begins`. */
export async function countMails(
  db: Db,
  args: { readonly template: string; readonly begins: string; readonly since: Date },
): Promise<number> {
  const { rows } = await db.query<{ mails: number }>({
    name: 'mail.count',
    text: `
      select count(*)::int as mails from mail
       where template = $1 and starts_with(reference, $2) and reference >= $2 and created_at > $3`,
    values: [args.template, args.begins, args.since],
  });
  return rows[0]!.mails;
}

/** Whether a mail may be due. Asked without a transaction, because most of the time there is none. */
export async function hasDue(db: Db, at: Date): Promise<boolean> {
  const { rows } = await db.query<{ due: boolean }>({
    name: 'mail.has_due',
    text: `
      select exists (select from mail
                      where (status = 'queued' and next_at <= $1)
                         or (status = 'sending' and lease_until < clock_timestamp())) as due`,
    values: [at],
  });
  return rows[0]!.due;
}

/**
 * Mails that are due at `at` or whose sender let its lease lapse, oldest first, at most `limit`; held until the
 * transaction ends, in which nobody else takes any.
 */
export async function lockDue(db: Db, { at, limit }: { at: Date; limit: number }): Promise<DueMail[]> {
  await db.query({
    name: 'mail.lock_taking',
    text: 'select pg_advisory_xact_lock($1)',
    values: [TAKE_LOCK],
  });
  const { rows } = await db.query<DueMail>({
    name: 'mail.lock_due',
    text: `
      select id, org_id, template, reference, recipient, recipient_key, data, sealed, attachments, attempts,
             created_at, expires_at
        from mail
       where (status = 'queued' and next_at <= $1) or (status = 'sending' and lease_until < clock_timestamp())
       order by next_at, id limit $2 for update skip locked`,
    values: [at, limit],
  });
  return rows;
}

/** What of some templates went to an address since `since` or is under way; and when the oldest went. */
export interface Recent {
  readonly recipient_key: string;
  readonly mails: number;
  readonly oldest_at: Date | null;
}

/** `Recent` of each of `keys` that has any of `templates`, without the mails `except`. */
export async function countRecent(
  db: Db,
  args: {
    readonly keys: readonly string[];
    readonly templates: readonly string[];
    readonly since: Date;
    readonly except: readonly string[];
  },
): Promise<Recent[]> {
  const { rows } = await db.query<Recent>({
    name: 'mail.count_recent',
    text: `
      select recipient_key, count(*)::int as mails, min(sent_at) as oldest_at
        from mail
       where recipient_key = any ($1) and id <> all ($3) and template = any ($4)
         and (sent_at > $2 or status = 'sending')
       group by recipient_key`,
    values: [args.keys, args.since, args.except, args.templates],
  });
  return rows;
}

/** Those of `keys` that a server refused or a mail bounced from. */
export async function findRefused(db: Db, keys: readonly string[]): Promise<Set<string>> {
  const { rows } = await db.query<{ recipient_key: string }>({
    name: 'mail.find_refused',
    text: 'select recipient_key from mail_address where recipient_key = any ($1)',
    values: [keys],
  });
  return new Set(rows.map((row) => row.recipient_key));
}

/** Gives `ids` to the holder of `lease` for three minutes. */
export async function leaseMails(db: Db, args: { ids: readonly string[]; lease: string }): Promise<void> {
  await db.query({
    name: 'mail.lease',
    text: `
      update mail
         set status = 'sending', lease = $2, attempts = attempts + 1, limited = false,
             lease_until = clock_timestamp() + make_interval(secs => $3)
       where id = any ($1)`,
    values: [args.ids, args.lease, LEASE_SECONDS],
  });
}

/** Puts a mail off to `next_at` because its address had enough for a day. */
export async function limitMail(db: Db, args: { id: string; next_at: Date }): Promise<void> {
  await db.query({
    name: 'mail.limit',
    text: `
      update mail set status = 'queued', lease = null, lease_until = null, next_at = $2, limited = true where id = $1`,
    values: [args.id, args.next_at],
  });
}

/** Ends a mail that is not to be sent; its secret goes. */
export async function dropMail(db: Db, args: { id: string; answer: string }): Promise<void> {
  await db.query({
    name: 'mail.drop',
    text: `
      update mail set status = 'dropped', answer = $2, sealed = null, lease = null, lease_until = null where id = $1`,
    values: [args.id, args.answer],
  });
}

/** Notes how an attempt of the holder of `lease` ended; false when another has taken the mail over since. */
export async function endAttempt(
  db: Db,
  args: {
    readonly id: string;
    readonly lease: string;
    readonly status: Extract<MailStatus, 'queued' | 'sent' | 'failed'>;
    readonly answer: string;
    readonly at: Date;
    /** When it is tried again; of `queued` alone. */
    readonly next_at: Date | null;
  },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'mail.end_attempt',
    text: `
      update mail
         set status = $3, answer = $4, lease = null, lease_until = null, next_at = coalesce($6, next_at),
             sealed = case when $3 = 'queued' then sealed end,
             sent_at = case when $3 = 'sent' then $5::timestamptz end
       where id = $1 and lease = $2`,
    values: [args.id, args.lease, args.status, args.answer, args.at, args.next_at],
  });
  return rowCount === 1;
}

/** Remembers that mail does not reach an address; the first time stays. */
export async function noteRefused(
  db: Db,
  args: { recipient_key: string; mail_id: string; cause: 'refused' | 'bounced'; answer: string; at: Date },
): Promise<void> {
  await db.query({
    name: 'mail.note_refused',
    text: `
      insert into mail_address (recipient_key, mail_id, cause, answer, refused_at) values ($1, $2, $3, $4, $5)
      on conflict (recipient_key) do nothing`,
    values: [args.recipient_key, args.mail_id, args.cause, args.answer, args.at],
  });
}

/** Marks a mail that was sent as bounced and returns its address; null when no mail of that id was sent. */
export async function bounceMail(db: Db, args: { id: string; answer: string }): Promise<string | null> {
  const { rows } = await db.query<{ recipient_key: string }>({
    name: 'mail.bounce',
    text: `
      update mail set status = 'bounced', answer = $2 where id = $1 and status in ('sent', 'bounced')
      returning recipient_key`,
    values: [args.id, args.answer],
  });
  return rows[0]?.recipient_key ?? null;
}

/** An address that mail does not reach, and what was answered. */
interface RefusedAddress {
  readonly recipient_key: string;
  readonly cause: 'refused' | 'bounced';
  readonly answer: string;
  readonly mail_id: string;
  readonly refused_at: Date;
}

/** Addresses that mail does not reach, newest first. */
export async function listRefused(db: Db, limit: number): Promise<RefusedAddress[]> {
  const { rows } = await db.query<RefusedAddress>({
    name: 'mail.list_refused',
    text: `
      select recipient_key, cause, answer, mail_id, refused_at
        from mail_address order by refused_at desc, recipient_key limit $1`,
    values: [limit],
  });
  return rows;
}

/** Forgets that an address was refused; false when it was not. */
export async function releaseAddress(db: Db, recipient_key: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'mail.release_address',
    text: 'delete from mail_address where recipient_key = $1',
    values: [recipient_key],
  });
  return rowCount === 1;
}

/** Mails that wait for a server, and since when the oldest does. */
export async function readMailBacklog(db: Db): Promise<MailBacklog> {
  const { rows } = await db.query<MailBacklog>({
    name: 'mail.backlog',
    text: `
      select count(*)::int as waiting, min(created_at) as oldest_at
        from mail where status in ('queued', 'sending') and not limited`,
  });
  return rows[0]!;
}

/** A mail that waits, without whom it goes to and what it says. */
interface WaitingMail {
  readonly id: string;
  readonly org_id: string | null;
  readonly template: string;
  readonly attempts: number;
  readonly answer: string;
  readonly created_at: Date;
  readonly next_at: Date;
}

/** The oldest mails that wait, at most `limit`. */
export async function listWaitingMails(db: Db, limit: number): Promise<WaitingMail[]> {
  const { rows } = await db.query<WaitingMail>({
    name: 'mail.list_waiting',
    text: `
      select id, org_id, template, attempts, answer, created_at, next_at
        from mail where status in ('queued', 'sending') and not limited
       order by created_at, id limit $1`,
    values: [limit],
  });
  return rows;
}

/** Deletes mails that ended and were asked for before `before`; returns how many. */
export async function deleteMails(db: Db, before: Date): Promise<number> {
  const { rowCount } = await db.query({
    name: 'mail.delete',
    text: `delete from mail where created_at < $1 and status not in ('queued', 'sending')`,
    values: [before],
  });
  return rowCount;
}

/** How far the mails of one template about one thing have come: some may still go, some have gone and did not bounce. */
export interface Delivery {
  readonly waiting: number;
  readonly sent: number;
}

/** `Delivery` of the mails of `template` about `reference`. */
export async function readDelivery(
  db: Db,
  args: { readonly template: string; readonly reference: string },
): Promise<Delivery> {
  const { rows } = await db.query<Delivery>({
    name: 'mail.delivery',
    text: `
      select (count(*) filter (where status in ('queued', 'sending')))::int as waiting,
             (count(*) filter (where status = 'sent'))::int as sent
        from mail where template = $1 and reference = $2`,
    values: [args.template, args.reference],
  });
  return rows[0]!;
}

/** A mail without what it says: its data may name a person's affairs. */
export interface SentMail {
  readonly id: Id<'mail'>;
  readonly org_id: Id<'org'> | null;
  readonly template: string;
  readonly reference: string;
  readonly recipient: string;
  readonly status: MailStatus;
  readonly attempts: number;
  readonly answer: string;
  readonly created_at: Date;
  /** From then on it is of no use. */
  readonly expires_at: Date;
  readonly sent_at: Date | null;
  /** Its address is one that mail does not reach. */
  readonly refused: boolean;
}

const SENT_COLUMNS = `
  id, org_id, template, reference, recipient, status, attempts, answer, created_at, expires_at, sent_at,
  exists (select from mail_address a where a.recipient_key = mail.recipient_key) as refused`;

/** A mail, held until the transaction ends; null when there is none. */
export async function lockMail(db: Db, id: Id<'mail'>): Promise<SentMail | null> {
  const { rows } = await db.query<SentMail>({
    name: 'mail.lock',
    text: `select ${SENT_COLUMNS} from mail where id = $1 for update`,
    values: [id],
  });
  return rows[0] ?? null;
}

/** Queues a locked mail that did not arrive once more. */
export async function requeueMail(db: Db, { id, at }: { id: Id<'mail'>; at: Date }): Promise<void> {
  await db.query({
    name: 'mail.requeue',
    text: `
      update mail set status = 'queued', attempts = 0, answer = '', next_at = $2, limited = false, sent_at = null
       where id = $1 and status in ('failed', 'bounced', 'dropped')`,
    values: [id, at],
  });
}

/**
 * A page of mails, newest first, strictly after `after`: to an address, about an organization, of an id or about a
 * reference, whichever `by` names.
 */
export async function findMails(
  db: Db,
  args: {
    readonly by: 'address' | 'org' | 'id' | 'reference';
    readonly value: string;
    readonly after: { at: number; id: string } | null;
    readonly limit: number;
  },
): Promise<SentMail[]> {
  const column = { address: 'recipient_key', org: 'org_id', id: 'id', reference: 'reference' }[args.by];
  const { rows } = await db.query<SentMail>({
    name: `mail.find_by_${args.by}`,
    text: `
      select ${SENT_COLUMNS}
        from mail
       where ${column} = $1 and ($2::timestamptz is null or (created_at, id) < ($2, $3))
       order by created_at desc, id desc limit $4`,
    values: [
      args.value,
      args.after === null ? null : new Date(args.after.at),
      args.after?.id ?? null,
      args.limit,
    ],
  });
  return rows;
}
