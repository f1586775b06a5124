// The account of the person who is signed in: password, second factor, sessions. What gives the session a new token is
// taken over at once, so that the page goes on without a new sign-in.
import { call, type Result, type SessionAnswer, take } from './session.ts';

interface Renewed {
  readonly session: SessionAnswer;
}

async function renewed<T extends Renewed>(answer: Promise<Result<T>>): Promise<Result<T>> {
  const result = await answer;
  if (result.ok) take(result.value.session);
  return result;
}

export interface OwnSession {
  readonly id: string;
  readonly current: boolean;
  readonly ip_prefix: string | null;
  readonly user_agent: string | null;
  readonly last_seen_at: string;
}

export interface Enrolment {
  readonly secret: string;
  readonly otpauth_uri: string;
}

export const prove = (password: string): Promise<Result<Renewed>> =>
  renewed(call('POST', '/v1/auth/reauthenticate', { password }));

export const changePassword = (current_password: string, new_password: string): Promise<Result<Renewed>> =>
  renewed(call('POST', '/v1/auth/password/change', { current_password, new_password }));

/** `code` is of the factor in force, where there is one. */
export const enrol = (code?: string): Promise<Result<Enrolment>> =>
  call('POST', '/v1/auth/totp/enrol', code === undefined ? {} : { code });

export const confirmFactor = (
  code: string,
): Promise<Result<Renewed & { readonly recovery_codes: readonly string[] }>> =>
  renewed(call('POST', '/v1/auth/totp/confirm', { code }));

export const disableFactor = (code: string): Promise<Result<Renewed>> =>
  renewed(call('POST', '/v1/auth/totp/disable', { code }));

export const newRecoveryCodes = (
  code: string,
): Promise<Result<{ readonly recovery_codes: readonly string[] }>> =>
  call('POST', '/v1/auth/totp/recovery-codes', { code });

export const listSessions = (): Promise<Result<{ readonly data: readonly OwnSession[] }>> =>
  call('GET', '/v1/auth/sessions');

export const endSession = (id: string): Promise<Result<null>> => call('DELETE', `/v1/auth/sessions/${id}`);

export const signOutEverywhere = (): Promise<Result<null>> => call('POST', '/v1/auth/logout-all');

export interface Profile {
  readonly email: string;
  readonly name: string;
  readonly locale: string;
  /** An address that counts once it is proved. */
  readonly email_pending: string | null;
}

export const updateMe = (changes: {
  readonly name?: string;
  readonly email?: string;
}): Promise<Result<Profile>> => call('PATCH', '/v1/auth/me', changes);
