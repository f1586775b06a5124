// A person's own password and second factor. All need a fresh proof of the person.
import { Type } from 'typebox';
import {
  type Context,
  type Id,
  invalid,
  machineMs,
  named,
  operation,
  ServiceError,
} from '../kernel/index.ts';
import { emailKey } from '../mail/index.ts';
import { listMemberships } from '../orgs/index.ts';
import { writeAudit } from './audit/audit.ts';
import { CodeIn, PasswordIn, RecoveryCodes, SignedIn, SignedInView, signedInExample } from './schema.ts';
import { sellerOf } from './seller.ts';
import { renewSession } from './sessions/sessions.ts';
import { endSessions } from './sessions/store.ts';
import { knownDevice, rememberDevice } from './sign-in/device.ts';
import { answerWith, anyone, ownPerson, refuseSsoSession } from './sign-in/operations.ts';
import { hashPassword, refuseWeakPassword } from './sign-in/password.ts';
import { invalidTotp, provePassword, takeCode } from './sign-in/sign-in.ts';
import { endChallenges } from './sign-in/store.ts';
import { beginAttempt } from './sign-in/throttle.ts';
import {
  base32,
  hashRecoveryCode,
  newRecoveryCodes,
  newTotpSecret,
  openTotp,
  otpauthUri,
  sealTotp,
  stepOfCode,
} from './sign-in/totp.ts';
import { deleteResets } from './sign-up/store.ts';
import { findEnforced } from './sso/enforce.ts';
import {
  clearTotp,
  confirmTotp,
  lockPerson,
  replaceRecoveryCodes,
  setPassword,
  setPendingTotp,
} from './store.ts';
import type { Person } from './types.ts';
import { ofPerson, ownSession, sessionCaller } from './view.ts';

const proven = { ...anyone, reauthenticated: true } as const;
const ISSUER = 'LLM gateway';
const codesExample = ['4g7kd-9x2mq', 'p0r5t-w8z1c'];

export const changePasswordOperation = operation({
  name: 'auth.password.change',
  method: 'POST',
  path: '/v1/auth/password/change',
  summary: 'Change the password; every other session of the person ends',
  audience: proven,
  ...ofPerson,
  input: Type.Object({ current_password: PasswordIn, new_password: PasswordIn }),
  output: SignedIn,
  errors: [
    'weak_password',
    'invalid_credentials',
    'too_many_attempts',
    'reauthentication_required',
    'csrf_failed',
  ],
  request: { current_password: 'correct horse battery staple', new_password: 'seven quiet rivers' },
  example: { session: signedInExample },
  async run(context, { current_password, new_password }) {
    refuseSsoSession(context);
    const person = await ownPerson(context);
    const session = await ownSession(context);
    refuseWeakPassword(new_password, { email: person.email, param: 'new_password' });
    const about = emailKey(person.email) ?? person.email;
    const proof = {
      kind: 'account',
      about,
      stored: person.password_hash,
      password: current_password,
      owner: person,
    } as const;
    await (await provePassword(context, proof)).succeed();
    const was_known = knownDevice(context, person) !== null;
    const password_hash = await hashPassword(new_password);
    const made = await context.transaction(async (context) => {
      const present = await lockPerson(context.db, person.id);
      if (present?.password_hash !== person.password_hash) {
        throw new ServiceError('state_conflict', 'The password was changed meanwhile.');
      }
      const at = context.now();
      await setPassword(context.db, { id: person.id, password_hash, at });
      await endSessions(context.db, { user_id: person.id, except: session.id });
      // A sign-in that passed with the old password must not finish.
      await endChallenges(context.db, person.id);
      await deleteResets(context.db, person.id);
      const made = await renewSession(context, session, { proved_at: at });
      // The end of the audit log is the last lock of every transaction; what ends this session writes to the log too.
      await writeAudit(context, { action: 'auth.password.change', org_id: session.org_id });
      return made;
    });
    // The cookie of every other device ends with the old password.
    if (was_known) rememberDevice(context, { id: person.id, password_hash });
    return answerWith(context, made);
  },
});

