// Signing in and out, and the session itself.
import { Type } from 'typebox';
import {
  type Context,
  idOf,
  isId,
  listOf,
  Nothing,
  notFound,
  operation,
  ServiceError,
} from '../../kernel/index.ts';
import { emailKey } from '../../mail/index.ts';
import { findMembership } from '../../orgs/index.ts';
import { writeAudit } from '../audit/audit.ts';
import { endLook } from '../looks/look.ts';
import {
  CodeIn,
  EmailIn,
  PasswordIn,
  SessionView,
  SignedIn,
  SignedInView,
  SignInAnswer,
  sessionExample,
  signedInExample,
  TransportIn,
  tokenExample,
} from '../schema.ts';
import { deliver, renewSession } from '../sessions/sessions.ts';
import { endSession, endSessions, endSsoSessions, listSessions } from '../sessions/store.ts';
import { clearedCookie } from '../sessions/token.ts';
import { findPerson } from '../store.ts';
import type { Person, SessionRow } from '../types.ts';
import { ofPerson, ownSession, sessionCaller, viewLook, viewSession, viewSignedIn } from '../view.ts';
import { knownDevice, rememberDevice } from './device.ts';
import { type Entered, invalidTotp, provePassword, secondFactor, signIn, takeCode } from './sign-in.ts';
import { beginAttempt } from './throttle.ts';

/** Every signed-in person, also one whose organization asks for a second factor that is not set up. */
export const anyone = { kind: 'session', roles: 'any', without_second_factor: true } as const;

/** Answers with a session and its new token. */
export async function answerWith(context: Context, made: { session: SessionRow; token: string }) {
  return {
    ...deliver(context, made.session, made.token),
    session: await viewSignedIn(context, made.session),
  };
}

/** The same for one who has signed in: a browser is known from now on. */
async function enterWith(context: Context, made: Entered) {
  const answer = await answerWith(context, made);
  if (made.session.transport === 'cookie') rememberDevice(context, made.owner);
  return answer;
}

/**
 * Refuses a session that an organization's identity provider made: whoever runs that provider could otherwise change how
 * the person signs in everywhere else, or act for them outside the organization. @throws ServiceError permission_denied.
 */
export function refuseSsoSession(context: Context): void {
  if (sessionCaller(context).sso_org_id === undefined) return;
  throw new ServiceError(
    'permission_denied',
    'You are signed in by single sign-on, for one organization. Sign in with your password to do this.',
    { details: { session: 'sso' } },
  );
}

/** The person behind the caller's session. @throws Error (a defect) when there is none. */
export async function ownPerson(context: Context): Promise<Person> {
  const person = await findPerson(context.db, sessionCaller(context).user_id);
  if (person === null) throw new Error('a session without its person');
  return person;
}

export const loginOperation = operation({
  name: 'auth.login',
  method: 'POST',
  path: '/v1/auth/login',
  summary: 'Sign in with e-mail and password; with a second factor the answer asks for it',
  audience: { kind: 'public' },
  input: Type.Object({ email: EmailIn, password: PasswordIn, transport: TransportIn }),
  output: SignInAnswer,
  errors: ['invalid_credentials', 'sso_required', 'permission_denied', 'too_many_attempts', 'csrf_failed'],
  request: { email: 'asha@acme.example', password: 'correct horse battery staple', transport: 'bearer' },
  example: { token: tokenExample, session: signedInExample },
  async run(context, { email, password, transport }) {
    const made = await signIn(context, { email, password, transport: transport ?? 'cookie' });
    return 'mfa_token' in made ? made : enterWith(context, made);
  },
});

export const loginTotpOperation = operation({
  name: 'auth.login.totp',
  method: 'POST',
  path: '/v1/auth/login/totp',
  summary: 'Finish a sign-in with a code of the second factor or a recovery code',
  audience: { kind: 'public' },
  input: Type.Object({ mfa_token: Type.String({ maxLength: 128 }), code: CodeIn, transport: TransportIn }),
  output: SignedIn,
  errors: ['invalid_totp', 'sso_required', 'too_many_attempts', 'csrf_failed'],
  request: { mfa_token: 'mfa_CWgUx5MUn1U3_tPMYoC64oQ3v9HkWxHA', code: '492039', transport: 'bearer' },
  example: { session: signedInExample },
  async run(context, { mfa_token, code, transport }) {
    const made = await secondFactor(context, { mfa_token, code, transport: transport ?? 'cookie' });
    return enterWith(context, made);
  },
});

export const logoutOperation = operation({
  name: 'auth.logout',
  method: 'POST',
  path: '/v1/auth/logout',
  summary: 'End this session',
  audience: { ...anyone, for_looks: true },
  ...ofPerson,
  input: Type.Object({}),
  output: Nothing,
  errors: ['csrf_failed'],
  status: 204,
  example: {},
  async run(context) {
    const caller = sessionCaller(context);
    const { user_id, session_id, org_id } = caller;
    if (caller.looking !== undefined) await endLook(context, caller);
    else {
      await context.transaction(async (context) => {
        await endSession(context.db, { user_id, sso_org_id: null, id: session_id });
        await writeAudit(context, { action: 'auth.logout', org_id });
      });
    }
    context.header('set-cookie', clearedCookie(context.services.sign_in.cookies, 'session'));
    return {};
  },
});

