// What one key may give another (docs/api.md#who-may-call): no scope it lacks, no life beyond its own, no looser data
// policy than the organization's, only API versions that exist.
import {
  type Id,
  invalid,
  type KeyCaller,
  type MemberCaller,
  type Role,
  type Scope,
  ServiceError,
} from '../kernel/index.ts';
import type { OrgDataPolicy } from '../orgs/index.ts';
import type { KeyRow, OwnDataPolicy } from './types.ts';

/** Versions a key can be pinned to, oldest first; new keys get the last. */
export const svcVersions = ['2026-09-01', '2026-09-09'] as const;
export const CURRENT_SVC_VERSION = '2026-09-09';

/** Whether `held` covers `wanted`; manage:credits contains read:credits, nothing else contains another. */
export function coversScope(held: readonly Scope[], wanted: Scope): boolean {
  return held.includes(wanted) || (wanted === 'read:credits' && held.includes('manage:credits'));
}

/**
 * Scopes that not every role may grant: those that open nothing which the others may do themselves. The check-in, which
 * everybody may do, does not count: nobody gives a key rights over money for it.
 */
const granters: Readonly<Partial<Record<Scope, readonly Role[]>>> = {
  'manage:credits': ['owner', 'admin', 'billing'],
};

/** Whether a person of `role` may do anything that `scope` opens, and so may grant it. */
export function mayGrant(role: Role, scope: Scope): boolean {
  return granters[scope]?.includes(role) ?? true;
}

/** Their present role, of a key its maker's; null for who is gone, undefined for a service key, bound to nobody. */
export function roleBehind(caller: KeyCaller | MemberCaller): Role | null | undefined {
  return caller.kind === 'session' ? caller.role : caller.maker?.role;
}

/**
 * A person grants what their role may do, a key what it has itself and what the role of its maker may do.
 * @throws ServiceError permission_denied naming the first scope that is more.
 */
export function refuseWiderScopes(caller: KeyCaller | MemberCaller, wanted: readonly Scope[]): void {
  const role = roleBehind(caller);
  const beyond = role === undefined ? undefined : wanted.find((own) => role === null || !mayGrant(role, own));
  if (beyond !== undefined) {
    throw new ServiceError(
      'permission_denied',
      `The role ${role ?? 'none'} cannot grant the scope ${beyond}.`,
      {
        param: 'scopes',
        details: { scope: beyond },
      },
    );
  }
  if (caller.kind === 'session') return;
  const scope = wanted.find((own) => !coversScope(caller.scopes, own));
  if (scope === undefined) return;
  throw new ServiceError('permission_denied', 'A key can only grant scopes that it has itself.', {
    param: 'scopes',
    details: { scope },
  });
}

/**
 * A service key keeps its scopes whatever becomes of people, so only who answers for the organization makes one.
 * @throws ServiceError permission_denied
 */
export function refuseServiceKey(caller: KeyCaller | MemberCaller): void {
  const role = roleBehind(caller);
  if (role === undefined || role === 'owner' || role === 'admin') return;
  throw new ServiceError('permission_denied', 'Only an owner or admin can make service keys.', {
    param: 'service',
    details: { role: 'owner' },
  });
}

/** The person whom keys of `caller` are bound to; null: a service key, whose keys are service keys. */
export function personBehind(caller: KeyCaller | MemberCaller): Id<'user'> | null {
  return caller.kind === 'session' ? caller.user_id : (caller.maker?.user_id ?? null);
}

/**
 * `scopes` of management that `key` gets, or that whoever rotates it gets with its secret. They would outlast the role
 * of the one who gives them where `key` is bound to somebody else or to nobody, so that is for owners and admins.
 * @throws ServiceError permission_denied
 */
export function refuseGiftToOthers(
  caller: KeyCaller | MemberCaller,
  key: Pick<KeyRow, 'created_by'>,
  scopes: readonly Scope[],
): void {
  const role = roleBehind(caller);
  if (role === undefined || role === 'owner' || role === 'admin') return;
  const scope = scopes.find((own) => own !== 'inference');
  if (scope === undefined || key.created_by === personBehind(caller)) return;
  const message = `Only an owner or admin gives the scope ${scope} to a key that another person or nobody is bound to.`;
  throw new ServiceError('permission_denied', message, {
    param: 'scopes',
    details: { scope, role: 'owner' },
  });
}

/** @throws ServiceError permission_denied when a key that ends would make one that ends later. */
export function refuseLongerLife(
  caller: KeyCaller | MemberCaller,
  ends_at: Date | null,
  param: string,
): void {
  if (caller.kind === 'session' || caller.expires_at === null) return;
  if (ends_at !== null && ends_at.getTime() <= caller.expires_at.getTime()) return;
  throw new ServiceError('permission_denied', 'A key cannot make a key that expires later than itself.', {
    param,
    details: { expires_at: caller.expires_at.toISOString() },
  });
}

/** @throws ServiceError unsupported_version when no such version exists. */
export function refuseUnknownVersion(version: string): void {
  if ((svcVersions as readonly string[]).includes(version)) return;
  throw new ServiceError('unsupported_version', 'There is no such API version.', {
    param: 'svc_version',
    details: { supported: [...svcVersions] },
  });
}

/** @throws ServiceError invalid_request where `own` is looser than the organization's policy. */
export function refuseLooserPolicy(org: OrgDataPolicy, own: OwnDataPolicy | null): void {
  const looser = (member: string) =>
    invalid(
      `data_policy.${member}`,
      'range',
      `A key's data policy can only be stricter than the organization's (${member}).`,
    );
  if (own === null) return;
  if (own.logging === 'on' && org.logging === 'off') throw looser('logging');
  if (own.zdr === false && org.zdr) throw looser('zdr');
  if (own.no_train === false && org.no_train) throw looser('no_train');
  if (org.regions.length > 0 && own.regions?.some((region) => !org.regions.includes(region))) {
    throw looser('regions');
  }
}
