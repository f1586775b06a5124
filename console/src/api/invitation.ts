// What the link of an invitation leads to, for whoever holds it.
import { call, type Result, type Role } from './session.ts';

export interface Offer {
  readonly org: { readonly id: string; readonly name: string };
  readonly email: string;
  readonly role: Role;
  readonly has_account: boolean;
}

export const lookUp = (token: string): Promise<Result<Offer>> =>
  call('POST', '/v1/invitations/lookup', { token });

export const accept = (token: string): Promise<Result<{ readonly org: { readonly slug: string } }>> =>
  call('POST', '/v1/invitations/accept', { token });

export const register = (
  token: string,
  person: { readonly email: string; readonly name: string; readonly password: string },
): Promise<Result<unknown>> =>
  call('POST', '/v1/auth/register', { ...person, accept_terms: true, invitation_token: token });
