// SQL of what staff see of resellers.
import type { Db, Id } from '../kernel/index.ts';
import type { Accrual } from './accruals/store.ts';
import type { Child } from './children/store.ts';

/** A reseller with how its customers stand. */
export interface ResellerRow {
  readonly id: Id<'org'>;
  readonly slug: string;
  readonly name: string;
  readonly status: 'active' | 'suspended' | 'closed';
  readonly shard: string;
  readonly live_book_id: number;
  readonly created_at: Date;
  readonly customers: number;
  readonly suspended: number;
  readonly tiers: number;
}

type After = { readonly at: number; readonly id: string } | null;

const afterOf = (after: After) => [after === null ? null : new Date(after.at), after?.id ?? null];

/** A page of all resellers, newest first, strictly after `after`; customers that were closed are not counted. */
export async function listResellers(db: Db, args: { after: After; limit: number }): Promise<ResellerRow[]> {
  const { rows } = await db.query<ResellerRow>({
    name: 'resellers.list_resellers',
    text: `
      select o.id, o.slug, o.name, o.status, o.shard, o.live_book_id, o.created_at,
             c.customers, c.suspended,
             (select count(*)::int from reseller_tier t where t.org_id = o.id) as tiers
        from org o
       cross join lateral (
             select count(*) filter (where status <> 'closed')::int as customers,
                    count(*) filter (where status = 'suspended')::int as suspended
               from org child where child.parent_org_id = o.id) c
       where o.kind = 'reseller' and ($1::timestamptz is null or (o.created_at, o.id) < ($1, $2))
       order by o.created_at desc, o.id desc limit $3`,
    values: [...afterOf(args.after), args.limit],
  });
  return rows;
}

/** A customer with what it pays. */
interface CustomerRow
  extends Pick<Child, 'id' | 'slug' | 'name' | 'status' | 'shard' | 'live_book_id' | 'created_at'> {
  readonly suspended_by_parent: boolean;
  readonly tier_name: string | null;
  readonly markup_bps: number;
}

/** A page of the customers of a reseller, newest first, strictly after `after`. */
export async function listCustomers(
  db: Db,
  args: { org_id: Id<'org'>; after: After; limit: number },
): Promise<CustomerRow[]> {
  const { rows } = await db.query<CustomerRow>({
    name: 'resellers.list_customers',
    text: `
      select o.id, o.slug, o.name, o.status, o.shard, o.live_book_id, o.created_at, o.suspended_by_parent,
             t.name as tier_name, coalesce(t.markup_bps, 0) as markup_bps
        from org o
        left join reseller_tier t on t.id = o.reseller_tier_id
       where o.parent_org_id = $1 and ($2::timestamptz is null or (o.created_at, o.id) < ($2, $3))
       order by o.created_at desc, o.id desc limit $4`,
    values: [args.org_id, ...afterOf(args.after), args.limit],
  });
  return rows;
}

type MonthRow = Omit<Accrual, 'child_org_id' | 'ledger_seq'>;

/** What resellers earned of each customer in the months from `since` on. */
export async function listMonths(
  db: Db,
  args: { org_ids: readonly Id<'org'>[]; since: string },
): Promise<MonthRow[]> {
  const { rows } = await db.query<MonthRow>({
    name: 'resellers.list_months',
    text: `
      select org_id, month::text as month, usage_micro, markup_micro, burned_micro, paid_micro, written_off_micro, status,
             accrued_micro
        from reseller_accrual where org_id = any ($1) and month >= $2::date
       order by month desc, child_org_id`,
    values: [args.org_ids, args.since],
  });
  return rows;
}
