// A directory that provisions people: requests with a token, as Entra ID and Okta send them.
import type { LightMyRequestResponse } from 'fastify';
import { expect } from 'vitest';
import type { Harness, Method, Tenant } from '../registry/harness.ts';
import type { NameServer } from './dns.ts';
import { prove } from './sso-browser.ts';

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

export interface Directory {
  readonly token: string;
  readonly token_id: string;
  send(
    method: Method,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<LightMyRequestResponse>;
  /** A user of that name, as it was answered. */
  addUser(userName: string, more?: object): Promise<Record<string, never> & { id: string }>;
  addGroup(displayName: string, members?: readonly string[]): Promise<{ id: string }>;
  patch(path: string, ...operations: object[]): Promise<LightMyRequestResponse>;
}

/** A token of a tenant whose domain `domain` is proved, and what can be sent with it. */
export async function connectDirectory(
  harness: Harness,
  names: NameServer,
  { tenant, domain }: { tenant: Tenant; domain: string },
): Promise<Directory> {
  await prove(harness, names, tenant, domain);
  const made = await harness.call('POST', '/v1/org/scim/token', { key: tenant.key, body: {} });
  expect(made.statusCode, made.body).toBe(201);
  const { token, id } = made.json() as { token: string; id: string };
  const send: Directory['send'] = (method, path, body, headers = {}) =>
    harness.call(method, `/scim/v2${path}`, {
      key: token,
      ...(body === undefined ? {} : { body }),
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/scim+json' }), ...headers },
    });
  const created = async (path: string, body: object) => {
    const answer = await send('POST', path, body);
    expect(answer.statusCode, answer.body).toBe(201);
    return answer.json();
  };
  return {
    token,
    token_id: id,
    send,
    addUser: (userName, more = {}) => created('/Users', { schemas: [USER], userName, active: true, ...more }),
    addGroup: (displayName, members = []) =>
      created('/Groups', { schemas: [GROUP], displayName, members: members.map((value) => ({ value })) }),
    patch: (path, ...Operations) => send('PATCH', path, { schemas: [PATCH], Operations }),
  };
}
