// Who may run an operation. One function for every surface and every kind of caller, so that none forgets a rule
// (docs/api.md#who-may-call). The order: 401, then 403 by address, second factor, scope and role; bodies come later.

import { refuseUnproved } from '../identity/index.ts';
import {
  type Audience,
  type Caller,
  type KeyCaller,
  type Operation,
  type ResellerGrant,
  type Role,
  type Scope,
  ServiceError,
  type SessionCaller,
  type StaffCaller,
} from '../kernel/index.ts';
import { coversScope } from '../keys/index.ts';

/** What of an operation decides who may run it. */
type Admitting = Pick<Operation, 'audience' | 'method'>;

const CLOSED = 'The organization is closed. For 90 days its owners can read invoices and ledger.';

const bars: Readonly<Record<NonNullable<SessionCaller['barred']>, string>> = {
  org_closed: CLOSED,
  ip_not_allowed: 'The organization does not admit sessions from this network address.',
  two_factor_required: 'The organization asks for a second factor. Set one up and sign in with it.',
};

/** The refusal of what a suspended or closed organization does not allow, with the reason as keys get it. */
function suspendedFor(reason: NonNullable<SessionCaller['suspended']>): ServiceError {
  if (reason === 'org_closed') return new ServiceError(reason, CLOSED);
  if (reason === 'org_inactive')
    return new ServiceError(reason, 'The organization is suspended. Its owner can contact support.');
  const words =
    'The organization is suspended: a payment was lost in a dispute after its credits were spent. Its owner can contact support.';
  return new ServiceError('org_inactive', words, { details: { reason } });
}

function denied(message: string, details: Record<string, unknown>): ServiceError {
  return new ServiceError('permission_denied', message, { details });
}

function admitKey(audience: Audience, caller: KeyCaller): void {
  if (audience.kind !== 'key') {
    throw new ServiceError('session_required', 'This route requires a signed-in session.');
  }
  // That it is a test key is answered before a missing scope.
  if (audience.sandbox === false && caller.environment === 'test') {
    throw new ServiceError('sandbox_key_not_allowed', 'A test key cannot do this. Use a live key.');
  }
  if (audience.sandbox === 'only' && caller.environment === 'live') {
    throw denied('Only a test key can do this.', { environment: 'test' });
  }
  if (audience.scopes === 'any') return;
  if (!audience.scopes.some((scope) => coversScope(caller.scopes, scope))) {
    const [scope] = audience.scopes;
    throw denied(`The key lacks the scope ${scope}.`, { scope });
  }
  admitMaker(audience.session ?? 'any', caller);
}

/** A key that a person made does what that person may do now; inference goes on without them. */
function admitMaker(roles: readonly Role[] | 'any', { maker }: KeyCaller): void {
  if (maker === undefined) return;
  if (maker.role === null) throw denied('The person who made this key has left the organization.', {});
  if (roles === 'any' || roles.includes(maker.role)) return;
  const message = `The person who made this key may not do this: their role is ${maker.role}.`;
  throw denied(message, { role: roles[0] ?? 'none' });
}

/**
 * A look reads what a viewer of the organization reads: nothing that changes anything, and nothing that is of a person, as
 * staff are no person of it. Content and secrets are kept from it by its role.
 */
function refuseLook({ audience, method }: Admitting): void {
  if (audience.kind === 'session' && audience.for_looks === true) return;
  const roles = admittingRoles(audience);
  if (method === 'GET' && roles !== 'any' && roles.length > 0) return;
  throw denied('Staff who look at an organization read, and do nothing else.', { reason: 'look' });
}

function admitSession({ audience, method }: Admitting, caller: SessionCaller, at: Date): void {
  if (caller.looking !== undefined) refuseLook({ audience, method });
  if (audience.kind !== 'key' && audience.kind !== 'session') {
    throw denied('Only staff can do this.', { audience: audience.kind });
  }
  const bypasses = audience.kind === 'session' && audience.without_second_factor === true;
  if (caller.barred !== undefined && !bypasses) throw new ServiceError(caller.barred, bars[caller.barred]);
  // People of a suspended organization find out why, and what they owe: reading stays.
  const stays =
    caller.suspended === 'org_closed'
      ? audience.while_closed === true
      : method === 'GET' || audience.while_suspended === true;
  if (caller.suspended !== undefined && !bypasses && !stays) throw suspendedFor(caller.suspended);
  if (audience.kind === 'session' && audience.reseller !== undefined)
    admitReseller(audience.reseller, caller);
  const roles = audience.kind === 'key' ? (audience.session ?? []) : audience.roles;
  if (roles !== 'any') {
    if (caller.role === null) throw denied('Enter an organization first.', { role: roles[0] ?? 'none' });
    if (!roles.includes(caller.role)) {
      throw denied(`The role ${caller.role} may not do this.`, { role: roles[0] ?? 'none' });
    }
  }
  if (audience.reauthenticated === true) refuseUnproved(caller, at);
  if (audience.kind === 'key') {
    // What acts in the live book alone must not be asked for while reading the other one.
    if (audience.sandbox === false && caller.environment === 'test') {
      throw new ServiceError('sandbox_key_not_allowed', 'This is not available in the test environment.');
    }
  }
}

/** What is for resellers: in another organization it is not there to be had, whatever the role. */
function admitReseller(grant: ResellerGrant | 'any', { reseller_grants }: SessionCaller): void {
  if (reseller_grants === undefined)
    throw denied('Only a reseller can do this, and the organization is none.', { kind: 'reseller' });
  if (grant === 'any' || reseller_grants.includes(grant)) return;
  throw new ServiceError('grant_required', `This needs the grant ${grant}. An owner or admin can give it.`, {
    details: { grant },
  });
}

function admitStaff(audience: Audience, caller: StaffCaller): void {
  if (audience.kind !== 'staff') {
    throw denied('Staff act through the staff API, not as a customer.', { audience: audience.kind });
  }
  const { roles } = audience;
  if (roles === 'any' || caller.roles.includes('super')) return;
  if (roles.some((role) => caller.roles.includes(role))) return;
  throw denied(`This needs the staff role ${roles.join(' or ')}.`, { role: roles[0] });
}

/**
 * Lets `caller` run an operation at `at`, or throws.
 * @throws ServiceError authentication_required, session_required, sandbox_key_not_allowed, org_inactive, org_closed,
 * ip_not_allowed, two_factor_required, permission_denied, grant_required, reauthentication_required.
 */
export function admit(operation: Admitting, caller: Caller, at: Date): void {
  const { audience } = operation;
  if (audience.kind === 'public' || audience.kind === 'signed') return;
  switch (caller.kind) {
    case 'public':
      throw new ServiceError('authentication_required', 'Sign in, or send an API key.');
    case 'key':
      return admitKey(audience, caller);
    case 'session':
      return admitSession(operation, caller, at);
    case 'staff':
      return admitStaff(audience, caller);
  }
}

/** Scopes that let a key in, as documented: the named ones and those that contain them. */
export function admittingScopes(audience: Audience): readonly Scope[] | 'any' {
  if (audience.kind !== 'key' || audience.scopes === 'any') return 'any';
  const named: readonly Scope[] = audience.scopes;
  return named.includes('read:credits') && !named.includes('manage:credits')
    ? [...named, 'manage:credits']
    : named;
}

/** Roles of a session that let it in; `any` is whoever is signed in. */
export function admittingRoles(audience: Audience): readonly Role[] | 'any' {
  if (audience.kind === 'key') return audience.session ?? [];
  return audience.kind === 'session' ? audience.roles : [];
}
