// What a member may do to another; pure.
import { type Role, ServiceError } from '../../kernel/index.ts';

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