/**
 * Asks for a code of the present second factor: a password and a stolen session must not be enough to replace it.
 * @throws ServiceError invalid_request without a code, invalid_totp, too_many_attempts.
 */
async function proveFactor(context: Context, person: Person, code: string | undefined): Promise<void> {
  if (code === undefined)
    throw invalid('code', 'missing', 'This account has a second factor. Send one of its codes.');
  const attempt = await beginAttempt(context, 'totp', person.id, knownDevice(context, person));
  if (!(await takeCode(context, person, code))) {
    await attempt.fail(person);
    throw invalidTotp(0);
  }
  await attempt.succeed();
}

export const enrolTotpOperation = operation({
  name: 'auth.totp.enrol',
  method: 'POST',
  path: '/v1/auth/totp/enrol',
  summary:
    'Begin to set up a second factor, or a new one with a code of the old; it is asked for once confirmed',
  audience: proven,
  ...ofPerson,
  input: Type.Object({ code: Type.Optional(CodeIn) }),
  output: named(
    'TotpEnrolment',
    Type.Object({
      secret: Type.String({ description: 'base32, shown once' }),
      otpauth_uri: Type.String(),
    }),
  ),
  errors: ['invalid_totp', 'too_many_attempts', 'reauthentication_required', 'csrf_failed'],
  request: { code: '492039' },
  example: {
    secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
    otpauth_uri: 'otpauth://totp/LLM%20gateway:asha%40acme.example?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
  },
  async run(context, { code }) {
    refuseSsoSession(context);
    const { user_id, email } = sessionCaller(context);
    const person = await ownPerson(context);
    if (person.totp_secret !== null) await proveFactor(context, person, code);
    const secret = newTotpSecret();
    const sealed = sealTotp(context.services.root_key, 'person.totp_pending', { id: user_id, secret });
    await setPendingTotp(context.db, { id: user_id, sealed });
    // What programs with codes show: the name under which the person knows us.
    const issuer = (await sellerOf(context))?.name ?? ISSUER;
    return { secret: base32(secret), otpauth_uri: otpauthUri(secret, { issuer, email }) };
  },
});

async function freshCodes(context: Context, user_id: Id<'user'>): Promise<string[]> {
  const codes = newRecoveryCodes();
  const hashes = codes.flatMap((code) => hashRecoveryCode(context.services.root_key, code) ?? []);
  await replaceRecoveryCodes(context.db, { user_id, hashes, at: context.now() });
  return codes;
}

export const confirmTotpOperation = operation({
  name: 'auth.totp.confirm',
  method: 'POST',
  path: '/v1/auth/totp/confirm',
  summary: 'Confirm the second factor with a first code; the answer shows the recovery codes once',
  audience: proven,
  ...ofPerson,
  input: Type.Object({ code: CodeIn }),
  output: named(
    'TotpConfirmed',
    Type.Object({
      token: Type.Optional(Type.String()),
      session: SignedInView,
      recovery_codes: RecoveryCodes,
    }),
  ),
  errors: ['invalid_totp', 'state_conflict', 'too_many_attempts', 'reauthentication_required', 'csrf_failed'],
  request: { code: '492039' },
  example: { session: signedInExample, recovery_codes: codesExample },
  async run(context, { code }) {
    refuseSsoSession(context);
    const session = await ownSession(context);
    const id = session.user_id;
    const attempt = await beginAttempt(context, 'totp', id);
    const done = await context.transaction(async (context) => {
      const { totp_pending } = (await lockPerson(context.db, id)) ?? { totp_pending: null };
      if (totp_pending === null) return 'nothing';
      const { root_key } = context.services;
      const secret = openTotp(root_key, 'person.totp_pending', { id, sealed: totp_pending });
      const step = stepOfCode(secret, code, machineMs());
      if (step === null) return 'wrong';
      const sealed = sealTotp(root_key, 'person.totp_secret', { id, secret });
      await confirmTotp(context.db, { id, sealed, step, at: context.now() });
      const recovery_codes = await freshCodes(context, id);
      const made = await renewSession(context, session, { two_factor: true, proved_at: context.now() });
      await writeAudit(context, { action: 'auth.totp.confirm', org_id: session.org_id });
      return { made, recovery_codes };
    });
    if (done === 'wrong') {
      await attempt.fail({ id, email: session.email });
      throw invalidTotp(0);
    }
    await attempt.succeed();
    if (done === 'nothing') throw new ServiceError('state_conflict', 'Begin with /v1/auth/totp/enrol.');
    return { ...(await answerWith(context, done.made)), recovery_codes: done.recovery_codes };
  },
});

