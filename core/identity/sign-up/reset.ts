// A forgotten password: a link by mail, which sets a new one. Whoever asks learns nothing about the address.
import { type Context, ServiceError } from '../../kernel/index.ts';
import { getEmailKey, sendMail } from '../../mail/index.ts';
import { findOrg } from '../../orgs/index.ts';
import { writeAudit } from '../audit/audit.ts';
import { endSessions } from '../sessions/store.ts';
import { hashToken, hasTokenForm, newToken } from '../sessions/token.ts';
import { hashPassword, refuseWeakPassword } from '../sign-in/password.ts';
import { endChallenges } from '../sign-in/store.ts';
import { beginLinkAttempt, forgetFailures, takeMailing } from '../sign-in/throttle.ts';
import { findEnforced, hasWayBack, refuseRuled } from '../sso/enforce.ts';
import { findPerson, findPersonByEmail, lockPerson, setPassword } from '../store.ts';
import { deleteResets, findReset, insertReset } from './store.ts';

const LIVES_MS = 30 * 60_000;

/**
 * Mails a link to the person with this address; where single sign-on rules the address, a mail that says so; nothing
 * where there is no person, or where the address had its mails of this hour.
 * @throws ServiceError too_many_attempts for the network address of whoever asks.
 */
export async function askReset(context: Context, email: string): Promise<void> {
  const email_key = getEmailKey(email);
  if ((await takeMailing(context, { purpose: 'reset', email_key })) !== null) return;
  await context.transaction(async (context) => {
    const { db } = context;
    const person = await findPersonByEmail(db, email_key);
    const enforced = await findEnforced(db, email_key);
    if (person === null) return;
    const to = [person.email];
    const at = context.now();
    const reference = `${person.id}-${at.getTime()}`;
    if (enforced !== null && !(await hasWayBack(db, person, enforced))) {
      const org = (await findOrg(db, enforced.org_id))?.name ?? '';
      await sendMail(context, { template: 'password_reset_sso', to, org_id: null, reference, data: { org } });
      return;
    }
    const token = newToken('reset');
    const expires_at = new Date(at.getTime() + LIVES_MS);
    await insertReset(db, { hash: hashToken(token), user_id: person.id, expires_at, at });
    await sendMail(context, {
      ...{ template: 'password_reset', to, org_id: null, reference },
      data: { expires_at: expires_at.toISOString() },
      link: { to: `/reset-password#${token}`, root_key: context.services.root_key },
    });
  });
}

function deadLink(): ServiceError {
  return new ServiceError('token_invalid', 'This link sets no password any more. Ask for a new one.');
}

/** Whose password the link sets. @throws ServiceError token_invalid, token_expired. */
async function subjectOf(context: Pick<Context, 'db' | 'now'>, hash: Buffer) {
  const found = await findReset(context.db, hash);
  if (found === null) throw deadLink();
  if (found.expires_at.getTime() <= context.now().getTime())
    throw new ServiceError('token_expired', 'The link has expired. Ask for a new one.');
  return found.user_id;
}

/**
 * Sets the password of the person whose link has `token`. All sessions of the person end; a second factor stays, and so
 * a mailbox alone is not enough where there is one.
 * @throws ServiceError token_invalid (also when it was used), token_expired, weak_password, too_many_attempts,
 * sso_required.
 */
export async function resetByLink(
  context: Context,
  { token, password }: { token: string; password: string },
): Promise<void> {
  const attempt = await beginLinkAttempt(context);
  const hash = hasTokenForm('reset', token) ? hashToken(token) : null;
  if (hash === null || (await findReset(context.db, hash)) === null) throw deadLink();
  await attempt.withdraw();
  const user_id = await subjectOf(context, hash);
  const person = await findPerson(context.db, user_id);
  if (person === null) throw deadLink();
  refuseWeakPassword(password, { email: person.email, param: 'password' });
  const password_hash = await hashPassword(password);
  await context.transaction(async (context) => {
    await lockPerson(context.db, user_id);
    // Again under the lock: of two who use one link at once, the second finds it gone.
    await subjectOf(context, hash);
    await refuseRuled(context.db, person);
    await setPassword(context.db, { id: user_id, password_hash, at: context.now() });
    await endSessions(context.db, { user_id, except: null });
    // A sign-in that passed with the old password must not finish.
    await endChallenges(context.db, user_id);
    await deleteResets(context.db, user_id);
    await forgetFailures(context, getEmailKey(person.email));
    await writeAudit(context, {
      ...{ action: 'auth.password.reset', org_id: null },
      target: { type: 'user', id: user_id, display: person.email },
      actor: { type: 'user', id: user_id, display: person.email },
    });
  });
}
