// SQL of exports of organizations.
import type { Db, Id } from '../kernel/index.ts';
import type { OrgExport } from './types.ts';

const COLUMNS = 'id, org_id, created_by, created_at, expires_at, downloads, last_downloaded_at';

/** Writes a new export down. */
export async function insertExport(
  db: Db,
  made: Pick<OrgExport, 'id' | 'org_id' | 'created_by' | 'created_at' | 'expires_at'>,
): Promise<void> {
  await db.query({
    name: 'org_export.insert',
    text: `
      insert into org_export (id, org_id, created_by, created_at, expires_at) values ($1, $2, $3, $4, $5)`,
    values: [made.id, made.org_id, made.created_by, made.created_at, made.expires_at],
  });
}

/** How many exports an organization has made since `since`, and when the first of them was. */
export async function countSince(
  db: Db,
  args: { org_id: Id<'org'>; since: Date },
): Promise<{ exports: number; first_at: Date | null }> {
  const { rows } = await db.query<{ exports: number; first_at: Date | null }>({
    name: 'org_export.count_since',
    text: `
      select count(*)::int as exports, min(created_at) as first_at from org_export
       where org_id = $1 and created_at > $2`,
    values: [args.org_id, args.since],
  });
  return rows[0] ?? { exports: 0, first_at: null };
}

/** An export of the organization; null when it has none with this id. */
export async function findExport(
  db: Db,
  args: { org_id: Id<'org'>; id: Id<'org_export'> },
): Promise<OrgExport | null> {
  const { rows } = await db.query<OrgExport>({
    name: 'org_export.find',
    text: `select ${COLUMNS} from org_export where org_id = $1 and id = $2`,
    values: [args.org_id, args.id],
  });
  return rows[0] ?? null;
}

/** Counts a download of an export that is open at `at`; false when it has lapsed or was downloaded `max` times. */
export async function takeDownload(
  db: Db,
  args: { org_id: Id<'org'>; id: Id<'org_export'>; at: Date; max: number },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'org_export.take_download',
    text: `
      update org_export set downloads = downloads + 1, last_downloaded_at = $3
       where org_id = $1 and id = $2 and expires_at > $3 and downloads < $4`,
    values: [args.org_id, args.id, args.at, args.max],
  });
  return rowCount === 1;
}

/** Exports of an organization, newest first, after a place in that order. */
export async function listExports(
  db: Db,
  args: { org_id: Id<'org'>; after: { at: number; id: string } | null; limit: number },
): Promise<OrgExport[]> {
  const { rows } = await db.query<OrgExport>({
    name: 'org_export.list',
    text: `
      select ${COLUMNS} from org_export
       where org_id = $1 and ($2::timestamptz is null or (created_at, id) < ($2, $3))
       order by created_at desc, id desc limit $4`,
    values: [
      args.org_id,
      args.after === null ? null : new Date(args.after.at),
      args.after?.id ?? '',
      args.limit,
    ],
  });
  return rows;
}
