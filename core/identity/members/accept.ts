// What the holder of an invitation's link can do: look at it, accept it, and register with it.
import { type Context, type Id, notFound, ServiceError } from '../../kernel/index.ts';
import { writeEvent } from '../../ledger/index.ts';
import { emailKey } from '../../mail/index.ts';
import { findMember, lockOrg, type Org, putMember } from '../../orgs/index.ts';
import { admitPerson } from '../admission/store.ts';
import { writeAudit } from '../audit/audit.ts';
import { hashToken, hasTokenForm } from '../sessions/token.ts';
import { beginLinkAttempt } from '../sign-in/throttle.ts';
import { lockPerson } from '../store.ts';
import { memberKeysOf } from './member-keys.ts';
import { endInvitation, findInvitationByHash, type Invitation } from './store.ts';

type Holder = { readonly id: Id<'user'>; readonly email: string };

function deadLink(): ServiceError {
  return new ServiceError('token_invalid', 'This link leads to no invitation. Ask for a new one.');
}

/** `found`, when it can be accepted at `at`. @throws ServiceError token_invalid, token_expired. */
function whatWaits(found: Invitation | null, at: Date): Invitation {
  if (found === null || (found.status !== 'pending' && found.status !== 'expired')) throw deadLink();
  if (found.status === 'expired' || found.expires_at.getTime() <= at.getTime())
    throw new ServiceError('token_expired', 'The invitation has expired. Ask for a new one.');
  return found;
}

/**
 * The invitation that `token` leads to. Tokens that lead to none are counted per network address.
 * @throws ServiceError token_invalid, token_expired, too_many_attempts.
 */
export async function findOffer(context: Context, token: string): Promise<Invitation> {
  const attempt = await beginLinkAttempt(context);
  const hash = hasTokenForm('invitation', token) ? hashToken(token) : null;
  const found = hash === null ? null : await findInvitationByHash(context.db, hash);
  if (found === null) throw deadLink();
  await attempt.withdraw();
  return whatWaits(found, context.now());
}

/**
 * Takes `holder`, whose row is locked, into the organization of the invitation. Accepting, revoking and renewing take
 * turns by the organization's lock. @throws ServiceError token_invalid, token_expired, permission_denied, org_inactive.
 */
export async function takeIn(
  context: Context,
  holder: Holder,
  token: string,
): Promise<{ org: Org; role: Invitation['role'] }> {
  const { db } = context;
  const hash = hashToken(token);
  const at = context.now();
  const seen = whatWaits(await findInvitationByHash(db, hash), at);
  const org = await lockOrg(db, seen.org_id);
  if (org === null) throw notFound();
  const invitation = whatWaits(await findInvitationByHash(db, hash), at);
  if (emailKey(holder.email) !== invitation.email_key)
    throw new ServiceError(
      'permission_denied',
      'The invitation is for another address. Sign in with that one.',
    );
  if (org.status !== 'active') throw new ServiceError('org_inactive', 'The organization is not active.');
  const { org_id, role } = invitation;
  const user_id = holder.id;
  const member = await findMember(db, { org_id, user_id });
  if (member?.status === 'suspended')
    throw new ServiceError('permission_denied', 'Your membership is suspended. Ask an admin.');
  await admitPerson(db, { id: user_id, at });
  await endInvitation(db, { id: invitation.id, to: 'accepted', accepted_by: user_id, at });
  // Who came in by another way meanwhile keeps that role.
  if (member === null) {
    await putMember(db, { org_id, user_id, role, source: 'invite', at });
    await memberKeysOf(context).came(context, { org_id, user_id });
    const payload = { user_id, email: holder.email, role, source: 'invite' };
    await writeEvent(db, { org_id, topic: 'member.added', payload, at });
  }
  await writeAudit(context, {
    ...{ action: 'invitations.accept', org_id, after: { role: member?.role ?? role } },
    target: { type: 'invitation', id: invitation.id, display: invitation.email },
    actor: { type: 'user', id: user_id, display: holder.email },
  });
  return { org, role: member?.role ?? role };
}

/** Accepts an invitation as the person who is signed in. */
export async function acceptInvitation(context: Context, person: Holder, token: string) {
  await findOffer(context, token);
  return context.transaction(async (context) => {
    await lockPerson(context.db, person.id);
    return takeIn(context, person, token);
  });
}
