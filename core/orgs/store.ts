// SQL of organizations.
import type { Db, Id } from '../kernel/index.ts';
import type {
  GrantFacts,
  LimitOverrides,
  Org,
  OrgDataPolicy,
  OrgKind,
  OrgSecurity,
  PepperRow,
} from './types.ts';

/** What staff changed of the limits of an organization's plan (plan-sheet.ts). */
const PLAN_LIMITS = `(select value #> array['limits', org.plan_id] from settings where name = 'plans') as plan_limits`;

/** What staff set for organizations that people make themselves (new-orgs.ts). */
const NEW_ORG_LIMITS = `(select value from settings where name = 'new_orgs') as new_org_limits`;

/** Inserts an organization and returns the numbers of its books; null when its slug is taken (`org_slug_once`). */
export async function insertOrg(
  db: Db,
  org: {
    id: Id<'org'>;
    slug: string;
    name: string;
    kind: OrgKind;
    parent_org_id: Id<'org'> | null;
    reseller_tier_id: Id<'tier'> | null;
    plan_id: string;
    billing_country: string;
    billing_currency: string;
    data_policy: OrgDataPolicy;
    shard: string;
    self_made: boolean;
    at: Date;
  } & PepperRow,
): Promise<Pick<Org, 'live_book_id' | 'sandbox_book_id'> | null> {
  const { rows } = await db.query<Pick<Org, 'live_book_id' | 'sandbox_book_id'>>({
    name: 'orgs.insert',
    text: `
      insert into org (id, slug, name, kind, plan_id, billing_country, billing_currency, data_policy, pepper,
                       pepper_sealed, shard, self_made, awaits_topup, created_at, updated_at, parent_org_id,
                       reseller_tier_id)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $13, $13, $14, $15)
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
      org.pepper_sealed,
      org.shard,
      org.self_made,
      org.at,
      org.parent_org_id,
      org.reseller_tier_id,
    ],
  });
  return rows[0] ?? null;
}

/** Since when the organization owes an acceptance that has effects, or will; null: it owes none. */
export async function findOutstandingSince(db: Db, org_id: Id<'org'>): Promise<Date | null> {
  const { rows } = await db.query<{ since: Date | null }>({
    name: 'orgs.legal_outstanding_since',
    text: 'select legal_outstanding_since($1) as since',
    values: [org_id],
  });
  return rows[0]?.since ?? null;
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

const ORG = `
  id, slug, name, kind, parent_org_id, reseller_tier_id, status, plan_id, ${PLAN_LIMITS}, limit_overrides, self_made, awaits_topup, ${NEW_ORG_LIMITS},
  billing_country, billing_currency, data_policy, settings, shard, live_book_id, sandbox_book_id, created_at`;

/** The organization with this id or slug; null when there is none. */
export async function findOrg(db: Db, id_or_slug: string): Promise<Org | null> {
  const { rows } = await db.query<Org>({
    name: 'orgs.find',
    text: `select ${ORG} from org where id = $1 or slug = $1`,
    values: [id_or_slug],
  });
  return rows[0] ?? null;
}

/** The organizations with these ids, by id; for lists of staff. */
export async function findOrgs(db: Db, ids: readonly Id<'org'>[]): Promise<ReadonlyMap<string, Org>> {
  const { rows } = await db.query<Org>({
    name: 'orgs.find_all',
    text: `select ${ORG} from org where id = any ($1)`,
    values: [ids],
  });
  return new Map(rows.map((org) => [org.id, org]));
}

/** An organization with everything its members may read. */
export interface OrgRecord
  extends Omit<
    Org,
    | 'settings'
    | 'shard'
    | 'live_book_id'
    | 'sandbox_book_id'
    | 'plan_limits'
    | 'limit_overrides'
    | 'self_made'
    | 'awaits_topup'
    | 'new_org_limits'
    | 'parent_org_id'
    | 'reseller_tier_id'
  > {
  readonly legal_name: string | null;
  readonly gstin: string | null;
  readonly tax_status: 'gst_registered' | 'unregistered' | 'sez' | 'overseas';
  readonly billing_email: string | null;
  readonly billing_address: Record<string, unknown> | null;
  readonly low_balance_micro: number;
  readonly settings: { readonly security?: OrgSecurity };
  readonly closed_at: Date | null;
  /** When the organization's erasure was asked for and when it begins (core/org-erasure). */
  readonly erasure_requested_at: Date | null;
  readonly erasure_due_at: Date | null;
  readonly updated_at: Date;
}

/** The organizations with these ids, oldest first. */
export async function findOrgRecords(db: Db, ids: readonly string[]): Promise<OrgRecord[]> {
  const { rows } = await db.query<OrgRecord>({
    name: 'orgs.find_records',
    text: `
      select id, slug, name, kind, status, plan_id, billing_country, billing_currency, legal_name, gstin, tax_status,
             billing_email, billing_address, low_balance_micro, settings, data_policy, created_at, closed_at,
             erasure_requested_at, erasure_due_at, updated_at
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
      select ${ORG}
        from org where id = $1 for no key update`,
    values: [org_id],
  });
  return rows[0] ?? null;
}

/** Notes that an organization has paid: what bounds those that have not is over. Keys follow within a second (trigger). */
export async function endTrial(db: Db, org_id: Id<'org'>): Promise<void> {
  await db.query({
    name: 'orgs.end_trial',
    text: 'update org set awaits_topup = false where id = $1 and awaits_topup',
    values: [org_id],
  });
}

/** Lets the keys of organizations that have not paid follow what staff set for them (trigger `org_announces`). */
export async function announceNewOrgs(db: Db): Promise<void> {
  await db.query({
    name: 'orgs.announce_new',
    text: `update org set awaits_topup = true where awaits_topup and status <> 'closed'`,
  });
}

/** Whether the erasure of an organization is due, under way or done at `at` (core/org-erasure). */
export async function isErased(db: Db, args: { org_id: Id<'org'>; at: Date }): Promise<boolean> {
  const { rows } = await db.query({
    name: 'orgs.is_erased',
    text: 'select from org where id = $1 and erasure_due_at <= $2',
    values: [args.org_id, args.at],
  });
  return rows.length > 0;
}

/** Those of `ids` that are active. */
export async function activeOrgs(db: Db, ids: readonly Id<'org'>[]): Promise<Set<Id<'org'>>> {
  if (ids.length === 0) return new Set();
  const { rows } = await db.query<{ id: Id<'org'> }>({
    name: 'orgs.list_active',
    text: `select id from org where id = any ($1) and status = 'active'`,
    values: [ids],
  });
  return new Set(rows.map(({ id }) => id));
}

/** Those of `ids` that are customers of a reseller. */
export async function orgsOfResellers(db: Db, ids: readonly Id<'org'>[]): Promise<Set<Id<'org'>>> {
  if (ids.length === 0) return new Set();
  const { rows } = await db.query<{ id: Id<'org'> }>({
    name: 'orgs.list_of_resellers',
    text: 'select id from org where id = any ($1) and parent_org_id is not null',
    values: [ids],
  });
  return new Set(rows.map(({ id }) => id));
}

/** Organizations that were closed at or after `since`. */
export async function listClosedOrgs(db: Db, since: Date): Promise<Id<'org'>[]> {
  const { rows } = await db.query<{ id: Id<'org'> }>({
    name: 'orgs.list_closed',
    text: 'select id from org where closed_at >= $1 order by id',
    values: [since],
  });
  return rows.map(({ id }) => id);
}

/** Whether an organization has children; under its lock nobody makes one. */
export async function hasChildren(db: Db, org_id: Id<'org'>): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'orgs.has_children',
    text: 'select from org where parent_org_id = $1 limit 1',
    values: [org_id],
  });
  return rowCount > 0;
}

/** Sets the kind of an organization. */
export async function setKind(
  db: Db,
  args: { org_id: Id<'org'>; kind: Org['kind']; at: Date },
): Promise<void> {
  await db.query({
    name: 'orgs.set_kind',
    text: 'update org set kind = $2, updated_at = $3 where id = $1',
    values: [args.org_id, args.kind, args.at],
  });
}

/**
 * Sets an organization's status, and why it is suspended where no person did it; false when there is none. Keys follow
 * within a second (trigger). One that becomes active has its plan from then on: the month in which it could not be used
 * costs nothing.
 */
export async function setOrgStatus(
  db: Db,
  args: {
    org_id: Id<'org'>;
    status: Org['status'];
    suspended_for?: 'payment_hold';
    by_parent?: boolean;
    at: Date;
  },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'orgs.set_status',
    text: `
      update org
         set status = $2, updated_at = $3, closed_at = case when $2 = 'closed' then $3::timestamptz end,
             plan_since = case when $2 = 'active' and status <> 'active' then $3::timestamptz else plan_since end,
             suspended_for = $4, suspended_by_parent = $5
       where id = $1`,
    values: [args.org_id, args.status, args.at, args.suspended_for ?? null, args.by_parent ?? false],
  });
  return rowCount === 1;
}

/** Whether it is for money lost in a dispute that an organization is suspended. */
export async function isSuspendedForPayments(db: Db, org_id: Id<'org'>): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'orgs.is_suspended_for_payments',
    text: `select 1 from org where id = $1 and status = 'suspended' and suspended_for = 'payment_hold'`,
    values: [org_id],
  });
  return rowCount > 0;
}

/** What keys inherit of one project of one organization, the pepper as it is stored; null when either is missing. */
export async function findGrantRow(
  db: Db,
  args: { org_id: Id<'org'>; project_id: Id<'project'> },
): Promise<(Omit<GrantFacts, 'pepper'> & PepperRow) | null> {
  const { rows } = await db.query<Omit<GrantFacts, 'pepper'> & PepperRow>({
    name: 'orgs.find_grant_facts',
    text: `
      select org.status, org.suspended_for, org.plan_id, ${PLAN_LIMITS}, org.limit_overrides, org.awaits_topup, ${NEW_ORG_LIMITS},
             org.data_policy, org.pepper, org.pepper_sealed, org.shard, org.live_book_id, org.sandbox_book_id, project.live_no, project.sandbox_no,
             project.rpm, project.tpm, project.concurrency,
             reseller_bps(org.id) as tier_bps, legal_outstanding_since(org.id)
        from org join project on project.org_id = org.id
       where org.id = $1 and project.id = $2`,
    values: [args.org_id, args.project_id],
  });
  return rows[0] ?? null;
}

/** Organizations whose id or slug is `q`, then those whose slug begins with it or whose name contains it. Staff only. */
export async function searchOrgs(db: Db, args: { q: string; limit: number }): Promise<Org[]> {
  const { rows } = await db.query<Org>({
    name: 'orgs.search',
    text: `
      select ${ORG}
        from org
       where id = $1 or starts_with(slug, lower($1)) or position(lower($1) in lower(name)) > 0
       order by (id = $1 or slug = lower($1)) desc, slug
       limit $2`,
    values: [args.q, args.limit],
  });
  return rows;
}

/** Sets what was granted beyond the plan; keys follow within a second (trigger). */
export async function setLimitOverrides(
  db: Db,
  args: { org_id: Id<'org'>; limit_overrides: LimitOverrides; at: Date },
): Promise<void> {
  await db.query({
    name: 'orgs.set_limit_overrides',
    text: 'update org set limit_overrides = $2, updated_at = $3 where id = $1',
    values: [args.org_id, JSON.stringify(args.limit_overrides), args.at],
  });
}

/** Sets below which balance an organization is told. */
export async function setLowBalance(
  db: Db,
  args: { org_id: Id<'org'>; low_balance_micro: number; at: Date },
): Promise<void> {
  await db.query({
    name: 'orgs.set_low_balance',
    text: 'update org set low_balance_micro = $2, updated_at = $3 where id = $1',
    values: [args.org_id, args.low_balance_micro, args.at],
  });
}
