// Making, changing and ending tiers. The prices of a tier are stored before the tier is, so that no customer ever pays one
// that nobody published.
import { catalogAt } from '../../catalog/index.ts';
import { writeAudit } from '../../identity/index.ts';
import { type Context, type Id, isId, notFound, ServiceError } from '../../kernel/index.ts';
import { lockOrg } from '../../orgs/index.ts';
import {
  deleteTier,
  findTier,
  insertTier,
  listTiers,
  putDefaultTier,
  type Tier,
  updateTier,
} from './store.ts';

/** More than anybody tells apart; each has a price version for every price of the catalog. */
export const TIERS_MAX = 50;

function nameTaken(): ServiceError {
  return new ServiceError('already_exists', 'A tier of this name is there already.', { param: 'name' });
}

async function publish(context: Context, markup_bps: number): Promise<void> {
  await catalogAt(context.services.catalog(), markup_bps);
}

const targetOf = ({ id, name }: Pick<Tier, 'id' | 'name'>) => ({ type: 'tier', id, display: name });

/** A tier of the reseller. @throws ServiceError not_found. */
async function read(context: Context, org_id: Id<'org'>, id: string): Promise<Tier> {
  const found = isId('tier', id) ? await findTier(context.db, { org_id, id: id as Id<'tier'> }) : null;
  if (found === null) throw notFound();
  return found;
}

/** Makes a tier. @throws ServiceError already_exists, plan_limit_reached. */
export async function makeTier(
  context: Context,
  org_id: Id<'org'>,
  { name, markup_bps }: { name: string; markup_bps: number },
): Promise<Tier> {
  await publish(context, markup_bps);
  return context.transaction(async (context) => {
    await lockOrg(context.db, org_id);
    if ((await listTiers(context.db, org_id)).length >= TIERS_MAX)
      throw new ServiceError('plan_limit_reached', `A reseller has at most ${TIERS_MAX} tiers.`, {
        details: { limit: 'tiers', limit_value: TIERS_MAX },
      });
    const id = context.newId('tier');
    const at = context.now();
    if (!(await insertTier(context.db, { id, org_id, name, markup_bps, created_at: at }))) throw nameTaken();
    const made = await read(context, org_id, id);
    await writeAudit(context, {
      ...{ action: 'reseller.tiers.create', org_id, target: targetOf(made), after: { name, markup_bps } },
    });
    return made;
  });
}

interface TierChange {
  readonly name?: string;
  readonly markup_bps?: number;
  readonly is_default?: boolean;
}

/** Changes a tier: calls that are held afterwards pay it, within a second. @throws ServiceError not_found, already_exists. */
export async function changeTier(
  context: Context,
  org_id: Id<'org'>,
  { id, ...change }: TierChange & { id: string },
): Promise<Tier> {
  if (change.markup_bps !== undefined) await publish(context, change.markup_bps);
  return context.transaction(async (context) => {
    await lockOrg(context.db, org_id);
    const before = await read(context, org_id, id);
    const at = context.now();
    const { name = before.name, markup_bps = before.markup_bps, is_default = before.is_default } = change;
    if (!(await updateTier(context.db, { id: before.id, org_id, name, markup_bps, at }))) throw nameTaken();
    if (is_default !== before.is_default)
      await putDefaultTier(context.db, { org_id, tier_id: is_default ? before.id : null, at });
    await writeAudit(context, {
      ...{ action: 'reseller.tiers.update', org_id, target: targetOf({ id: before.id, name }) },
      before: { name: before.name, markup_bps: before.markup_bps, is_default: before.is_default },
      after: { name, markup_bps, is_default },
    });
    return read(context, org_id, id);
  });
}

/** Deletes a tier that nobody pays. @throws ServiceError not_found, in_use. */
export function endTier(context: Context, org_id: Id<'org'>, id: string): Promise<void> {
  return context.transaction(async (context) => {
    // A customer is put on a tier under this lock too, so none comes between the count and the end.
    await lockOrg(context.db, org_id);
    const tier = await read(context, org_id, id);
    if (tier.customers > 0 || tier.is_default)
      throw new ServiceError('in_use', 'Customers pay this tier, or are made with it. Move them first.', {
        details: { customers: tier.customers, is_default: tier.is_default },
      });
    await deleteTier(context.db, { org_id, id: tier.id });
    await writeAudit(context, { action: 'reseller.tiers.delete', org_id, target: targetOf(tier) });
  });
}
