// The two steps of signing in, for people and for staff (docs/sign-in.md).
import { type Context, isId, machineMs, ServiceError } from '../../kernel/index.ts';
import { emailKey, sendMail } from '../../mail/index.ts';
import { writeAudit } from '../audit/audit.ts';
import { refuseStranger } from '../seller.ts';
import { openSession } from '../sessions/sessions.ts';
import { hashToken, hasTokenForm, newToken } from '../sessions/token.ts';
import { findEnforced, hasWayBack, ssoRequired } from '../sso/enforce.ts';
import {
  findPerson,
  findPersonByEmail,
  lockPerson,
  replaceHash,
  takeRecoveryCode,
  takeStep,
} from '../store.ts';
import type { Person, SessionRow, Transport } from '../types.ts';
import { type DeviceOwner, knownDevice } from './device.ts';
import { checkPassword, hashPassword, needsRehash } from './password.ts';
import { countGuess, endChallenge, findChallenge, insertChallenge } from './store.ts';
import { type Attempt, beginAttempt } from './throttle.ts';
import { hashesOfRecoveryCode, openTotp, stepOfCode } from './totp.ts';

/** How long a sign-in may wait for its second factor. */
const CHALLENGE_MS = 5 * 60_000;

/** The actor in the audit log when no account has the address that was typed; the address itself is not stored. */
export const NOBODY = { type: 'system', id: null, display: 'nobody' } as const;

/**
 * Whether a password was checked and wrong. Attempts that were throttled first are not logged: they could fill the log.
 */
export function isWrongPassword(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'invalid_credentials';
}

/** The same answer to a wrong address, a wrong password and both. */
export function invalidCredentials(): ServiceError {
  return new ServiceError('invalid_credentials', 'E-mail and password do not match. Check both.');
}

/** A code that was wrong, used before, or came too late. */
export function invalidTotp(attempts_left: number): ServiceError {
  return new ServiceError('invalid_totp', 'The code is not valid. Wait for the next one.', {
    details: { attempts_left },
  });
}

/**
 * The answer to a second step that has no guesses left, has expired, or was never begun: no code is accepted any more.
 */
export function signInEnded(): ServiceError {
  return new ServiceError('invalid_totp', 'This sign-in has ended. Begin again with the password.', {
    details: { attempts_left: 0 },
  });
}

/**
 * Checks a password under the throttle of `kind`. A wrong one is counted; for a correct one the caller ends the attempt.
 * @throws ServiceError invalid_credentials, too_many_attempts.
 */
export async function provePassword(
  context: Context,
  args: {
    kind: 'account' | 'staff';
    about: string;
    stored: string | null;
    password: string;
    /** Who learns of a lock; null where there is no such account, and for staff. */
    owner: Pick<Person, 'id' | 'email'> | null;
  },
): Promise<Attempt> {
  const { owner, stored } = args;
  const device =
    owner === null || stored === null ? null : knownDevice(context, { id: owner.id, password_hash: stored });
  const attempt = await beginAttempt(context, args.kind, args.about, device);
  const is_right = await checkPassword(args.stored, args.password).catch(async (error: unknown) => {
    await attempt.withdraw();
    throw error;
  });
  if (is_right) return attempt;
  await attempt.fail(args.owner);
  throw invalidCredentials();
}

/** Stores a challenge for the second step and returns its token. */
export async function openChallenge(context: Context, subject: string): Promise<string> {
  const token = newToken('mfa');
  const expires_at = new Date(context.now().getTime() + CHALLENGE_MS);
  await insertChallenge(context.db, { hash: hashToken(token), subject, expires_at });
  return token;
}

async function strengthen(context: Context, person: Person, password: string): Promise<string> {
  if (!needsRehash(person.password_hash)) return person.password_hash;
  const fresh = await hashPassword(password);
  await replaceHash(context.db, { id: person.id, old: person.password_hash, fresh });
  return fresh;
}

/** A session that was made by password; `owner`: whose the device is now. */
export interface Entered {
  readonly session: SessionRow;
  readonly token: string;
  readonly owner: DeviceOwner;
}

export type SignedIn = Entered | { readonly mfa_token: string };

function recordSignIn(context: Context, session: SessionRow): Promise<void> {
  return writeAudit(context, {
    action: 'auth.login',
    org_id: session.org_id,
    target: { type: 'session', id: session.id },
    after: { method: session.method, two_factor: session.two_factor },
    actor: { type: 'user', id: session.user_id, display: session.email },
  });
}

function recordRefusal(
  context: Context,
  action: string,
  person: { id: string; email: string } | null,
): Promise<void> {
  const actor = person === null ? NOBODY : ({ type: 'user', id: person.id, display: person.email } as const);
  return writeAudit(context, { action, org_id: null, outcome: 'denied', actor });
}

/**
 * The first step: a session, or where the person has a second factor the token for the next step.
 * @throws ServiceError invalid_credentials, sso_required, permission_denied, too_many_attempts.
 */
