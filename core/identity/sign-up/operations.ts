// Making an account of one's own.
import { Type } from 'typebox';
import { lineOf, named, oneOf, operation, ServiceError } from '../../kernel/index.ts';
import { EmailIn, PasswordIn } from '../schema.ts';
import { registerInvited } from './register.ts';

const Registered = named(
  'Registered',
  Type.Object({ status: oneOf(['registered']) }, { description: 'sign in with address and password' }),
);

const registerOperation = operation({
  name: 'auth.register',
  method: 'POST',
  path: '/v1/auth/register',
  summary: 'Make an account with the link of an invitation, which it accepts',
  audience: { kind: 'public' },
  input: Type.Object({
    email: EmailIn,
    password: PasswordIn,
    name: lineOf(120),
    accept_terms: Type.Boolean({ description: 'must be true' }),
    invitation_token: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  }),
  output: Registered,
  errors: [
    ...(['invite_required', 'token_invalid', 'token_expired', 'weak_password', 'already_exists'] as const),
    ...(['permission_denied', 'org_inactive', 'too_many_attempts', 'csrf_failed'] as const),
  ],
  status: 201,
  request: {
    ...{ email: 'ravi@acme.example', password: 'correct horse battery staple', name: 'Ravi' },
    ...{ accept_terms: true, invitation_token: `svc-inv-${'A'.repeat(43)}` },
  },
  example: { status: 'registered' },
  async run(context, { accept_terms, invitation_token, ...person }) {
    if (!accept_terms)
      throw new ServiceError('invalid_request', 'Accept the terms to go on.', { param: 'accept_terms' });
    if (invitation_token === undefined)
      throw new ServiceError('invite_required', 'Accounts are made with an invitation.');
    await registerInvited(context, { ...person, token: invitation_token });
    return { status: 'registered' as const };
  },
});

export const signUpOperations = [registerOperation] as const;
