// SQL of the customers of resellers. Their rows are of another organization than the caller's, so every statement names
// the reseller.
import type { Db, Id } from '../../kernel/index.ts';

/** An organization as its reseller knows it. */
export interface Child {
  readonly id: Id<'org'>;
  readonly slug: string;
  readonly name: string;
  readonly status: 'active' | 'suspended' | 'closed';
  readonly suspended_by_parent: boolean;
  readonly plan_id: string;
  readonly billing_country: string;
  readonly billing_currency: string;
  readonly legal_name: string | null;
  readonly gstin: string | null;
  readonly tax_status: 'gst_registered' | 'unregistered' | 'sez' | 'overseas';
  readonly billing_email: string | null;
  readonly billing_address: Record<string, unknown> | null;
  readonly reseller_tier_id: Id<'tier'> | null;
  readonly shard: string;
  readonly live_book_id: number;
  readonly created_at: Date;
  readonly closed_at: Date | null;
}

const CHILD = `
  id, slug, name, status, suspended_by_parent, plan_id, billing_country, billing_currency, legal_name, gstin, tax_status,
  billing_email, billing_address, reseller_tier_id, shard, live_book_id, created_at, closed_at`;

type Place = { readonly parent_org_id: Id<'org'>; readonly id: Id<'org'> };

/** A customer of a reseller; null when it has none of this id. */
export async function findChild(db: Db, { parent_org_id, id }: Place): Promise<Child | null> {
  const { rows } = await db.query<Child>({
    name: 'resellers.find_child',
    text: `select ${CHILD} from org where parent_org_id = $1 and id = $2`,
    values: [parent_org_id, id],
  });
  return rows[0] ?? null;
}

/** The same, locked until the transaction ends. */
export async function lockChild(db: Db, { parent_org_id, id }: Place): Promise<Child | null> {
  const { rows } = await db.query<Child>({
    name: 'resellers.lock_child',
    text: `select ${CHILD} from org where parent_org_id = $1 and id = $2 for no key update`,
    values: [parent_org_id, id],
  });
  return rows[0] ?? null;
}

/** All customers of a reseller, those that were closed too. */
export async function listChildIds(db: Db, parent_org_id: Id<'org'>): Promise<Id<'org'>[]> {
  const { rows } = await db.query<{ id: Id<'org'> }>({
    name: 'resellers.list_child_ids',
    text: 'select id from org where parent_org_id = $1',
    values: [parent_org_id],
  });
  return rows.map(({ id }) => id);
}

/** The customers of a reseller that are not closed, and those that are. */
export async function listByClosed(
  db: Db,
  parent_org_id: Id<'org'>,
): Promise<{ readonly open: Id<'org'>[]; readonly closed: Id<'org'>[] }> {
  const { rows } = await db.query<{ id: Id<'org'>; is_closed: boolean }>({
    name: 'resellers.list_by_closed',
    text: `select id, status = 'closed' as is_closed from org where parent_org_id = $1`,
    values: [parent_org_id],
  });
  const of = (closed: boolean) => rows.filter(({ is_closed }) => is_closed === closed).map(({ id }) => id);
  return { open: of(false), closed: of(true) };
}

/** Where the money of a customer is, and whether it goes on. */
export type Standing = Pick<Child, 'id' | 'name' | 'status' | 'shard' | 'live_book_id'>;

/** All customers of a reseller by name. */
export async function listStandings(db: Db, parent_org_id: Id<'org'>): Promise<Standing[]> {
  const { rows } = await db.query<Standing>({
    name: 'resellers.list_standings',
    text: `
      select id, name, status, shard, live_book_id from org where parent_org_id = $1 order by lower(name), id`,
    values: [parent_org_id],
  });
  return rows;
}

/** What a list of customers is narrowed by; null: by nothing. */
interface ChildFilter {
  /** An id or a slug whole, the beginning of a slug, or a part of a name. */
  readonly q: string | null;
  readonly tier_id: string | null;
  readonly status: Child['status'] | null;
}

/** A page of the customers of a reseller, newest first, strictly after `after`. */
export async function listChildren(
  db: Db,
  args: {
    parent_org_id: Id<'org'>;
    filter: ChildFilter;
    after: { at: number; id: string } | null;
    limit: number;
  },
): Promise<Child[]> {
  const { q, tier_id, status } = args.filter;
  const { rows } = await db.query<Child>({
    name: 'resellers.list_children',
    text: `
      select ${CHILD} from org
       where parent_org_id = $1
         and ($2::text is null or id = $2 or starts_with(slug, lower($2)) or position(lower($2) in lower(name)) > 0)
         and ($3::text is null or reseller_tier_id = $3)
         and ($4::text is null or status = $4)
         and ($5::timestamptz is null or (created_at, id) < ($5, $6))
       order by created_at desc, id desc limit $7`,
    values: [
      ...[args.parent_org_id, q, tier_id, status],
      ...[args.after === null ? null : new Date(args.after.at), args.after?.id ?? null, args.limit],
    ],
  });
  return rows;
}

/** Names a customer, which is locked. */
export async function setChildName(db: Db, args: Place & { name: string; at: Date }): Promise<void> {
  await db.query({
    name: 'resellers.set_child_name',
    text: 'update org set name = $3, updated_at = $4 where parent_org_id = $1 and id = $2',
    values: [args.parent_org_id, args.id, args.name, args.at],
  });
}

/** Puts a customer, which is locked, on a tier of its reseller; null: on catalog prices. */
export async function setChildTier(
  db: Db,
  args: Place & { tier_id: Id<'tier'> | null; at: Date },
): Promise<void> {
  await db.query({
    name: 'resellers.set_child_tier',
    text: 'update org set reseller_tier_id = $3, updated_at = $4 where parent_org_id = $1 and id = $2',
    values: [args.parent_org_id, args.id, args.tier_id, args.at],
  });
}
