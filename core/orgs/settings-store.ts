// SQL of what an organization sets for itself.
import type { Db, Id } from '../kernel/index.ts';
import type { OrgSecurity } from './types.ts';

/** What an organization is called, and the rules for its people. */
interface OrgSettings {
  readonly name: string;
  readonly slug: string;
  readonly security: OrgSecurity;
}

/** The settings of an organization, which is locked; null when there is none. */
export async function findSettings(db: Db, org_id: Id<'org'>): Promise<OrgSettings | null> {
  const { rows } = await db.query<OrgSettings>({
    name: 'orgs.find_settings',
    text: `select name, slug, coalesce(settings -> 'security', '{}') as security from org where id = $1`,
    values: [org_id],
  });
  return rows[0] ?? null;
}

/**
 * Keeps a slug to the end of the transaction: of two that ask for one at once the second waits and sees the first.
 */
export async function keepSlug(db: Db, slug: string): Promise<void> {
  await db.query({
    name: 'orgs.keep_slug',
    text: `select pg_advisory_xact_lock(hashtextextended('org slug ' || $1, 0))`,
    values: [slug],
  });
}

/** Writes the settings of an organization, which is locked as its slug is; false when another one has the slug. */
export async function putSettings(
  db: Db,
  args: { org_id: Id<'org'>; settings: OrgSettings; at: Date },
): Promise<boolean> {
  const { name, slug, security } = args.settings;
  const { rowCount } = await db.query({
    name: 'orgs.put_settings',
    text: `
      update org set name = $2, slug = $3, settings = jsonb_set(settings, '{security}', $4), updated_at = $5
       where id = $1 and not exists (select 1 from org as other where other.slug = $3 and other.id <> $1)`,
    values: [args.org_id, name, slug, JSON.stringify(security), args.at],
  });
  return rowCount === 1;
}
