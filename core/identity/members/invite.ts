// Inviting people: asking by mail, asking again, taking it back.
import { type Context, type Id, isId, notFound, type Role, ServiceError } from '../../kernel/index.ts';
import { countMails, getEmailKey, sendMail } from '../../mail/index.ts';
import { findMembership, lockOrg, type Org } from '../../orgs/index.ts';
import { writeAudit } from '../audit/audit.ts';
import { hashToken, newToken } from '../sessions/token.ts';
import { findPersonByEmail } from '../store.ts';
import { sessionCaller } from '../view.ts';
import { refuseOverOwners } from './rights.ts';
import {
  endInvitation,
  type Invitation,
  insertInvitation,
  lapseInvitation,
  lockInvitation,
  renewInvitation,
} from './store.ts';

const DAY_MS = 86_400_000;
const LIVES_DAYS = 7;
/** Mails of invitations that an organization sends within a day. */
const MAILS_PER_DAY = 100;

const endOf = (at: Date) => new Date(at.getTime() + LIVES_DAYS * DAY_MS);

/** The caller's organization, locked: whatever changes its members takes turns. */
export async function lockOwnOrg(context: Context, org_id: Id<'org'>): Promise<Org> {
  const org = await lockOrg(context.db, org_id);
  if (org === null) throw notFound();
  return org;
}

/** The caller's role now, under the lock of the organization: it may have changed since the request came in. */
export async function presentRole(context: Context, org_id: Id<'org'>): Promise<Role | null> {
  const { user_id } = sessionCaller(context);
  return (await findMembership(context.db, { org_id, user_id }))?.role ?? null;
}

async function mailLink(context: Context, org: Org, invitation: Invitation, token: string): Promise<void> {
  const since = new Date(context.now().getTime() - DAY_MS);
  const sent = await countMails(context.db, { template: 'invitation', begins: org.id, since });
  if (sent >= MAILS_PER_DAY) {
    const message = `At most ${MAILS_PER_DAY} invitations are sent in a day. Go on tomorrow.`;
    throw new ServiceError('rate_limit_exceeded', message);
  }
  await sendMail(context, {
    template: 'invitation',
    to: [invitation.email],
    org_id: org.id,
    reference: `${org.id}-${invitation.id}-${invitation.mails}`,
    data: {
      org: org.name,
      inviter: sessionCaller(context).email,
      role: invitation.role,
      expires_at: invitation.expires_at.toISOString(),
    },
    // Behind the number sign, so that no server on the way writes the token down.
    link: { to: `/invitation#${token}`, root_key: context.services.root_key },
  });
}

const targetOf = ({ id, email }: Invitation) => ({ type: 'invitation', id, display: email });

/**
 * Invites an address into an organization and mails it a link.
 * @throws ServiceError permission_denied, already_exists (a member, or an invitation that waits), rate_limit_exceeded.
 */
export function invite(
  context: Context,
  wanted: { org_id: Id<'org'>; email: string; role: Role },
): Promise<Invitation> {
  const { org_id, email, role } = wanted;
  const email_key = getEmailKey(email);
  return context.transaction(async (context) => {
    const { db } = context;
    const org = await lockOwnOrg(context, org_id);
    refuseOverOwners(await presentRole(context, org_id), [role]);
    const person = await findPersonByEmail(db, email_key);
    if (person !== null && (await findMembership(db, { org_id, user_id: person.id })) !== null)
      throw new ServiceError('already_exists', 'This person is a member already.', { param: 'email' });
    const at = context.now();
    await lapseInvitation(db, { org_id, email_key, at });
    const token = newToken('invitation');
    const made = await insertInvitation(db, {
      ...{ id: context.newId('invitation'), org_id, email, email_key, role, hash: hashToken(token) },
      ...{ invited_by: sessionCaller(context).user_id, expires_at: endOf(at), created_at: at },
    });
    if (made === null) {
      const message = 'An invitation of this address waits already. Send it again instead.';
      throw new ServiceError('already_exists', message, { param: 'email' });
    }
    await mailLink(context, org, made, token);
    await writeAudit(context, {
      ...{ action: 'invitations.create', org_id, target: targetOf(made), after: { role } },
    });
    return made;
  });
}

/**
 * Invites the first owner of an organization that the caller's reseller made, in the open transaction; its context reaches
 * across organizations. @throws ServiceError rate_limit_exceeded.
 */
export async function inviteFirstOwner(context: Context, org: Org, email: string): Promise<Invitation> {
  const at = context.now();
  const token = newToken('invitation');
  const made = await insertInvitation(context.db, {
    ...{ id: context.newId('invitation'), org_id: org.id, email, email_key: getEmailKey(email) },
    ...{ role: 'owner', hash: hashToken(token) },
    ...{ invited_by: sessionCaller(context).user_id, expires_at: endOf(at), created_at: at },
  });
  if (made === null) throw new Error('an organization that was just made has an invitation');
  await mailLink(context, org, made, token);
  return made;
}

/** An invitation that waits, with its organization, both locked. @throws ServiceError not_found, state_conflict. */
async function lockWaiting(context: Context, org_id: Id<'org'>, id: string) {
  const org = await lockOwnOrg(context, org_id);
  const invitation = isId('invitation', id) ? await lockInvitation(context.db, { org_id, id }) : null;
  if (invitation === null) throw notFound();
  refuseOverOwners(await presentRole(context, org_id), [invitation.role]);
  return { org, invitation };
}

function refuseEnded({ status }: Invitation): void {
  if (status === 'pending') return;
  throw new ServiceError('state_conflict', `The invitation is ${status}. Invite the person again.`, {
    details: { state: status },
  });
}

/** Mails a new link, valid for another week; the one before leads nowhere from then on. */
export function resendInvitation(
  context: Context,
  { org_id, id }: { org_id: Id<'org'>; id: string },
): Promise<Invitation> {
  return context.transaction(async (context) => {
    const { org, invitation } = await lockWaiting(context, org_id, id);
    refuseEnded(invitation);
    const at = context.now();
    const token = newToken('invitation');
    const renewed = await renewInvitation(context.db, {
      ...{ id: invitation.id, hash: hashToken(token), expires_at: endOf(at), at },
    });
    await mailLink(context, org, renewed, token);
    await writeAudit(context, { action: 'invitations.resend', org_id, target: targetOf(renewed) });
    return renewed;
  });
}

/** Takes an invitation back; again is no fault. @throws ServiceError not_found, state_conflict when it was accepted. */
export function revokeInvitation(
  context: Context,
  { org_id, id }: { org_id: Id<'org'>; id: string },
): Promise<void> {
  return context.transaction(async (context) => {
    const { invitation } = await lockWaiting(context, org_id, id);
    if (invitation.status === 'revoked') return;
    if (invitation.status === 'accepted') refuseEnded(invitation);
    const at = context.now();
    await endInvitation(context.db, { id: invitation.id, to: 'revoked', accepted_by: null, at });
    await writeAudit(context, { action: 'invitations.revoke', org_id, target: targetOf(invitation) });
  });
}
