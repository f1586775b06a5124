// SQL of organizations and projects.
import type { Db, Environment, Id } from '../kernel/index.ts';
import type { GrantFacts, Org, OrgDataPolicy, OrgKind, Project, SecuritySettings } from './types.ts';

/** Inserts an organization and returns the numbers of its books; null when its slug is taken (`org_slug_once`). */
export async function insertOrg(
  db: Db,
  org: {
    id: Id<'org'>;
    slug: string;
    name: string;
    kind: OrgKind;
    plan_id: string;
    billing_country: string;
    billing_currency: string;
    data_policy: OrgDataPolicy;
    pepper: Buffer;
    shard: string;
    at: Date;
  },
): Promise<Pick<Org, 'live_book_id' | 'sandbox_book_id'> | null> {
  const { rows } = await db.query<Pick<Org, 'live_book_id' | 'sandbox_book_id'>>({
    name: 'orgs.insert',
    text: `
      insert into org (id, slug, name, kind, plan_id, billing_country, billing_currency, data_policy, pepper,
                       shard, created_at, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)
      on conflict (slug) do nothing
      returning live_book_id, sandbox_book_id`,
    values: [
      org.id,
      org.slug,
      org.name,
      org.kind,
      org.plan_id,
      org.billing_country,
      org.billing_currency,
      JSON.stringify(org.data_policy),
      org.pepper,
      org.shard,
      org.at,
    ],
  });
  return rows[0] ?? null;
}

/** The shard of an organization's books. @throws Error when there is no such organization. */
export async function readShard(db: Db, org_id: Id<'org'>): Promise<string> {
  const { rows } = await db.query<{ shard: string }>({
    name: 'orgs.read_shard',
    text: 'select shard from org where id = $1',
    values: [org_id],
  });
  if (rows[0] === undefined) throw new Error(`there is no organization ${org_id}`);
  return rows[0].shard;
}

/** The organization with this id or slug; null when there is none. */
export async function findOrg(db: Db, id_or_slug: string): Promise<Org | null> {
  const { rows } = await db.query<Org>({
    name: 'orgs.find',
    text: `
      select id, slug, name, kind, status, plan_id, billing_country, billing_currency, data_policy, settings,
             shard, live_book_id, sandbox_book_id, created_at
        from org where id = $1 or slug = $1`,
    values: [id_or_slug],
  });
  return rows[0] ?? null;
}

/** An organization with everything its members may read. */
export interface OrgRecord extends Omit<Org, 'settings' | 'shard' | 'live_book_id' | 'sandbox_book_id'> {
  readonly legal_name: string | null;
  readonly gstin: string | null;
  readonly tax_status: 'gst_registered' | 'unregistered' | 'sez' | 'overseas';
  readonly billing_email: string | null;
  readonly billing_address: Record<string, unknown> | null;
  readonly settings: { readonly security?: SecuritySettings & { readonly key_default_expiry_days?: number } };
  readonly closed_at: Date | null;
  readonly updated_at: Date;
}

/** The organizations with these ids, oldest first. */
export async function findOrgRecords(db: Db, ids: readonly string[]): Promise<OrgRecord[]> {
  const { rows } = await db.query<OrgRecord>({
    name: 'orgs.find_records',
    text: `
      select id, slug, name, kind, status, plan_id, billing_country, billing_currency, legal_name, gstin, tax_status,
             billing_email, billing_address, settings, data_policy, created_at, closed_at, updated_at
        from org where id = any($1) order by created_at, id`,
    values: [ids],
  });
  return rows;
}

/** Locks an organization's row until the transaction ends: counting against plan limits takes turns. */
export async function lockOrg(db: Db, org_id: Id<'org'>): Promise<Org | null> {
  const { rows } = await db.query<Org>({
    name: 'orgs.lock',
    text: `
      select id, slug, name, kind, status, plan_id, billing_country, billing_currency, data_policy, settings,
             shard, live_book_id, sandbox_book_id, created_at
        from org where id = $1 for no key update`,
    values: [org_id],
  });
  return rows[0] ?? null;
}

/** Sets what staff decide about an organization; what is left out stays. */
export async function setTerms(
  db: Db,
  args: { org_id: Id<'org'>; kind?: Org['kind']; plan_id?: string; at: Date },
): Promise<void> {
  await db.query({
    name: 'orgs.set_terms',
    text: `
      update org set kind = coalesce($2, kind), plan_id = coalesce($3, plan_id), updated_at = $4 where id = $1`,
    values: [args.org_id, args.kind ?? null, args.plan_id ?? null, args.at],
  });
}

