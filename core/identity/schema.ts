// Wire shapes of sign-in and sessions.
import { type Static, Type } from 'typebox';
import { documented, idOf, lineOf, named, nullable, oneOf, staffRoles, Time } from '../kernel/index.ts';

export const memberRoles = ['owner', 'admin', 'developer', 'billing', 'viewer'] as const;
export const memberStates = ['active', 'suspended', 'invited'] as const;
export const memberSources = ['invite', 'sso', 'scim', 'owner'] as const;
export const signInMethods = ['password', 'saml', 'oidc'] as const;
const transports = ['cookie', 'bearer'] as const;

/**
 * Passwords are bounded before anything is computed from them. What a new one must fulfil is checked in password.ts.
 */
export const PasswordIn = Type.String({ minLength: 1, maxLength: 1_024 });
/** What counts as an address is decided in email.ts: any script is allowed, so the format is documented but not checked. */
export const EmailIn = documented(lineOf(254, 3), { format: 'email' });
export const CodeIn = lineOf(32);
export const TransportIn = Type.Optional(oneOf(transports, 'SessionTransport'));

export const SessionView = named(
  'Session',
  Type.Object({
    id: idOf('session'),
    user_id: idOf('user'),
    email: Type.String(),
    current: Type.Boolean(),
    method: oneOf(signInMethods),
    two_factor: Type.Boolean(),
    ip_prefix: nullable(Type.String()),
    user_agent: nullable(Type.String()),
    created_at: Time,
    last_seen_at: Time,
    idle_expires_at: Time,
    expires_at: Time,
  }),
);
export type SessionView = Static<typeof SessionView>;

const OrgOfSession = named(
  'SessionOrganization',
  Type.Object({
    id: idOf('org'),
    slug: Type.String(),
    name: Type.String(),
    role: oneOf(memberRoles, 'Role'),
    status: oneOf(['active', 'suspended', 'closed'], 'OrganizationStatus'),
    /** Null where a person suspended it. */
    suspended_for: nullable(oneOf(['payment_hold'])),
    grants: Type.Optional(
      Type.Array(Type.String(), { description: 'what the person may do; of a reseller alone' }),
    ),
    has_reseller: Type.Optional(
      Type.Literal(true, { description: 'it is a customer of a reseller, whose name and looks it sees' }),
    ),
  }),
);

/** Who is signed in, in which organization and with which role: the first thing a console asks. */
export const SignedInView = named(
  'SessionState',
  Type.Object({
    user: Type.Object({
      id: idOf('user'),
      email: Type.String(),
      name: Type.String(),
      two_factor: Type.Boolean({ description: 'has a second factor' }),
    }),
    orgs: Type.Array(OrgOfSession),
    org: nullable(OrgOfSession),
    role: nullable(oneOf(memberRoles, 'Role')),
    grants: Type.Array(Type.String()),
    session: SessionView,
    csrf_token: Type.String({ description: 'for the header x-svc-csrf of writes with the cookie' }),
    barred: nullable(
      oneOf(['ip_not_allowed', 'two_factor_required', 'org_inactive', 'payment_hold', 'org_closed']),
    ),
    look: Type.Optional(
      Type.Object(
        { expires_at: Time },
        {
          description:
            'a member of staff looks at the organization, until then and without changing anything',
        },
      ),
    ),
  }),
);
export type SignedInView = Static<typeof SignedInView>;

const Token = Type.Optional(Type.String({ description: 'shown once; with transport bearer alone' }));

/** The answer of a finished sign-in, and of what gives a session a new token. */
export const SignedIn = named('SessionAnswer', Type.Object({ token: Token, session: SignedInView }));

/** The answer of the first step: a session, or the token for the second step. */
export const SignInAnswer = named(
  'SignInAnswer',
  Type.Object({
    token: Token,
    session: Type.Optional(SignedInView),
    mfa_token: Type.Optional(Type.String({ description: 'for POST /v1/auth/login/totp within 5 minutes' })),
  }),
);

export const RecoveryCodes = Type.Array(Type.String(), { description: 'shown once, each works once' });

export const MemberView = named(
  'Member',
  Type.Object({
    org_id: idOf('org'),
    user_id: idOf('user'),
    email: Type.String(),
    name: Type.String(),
    role: oneOf(memberRoles, 'Role'),
    grants: Type.Array(Type.String()),
    status: oneOf(memberStates),
    source: oneOf(memberSources),
    two_factor: Type.Boolean(),
    last_seen_at: nullable(Time),
    joined_at: Time,
  }),
);

export type MemberView = Static<typeof MemberView>;

export const StaffView = Type.Object({
  staff: Type.Object({
    id: nullable(Type.String()),
    email: Type.String(),
    roles: Type.Array(oneOf(staffRoles, 'StaffRole')),
  }),
  csrf_token: Type.String(),
});

export const StaffSignedIn = Type.Object({ token: Token, session: StaffView });

export const sessionExample = {
  id: 'ses_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  user_id: 'usr_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  email: 'asha@acme.example',
  current: true,
  method: 'password',
  two_factor: false,
  ip_prefix: '192.0.2.10/32',
  user_agent: 'Mozilla/5.0',
  created_at: '2026-11-21T10:00:00.000Z',
  last_seen_at: '2026-11-21T10:00:00.000Z',
  idle_expires_at: '2026-11-21T22:00:00.000Z',
  expires_at: '2026-11-24T10:00:00.000Z',
} satisfies SessionView;

const orgExample = {
  id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  slug: 'acme',
  name: 'Acme',
  role: 'owner',
  status: 'active',
  suspended_for: null,
} as const;

export const signedInExample = {
  user: { id: sessionExample.user_id, email: sessionExample.email, name: 'Asha', two_factor: false },
  orgs: [orgExample],
  org: orgExample,
  role: 'owner',
  grants: [],
  session: sessionExample,
  csrf_token: 'CWgUx5MUn1U3_tPMYoC64oQ3v9HkWxHAEWnz_kS6b-E',
  barred: null,
} satisfies SignedInView;

export const memberExample: MemberView = {
  org_id: orgExample.id,
  user_id: sessionExample.user_id,
  email: sessionExample.email,
  name: 'Asha',
  role: 'owner',
  grants: [],
  status: 'active',
  source: 'owner',
  two_factor: false,
  last_seen_at: '2026-11-21T10:00:00.000Z',
  joined_at: '2026-11-21T09:00:00.000Z',
};

export const staffExample = {
  staff: { id: 'stf_01KACZ3V8S6T5R4Q3P2N1M0K9J', email: 'ops@svc.example', roles: ['super'] as ['super'] },
  csrf_token: signedInExample.csrf_token,
};

/** A token as examples show it. */
export const tokenExample = `svc-sess-${'A'.repeat(43)}`;
