// Sign-in of staff, on their own listener: password and code, always both.
import { Type } from 'typebox';
import { type Context, type Id, machineMs, Nothing, operation, type StaffCaller } from '../kernel/index.ts';
import { emailKey } from '../mail/index.ts';
import { writeAudit } from './audit/audit.ts';
import {
  CodeIn,
  EmailIn,
  PasswordIn,
  StaffSignedIn,
  StaffView,
  staffExample,
  TransportIn,
} from './schema.ts';
import { openStaffSession } from './sessions/sessions.ts';
import { clearedCookie, csrfToken, sessionCookie } from './sessions/token.ts';
import {
  beginGuess,
  invalidCredentials,
  invalidTotp,
  isWrongPassword,
  NOBODY,
  openChallenge,
  provePassword,
  signInEnded,
} from './sign-in/sign-in.ts';
import { endChallenge } from './sign-in/store.ts';
import { openTotp, stepOfCode } from './sign-in/totp.ts';
import { endStaffSession, findStaff, findStaffByEmail, takeStaffStep } from './staff-store.ts';
import type { StaffMember, Transport } from './types.ts';

const staff = { kind: 'staff', roles: 'any' } as const;

/** The staff behind `context`. @throws Error (a defect) where the audience let someone else in. */
function staffCaller(context: Context): StaffCaller {
  if (context.caller.kind !== 'staff') throw new Error('operation reached without staff');
  return context.caller;
}

function recordRefusal(context: Context, action: string, who: StaffMember | null): Promise<void> {
  const actor = who === null ? NOBODY : ({ type: 'staff', id: who.id, display: who.email } as const);
  return writeAudit(context, { action, org_id: null, outcome: 'denied', actor });
}

export const staffLoginOperation = operation({
  name: 'staff.login',
  method: 'POST',
  path: '/auth/login',
  summary: 'Sign in as staff: the password, then a code',
  audience: { kind: 'public' },
  input: Type.Object({ email: EmailIn, password: PasswordIn }),
  output: Type.Object({ mfa_token: Type.String() }),
  errors: ['invalid_credentials', 'too_many_attempts', 'csrf_failed'],
  example: { mfa_token: `svc-mfa-${'A'.repeat(43)}` },
  async run(context, { email, password }) {
    const key = emailKey(email);
    const found = key === null ? null : await findStaffByEmail(context.db, key);
    const stored = found?.password_hash ?? null;
    const attempt = await provePassword(context, {
      kind: 'staff',
      about: key ?? email,
      stored,
      password,
      owner: null,
    }).catch(async (error: unknown) => {
      if (isWrongPassword(error)) await recordRefusal(context, 'staff.login', found);
      throw error;
    });
    if (found === null) throw invalidCredentials();
    await attempt.withdraw();
    return { mfa_token: await openChallenge(context, found.id) };
  },
});

async function enter(
  context: Context,
  made: { token: string; session_id: Id<'session'>; expires_at: Date },
  who: { member: StaffMember; transport: Transport },
) {
  const { root_key, sign_in } = context.services;
  const { id, email, roles } = who.member;
  const session = {
    staff: { id, email, roles: [...roles] },
    csrf_token: csrfToken(root_key, made.session_id),
  };
  if (who.transport === 'bearer') return { token: made.token, session };
  const seconds = (made.expires_at.getTime() - context.now().getTime()) / 1000;
  context.header('set-cookie', sessionCookie(sign_in.cookies, 'staff', made.token, seconds));
  return { session };
}

export const staffTotpOperation = operation({
  name: 'staff.login.totp',
  method: 'POST',
  path: '/auth/login/totp',
  summary: 'Finish the sign-in of staff',
  audience: { kind: 'public' },
  input: Type.Object({ mfa_token: Type.String({ maxLength: 128 }), code: CodeIn, transport: TransportIn }),
  output: StaffSignedIn,
  errors: ['invalid_totp', 'too_many_attempts', 'csrf_failed'],
  example: { session: staffExample },
  async run(context, { mfa_token, code, transport }) {
    const guess = await beginGuess(context, mfa_token, 'stf_');
    const member = await findStaff(context.db, guess.subject);
    const secret =
      member === null
        ? null
        : openTotp(context.services.root_key, 'staff.totp_secret', {
            ...{ id: member.id, sealed: member.totp_secret },
          });
    const step = secret === null ? null : stepOfCode(secret, code, machineMs());
    if (member === null || step === null || !(await takeStaffStep(context.db, { id: member.id, step }))) {
      await guess.attempt.fail(null);
      if (member !== null) await recordRefusal(context, 'staff.login.totp', member);
      throw guess.left === 0 ? signInEnded() : invalidTotp(guess.left);
    }
    const made = await context.transaction(async (context) => {
      if (!(await endChallenge(context.db, guess.hash))) return null;
      const made = await openStaffSession(context, { staff_id: member.id, transport: transport ?? 'cookie' });
      const actor = { type: 'staff', id: member.id, display: member.email } as const;
      await writeAudit(context, { action: 'staff.login', org_id: null, actor });
      return made;
    });
    if (made === null) throw signInEnded();
    await guess.attempt.succeed();
    return enter(context, made, { member, transport: transport ?? 'cookie' });
  },
});

export const staffLogoutOperation = operation({
  name: 'staff.logout',
  method: 'POST',
  path: '/auth/logout',
  summary: 'End this session of staff',
  audience: staff,
  input: Type.Object({}),
  output: Nothing,
  errors: ['csrf_failed'],
  status: 204,
  example: {},
  async run(context) {
    const { session_id } = staffCaller(context);
    if (session_id !== undefined) await endStaffSession(context.db, session_id);
    context.header('set-cookie', clearedCookie(context.services.sign_in.cookies, 'staff'));
    return {};
  },
});

export const staffSessionOperation = operation({
  name: 'staff.session',
  method: 'GET',
  path: '/auth/session',
  summary: 'Who of staff is signed in, and the CSRF token',
  audience: staff,
  input: Type.Object({}),
  output: StaffView,
  errors: [],
  example: staffExample,
  async run(context) {
    const { staff_id, name, roles, session_id } = staffCaller(context);
    const csrf_token = csrfToken(context.services.root_key, session_id ?? '');
    return { staff: { id: staff_id, email: name, roles: [...roles] }, csrf_token };
  },
});