export async function signIn(
  context: Context,
  input: { email: string; password: string; transport: Transport },
): Promise<SignedIn> {
  const key = emailKey(input.email);
  const person = key === null ? null : await findPersonByEmail(context.db, key);
  const enforced = await findEnforced(context.db, key);
  const attempt = await provePassword(context, {
    kind: 'account',
    about: key ?? input.email,
    stored: person?.password_hash ?? null,
    password: input.password,
    owner: person,
  }).catch(async (error: unknown) => {
    if (!isWrongPassword(error)) throw error;
    // Also for an unknown account: a faster answer would reveal which accounts exist.
    await recordRefusal(context, 'auth.login', person);
    throw enforced === null ? error : ssoRequired(enforced);
  });
  if (person === null) throw invalidCredentials();
  if (enforced !== null && !(await hasWayBack(context.db, person, enforced))) {
    // The same answer, and the same count, as to a wrong password.
    await attempt.fail(person);
    await recordRefusal(context, 'auth.login', person);
    throw ssoRequired(enforced);
  }
  await refuseStranger(context, person.id).catch(async (error: unknown) => {
    // The password was right: nothing is counted against the account.
    await attempt.withdraw();
    await recordRefusal(context, 'auth.login', person);
    throw error;
  });
  const proven_hash = await strengthen(context, person, input.password);
  const made = await context.transaction(async (context) => {
    const present = await lockPerson(context.db, person.id);
    // The account may have changed since the check: an old password must not sign in, nor get past a new second factor.
    // A challenge is opened under the same lock, since otherwise it could outlive a change that ends all challenges.
    if (present?.password_hash !== proven_hash) return null;
    if (present.totp_secret !== null) return { mfa_token: await openChallenge(context, person.id) };
    const { transport } = input;
    const made = await openSession(context, present, { method: 'password', transport, two_factor: false });
    await recordSignIn(context, made.session);
    return made;
  });
  if (made === null) throw invalidCredentials();
  // The password alone clears no counts: a thief of the password must not be able to reset the count of wrong codes.
  if ('mfa_token' in made) {
    await attempt.withdraw();
    return made;
  }
  await attempt.succeed();
  return { ...made, owner: { id: person.id, password_hash: proven_hash } };
}

/**
 * Whether `code` is a valid time-based or recovery code of the person. It is used up; of two requests at once, one
 * wins. That a recovery code was used, the person learns by mail.
 */
export async function takeCode(context: Context, person: Person, code: string): Promise<boolean> {
  const { root_key } = context.services;
  if (person.totp_secret === null) return false;
  const secret = openTotp(root_key, 'person.totp_secret', { id: person.id, sealed: person.totp_secret });
  const step = stepOfCode(secret, code, machineMs());
  if (step !== null) return takeStep(context.db, { id: person.id, step });
  const hashes = hashesOfRecoveryCode(root_key, code);
  if (hashes.length === 0) return false;
  return context.transaction(async (context) => {
    const left = await takeRecoveryCode(context.db, { user_id: person.id, hashes });
    if (left === null) return false;
    const at = context.now();
    await sendMail(context, {
      ...{ template: 'recovery_code_used', to: [person.email], org_id: null },
      ...{ reference: `${person.id}-${at.getTime()}-${left}`, data: { at: at.toISOString(), left } },
    });
    await writeAudit(context, { action: 'auth.recovery_code', org_id: null, actor: actorOf(person) });
    return true;
  });
}

function actorOf(person: Person) {
  return { type: 'user', id: person.id, display: person.email } as const;
}

/**
 * Takes one guess of a challenge of the second step.
 * @throws ServiceError invalid_totp when it is unknown, expired or has no guess left; too_many_attempts.
 */
export async function beginGuess(
  context: Context,
  mfa_token: string,
  prefix: 'usr_' | 'stf_',
): Promise<{ subject: string; person: Person | null; hash: Buffer; left: number; attempt: Attempt }> {
  if (!hasTokenForm('mfa', mfa_token)) throw signInEnded();
  const hash = hashToken(mfa_token);
  const at = context.now();
  const challenge = await findChallenge(context.db, { hash, at });
  if (challenge === null || !challenge.subject.startsWith(prefix)) throw signInEnded();
  const person = isId('user', challenge.subject) ? await findPerson(context.db, challenge.subject) : null;
  const device = person === null ? null : knownDevice(context, person);
  const attempt = await beginAttempt(context, 'totp', challenge.subject, device);
  const left = await countGuess(context.db, { hash, at });
  if (left === null) {
    await attempt.withdraw();
    throw signInEnded();
  }
  return { subject: challenge.subject, person, hash, left, attempt };
}

/** The second step: the session. @throws ServiceError invalid_totp, too_many_attempts. */
export async function secondFactor(
  context: Context,
  input: { mfa_token: string; code: string; transport: Transport },
): Promise<Entered> {
  const guess = await beginGuess(context, input.mfa_token, 'usr_');
  const { person } = guess;
  if (person === null || !(await takeCode(context, person, input.code))) {
    await guess.attempt.fail(person);
    if (person !== null) await recordRefusal(context, 'auth.login.totp', person);
    throw guess.left === 0 ? signInEnded() : invalidTotp(guess.left);
  }
  const made = await context.transaction(async (context) => {
    await lockPerson(context.db, person.id);
    if (!(await endChallenge(context.db, guess.hash))) return null;
    const { transport } = input;
    const made = await openSession(context, person, { method: 'password', transport, two_factor: true });
    await recordSignIn(context, made.session);
    return made;
  });
  if (made === null) throw signInEnded();
  await guess.attempt.succeed();
  return { ...made, owner: person };
}
