// Which role a provider's groups give. Pure.
import type { Connection, MappedRole } from './types.ts';

/** From the highest down. */
export const mappedRoles = ['admin', 'developer', 'billing', 'viewer'] as const satisfies MappedRole[];

/**
 * The role of someone in `groups`: the highest that one of them is mapped to, or the default when none is. Null when
 * nothing is said: no group is mapped at all, or the provider sent none; a member then keeps the role they have.
 */
export function roleOf(
  { role_map, default_role }: Pick<Connection, 'role_map' | 'default_role'>,
  groups: readonly string[] | null,
): MappedRole | null {
  if (groups === null || Object.keys(role_map).length === 0) return null;
  const given = new Set(groups.flatMap((group) => (Object.hasOwn(role_map, group) ? role_map[group] : [])));
  return mappedRoles.find((role) => given.has(role)) ?? default_role;
}
