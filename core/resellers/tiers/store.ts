// SQL of tiers.
import type { Db, Id } from '../../kernel/index.ts';

export interface Tier {
  readonly id: Id<'tier'>;
  readonly org_id: Id<'org'>;
  readonly name: string;
  readonly markup_bps: number;
  /** Of customers that are made without one. */
  readonly is_default: boolean;
  /** How many customers pay it. */
  readonly customers: number;
  readonly created_at: Date;
}

/** Customers are rows of other organizations: counted by a function, as the reseller's own statement sees none. */
const TIER = `
  t.id, t.org_id, t.name, t.markup_bps, t.created_at, reseller_tier_customers(t.id) as customers,
  t.id is not distinct from (select default_tier_id from reseller_terms where org_id = t.org_id) as is_default`;

/** The tiers of a reseller, oldest first. */
export async function listTiers(db: Db, org_id: Id<'org'>): Promise<Tier[]> {
  const { rows } = await db.query<Tier>({
    name: 'resellers.list_tiers',
    text: `select ${TIER} from reseller_tier t where t.org_id = $1 order by t.created_at, t.id`,
    values: [org_id],
  });
  return rows;
}

/** A tier of a reseller; null when it has none of this id. */
export async function findTier(db: Db, args: { org_id: Id<'org'>; id: Id<'tier'> }): Promise<Tier | null> {
  const { rows } = await db.query<Tier>({
    name: 'resellers.find_tier',
    text: `select ${TIER} from reseller_tier t where t.org_id = $1 and t.id = $2`,
    values: [args.org_id, args.id],
  });
  return rows[0] ?? null;
}

/** The tier that customers of a reseller are made with; null: catalog prices. */
export async function findDefaultTier(db: Db, org_id: Id<'org'>): Promise<Id<'tier'> | null> {
  const { rows } = await db.query<{ default_tier_id: Id<'tier'> | null }>({
    name: 'resellers.find_default_tier',
    text: 'select default_tier_id from reseller_terms where org_id = $1',
    values: [org_id],
  });
  return rows[0]?.default_tier_id ?? null;
}

/** Inserts a tier; false when the reseller has one of this name. */
export async function insertTier(
  db: Db,
  tier: Pick<Tier, 'id' | 'org_id' | 'name' | 'markup_bps' | 'created_at'>,
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'resellers.insert_tier',
    text: `
      insert into reseller_tier (id, org_id, name, markup_bps, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)
      on conflict (org_id, name) do nothing`,
    values: [tier.id, tier.org_id, tier.name, tier.markup_bps, tier.created_at],
  });
  return rowCount === 1;
}

/** Changes a tier; false when another one of the reseller has the name. The reseller's row is locked. */
export async function updateTier(
  db: Db,
  args: Pick<Tier, 'id' | 'org_id' | 'name' | 'markup_bps'> & { at: Date },
): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'resellers.update_tier',
    text: `
      update reseller_tier t set name = $3, markup_bps = $4, updated_at = $5
       where t.org_id = $1 and t.id = $2
         and not exists (select from reseller_tier other where other.org_id = $1 and other.name = $3 and other.id <> $2)`,
    values: [args.org_id, args.id, args.name, args.markup_bps, args.at],
  });
  return rowCount === 1;
}

/** Says which tier customers are made with; null: catalog prices. */
export async function putDefaultTier(
  db: Db,
  args: { org_id: Id<'org'>; tier_id: Id<'tier'> | null; at: Date },
): Promise<void> {
  await db.query({
    name: 'resellers.put_default_tier',
    text: `
      insert into reseller_terms (org_id, default_tier_id, updated_at) values ($1, $2, $3)
      on conflict (org_id) do update set default_tier_id = $2, updated_at = $3`,
    values: [args.org_id, args.tier_id, args.at],
  });
}

/** Deletes a tier that nobody pays. */
export async function deleteTier(db: Db, args: { org_id: Id<'org'>; id: Id<'tier'> }): Promise<void> {
  await db.query({
    name: 'resellers.delete_tier',
    text: 'delete from reseller_tier where org_id = $1 and id = $2',
    values: [args.org_id, args.id],
  });
}
