// SQL of policies, their versions and activations.
import type { Db, Id } from '../kernel/index.ts';
import type { PolicyRemark } from './language/validate.ts';

export interface PolicyRow {
  readonly name: string;
  readonly newest: number;
  readonly managed_by: string | null;
  readonly deleted_at: Date | null;
}

export interface VersionRow {
  readonly name: string;
  readonly version: number;
  readonly yaml: string;
  readonly content_hash: string;
  readonly notices: readonly PolicyRemark[];
  readonly managed_by: string | null;
  /** A person, or a key. */
  readonly created_by: string;
  readonly created_at: Date;
}

export interface ActivationRow {
  readonly activation_no: number;
  readonly project_id: Id<'project'> | null;
  readonly name: string;
  readonly version: number;
  readonly activated_at: Date;
  readonly previous_no: number | null;
}

const ACTIVATION = 'activation_no, project_id, name, version, activated_at, previous_no';
const VERSION = 'name, version, yaml, content_hash, notices, managed_by, created_by, created_at';

/** Serialises the writers of one organization's policies until the transaction ends: ownership, numbers and scopes. */
export async function lockPolicies(db: Db, org_id: Id<'org'>): Promise<void> {
  await db.query({
    name: 'policies.lock',
    text: `select pg_advisory_xact_lock(7305118, hashtext($1))`,
    values: [org_id],
  });
}

/** The policy `name`, deleted or not; null when the organization never had it. */
export async function findPolicy(db: Db, org_id: Id<'org'>, name: string): Promise<PolicyRow | null> {
  const { rows } = await db.query<PolicyRow>({
    name: 'policies.find',
    text: 'select name, newest, managed_by, deleted_at from policy where org_id = $1 and name = $2',
    values: [org_id, name],
  });
  return rows[0] ?? null;
}

/** How many policies the organization has. */
export async function countPolicies(db: Db, org_id: Id<'org'>): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'policies.count',
    text: 'select count(*)::int as n from policy where org_id = $1 and deleted_at is null',
    values: [org_id],
  });
  return rows[0]?.n ?? 0;
}

/** Every policy with its newest version and, where one is active, the newest active one; by name. */
export async function listPolicies(
  db: Db,
  org_id: Id<'org'>,
): Promise<
  {
    readonly name: string;
    readonly newest: number;
    readonly active: number | null;
    readonly managed_by: string | null;
    readonly created_at: Date;
  }[]
> {
  const { rows } = await db.query<{
    name: string;
    newest: number;
    active: number | null;
    managed_by: string | null;
    created_at: Date;
  }>({
    name: 'policies.list',
    text: `
      select policy.name, policy.newest, active.version as active, policy.managed_by, shown.created_at
        from policy
        left join lateral (
          select max(version) as version from policy_activation
           where org_id = policy.org_id and name = policy.name and ended_at is null) as active on true
        join policy_version as shown
          on shown.org_id = policy.org_id and shown.name = policy.name
         and shown.version = coalesce(active.version, policy.newest)
       where policy.org_id = $1 and policy.deleted_at is null
       order by policy.name`,
    values: [org_id],
  });
  return rows;
}

/** Takes the next number of `name`, making the policy where there is none; the number rises over deletions. */
export async function nextVersion(
  db: Db,
  args: { org_id: Id<'org'>; name: string; managed_by: string | null; at: Date },
): Promise<number> {
  const { rows } = await db.query<{ newest: number }>({
    name: 'policies.next_version',
    text: `
      insert into policy (org_id, name, newest, managed_by, created_at)
      values ($1, $2, 1, $3, $4)
      on conflict (org_id, name) do update
         set newest = policy.newest + 1, managed_by = $3, deleted_at = null,
             created_at = case when policy.deleted_at is null then policy.created_at else $4 end
      returning newest`,
    values: [args.org_id, args.name, args.managed_by, args.at],
  });
  return (rows[0] as { newest: number }).newest;
}

