// Asking for access, and what the link of an approval leads to. None of it needs a session.
import { Type } from 'typebox';
import { lineOf, named, oneOf, operation, ServiceError, Time } from '../../kernel/index.ts';
import { EmailIn, PasswordIn } from '../schema.ts';
import { activateAccess, askAccess, findApproval } from './access.ts';

const anybody = { kind: 'public' } as const;
const TokenIn = Type.String({ minLength: 1, maxLength: 128 });
const token = `svc-act-${'A'.repeat(43)}`;
const optional = (max: number) => Type.Optional(lineOf(max, 0));
const asked = {
  ...{ email: 'asha@acme.example', name: 'Asha Rao', company: 'Acme', job_title: 'Head of platform' },
  ...{ country: 'IN', website: 'https://acme.example', use_case: 'Support answers in nine languages.' },
  monthly_spend: '1,000 to 5,000 USD',
};

const askAccessOperation = operation({
  name: 'access_requests.create',
  method: 'POST',
  path: '/v1/access-requests',
  summary: 'Ask for access; the answer says nothing about the address',
  audience: anybody,
  input: Type.Object({
    email: EmailIn,
    name: lineOf(120),
    company: lineOf(120),
    job_title: optional(120),
    country: Type.Optional(Type.String({ pattern: '^[A-Z]{2}$', description: 'ISO 3166-1 alpha-2' })),
    website: optional(2_048),
    use_case: Type.String({ minLength: 1, maxLength: 500, format: 'lines' }),
    monthly_spend: Type.Optional(lineOf(120, 0)),
    accept_terms: Type.Boolean({ description: 'must be true' }),
  }),
  output: named('AccessRequestAnswer', Type.Object({ status: oneOf(['received']) })),
  errors: ['challenge_failed', 'challenge_unavailable', 'too_many_attempts', 'csrf_failed'],
  status: 201,
  request: { ...asked, accept_terms: true },
  example: { status: 'received' },
  async run(
    context,
    { accept_terms, job_title = '', country = '', website = '', monthly_spend = '', ...rest },
  ) {
    if (!accept_terms)
      throw new ServiceError('invalid_request', 'Accept the terms to go on.', { param: 'accept_terms' });
    await askAccess(context, { ...rest, job_title, country, website, monthly_spend });
    return { status: 'received' as const };
  },
});

const approvalOperation = operation({
  name: 'access_requests.activation',
  method: 'POST',
  path: '/v1/access-requests/activation',
  summary: 'What the link of an approval is for; nothing is changed',
  audience: anybody,
  input: Type.Object({ token: TokenIn }),
  output: named(
    'AccessApproval',
    Type.Object({ email: Type.String(), name: Type.String(), expires_at: Time }),
  ),
  errors: ['token_invalid', 'token_expired', 'too_many_attempts', 'csrf_failed'],
  request: { token },
  example: { email: asked.email, name: asked.name, expires_at: '2026-11-24T10:00:00.000Z' },
  async run(context, { token }) {
    const { email, name, expires_at } = await findApproval(context, token);
    return { email, name, expires_at: expires_at.toISOString() };
  },
});

const activateOperation = operation({
  name: 'access_requests.activate',
  method: 'POST',
  path: '/v1/access-requests/activate',
  summary: 'Make the account of an approval, with a password',
  audience: anybody,
  input: Type.Object({ token: TokenIn, password: PasswordIn }),
  output: named('AccessActivated', Type.Object({ email: Type.String(), status: oneOf(['activated']) })),
  errors: [
    ...(['token_invalid', 'token_expired', 'weak_password', 'already_exists', 'too_many_attempts'] as const),
    'csrf_failed',
  ],
  request: { token, password: 'correct horse battery staple' },
  example: { email: asked.email, status: 'activated' },
  run: async (context, input) => ({
    email: await activateAccess(context, input),
    status: 'activated' as const,
  }),
});

export const accessOperations = [askAccessOperation, approvalOperation, activateOperation] as const;
