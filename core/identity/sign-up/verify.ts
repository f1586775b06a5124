// Making an account of one's own: it is asked for, and made by the link in a mail, which proves the address. The answers
// to whoever asks are the same whether the address has an account or not; only its mailbox learns which.
import { type Context, type Id, ServiceError } from '../../kernel/index.ts';
import { getEmailKey, sendMail } from '../../mail/index.ts';
import { writeAudit } from '../audit/audit.ts';
import { findChange, finishChange } from '../profile/change-email.ts';
import { sellerOf } from '../seller.ts';
import { hashToken, hasTokenForm, newToken } from '../sessions/token.ts';
import { checkPassword, hashPassword, refuseWeakPassword } from '../sign-in/password.ts';
import { beginLinkAttempt, takeMailing } from '../sign-in/throttle.ts';
import { findEnforced, ssoRequired } from '../sso/enforce.ts';
import { findPerson, findPersonByEmail, insertPerson } from '../store.ts';
import { passChallenge } from './challenge.ts';
import {
  deleteRegistrations,
  findRegistration,
  insertRegistration,
  lockRegistration,
  type Registration,
  renewRegistration,
} from './store.ts';

/** As long as the mail itself is worth sending. */
const LIVES_MS = 24 * 3_600_000;

/** @throws ServiceError too_many_attempts when the address had its mails of this hour. */
async function takeVerifyMail(context: Context, email_key: string): Promise<void> {
  const wait_ms = await takeMailing(context, { purpose: 'verify', email_key });
  if (wait_ms === null) return;
  throw new ServiceError('too_many_attempts', 'This address had three mails within the hour. Wait for one.', {
    details: { scope: 'account' },
    retry_after_ms: wait_ms,
  });
}

async function mailLink(
  context: Context,
  to: Pick<Registration, 'id' | 'email' | 'mails' | 'name' | 'expires_at'>,
  token: string,
): Promise<void> {
  const { name, expires_at } = to;
  const seller = await sellerOf(context);
  await sendMail(context, {
    ...{ template: 'email_verification', to: [to.email], org_id: null },
    reference: `${to.id}-${to.mails}`,
    data: {
      ...{ name, expires_at: expires_at.toISOString() },
      ...(seller === null ? {} : { seller_id: seller.org_id }),
    },
    // Behind the number sign, so that no server on the way writes the token down.
    link: { to: `/verify-email#${token}`, root_key: context.services.root_key },
  });
}

/**
 * Asks for an account. Whoever holds the mailbox gets a link that makes it, or the news that there is one already.
 * @throws ServiceError weak_password, challenge_failed, challenge_unavailable, too_many_attempts, sso_required.
 */
export async function register(
  context: Context,
  input: { email: string; password: string; name: string; invite_code_id: Id<'invite_code'> | null },
): Promise<void> {
  const { email, password, name, invite_code_id } = input;
  const email_key = getEmailKey(email);
  refuseWeakPassword(password, { email, param: 'password' });
  await passChallenge(context);
  // What a domain asks for is public; it says nothing about an address.
  const enforced = await findEnforced(context.db, email_key);
  if (enforced !== null) throw ssoRequired(enforced);
  await takeVerifyMail(context, email_key);
  // Hashed for an address that has an account as well, so that both take equally long.
  const password_hash = await hashPassword(password);
  await context.transaction(async (context) => {
    const at = context.now();
    const id = context.newId('user');
    if ((await findPersonByEmail(context.db, email_key)) !== null) {
      await sendMail(context, {
        ...{ template: 'account_exists', to: [email], org_id: null, reference: id, data: {} },
      });
      return;
    }
    const token = newToken('verification');
    const expires_at = new Date(at.getTime() + LIVES_MS);
    const hash = hashToken(token);
    await insertRegistration(context.db, {
      ...{ id, email, email_key, name, password_hash, hash, expires_at, at, invite_code_id },
    });
    await mailLink(context, { id, email, name, expires_at, mails: 1 }, token);
  });
}

/** Mails another link where an account waits for one; does nothing where none does. @throws ServiceError too_many_attempts. */
export async function resendVerification(context: Context, email: string): Promise<void> {
  const email_key = getEmailKey(email);
  await takeVerifyMail(context, email_key);
  await context.transaction(async (context) => {
    const at = context.now();
    if ((await findPersonByEmail(context.db, email_key)) !== null) return;
    const token = newToken('verification');
    const expires_at = new Date(at.getTime() + LIVES_MS);
    const renewed = await renewRegistration(context.db, {
      email_key,
      hash: hashToken(token),
      expires_at,
      at,
    });
    if (renewed !== null) await mailLink(context, renewed, token);
  });
}

function deadLink(): ServiceError {
  return new ServiceError('token_invalid', 'This link leads to no account that waits. Sign in, or register.');
}

/**
 * Makes the account that the link of `token` is for, or gives a person the address that it proves; returns the address. The password that was chosen with it is asked for:
 * an account with somebody else's password is not made by whoever only opens a link in their mail.
 * @throws ServiceError token_invalid (also when it was used, or the address has an account by now), token_expired,
 * invalid_credentials, too_many_attempts.
 */
export async function verifyEmail(
  context: Context,
  { token, password }: { token: string; password: string },
): Promise<string> {
  const attempt = await beginLinkAttempt(context);
  const hash = hasTokenForm('verification', token) ? hashToken(token) : null;
  const asked = hash === null ? null : await findRegistration(context.db, hash);
  const change = hash === null || asked !== null ? null : await findChange(context, hash);
  if (hash === null || (asked === null && change === null)) throw deadLink();
  const stored = asked?.password_hash ?? (await findPerson(context.db, change?.user_id ?? ''))?.password_hash;
  if (!(await checkPassword(stored ?? null, password)))
    throw new ServiceError(
      'invalid_credentials',
      'This is not the password that was chosen with the account.',
    );
  await attempt.withdraw();
  if (change !== null) return finishChange(context, { hash, user_id: change.user_id });
  return context.transaction(async (context) => {
    const at = context.now();
    const found = await lockRegistration(context.db, hash);
    if (found === null) throw deadLink();
    if (found.expires_at.getTime() <= at.getTime())
      throw new ServiceError('token_expired', 'The link has expired. Register again.');
    const { id, email, email_key, name, password_hash, invite_code_id } = found;
    const person = { id, email, email_key, name, password_hash, at, is_admitted: false, invite_code_id };
    // Of two accounts that were asked for one address the second waits here for the first, and is refused.
    if (!(await insertPerson(context.db, person))) throw deadLink();
    await deleteRegistrations(context.db, email_key);
    await writeAudit(context, {
      ...{ action: 'auth.verify_email', org_id: null, target: { type: 'user', id, display: email } },
      actor: { type: 'user', id, display: email },
    });
    return email;
  });
}