/** Inserts a version, which never changes afterwards. */
export async function insertVersion(db: Db, org_id: Id<'org'>, version: VersionRow): Promise<void> {
  await db.query({
    name: 'policies.insert_version',
    text: `
      insert into policy_version (org_id, name, version, yaml, content_hash, notices, managed_by, created_by,
                                  created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      org_id,
      version.name,
      version.version,
      version.yaml,
      version.content_hash,
      JSON.stringify(version.notices),
      version.managed_by,
      version.created_by,
      version.created_at,
    ],
  });
}

/** One version; null when missing. */
export async function findVersion(
  db: Db,
  args: { org_id: Id<'org'>; name: string; version: number },
): Promise<VersionRow | null> {
  const { rows } = await db.query<VersionRow>({
    name: 'policies.find_version',
    text: `select ${VERSION} from policy_version where org_id = $1 and name = $2 and version = $3`,
    values: [args.org_id, args.name, args.version],
  });
  return rows[0] ?? null;
}

/** The newest `limit` versions of `name`, newest first. */
export async function listVersions(
  db: Db,
  args: { org_id: Id<'org'>; name: string; limit: number },
): Promise<VersionRow[]> {
  const { rows } = await db.query<VersionRow>({
    name: 'policies.list_versions',
    text: `
      select ${VERSION} from policy_version where org_id = $1 and name = $2
       order by version desc limit $3`,
    values: [args.org_id, args.name, args.limit],
  });
  return rows;
}

/** Running activations of the organization, of `name` alone where it is given. */
export async function listActive(
  db: Db,
  org_id: Id<'org'>,
  name: string | null = null,
): Promise<ActivationRow[]> {
  const { rows } = await db.query<ActivationRow>({
    name: 'policies.list_active',
    text: `
      select ${ACTIVATION} from policy_activation
       where org_id = $1 and ended_at is null and ($2::text is null or name = $2)
       order by project_id nulls first`,
    values: [org_id, name],
  });
  return rows;
}

/** The running activation of a scope (`project_id` null: the organization); null when the default policy rules. */
export async function findActive(
  db: Db,
  org_id: Id<'org'>,
  project_id: string | null,
): Promise<ActivationRow | null> {
  const { rows } = await db.query<ActivationRow>({
    name: 'policies.find_active',
    text: `
      select ${ACTIVATION} from policy_activation
       where org_id = $1 and coalesce(project_id, '') = coalesce($2, '') and ended_at is null`,
    values: [org_id, project_id],
  });
  return rows[0] ?? null;
}

/** One activation of the organization by its number; null when it went with its policy. */
export async function findActivation(
  db: Db,
  org_id: Id<'org'>,
  activation_no: number,
): Promise<ActivationRow | null> {
  const { rows } = await db.query<ActivationRow>({
    name: 'policies.find_activation',
    text: `select ${ACTIVATION} from policy_activation where org_id = $1 and activation_no = $2`,
    values: [org_id, activation_no],
  });
  return rows[0] ?? null;
}

/** The latest ended activation of a version in a scope; null when it was never active there. */
export async function findEarlier(
  db: Db,
  args: { org_id: Id<'org'>; project_id: string | null; name: string; version: number },
): Promise<ActivationRow | null> {
  const { rows } = await db.query<ActivationRow>({
    name: 'policies.find_earlier',
    text: `
      select ${ACTIVATION} from policy_activation
       where org_id = $1 and coalesce(project_id, '') = coalesce($2, '') and name = $3 and version = $4
         and ended_at is not null
       order by activation_no desc limit 1`,
    values: [args.org_id, args.project_id, args.name, args.version],
  });
  return rows[0] ?? null;
}

/** Ends the running activation of a scope at `at`; false when none ran. */
export async function endActivation(
  db: Db,
  args: { org_id: Id<'org'>; project_id: string | null; at: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'policies.end_activation',
    text: `
      update policy_activation set ended_at = $3
       where org_id = $1 and coalesce(project_id, '') = coalesce($2, '') and ended_at is null`,
    values: [args.org_id, args.project_id, args.at],
  });
  return rowCount === 1;
}

/** Starts an activation; of two that start at once in a scope, the index `policy_active_once` refuses one. */
export async function insertActivation(
  db: Db,
  org_id: Id<'org'>,
  row: Omit<ActivationRow, 'activation_no'> & { readonly activated_by: string },
): Promise<void> {
  await db.query({
    name: 'policies.insert_activation',
    text: `
      insert into policy_activation (org_id, project_id, name, version, activated_at, activated_by, previous_no)
      values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [
      ...[org_id, row.project_id, row.name, row.version],
      ...[row.activated_at, row.activated_by, row.previous_no],
    ],
  });
}