/** Sets an organization's status; null when there is none. Keys follow within a second (trigger). */
export async function setOrgStatus(
  db: Db,
  args: { org_id: Id<'org'>; status: Org['status']; at: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'orgs.set_status',
    text: `
      update org set status = $2, updated_at = $3, closed_at = case when $2 = 'closed' then $3::timestamptz end
       where id = $1`,
    values: [args.org_id, args.status, args.at],
  });
  return rowCount === 1;
}

/** What keys inherit, read for one project of one organization; null when either is missing. */
export async function findGrantFacts(
  db: Db,
  args: { org_id: Id<'org'>; project_id: Id<'project'> },
): Promise<GrantFacts | null> {
  const { rows } = await db.query<GrantFacts>({
    name: 'orgs.find_grant_facts',
    text: `
      select org.status, org.plan_id, org.data_policy, org.pepper, org.shard, org.live_book_id, org.sandbox_book_id,
             project.live_no, project.sandbox_no
        from org join project on project.org_id = org.id
       where org.id = $1 and project.id = $2`,
    values: [args.org_id, args.project_id],
  });
  return rows[0] ?? null;
}

/** Inserts a project and returns its numbers; null when an active one of the organization holds the slug. */
export async function insertProject(
  db: Db,
  project: {
    id: Id<'project'>;
    org_id: Id<'org'>;
    slug: string;
    name: string;
    environment: Environment;
    at: Date;
  },
): Promise<{ live_no: number; sandbox_no: number } | null> {
  const { rows } = await db.query<{ live_no: number; sandbox_no: number }>({
    name: 'orgs.insert_project',
    text: `
      insert into project (id, org_id, slug, name, environment, created_at, updated_at)
      values ($1, $2, $3, $4, $5, $6, $6)
      on conflict (org_id, slug) where status = 'active' do nothing
      returning live_no, sandbox_no`,
    values: [project.id, project.org_id, project.slug, project.name, project.environment, project.at],
  });
  return rows[0] ?? null;
}

/** An active project of `org_id` by id or slug; null when it is missing, archived or another organization's. */
export async function findProject(db: Db, args: { org_id: Id<'org'>; id: string }): Promise<Project | null> {
  const { rows } = await db.query<Project>({
    name: 'orgs.find_project',
    text: `
      select id, live_no, sandbox_no, org_id, slug, name, environment, status, budget_monthly_micro, budget_hard,
             alerts, created_at
        from project where org_id = $1 and (id = $2 or slug = $2) and status = 'active'`,
    values: [args.org_id, args.id],
  });
  return rows[0] ?? null;
}

/** How many active projects an organization has, both environments. */
export async function countProjects(db: Db, org_id: Id<'org'>): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'orgs.count_projects',
    text: `select count(*)::int as n from project where org_id = $1 and status = 'active'`,
    values: [org_id],
  });
  return rows[0]?.n ?? 0;
}

/** Active projects of an organization, oldest first; `environment` and `id` null: all. Plans bound their number. */
export async function listProjects(
  db: Db,
  args: { org_id: Id<'org'>; environment: Environment | null; id: string | null },
): Promise<Project[]> {
  const { rows } = await db.query<Project>({
    name: 'orgs.list_projects',
    text: `
      select id, live_no, sandbox_no, org_id, slug, name, environment, status, budget_monthly_micro, budget_hard,
             alerts, created_at
        from project
       where org_id = $1 and status = 'active' and ($2::text is null or environment = $2)
         and ($3::text is null or id = $3)
       order by created_at, id`,
    values: [args.org_id, args.environment, args.id],
  });
  return rows;
}

/** The project that counts under `no` in the ledger, in either book; null when its row is gone. */
export async function findProjectId(db: Db, no: number): Promise<Id<'project'> | null> {
  const { rows } = await db.query<{ id: Id<'project'> }>({
    name: 'orgs.find_project_id',
    text: 'select id from project where live_no = $1 or sandbox_no = $1',
    values: [no],
  });
  return rows[0]?.id ?? null;
}

/** Organizations whose id or slug is `q`, then those whose slug begins with it or whose name contains it. Staff only. */
export async function searchOrgs(db: Db, args: { q: string; limit: number }): Promise<Org[]> {
  const { rows } = await db.query<Org>({
    name: 'orgs.search',
    text: `
      select id, slug, name, kind, status, plan_id, billing_country, billing_currency, data_policy, settings,
             shard, live_book_id, sandbox_book_id, created_at
        from org
       where id = $1 or starts_with(slug, lower($1)) or position(lower($1) in lower(name)) > 0
       order by (id = $1 or slug = lower($1)) desc, slug
       limit $2`,
    values: [args.q, args.limit],
  });
  return rows;
}
