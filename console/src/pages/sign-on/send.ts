// What the page of single sign-on asks of the server, each as a result: what it got, or why it was refused.
import type { Client, TypedDocumentNode } from 'urql';
import { faultOfQuery, faultOfUserError, type UserError } from '../../api/errors.ts';
import {
  AddSsoDomainDocument,
  DeleteSsoDocument,
  PutSsoDocument,
  type PutSsoInput,
  RemoveSsoDomainDocument,
  type SignOnFactsFragment,
  type SsoConnectionRowFragment,
  VerifySsoDomainDocument,
} from '../../api/gen/graphql.ts';
import type { Result } from '../../api/session.ts';

/** Runs a mutation whose answer is one union; `read` takes from it what was asked for, null where it is a refusal. */
async function sent<Data, Input, T>(
  client: Client,
  document: TypedDocumentNode<Data, { input: Input }>,
  { input, read }: { input: Input; read: (data: Data) => T | UserError },
): Promise<Result<T>> {
  const { data, error } = await client.mutation(document, { input }).toPromise();
  if (error || !data) return { ok: false, fault: faultOfQuery(error as NonNullable<typeof error>) };
  const value = read(data);
  const is_refused = typeof value === 'object' && value !== null && 'code' in value && 'requestId' in value;
  return is_refused
    ? { ok: false, fault: faultOfUserError(value as UserError) }
    : { ok: true, value: value as T };
}

export const addDomain = (client: Client, domain: string): Promise<Result<string>> =>
  sent(client, AddSsoDomainDocument, {
    input: { domain },
    read: ({ addSsoDomain: it }) =>
      it.__typename === 'AddSsoDomainPayload' ? it.instructions : (it as UserError),
  });

/** Null when the domain is proved; else why not. */
export const verifyDomain = (client: Client, domain: string): Promise<Result<{ reason: string | null }>> =>
  sent(client, VerifySsoDomainDocument, {
    input: { domain },
    read: ({ verifySsoDomain: it }) =>
      it.__typename === 'VerifySsoDomainPayload' ? { reason: it.reason ?? null } : (it as UserError),
  });

export const removeDomain = (client: Client, domain: string): Promise<Result<boolean>> =>
  sent(client, RemoveSsoDomainDocument, {
    input: { domain },
    read: ({ removeSsoDomain: it }) =>
      it.__typename === 'RemoveSsoDomainPayload' ? it.ok : (it as UserError),
  });

export const putConnection = (client: Client, input: PutSsoInput): Promise<Result<SignOnFactsFragment>> =>
  sent(client, PutSsoDocument, {
    input,
    read: ({ putSso: it }) => (it.__typename === 'PutSsoPayload' ? it.sso : (it as UserError)),
  });

export const deleteConnection = (client: Client, alias: string): Promise<Result<boolean>> =>
  sent(client, DeleteSsoDocument, {
    input: { alias },
    read: ({ deleteSso: it }) => (it.__typename === 'DeleteSsoPayload' ? it.ok : (it as UserError)),
  });

/** A connection as it is stored now, for a change of one part of it; its secret stays. */
export function inputOf(row: SsoConnectionRowFragment): PutSsoInput {
  const { displayName, status, enforce, defaultRole, roleMap, config } = row;
  const { issuer, clientId, scopes, jit } = config;
  const { email, name, groups } = config.claimMap;
  return {
    ...{ kind: 'OIDC', displayName, status, enforce, defaultRole, roleMap },
    config: { issuer, clientId, scopes, jit, claimMap: { email, name, groups } },
  };
}