/** Sets who rules `name` (null: nobody but its people). */
export async function setManager(
  db: Db,
  args: { org_id: Id<'org'>; name: string; managed_by: string | null },
): Promise<void> {
  await db.query({
    name: 'policies.set_manager',
    text: 'update policy set managed_by = $3 where org_id = $1 and name = $2 and managed_by is distinct from $3',
    values: [args.org_id, args.name, args.managed_by],
  });
}

/** Deletes the versions and the history of `name`; its number stays taken. */
export async function deletePolicy(
  db: Db,
  args: { org_id: Id<'org'>; name: string; at: Date },
): Promise<void> {
  await db.query({
    name: 'policies.delete_versions',
    text: 'delete from policy_version where org_id = $1 and name = $2',
    values: [args.org_id, args.name],
  });
  await db.query({
    name: 'policies.delete',
    text: 'update policy set deleted_at = $3, managed_by = null where org_id = $1 and name = $2',
    values: [args.org_id, args.name, args.at],
  });
}

/** Gateways whose last note is young, and whose session is there if the note names one. */
const ALIVE = `
  select seen from policy_gateway
   where seen_at > clock_timestamp() - interval '10 seconds'
     and (session_id is null
          or hashtextextended(session_id, 0) in (
            select classid::bigint << 32 | objid::bigint from pg_locks
             where locktype = 'advisory' and objsubid = 1 and granted
               and database = (select oid from pg_database where datname = current_database())))`;

/** For each running activation of the organization the live gateways, and how many of them have seen it. */
export async function listFollowing(
  db: Db,
  org_id: Id<'org'>,
): Promise<{ name: string; project_id: string | null; applied: number; total: number }[]> {
  const { rows } = await db.query<{
    name: string;
    project_id: string | null;
    applied: number;
    total: number;
  }>({
    name: 'policies.list_following',
    text: `
      with alive as materialized (${ALIVE})
      select name, project_id, (select count(*) from alive)::int as total,
             (select count(*) from alive where pg_visible_in_snapshot(xid, seen))::int as applied
        from policy_activation where org_id = $1 and ended_at is null`,
    values: [org_id],
  });
  return rows;
}

/**
 * Live gateway processes, and how many of them have seen every running activation of a version: their next call is
 * routed by it.
 */
export async function countGateways(
  db: Db,
  args: { org_id: Id<'org'>; name: string; version: number },
): Promise<{ applied: number; total: number }> {
  const { rows } = await db.query<{ applied: number; total: number }>({
    name: 'policies.count_gateways',
    text: `
      with alive as materialized (${ALIVE}),
      mine as (
        select xid from policy_activation
         where org_id = $1 and name = $2 and version = $3 and ended_at is null)
      select count(*)::int as total,
             count(*) filter (where exists (select from mine)
                                and not exists (select from mine where not pg_visible_in_snapshot(xid, seen)))::int
               as applied
        from alive`,
    values: [args.org_id, args.name, args.version],
  });
  return rows[0] as { applied: number; total: number };
}
