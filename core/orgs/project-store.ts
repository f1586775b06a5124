// SQL of projects.
import type { Db, Environment, Id } from '../kernel/index.ts';
import type { Project } from './types.ts';

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
             alerts, rpm, tpm, concurrency, managed_by, created_at, updated_at
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

/**
 * Active projects of an organization, oldest first; `environment` and `id` null: all. Plans bound their number. With `archived` the
 * others too.
 */
export async function listProjects(
  db: Db,
  args: { org_id: Id<'org'>; environment: Environment | null; id: string | null; archived?: true },
): Promise<Project[]> {
  const { rows } = await db.query<Project>({
    name: 'orgs.list_projects',
    text: `
      select id, live_no, sandbox_no, org_id, slug, name, environment, status, budget_monthly_micro, budget_hard,
             alerts, rpm, tpm, concurrency, managed_by, created_at, updated_at
        from project
       where org_id = $1 and (status = 'active' or $4) and ($2::text is null or environment = $2)
         and ($3::text is null or id = $3)
       order by created_at, id`,
    values: [args.org_id, args.environment, args.id, args.archived ?? false],
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

/** Locks an active project until the transaction ends: changes of a budget take turns; null when there is none. */
export async function lockProject(
  db: Db,
  args: { org_id: Id<'org'>; environment: Environment | null; id: string },
): Promise<Project | null> {
  const { rows } = await db.query<Project>({
    name: 'orgs.lock_project',
    text: `
      select id, live_no, sandbox_no, org_id, slug, name, environment, status, budget_monthly_micro, budget_hard,
             alerts, rpm, tpm, concurrency, managed_by, created_at, updated_at
        from project
       where org_id = $1 and id = $2 and status = 'active' and ($3::text is null or environment = $3)
         for no key update`,
    values: [args.org_id, args.id, args.environment],
  });
  return rows[0] ?? null;
}

/** Writes what can change about a project. */
export async function updateProject(db: Db, project: Project, at: Date): Promise<Project> {
  const { rows } = await db.query<Project>({
    name: 'orgs.update_project',
    text: `
      update project
         set name = $3, budget_monthly_micro = $4, budget_hard = $5, alerts = $6, managed_by = $7, updated_at = $8,
             rpm = $9, tpm = $10, concurrency = $11
       where org_id = $1 and id = $2
      returning id, live_no, sandbox_no, org_id, slug, name, environment, status, budget_monthly_micro, budget_hard,
                alerts, rpm, tpm, concurrency, managed_by, created_at, updated_at`,
    values: [
      ...[project.org_id, project.id, project.name, project.budget_monthly_micro, project.budget_hard],
      ...[project.alerts, project.managed_by, at, project.rpm, project.tpm, project.concurrency],
    ],
  });
  return rows[0] as Project;
}

/** Ends a project; its slug is free again. */
export async function archiveProject(
  db: Db,
  args: { org_id: Id<'org'>; id: Id<'project'>; at: Date },
): Promise<void> {
  await db.query({
    name: 'orgs.archive_project',
    text: `update project set status = 'archived', updated_at = $3 where org_id = $1 and id = $2`,
    values: [args.org_id, args.id, args.at],
  });
}

/** The project that counts under `no` in the ledger, in either book, archived or not; null when its row is gone. */
export async function findProjectByNumber(db: Db, no: number): Promise<Project | null> {
  const { rows } = await db.query<Project>({
    name: 'orgs.find_project_by_number',
    text: `
      select id, live_no, sandbox_no, org_id, slug, name, environment, status, budget_monthly_micro, budget_hard,
             alerts, rpm, tpm, concurrency, managed_by, created_at, updated_at
        from project where live_no = $1 or sandbox_no = $1`,
    values: [no],
  });
  return rows[0] ?? null;
}