export const logoutAllOperation = operation({
  name: 'auth.logout_all',
  method: 'POST',
  path: '/v1/auth/logout-all',
  summary: 'End every session of the person, this one too',
  audience: anyone,
  ...ofPerson,
  input: Type.Object({}),
  output: Nothing,
  errors: ['csrf_failed'],
  status: 204,
  example: {},
  async run(context) {
    const { user_id, org_id, sso_org_id } = sessionCaller(context);
    await context.transaction(async (context) => {
      const sessions =
        sso_org_id === undefined
          ? await endSessions(context.db, { user_id, except: null })
          : await endSsoSessions(context.db, { org_id: sso_org_id, user_id });
      await writeAudit(context, { action: 'auth.logout_all', org_id, after: { sessions } });
    });
    context.header('set-cookie', clearedCookie(context.services.sign_in.cookies, 'session'));
    return {};
  },
});

export const getSessionOperation = operation({
  name: 'auth.session',
  method: 'GET',
  path: '/v1/auth/session',
  summary: 'Who is signed in, their organizations, the current one, and the CSRF token',
  audience: { ...anyone, for_looks: true },
  ...ofPerson,
  input: Type.Object({}),
  output: SignedInView,
  errors: [],
  example: signedInExample,
  async run(context) {
    const caller = sessionCaller(context);
    if (caller.looking !== undefined) return viewLook(context, caller);
    return viewSignedIn(context, await ownSession(context), caller.org_id);
  },
});

export const enterOrgOperation = operation({
  name: 'auth.session.org',
  method: 'POST',
  path: '/v1/auth/session/org',
  summary: 'Switch to another organization of the person; the session gets a new token',
  audience: anyone,
  ...ofPerson,
  input: Type.Object({ org_id: idOf('org') }),
  output: SignedIn,
  errors: ['csrf_failed'],
  request: { org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J' },
  example: { session: signedInExample },
  async run(context, { org_id }) {
    const { user_id, sso_org_id } = sessionCaller(context);
    if (sso_org_id !== undefined && sso_org_id !== org_id) throw notFound();
    const membership = isId('org', org_id) ? await findMembership(context.db, { org_id, user_id }) : null;
    if (membership === null) throw notFound();
    const session = await ownSession(context);
    return answerWith(context, await renewSession(context, session, { org_id: membership.org_id }));
  },
});

export const reauthenticateOperation = operation({
  name: 'auth.reauthenticate',
  method: 'POST',
  path: '/v1/auth/reauthenticate',
  summary: 'Confirm who the person is again by password or code; the session gets a new token',
  audience: anyone,
  ...ofPerson,
  input: Type.Object(
    { password: Type.Optional(PasswordIn), code: Type.Optional(CodeIn) },
    { minProperties: 1, description: 'the password, a code, or both' },
  ),
  output: SignedIn,
  errors: ['invalid_credentials', 'invalid_totp', 'too_many_attempts', 'csrf_failed'],
  request: { password: 'correct horse battery staple' },
  example: { session: signedInExample },
  async run(context, { password, code }) {
    const person = await ownPerson(context);
    const session = await ownSession(context);
    if (password === undefined && code === undefined) {
      throw new ServiceError('invalid_request', 'Send the password or a code.', { param: 'password' });
    }
    if (password !== undefined) {
      const about = emailKey(person.email) ?? person.email;
      const stored = person.password_hash;
      await (
        await provePassword(context, { kind: 'account', about, stored, password, owner: person })
      ).succeed();
    }
    if (code !== undefined) {
      const attempt = await beginAttempt(context, 'totp', person.id, knownDevice(context, person));
      if (!(await takeCode(context, person, code))) {
        await attempt.fail(person);
        throw invalidTotp(0);
      }
      await attempt.succeed();
    }
    const proved = { proved_at: context.now(), two_factor: session.two_factor || code !== undefined };
    return answerWith(context, await renewSession(context, session, proved));
  },
});

export const listSessionsOperation = operation({
  name: 'auth.sessions.list',
  method: 'GET',
  path: '/v1/auth/sessions',
  summary: 'List the sessions of the person, newest first',
  audience: anyone,
  ...ofPerson,
  input: Type.Object({}),
  output: listOf(SessionView),
  errors: [],
  example: { object: 'list', data: [sessionExample] },
  async run(context) {
    const { user_id, session_id, sso_org_id } = sessionCaller(context);
    const of = { user_id, sso_org_id: sso_org_id ?? null };
    const sessions = await listSessions(context.db, of, context.now());
    return { object: 'list' as const, data: sessions.map((session) => viewSession(session, session_id)) };
  },
});

export const endSessionOperation = operation({
  name: 'auth.sessions.end',
  method: 'DELETE',
  path: '/v1/auth/sessions/:id',
  summary: 'End a session of the person; it stops at its next request',
  audience: anyone,
  ...ofPerson,
  input: Type.Object({ id: idOf('session') }),
  output: Nothing,
  errors: ['csrf_failed'],
  status: 204,
  example: {},
  async run(context, { id }) {
    const { user_id, session_id, org_id, sso_org_id = null } = sessionCaller(context);
    await context.transaction(async (context) => {
      const is_ended = isId('session', id) && (await endSession(context.db, { user_id, sso_org_id, id }));
      if (!is_ended) throw notFound();
      await writeAudit(context, { action: 'auth.sessions.end', org_id, target: { type: 'session', id } });
    });
    if (id === session_id) {
      context.header('set-cookie', clearedCookie(context.services.sign_in.cookies, 'session'));
    }
    return {};
  },
});