export const disableTotpOperation = operation({
  name: 'auth.totp.disable',
  method: 'POST',
  path: '/v1/auth/totp/disable',
  summary: 'Remove the second factor, with one of its codes; not while an organization requires one',
  audience: proven,
  ...ofPerson,
  input: Type.Object({ code: CodeIn }),
  output: SignedIn,
  errors: ['invalid_totp', 'state_conflict', 'too_many_attempts', 'reauthentication_required', 'csrf_failed'],
  request: { code: '492039' },
  example: { session: signedInExample },
  async run(context, { code }) {
    refuseSsoSession(context);
    const person = await ownPerson(context);
    const session = await ownSession(context);
    const asking = (await listMemberships(context.db, person.id)).find(
      ({ security, org_status }) => security.require_2fa === true && org_status === 'active',
    );
    if (asking !== undefined) {
      throw new ServiceError('state_conflict', `${asking.name} asks its members for a second factor.`, {
        details: { org_id: asking.org_id },
      });
    }
    if (person.totp_secret === null) throw invalid('code', 'unknown', 'This account has no second factor.');
    const enforced = await findEnforced(context.db, emailKey(person.email));
    if (enforced !== null) {
      const message = 'Your organization asks for single sign-on: the second factor is your way back.';
      throw new ServiceError('state_conflict', message, { details: { org_id: enforced.org_id } });
    }
    await proveFactor(context, person, code);
    const made = await context.transaction(async (context) => {
      await lockPerson(context.db, person.id);
      await clearTotp(context.db, { id: person.id, at: context.now() });
      await replaceRecoveryCodes(context.db, { user_id: person.id, hashes: [], at: context.now() });
      await endChallenges(context.db, person.id);
      const made = await renewSession(context, session, { proved_at: context.now() });
      await writeAudit(context, { action: 'auth.totp.disable', org_id: session.org_id });
      return made;
    });
    return answerWith(context, made);
  },
});

export const recoveryCodesOperation = operation({
  name: 'auth.totp.recovery_codes',
  method: 'POST',
  path: '/v1/auth/totp/recovery-codes',
  summary: 'Make ten new recovery codes, with a code of the second factor; the old ones stop working',
  audience: proven,
  ...ofPerson,
  input: Type.Object({ code: Type.Optional(CodeIn) }),
  output: named('NewRecoveryCodes', Type.Object({ recovery_codes: RecoveryCodes })),
  errors: ['invalid_totp', 'state_conflict', 'too_many_attempts', 'reauthentication_required', 'csrf_failed'],
  request: { code: '492039' },
  example: { recovery_codes: codesExample },
  async run(context, { code }) {
    refuseSsoSession(context);
    const { user_id, org_id } = sessionCaller(context);
    const nothing = () =>
      new ServiceError('state_conflict', 'This account has no second factor, so it has no recovery codes.');
    const found = await ownPerson(context);
    if (found.totp_secret === null) throw nothing();
    await proveFactor(context, found, code);
    return context.transaction(async (context) => {
      const person = await lockPerson(context.db, user_id);
      if (person === null || person.totp_secret === null) throw nothing();
      const recovery_codes = await freshCodes(context, user_id);
      await writeAudit(context, { action: 'auth.totp.recovery_codes', org_id });
      return { recovery_codes };
    });
  },
});
