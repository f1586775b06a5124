// SQL of the published figures, and of apps.
import type { Db, Id } from '../kernel/index.ts';
import type { AppRow, Content } from './types.ts';

/** Publishes `content` as of `at`. */
export async function writeFigures(db: Db, content: Content, at: Date): Promise<void> {
  await db.query({
    name: 'figures.write',
    text: 'update figures set content = $1, refreshed_at = $2',
    values: [JSON.stringify(content), at],
  });
}

/** The figures that were published last, and when; null before the first. */
export async function readFigures(db: Db): Promise<{ content: Content; refreshed_at: Date } | null> {
  const { rows } = await db.query<{ content: Content | null; refreshed_at: Date | null }>({
    name: 'figures.read',
    text: 'select content, refreshed_at from figures',
  });
  const [row] = rows;
  if (row === undefined || row.content === null || row.refreshed_at === null) return null;
  return { content: row.content, refreshed_at: row.refreshed_at };
}

/**
 * Gives each app that nobody has to the organization that it was seen at first; one that somebody has stays with them. Names of our
 * own programs belong to nobody. The form is checked, since rows of an older program may have any.
 */
export async function noteApps(
  db: Db,
  sights: readonly { org_id: Id<'org'>; app_id: string; first_at: Date }[],
  at: Date,
): Promise<void> {
  if (sights.length === 0) return;
  await db.query({
    name: 'figures.note_apps',
    text: `
      insert into app (slug, org_id, name, first_seen_at, updated_at)
      select slug, org_id, slug, first_at, $4
        from unnest($1::text[], $2::text[], $3::timestamptz[]) as seen (slug, org_id, first_at)
       where slug ~ '^[a-z0-9-]{1,64}$' and slug !~ '^svc(-|$)'
       order by slug
      on conflict (slug) do nothing`,
    values: [
      sights.map(({ app_id }) => app_id),
      sights.map(({ org_id }) => org_id),
      sights.map(({ first_at }) => first_at),
      at,
    ],
  });
}

const COLUMNS = 'slug, org_id, name, category, url, public, first_seen_at, updated_at';

/** Apps of one organization, by their slug. */
export async function listOwnApps(db: Db, org_id: Id<'org'>): Promise<AppRow[]> {
  const { rows } = await db.query<AppRow>({
    name: 'figures.list_own_apps',
    text: `select ${COLUMNS} from app where org_id = $1 order by slug`,
    values: [org_id],
  });
  return rows;
}

/** An app of the organization, held until the transaction ends; null when it has none of this name. */
export async function lockOwnApp(db: Db, of: { org_id: Id<'org'>; slug: string }): Promise<AppRow | null> {
  const { rows } = await db.query<AppRow>({
    name: 'figures.lock_own_app',
    text: `select ${COLUMNS} from app where org_id = $1 and slug = $2 for update`,
    values: [of.org_id, of.slug],
  });
  return rows[0] ?? null;
}

/** Sets what an app says of itself. */
export async function updateApp(
  db: Db,
  app: Pick<AppRow, 'org_id' | 'slug' | 'name' | 'category' | 'url' | 'public' | 'updated_at'>,
): Promise<void> {
  await db.query({
    name: 'figures.update_app',
    text: `
      update app set name = $3, category = $4, url = $5, public = $6, updated_at = $7
       where org_id = $1 and slug = $2`,
    values: [app.org_id, app.slug, app.name, app.category, app.url, app.public, app.updated_at],
  });
}

/** Apps that show themselves to everybody, and that staff do not keep out. */
export async function listPublicApps(db: Db): Promise<AppRow[]> {
  const { rows } = await db.query<AppRow>({
    name: 'figures.list_public_apps',
    text: `select ${COLUMNS} from app where public and excluded_at is null order by slug`,
  });
  return rows;
}

/** The app `slug`, where it shows itself to everybody; else null. */
export async function findPublicApp(db: Db, slug: string): Promise<AppRow | null> {
  const { rows } = await db.query<AppRow>({
    name: 'figures.find_public_app',
    text: `select ${COLUMNS} from app where slug = $1 and public`,
    values: [slug],
  });
  return rows[0] ?? null;
}
