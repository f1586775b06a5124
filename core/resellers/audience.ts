// Who of a reseller may do what, and which organizations are its customers.
import { memberRoles } from '../identity/index.ts';
import {
  type Context,
  type Id,
  isId,
  type MemberCaller,
  notFound,
  orgCaller,
  type ResellerGrant,
} from '../kernel/index.ts';
import { type Child, findChild, lockChild } from './children/store.ts';

/** People of a reseller who have `grant`; its owners and admins have every one. */
export function holders<const G extends ResellerGrant>(grant: G) {
  return { kind: 'session', roles: memberRoles, reseller: grant } as const;
}

/** Owners and admins of a reseller. */
export const heads = { kind: 'session', roles: ['owner', 'admin'], reseller: 'any' } as const;

/** The person who acts for a reseller, as their audience says. */
export function resellerCaller(context: Context): MemberCaller {
  return orgCaller(context) as MemberCaller;
}

/** A customer of the caller's reseller; whoever else's is not there. @throws ServiceError not_found. */
export async function getChild(context: Context, id: string): Promise<Child> {
  const { org_id: parent_org_id } = resellerCaller(context);
  const found = isId('org', id)
    ? await findChild(context.acrossOrgs.db, { parent_org_id, id: id as Id<'org'> })
    : null;
  if (found === null) throw notFound();
  return found;
}

/** The same, locked until the transaction ends; `context` reaches across organizations. @throws ServiceError not_found. */
export async function getLockedChild(context: Context, parent_org_id: Id<'org'>, id: string): Promise<Child> {
  const found = isId('org', id) ? await lockChild(context.db, { parent_org_id, id: id as Id<'org'> }) : null;
  if (found === null) throw notFound();
  return found;
}
