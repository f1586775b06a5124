// Accounts that people make for themselves, and forgotten passwords; none of it needs a session.
import { call, type Result } from './session.ts';

interface NewPerson {
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

/** `answer` is of the challenge; "" where there is none. */
export const register = (person: NewPerson, answer: string): Promise<Result<unknown>> =>
  call(
    'POST',
    '/v1/auth/register',
    { ...person, accept_terms: true },
    answer === '' ? {} : { 'x-svc-challenge': answer },
  );

export const verifyEmail = (token: string): Promise<Result<{ readonly email: string }>> =>
  call('POST', '/v1/auth/verify-email', { token });

export const resendVerification = (email: string): Promise<Result<unknown>> =>
  call('POST', '/v1/auth/verify-email/resend', { email });

export const forgotPassword = (email: string): Promise<Result<unknown>> =>
  call('POST', '/v1/auth/password/forgot', { email });

export const resetPassword = (token: string, password: string): Promise<Result<unknown>> =>
  call('POST', '/v1/auth/password/reset', { token, password });
