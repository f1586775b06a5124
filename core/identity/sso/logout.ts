// A sign-out at an organization's OpenID provider, which tells of it here: the sessions that it made end at once.
import { type Context, notFound, ServiceError } from '../../kernel/index.ts';
import { writeAudit } from '../audit/audit.ts';
import { endProviderSessions } from '../sessions/store.ts';
import { findConnectionByAlias } from './connection-store.ts';
import { SsoFault } from './fault.ts';
import { SKEW_S, verifyLogout } from './logout-token.ts';

/**
 * Ends the sessions that the logout token `token` names (OpenID Connect Back-Channel Logout 1.0); none is no fault. Sessions
 * that began after the token was written stay: one that comes twice, or late, ends nothing new.
 * @throws ServiceError not_found, token_invalid.
 */
export async function signOutByProvider(context: Context, alias: string, token: string): Promise<void> {
  const connection = await findConnectionByAlias(context.db, alias);
  if (connection?.kind !== 'oidc') throw notFound();
  const { org_id } = connection;
  try {
    const { subject, sid, issued_at } = await verifyLogout(context, connection, token);
    const before = new Date(issued_at.getTime() + SKEW_S * 1_000);
    await context.transaction(async (context) => {
      const ended = await endProviderSessions(context.db, { org_id, subject, sid, before });
      for (const { id, user_id } of ended)
        await writeAudit(context, {
          ...{ action: 'auth.logout', org_id, target: { type: 'session', id } },
          actor: { type: 'user', id: user_id, display: user_id },
          reason: 'signed out at the identity provider',
        });
    });
  } catch (error) {
    if (!(error instanceof SsoFault)) throw error;
    context.log.info({ reason: error.reason, org_id }, 'a sign-out at an identity provider was refused');
    throw new ServiceError('token_invalid', 'The logout token cannot be used.', {
      param: 'logout_token',
      details: { reason: error.reason },
    });
  }
}
