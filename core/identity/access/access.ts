// Access for people whom nobody invited: they ask, staff decide, and the link of the mail makes the account.

import { type Context, type Id, notFound, type RootKeyRing, ServiceError } from '../../kernel/index.ts';
import { getEmailKey, sendMail } from '../../mail/index.ts';
import { actorOf, writeAudit } from '../audit/audit.ts';
import { hashToken, hasTokenForm, newToken } from '../sessions/token.ts';
import { hashPassword, refuseWeakPassword } from '../sign-in/password.ts';
import { beginLinkAttempt, takeAccessRequest } from '../sign-in/throttle.ts';
import { passChallenge } from '../sign-up/challenge.ts';
import { findPersonByEmail, insertPerson } from '../store.ts';
import {
  type AccessFacts,
  type AccessRequest,
  approveAccessRequest,
  endAccessRequest,
  findAccessByHash,
  lockAccessByHash,
  lockAccessRequest,
  putAccessRequest,
} from './store.ts';

/** How long the link of an approval can be used. */
const LIVES_MS = 72 * 3_600_000;

/**
 * Stores that somebody asks for access. The answer is the same whatever is known of the address; where it has an account,
 * its mailbox learns that. @throws ServiceError challenge_failed, challenge_unavailable, too_many_attempts.
 */
export async function askAccess(context: Context, asked: AccessFacts & { email: string }): Promise<void> {
  const { email, ...facts } = asked;
  const email_key = getEmailKey(email);
  await passChallenge(context);
  await takeAccessRequest(context);
  await context.transaction(async (context) => {
    const at = context.now();
    const id = context.newId('access_request');
    if ((await findPersonByEmail(context.db, email_key)) === null)
      return putAccessRequest(context.db, { id, email, email_key, at, ...facts });
    await sendMail(context, {
      template: 'account_exists',
      to: [email],
      org_id: null,
      reference: id,
      data: {},
    });
  });
}

const targetOf = ({ id, email }: AccessRequest) => ({ type: 'access_request', id, display: email });

/** Whether staff can still decide it: it waits, or its link was never used in time. */
function isOpen({ status, expires_at }: AccessRequest, at: Date): boolean {
  if (status === 'received') return true;
  return status === 'approved' && expires_at !== null && expires_at.getTime() <= at.getTime();
}

async function lockOpen(context: Context, id: Id<'access_request'>): Promise<AccessRequest> {
  const found = await lockAccessRequest(context.db, id);
  if (found === null) throw notFound();
  if (isOpen(found, context.now())) return found;
  throw new ServiceError('state_conflict', `The request is ${found.status}.`, {
    details: { state: found.status },
  });
}

/**
 * Approves a request and mails a link that makes the account, valid for three days. One whose link lapsed can be approved
 * again. @throws ServiceError not_found, state_conflict.
 */
export function approveAccess(
  context: Context,
  { id, reason, root_key }: { id: Id<'access_request'>; reason: string; root_key: RootKeyRing },
): Promise<AccessRequest> {
  return context.transaction(async (context) => {
    await lockOpen(context, id);
    const at = context.now();
    const token = newToken('activation');
    const expires_at = new Date(at.getTime() + LIVES_MS);
    const reviewed_by = actorOf(context.caller).display;
    const hash = hashToken(token);
    const approved = await approveAccessRequest(context.db, { id, hash, expires_at, reviewed_by, at });
    await sendMail(context, {
      ...{ template: 'access_approved', to: [approved.email], org_id: null },
      reference: `${id}-${approved.mails}`,
      data: { name: approved.name, expires_at: expires_at.toISOString() },
      link: { to: `/activate#${token}`, root_key },
    });
    await writeAudit(context, {
      ...{ action: 'staff.access.approve', org_id: null, target: targetOf(approved), reason },
    });
    return approved;
  });
}

/** Declines a request; with `tells` a mail says so. @throws ServiceError not_found, state_conflict. */
export function declineAccess(
  context: Context,
  { id, reason, tells }: { id: Id<'access_request'>; reason: string; tells: boolean },
): Promise<AccessRequest> {
  return context.transaction(async (context) => {
    const found = await lockOpen(context, id);
    const at = context.now();
    const reviewed_by = actorOf(context.caller).display;
    const declined = await endAccessRequest(context.db, { id, to: 'declined', reviewed_by, at });
    if (tells)
      await sendMail(context, {
        ...{ template: 'access_declined', to: [found.email], org_id: null },
        ...{ reference: `${id}-${at.getTime()}`, data: { name: found.name } },
      });
    await writeAudit(context, {
      ...{ action: 'staff.access.decline', org_id: null, target: targetOf(found), reason, after: { tells } },
    });
    return declined;
  });
}

function deadLink(): ServiceError {
  return new ServiceError('token_invalid', 'This link leads to no approval. Sign in, or ask for access.');
}

/** `found`, when its link can be used at `at`. @throws ServiceError token_invalid, token_expired. */
function usable(found: AccessRequest | null, at: Date): AccessRequest & { readonly expires_at: Date } {
  const expires_at = found?.expires_at ?? null;
  if (found === null || found.status !== 'approved' || expires_at === null) throw deadLink();
  if (expires_at.getTime() <= at.getTime())
    throw new ServiceError('token_expired', 'The link has expired. Ask for access again.');
  return { ...found, expires_at };
}

/**
 * The approval that `token` leads to. Tokens that lead to none are counted per network address.
 * @throws ServiceError token_invalid, token_expired, too_many_attempts.
 */
export async function findApproval(context: Context, token: string) {
  const attempt = await beginLinkAttempt(context);
  const hash = hasTokenForm('activation', token) ? hashToken(token) : null;
  const found = hash === null ? null : await findAccessByHash(context.db, hash);
  if (found === null) throw deadLink();
  await attempt.withdraw();
  return usable(found, context.now());
}

/**
 * Makes the account of an approval; returns its address.
 * @throws ServiceError token_invalid (also when it was used), token_expired, weak_password, already_exists,
 * too_many_attempts.
 */
export async function activateAccess(
  context: Context,
  { token, password }: { token: string; password: string },
): Promise<string> {
  const { email } = await findApproval(context, token);
  refuseWeakPassword(password, { email, param: 'password' });
  const password_hash = await hashPassword(password);
  return context.transaction(async (context) => {
    const at = context.now();
    const approved = usable(await lockAccessByHash(context.db, hashToken(token)), at);
    const { email_key, name } = approved;
    const id = context.newId('user');
    if (
      !(await insertPerson(context.db, { id, email, email_key, name, password_hash, at, is_admitted: true }))
    )
      throw new ServiceError('already_exists', 'There is an account with this address. Sign in.', {
        param: 'token',
      });
    await endAccessRequest(context.db, { id: approved.id, to: 'activated', reviewed_by: null, at });
    await writeAudit(context, {
      ...{ action: 'access_requests.activate', org_id: null, target: targetOf(approved) },
      actor: { type: 'user', id, display: email },
    });
    return email;
  });
}
