// Making an account of one's own, and a forgotten password: what people do before they are signed in.
import { Type } from 'typebox';
import { lineOf, named, oneOf, operation, ServiceError } from '../../kernel/index.ts';
import { takeCode } from '../admission/invite-code.ts';
import { InviteCodeIn } from '../admission/schema.ts';
import { EmailIn, PasswordIn } from '../schema.ts';
import { signUpMode } from '../seller.ts';
import { registerInvited } from './register.ts';
import { askReset, resetByLink } from './reset.ts';
import { register, resendVerification, verifyEmail } from './verify.ts';

const anybody = { kind: 'public' } as const;
const TokenIn = Type.String({ minLength: 1, maxLength: 128 });
const person = { email: 'ravi@acme.example', password: 'correct horse battery staple', name: 'Ravi' };

const Registered = named(
  'Registered',
  Type.Object({
    status: oneOf(['registered', 'verification_sent'], 'RegistrationStatus'),
  }),
);

/** What is answered whether or not there is an account. */
const Asked = named(
  'MailAsked',
  Type.Object(
    { status: oneOf(['accepted']) },
    { description: 'says nothing about whether an account exists' },
  ),
);

const registerOperation = operation({
  name: 'auth.register',
  method: 'POST',
  path: '/v1/auth/register',
  summary:
    'Make an account: with the link of an invitation at once, otherwise a mail brings a link; unless sign-up is open, with an invite code',
  audience: anybody,
  input: Type.Object({
    email: EmailIn,
    password: PasswordIn,
    name: lineOf(120),
    accept_terms: Type.Boolean({ description: 'must be true' }),
    invitation_token: Type.Optional(TokenIn),
    invite_code: Type.Optional(InviteCodeIn),
  }),
  output: Registered,
  errors: [
    ...(['invite_required', 'token_invalid', 'token_expired', 'weak_password', 'already_exists'] as const),
    ...(['permission_denied', 'org_inactive', 'sso_required', 'too_many_attempts', 'csrf_failed'] as const),
    ...(['challenge_failed', 'challenge_unavailable'] as const),
  ],
  status: 201,
  request: { ...person, accept_terms: true },
  example: { status: 'verification_sent' },
  async run(context, { accept_terms, invitation_token, invite_code, ...person }) {
    if (!accept_terms)
      throw new ServiceError('invalid_request', 'Accept the terms to go on.', { param: 'accept_terms' });
    if (invitation_token !== undefined) {
      await registerInvited(context, { ...person, token: invitation_token });
      return { status: 'registered' as const };
    }
    const code = invite_code === undefined ? null : await takeCode(context, invite_code);
    if (code === null && (await signUpMode(context)) !== 'open')
      throw new ServiceError('invite_required', 'Accounts are made with an invitation.', {
        param: 'invite_code',
      });
    await register(context, { ...person, invite_code_id: code?.id ?? null });
    return { status: 'verification_sent' as const };
  },
});

const verifyEmailOperation = operation({
  name: 'auth.verify_email',
  method: 'POST',
  path: '/v1/auth/verify-email',
  summary: 'Prove the address with the token that was mailed to it and the password: the account is made',
  audience: anybody,
  input: Type.Object({
    token: TokenIn,
    password: Type.String({ minLength: 1, maxLength: 128, description: 'as it was chosen' }),
  }),
  output: named('EmailVerified', Type.Object({ email: Type.String(), status: oneOf(['verified']) })),
  errors: ['token_invalid', 'token_expired', 'invalid_credentials', 'too_many_attempts', 'csrf_failed'],
  request: { token: `svc-ver-${'A'.repeat(43)}`, password: person.password },
  example: { email: person.email, status: 'verified' },
  run: async (context, input) => ({
    email: await verifyEmail(context, input),
    status: 'verified' as const,
  }),
});

const resendOperation = operation({
  name: 'auth.verify_email.resend',
  method: 'POST',
  path: '/v1/auth/verify-email/resend',
  summary: 'Mail the link of an account that waits again; the one before leads nowhere from then on',
  audience: anybody,
  input: Type.Object({ email: EmailIn }),
  output: Asked,
  errors: ['too_many_attempts', 'csrf_failed'],
  request: { email: person.email },
  example: { status: 'accepted' },
  async run(context, { email }) {
    await resendVerification(context, email);
    return { status: 'accepted' as const };
  },
});

const forgotOperation = operation({
  name: 'auth.password.forgot',
  method: 'POST',
  path: '/v1/auth/password/forgot',
  summary: 'Mail a link that sets a new password, at most three an hour to an address',
  audience: anybody,
  input: Type.Object({ email: EmailIn }),
  output: Asked,
  errors: ['too_many_attempts', 'csrf_failed'],
  request: { email: person.email },
  example: { status: 'accepted' },
  async run(context, { email }) {
    await askReset(context, email);
    return { status: 'accepted' as const };
  },
});

const resetOperation = operation({
  name: 'auth.password.reset',
  method: 'POST',
  path: '/v1/auth/password/reset',
  summary: 'Set a new password with the token of the mail; every session of the person ends',
  audience: anybody,
  input: Type.Object({ token: TokenIn, password: PasswordIn }),
  output: named('PasswordReset', Type.Object({ status: oneOf(['changed']) })),
  errors: [
    ...(['token_invalid', 'token_expired', 'weak_password', 'sso_required', 'too_many_attempts'] as const),
    'csrf_failed',
  ],
  request: { token: `svc-rst-${'A'.repeat(43)}`, password: person.password },
  example: { status: 'changed' },
  async run(context, input) {
    await resetByLink(context, input);
    return { status: 'changed' as const };
  },
});

export const signUpOperations = [
  registerOperation,
  verifyEmailOperation,
  resendOperation,
  forgotOperation,
  resetOperation,
] as const;
