// Another address for a person: asked for with a fresh proof, and theirs once its mailbox and their password have proved it.
import { type Context, type Id, ServiceError } from '../../kernel/index.ts';
import { getEmailKey, sendMail } from '../../mail/index.ts';
import { listMemberships } from '../../orgs/index.ts';
import { writeAudit } from '../audit/audit.ts';
import { endSessions } from '../sessions/store.ts';
import { hashToken, newToken } from '../sessions/token.ts';
import { endChallenges } from '../sign-in/store.ts';
import { takeMailing } from '../sign-in/throttle.ts';
import { deleteResets } from '../sign-up/store.ts';
import { findEnforced, refuseRuled, ssoRequired } from '../sso/enforce.ts';
import { findPersonByEmail, lockPerson } from '../store.ts';
import type { Person } from '../types.ts';
import { deleteEmailChange, type EmailChange, findEmailChange, putEmailChange, setEmail } from './store.ts';

const LIVES_MS = 24 * 3_600_000;

/** @throws ServiceError permission_denied, sso_required: a directory or a provider says what the address is. */
async function refuseForeign(context: Context, person: Person, email_key: string): Promise<void> {
  const { db } = context;
  await refuseRuled(db, person);
  if ((await listMemberships(db, person.id)).some(({ source }) => source === 'scim')) {
    const message = 'The directory of your organization says what your address is. Ask an admin.';
    throw new ServiceError('permission_denied', message, { param: 'email' });
  }
  const enforced = await findEnforced(db, email_key);
  if (enforced !== null) throw ssoRequired(enforced);
}

/**
 * Mails a link to the address that a person wants. The answer is the same where somebody has it; its mailbox learns that.
 * @throws ServiceError permission_denied, sso_required, too_many_attempts.
 */
export async function askEmailChange(context: Context, person: Person, email: string): Promise<void> {
  const email_key = getEmailKey(email);
  await refuseForeign(context, person, email_key);
  const wait_ms = await takeMailing(context, { purpose: 'verify', email_key });
  if (wait_ms !== null)
    throw new ServiceError(
      'too_many_attempts',
      'This address had three mails within the hour. Wait for one.',
      {
        details: { scope: 'account' },
        retry_after_ms: wait_ms,
      },
    );
  await context.transaction(async (context) => {
    const { db } = context;
    await lockPerson(db, person.id);
    const at = context.now();
    const token = newToken('verification');
    const expires_at = new Date(at.getTime() + LIVES_MS);
    const change = { user_id: person.id, email, email_key, expires_at };
    const reference = `${person.id}-${at.getTime()}`;
    const holder = await findPersonByEmail(db, email_key);
    // Stored for a taken address too, so that the person sees the same: it waits, and its link was mailed to nobody.
    await putEmailChange(db, { ...change, hash: hashToken(token), at });
    if (holder !== null && holder.id !== person.id)
      await sendMail(context, {
        ...{ template: 'account_exists', to: [email], org_id: null, reference, data: {} },
      });
    else
      await sendMail(context, {
        ...{ template: 'email_change', to: [email], org_id: null, reference },
        data: { name: person.name, expires_at: expires_at.toISOString() },
        link: { to: `/verify-email#${token}`, root_key: context.services.root_key },
      });
    await writeAudit(context, {
      ...{ action: 'auth.me.email', org_id: null, target: { type: 'user', id: person.id } },
    });
  });
}

/** The change that the token with `hash` finishes, and whose it is; null when there is none. */
export function findChange(context: Context, hash: Buffer): Promise<EmailChange | null> {
  return findEmailChange(context.db, hash);
}

/**
 * Gives the person of a change the new address, whose mailbox was proved by having the token of `hash`. Links that went to the
 * old one lead nowhere from then on, every session ends, and the old address learns of it.
 * @throws ServiceError token_invalid, token_expired, sso_required, permission_denied.
 */
export function finishChange(
  context: Context,
  { hash, user_id }: { hash: Buffer; user_id: Id<'user'> },
): Promise<string> {
  return context.transaction(async (context) => {
    const { db } = context;
    const at = context.now();
    const person = await lockPerson(db, user_id);
    const change = await findEmailChange(db, hash);
    if (person === null || change === null)
      throw new ServiceError('token_invalid', 'This link changes no address any more.');
    if (change.expires_at.getTime() <= at.getTime())
      throw new ServiceError('token_expired', 'The link has expired. Ask for the change again.');
    const { email, email_key } = change;
    await refuseForeign(context, person, email_key);
    if (!(await setEmail(db, { id: user_id, email, email_key, at })))
      throw new ServiceError('token_invalid', 'There is an account with this address by now.');
    await deleteEmailChange(db, user_id);
    await deleteResets(db, user_id);
    await endChallenges(db, user_id);
    await endSessions(db, { user_id, except: null });
    await sendMail(context, {
      ...{ template: 'email_changed', to: [person.email], org_id: null },
      ...{ reference: `${user_id}-${at.getTime()}`, data: { at: at.toISOString() } },
    });
    await writeAudit(context, {
      ...{ action: 'auth.verify_email', org_id: null, target: { type: 'user', id: user_id, display: email } },
      ...{ before: { email: person.email }, after: { email } },
      actor: { type: 'user', id: user_id, display: email },
    });
    return email;
  });
}
