// SQL of announcements.
import type { Db, Id } from '../kernel/index.ts';
import type { Org } from '../orgs/index.ts';
import type { Announcement } from './types.ts';

const COLUMNS = `
  id, title, body, severity, audience, audience_values, starts_at, ends_at, created_by, created_at, updated_at`;
/** Announcements that one organization is shown at once. */
const SHOWN_MAX = 50;

/** Inserts an announcement and returns it. */
export async function insertAnnouncement(
  db: Db,
  made: Omit<Announcement, 'updated_at'>,
): Promise<Announcement> {
  const { rows } = await db.query<Announcement>({
    name: 'support.insert_announcement',
    text: `
      insert into announcement (id, title, body, severity, audience, audience_values, starts_at, ends_at, created_by,
                                created_at, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10)
      returning ${COLUMNS}`,
    values: [
      ...[made.id, made.title, made.body, made.severity, made.audience, made.audience_values],
      ...[made.starts_at, made.ends_at, made.created_by, made.created_at],
    ],
  });
  return rows[0] as Announcement;
}

/** Those that run at `at` for `org`, the gravest first, then the newest. */
export async function listRunning(
  db: Db,
  args: { org: Pick<Org, 'id' | 'plan_id' | 'billing_country' | 'kind'>; at: Date },
): Promise<Announcement[]> {
  const { id, plan_id, billing_country, kind } = args.org;
  const { rows } = await db.query<Announcement>({
    name: 'support.list_running_announcements',
    text: `
      select ${COLUMNS} from announcement
       where starts_at <= $1 and (ends_at is null or ends_at > $1)
         and case audience
               when 'all' then true
               when 'plans' then $2 = any (audience_values)
               when 'countries' then $3 = any (audience_values)
               when 'resellers' then $4 = 'reseller'
               else $5 = any (audience_values) end
       order by array_position(array['critical', 'warning', 'info'], severity), starts_at desc, id desc
       limit ${SHOWN_MAX}`,
    values: [args.at, plan_id, billing_country, kind, id],
  });
  return rows;
}

/** A page of all announcements, newest first, strictly after `after`. */
export async function listAnnouncements(
  db: Db,
  args: { after: { at: number; id: string } | null; limit: number },
): Promise<Announcement[]> {
  const { rows } = await db.query<Announcement>({
    name: 'support.list_announcements',
    text: `
      select ${COLUMNS} from announcement
       where $1::timestamptz is null or (created_at, id) < ($1, $2)
       order by created_at desc, id desc limit $3`,
    values: [args.after === null ? null : new Date(args.after.at), args.after?.id ?? null, args.limit],
  });
  return rows;
}

/**
 * Ends an announcement at `at`; one that was to start later ends when it starts, and is never shown. Null when there is none;
 * one that has ended stays as it is.
 */
export async function endAnnouncementAt(
  db: Db,
  args: { id: Id<'announcement'>; at: Date },
): Promise<Announcement | null> {
  const { rows } = await db.query<Announcement>({
    name: 'support.end_announcement',
    text: `
      update announcement
         set ends_at = least(coalesce(ends_at, 'infinity'), greatest(starts_at, $2)), updated_at = $2
       where id = $1
      returning ${COLUMNS}`,
    values: [args.id, args.at],
  });
  return rows[0] ?? null;
}
