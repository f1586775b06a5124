// What each role may do, and what one member may do to another. Pure.
import type { Role } from '../../api/session.ts';

export const roles = ['owner', 'admin', 'developer', 'billing', 'viewer'] as const;

export const roleWords: Readonly<Record<Role, string>> = {
  owner: 'everything, also plan, transfer and closing',
  admin: 'keys, money, members and settings',
  developer: 'keys, projects and policies; reads stored content',
  billing: 'money: top-ups, refunds, invoices',
  viewer: 'reads usage, limits and policies',
};

/** Whether `role` sees to members and invitations. */
export const managesMembers = (role: Role) => role === 'owner' || role === 'admin';

/** The roles that `role` may give; owners are made by owners alone. */
export function grantableRoles(role: Role): readonly Role[] {
  if (!managesMembers(role)) return [];
  return role === 'owner' ? roles : roles.filter((one) => one !== 'owner');
}

/** Whether `role` may change or remove a member who is `other`. */
export const mayTouch = (role: Role, other: Role) =>
  managesMembers(role) && (role === 'owner' || other !== 'owner');

/** A role of GraphQL as the address and the session name it. */
export const roleOf = (name: string) => name.toLowerCase() as Role;
/** The same the other way round. */
export const nameOf = (role: Role) => role.toUpperCase() as Uppercase<Role>;
