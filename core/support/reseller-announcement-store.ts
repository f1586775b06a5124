// SQL of what resellers say to their customers. A customer reads rows of another organization, so statements name the reseller.
import type { Db, Id } from '../kernel/index.ts';
import type { Announcement } from './types.ts';

export interface ResellerAnnouncement
  extends Pick<Announcement, 'id' | 'title' | 'body' | 'severity' | 'starts_at' | 'ends_at'> {
  /** The reseller. */
  readonly org_id: Id<'org'>;
  readonly created_by: string;
  readonly created_at: Date;
}

const COLUMNS = 'id, org_id, title, body, severity, starts_at, ends_at, created_by, created_at';
/** Announcements that one customer is shown at once. */
const SHOWN_MAX = 50;

type Place = Pick<ResellerAnnouncement, 'id' | 'org_id'>;

/** Stores an announcement. */
export async function insertResellerAnnouncement(db: Db, made: ResellerAnnouncement): Promise<void> {
  await db.query({
    name: 'support.insert_reseller_announcement',
    text: `
      insert into reseller_announcement (id, org_id, title, body, severity, starts_at, ends_at, created_by, created_at,
                                         updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`,
    values: [
      ...[made.id, made.org_id, made.title, made.body, made.severity, made.starts_at, made.ends_at],
      ...[made.created_by, made.created_at],
    ],
  });
}

/** An announcement of a reseller, locked until the transaction ends; null when it has none of this id. */
export async function lockResellerAnnouncement(
  db: Db,
  { id, org_id }: Place,
): Promise<ResellerAnnouncement | null> {
  const { rows } = await db.query<ResellerAnnouncement>({
    name: 'support.lock_reseller_announcement',
    text: `select ${COLUMNS} from reseller_announcement where org_id = $1 and id = $2 for update`,
    values: [org_id, id],
  });
  return rows[0] ?? null;
}

/** Changes what an announcement, which is locked, says and when. */
export async function updateResellerAnnouncement(
  db: Db,
  made: ResellerAnnouncement & { readonly at: Date },
): Promise<void> {
  await db.query({
    name: 'support.update_reseller_announcement',
    text: `
      update reseller_announcement
         set title = $3, body = $4, severity = $5, starts_at = $6, ends_at = $7, updated_at = $8
       where org_id = $1 and id = $2`,
    values: [
      ...[made.org_id, made.id, made.title, made.body, made.severity, made.starts_at, made.ends_at, made.at],
    ],
  });
}

/** Deletes an announcement; false when the reseller has none of this id. */
export async function deleteResellerAnnouncement(db: Db, { id, org_id }: Place): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'support.delete_reseller_announcement',
    text: 'delete from reseller_announcement where org_id = $1 and id = $2',
    values: [org_id, id],
  });
  return rowCount === 1;
}

/** A page of the announcements of a reseller, newest first, strictly after `after`. */
export async function listResellerAnnouncements(
  db: Db,
  args: { org_id: Id<'org'>; after: { at: number; id: string } | null; limit: number },
): Promise<ResellerAnnouncement[]> {
  const { rows } = await db.query<ResellerAnnouncement>({
    name: 'support.list_reseller_announcements',
    text: `
      select ${COLUMNS} from reseller_announcement
       where org_id = $1 and ($2::timestamptz is null or (created_at, id) < ($2, $3))
       order by created_at desc, id desc limit $4`,
    values: [
      args.org_id,
      args.after === null ? null : new Date(args.after.at),
      ...[args.after?.id ?? null, args.limit],
    ],
  });
  return rows;
}

/** Those of a reseller that run at `at`, the gravest first, then the newest. */
export async function listRunningOf(
  db: Db,
  args: { org_id: Id<'org'>; at: Date },
): Promise<ResellerAnnouncement[]> {
  const { rows } = await db.query<ResellerAnnouncement>({
    name: 'support.list_running_reseller_announcements',
    text: `
      select ${COLUMNS} from reseller_announcement
       where org_id = $1 and starts_at <= $2 and (ends_at is null or ends_at > $2)
       order by array_position(array['critical', 'warning', 'info'], severity), starts_at desc, id desc
       limit ${SHOWN_MAX}`,
    values: [args.org_id, args.at],
  });
  return rows;
}
