// SQL of what staff do about rankings.
import type { Db } from '../kernel/index.ts';

/** An app as staff see it. */
export interface StaffApp {
  readonly slug: string;
  readonly name: string;
  readonly category: string | null;
  readonly url: string | null;
  readonly public: boolean;
  readonly org_id: `org_${string}`;
  readonly org_slug: string;
  readonly first_seen_at: Date;
  readonly excluded_at: Date | null;
  readonly excluded_reason: string | null;
}

const COLUMNS = `
  app.slug, app.name, app.category, app.url, app.public, app.org_id, org.slug as org_slug,
  date_trunc('milliseconds', app.first_seen_at) as first_seen_at, app.excluded_at, app.excluded_reason`;

/** Apps that are public or excluded, newest first, strictly after `after`. */
export async function listRankedApps(
  db: Db,
  { after, limit }: { after: { at: number; id: string } | null; limit: number },
): Promise<StaffApp[]> {
  const { rows } = await db.query<StaffApp>({
    name: 'figures.list_ranked_apps',
    text: `
      select ${COLUMNS} from app join org on org.id = app.org_id
       where (app.public or app.excluded_at is not null)
         and ($1::timestamptz is null or (date_trunc('milliseconds', app.first_seen_at), app.slug) < ($1, $2))
       order by date_trunc('milliseconds', app.first_seen_at) desc, app.slug desc limit $3`,
    values: [after === null ? null : new Date(after.at), after?.id ?? null, limit],
  });
  return rows;
}

/** The app `slug`, held until the transaction ends; null when there is none. */
export async function lockApp(db: Db, slug: string): Promise<StaffApp | null> {
  const { rows } = await db.query<StaffApp>({
    name: 'figures.lock_app',
    text: `select ${COLUMNS} from app join org on org.id = app.org_id where app.slug = $1 for update of app`,
    values: [slug],
  });
  return rows[0] ?? null;
}

/** Keeps an app out of rankings since `excluded_at`, or with null lets it in again. */
export async function setExcluded(
  db: Db,
  app: Pick<StaffApp, 'slug' | 'excluded_at' | 'excluded_reason'>,
): Promise<void> {
  await db.query({
    name: 'figures.set_excluded',
    text: 'update app set excluded_at = $2, excluded_reason = $3 where slug = $1',
    values: [app.slug, app.excluded_at, app.excluded_reason],
  });
}

/** Asks at `at` for figures that are newer than those there are, whatever clock made them. */
export async function askForFigures(db: Db, at: Date): Promise<void> {
  await db.query({
    name: 'figures.ask',
    text: `update figures set asked_at = greatest($1, refreshed_at + interval '1 millisecond')`,
    values: [at],
  });
}

/** When figures were published and asked for; `waiting`: those that were asked for are not there yet. */
export async function readAsked(
  db: Db,
): Promise<{ refreshed_at: Date | null; asked_at: Date | null; waiting: boolean }> {
  const { rows } = await db.query<{ refreshed_at: Date | null; asked_at: Date | null; waiting: boolean }>({
    name: 'figures.read_asked',
    text: `
      select refreshed_at, asked_at,
             asked_at is not null and (refreshed_at is null or refreshed_at < asked_at) as waiting
        from figures`,
  });
  return rows[0] ?? { refreshed_at: null, asked_at: null, waiting: false };
}
