// Accounts that people make for themselves, and forgotten passwords; none of it needs a session.
import { call, type Result } from './session.ts';

interface NewPerson {
  readonly email: string;
  readonly name: string;
  readonly password: string;
  readonly invite_code?: string;
}

/** The header with an answer to the challenge; "" where there is none. */
const solved = (answer: string): Readonly<Record<string, string>> =>
  answer === '' ? {} : { 'x-svc-challenge': answer };

export const register = (person: NewPerson, answer: string): Promise<Result<unknown>> =>
  call('POST', '/v1/auth/register', { ...person, accept_terms: true }, solved(answer));

export const verifyEmail = (token: string, password: string): Promise<Result<{ readonly email: string }>> =>
  call('POST', '/v1/auth/verify-email', { token, password });

export const resendVerification = (email: string): Promise<Result<unknown>> =>
  call('POST', '/v1/auth/verify-email/resend', { email });

export const forgotPassword = (email: string): Promise<Result<unknown>> =>
  call('POST', '/v1/auth/password/forgot', { email });

export const resetPassword = (token: string, password: string): Promise<Result<unknown>> =>
  call('POST', '/v1/auth/password/reset', { token, password });

interface Asked {
  readonly name: string;
  readonly email: string;
  readonly company: string;
  readonly use_case: string;
}

export const askAccess = (asked: Asked, answer: string): Promise<Result<unknown>> =>
  call('POST', '/v1/access-requests', { ...asked, accept_terms: true }, solved(answer));

export interface Approval {
  readonly email: string;
  readonly name: string;
}

export const findApproval = (token: string): Promise<Result<Approval>> =>
  call('POST', '/v1/access-requests/activation', { token });

export const activateAccess = (token: string, password: string): Promise<Result<unknown>> =>
  call('POST', '/v1/access-requests/activate', { token, password });
