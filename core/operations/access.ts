// Who may run an operation. One function for every surface, so that no surface forgets a rule (P2, P17).
import { type Audience, type KeyCaller, type Role, type Scope, ServiceError } from '../kernel/index.ts';
import { coversScope } from '../keys/index.ts';

/** Lets a key through an audience, or throws. @throws ServiceError session_required, sandbox_key_not_allowed, permission_denied. */
export function admitKey(audience: Audience, caller: KeyCaller): void {
  if (audience.kind === 'public' || audience.kind === 'signed') return;
  if (audience.kind !== 'key') {
    throw new ServiceError('session_required', 'This route is used from a signed-in session.');
  }
  // The fence of P2 answers before a missing scope (P19).
  if (audience.sandbox === false && caller.environment === 'test') {
    throw new ServiceError('sandbox_key_not_allowed', 'A test key cannot do this. Use a live key.');
  }
  if (audience.sandbox === 'only' && caller.environment === 'live') {
    throw new ServiceError('permission_denied', 'Only a test key can do this.', {
      details: { environment: 'test' },
    });
  }
  if (audience.scopes === 'any') return;
  if (audience.scopes.some((scope) => coversScope(caller.scopes, scope))) return;
  const [scope] = audience.scopes;
  throw new ServiceError('permission_denied', `The key lacks the scope ${scope}.`, { details: { scope } });
}

/** Scopes that let a key in, as documented: the named ones and those that contain them. */
export function admittingScopes(audience: Audience): readonly Scope[] | 'any' {
  if (audience.kind !== 'key' || audience.scopes === 'any') return 'any';
  const named: readonly Scope[] = audience.scopes;
  return named.includes('read:credits') && !named.includes('manage:credits')
    ? [...named, 'manage:credits']
    : named;
}

/** Roles of a session that let it in. */
export function admittingRoles(audience: Audience): readonly Role[] {
  if (audience.kind === 'key') return audience.session ?? [];
  return audience.kind === 'session' && audience.roles !== 'any' ? audience.roles : [];
}
