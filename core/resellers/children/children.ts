// Making and changing customers of a reseller. What the audit log says stands in the reseller's: a customer learns nothing
// of tiers.
import { inviteFirstOwner, writeAudit } from '../../identity/index.ts';
import { type Context, type Id, isId, ServiceError } from '../../kernel/index.ts';
import { createOrg, findOrg, lockOrg, type Org, refuseReservedSlug, setOrgStatus } from '../../orgs/index.ts';
import { getLockedChild } from '../audience.ts';
import { findDefaultTier, findTier } from '../tiers/store.ts';
import { type Child, findChild, setChildName, setChildTier } from './store.ts';

interface NewChild {
  readonly name: string;
  readonly slug: string;
  readonly owner_email: string;
  readonly billing_country: string;
  /** Null: catalog prices; absent: the reseller's default. */
  readonly tier_id?: string | null;
}

const targetOf = ({ id, slug }: Pick<Child, 'id' | 'slug'>) => ({ type: 'org', id, display: slug });

/** A tier of the reseller by an id that somebody gave. @throws ServiceError invalid_request. */
async function tierOf(context: Context, org_id: Id<'org'>, given: string | null): Promise<Id<'tier'> | null> {
  if (given === null) return null;
  const found = isId('tier', given) ? await findTier(context.db, { org_id, id: given as Id<'tier'> }) : null;
  if (found !== null) return found.id;
  throw new ServiceError('invalid_request', 'There is no such tier.', { param: 'tier_id' });
}

async function read(context: Context, parent_org_id: Id<'org'>, id: Id<'org'>): Promise<Child> {
  const child = await findChild(context.db, { parent_org_id, id });
  if (child === null) throw new Error('a customer that was just changed is not there');
  return child;
}

/**
 * Makes a customer, whose owner gets an invitation. @throws ServiceError already_exists, invalid_request,
 * rate_limit_exceeded.
 */
export function makeChild(context: Context, parent_org_id: Id<'org'>, wanted: NewChild): Promise<Child> {
  const { name, slug, owner_email, billing_country } = wanted;
  refuseReservedSlug(slug);
  return context.acrossOrgs.transaction(async (context) => {
    const { db } = context;
    // Under this lock it stays a reseller, and the tier stays there.
    const parent = (await lockOrg(db, parent_org_id)) as Org;
    if (parent.kind !== 'reseller' || parent.status === 'closed')
      throw new ServiceError('state_conflict', 'The organization is no reseller any more, or is closed.');
    const reseller_tier_id =
      wanted.tier_id === undefined
        ? await findDefaultTier(db, parent_org_id)
        : await tierOf(context, parent_org_id, wanted.tier_id);
    const { id } = await createOrg(context, {
      ...{ name, slug, billing_country, parent_org_id, reseller_tier_id },
    });
    await inviteFirstOwner(context, (await findOrg(db, id)) as Org, owner_email);
    await writeAudit(context, {
      ...{ action: 'reseller.children.create', org_id: parent_org_id, target: targetOf({ id, slug }) },
      after: { name, slug, billing_country, tier_id: reseller_tier_id, owner_email: '[redacted]' },
    });
    return read(context, parent_org_id, id);
  });
}

/** Whether the reseller may make its customer `status`. @throws ServiceError state_conflict. */
function refuseStatus(child: Child, status: 'active' | 'suspended'): void {
  if (child.status === 'closed')
    throw new ServiceError('state_conflict', 'The customer is closed.', { details: { state: 'closed' } });
  if (status === 'active' && child.status === 'suspended' && !child.suspended_by_parent)
    throw new ServiceError('state_conflict', 'The service has suspended this customer. Contact support.', {
      details: { state: 'suspended' },
    });
}

/** Names, suspends or lets a customer go on. @throws ServiceError not_found, state_conflict. */
export function changeChild(
  context: Context,
  parent_org_id: Id<'org'>,
  { id, name, status }: { id: string; name?: string; status?: 'active' | 'suspended' },
): Promise<Child> {
  return context.acrossOrgs.transaction(async (context) => {
    const { db } = context;
    const before = await getLockedChild(context, parent_org_id, id);
    const at = context.now();
    if (status !== undefined) refuseStatus(before, status);
    if (name !== undefined && name !== before.name)
      await setChildName(db, { parent_org_id, id: before.id, name, at });
    if (status !== undefined && status !== before.status)
      await setOrgStatus(db, { org_id: before.id, status, by_parent: status === 'suspended', at });
    await writeAudit(context, {
      ...{ action: 'reseller.children.update', org_id: parent_org_id, target: targetOf(before) },
      before: { name: before.name, status: before.status },
      after: { name: name ?? before.name, status: status ?? before.status },
    });
    return read(context, parent_org_id, before.id);
  });
}

/** Puts a customer on a tier: calls that are held afterwards pay it. @throws ServiceError not_found, invalid_request. */
export function moveChild(
  context: Context,
  parent_org_id: Id<'org'>,
  { id, tier_id }: { id: string; tier_id: string | null },
): Promise<Child> {
  return context.acrossOrgs.transaction(async (context) => {
    // The reseller first, as where a tier ends: the tier cannot go meanwhile.
    await lockOrg(context.db, parent_org_id);
    const before = await getLockedChild(context, parent_org_id, id);
    const to = await tierOf(context, parent_org_id, tier_id);
    const at = context.now();
    await setChildTier(context.db, { parent_org_id, id: before.id, tier_id: to, at });
    await writeAudit(context, {
      ...{ action: 'reseller.children.tier', org_id: parent_org_id, target: targetOf(before) },
      ...{ before: { tier_id: before.reseller_tier_id }, after: { tier_id: to } },
    });
    return read(context, parent_org_id, before.id);
  });
}
