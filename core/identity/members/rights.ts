// What a member may do to another; pure.
import { type ResellerGrant, type Role, resellerGrants, ServiceError } from '../../kernel/index.ts';

/** Whether the role sees to members and invitations. */
export function managesMembers(role: Role | null): role is 'owner' | 'admin' {
  return role === 'owner' || role === 'admin';
}

/**
 * Refuses what `actor` may not do to a member who has one of `roles`, before or after.
 * @throws ServiceError permission_denied: an owner is made, changed and removed by owners alone.
 */
export function refuseOverOwners(actor: Role | null, roles: readonly Role[]): void {
  if (!managesMembers(actor)) {
    throw new ServiceError('permission_denied', 'Only owners and admins can do this.', {
      details: { role: 'admin' },
    });
  }
  if (actor !== 'owner' && roles.includes('owner')) {
    throw new ServiceError('permission_denied', 'Only an owner can do this to an owner.', {
      details: { role: 'owner' },
    });
  }
}

/** What a member of a reseller may do there besides their role: owners and admins all, others what they were given. */
export function grantsOf(member: {
  readonly role: Role;
  readonly grants: readonly ResellerGrant[];
}): readonly ResellerGrant[] {
  return managesMembers(member.role) ? resellerGrants : member.grants;
}
