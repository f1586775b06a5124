// A realm of a Keycloak that runs already, made anew over its administration API, and a person who signs in at its own page.
import { expect } from 'vitest';

const PASSWORD = 'a-password-of-the-test';
export const CLIENT_SECRET = 'a-secret-of-the-provider';

export interface Realm {
  readonly url: string;
  /** Signs with a new key from now on; the old one is gone. */
  rotateKeys(): Promise<void>;
  /** Ends the sessions of `username` at the provider, which tells its clients before it answers. */
  signOut(username: string): Promise<void>;
  /** Signs `username` in at `url` and returns the page that the provider answers with, or the address that it sends on to. */
  login(url: string, username: string): Promise<{ body: string; location: string | null }>;
}

interface Own {
  readonly entity_id: string;
  readonly acs_url: string;
  readonly callback_url: string;
  readonly logout_url: string;
}

/** What the two clients of this service look like in a realm, as docs/organizations/sign-on.md says. */
function clientsOf({ entity_id, acs_url, callback_url, logout_url }: Own): object[] {
  const saml = {
    clientId: entity_id,
    protocol: 'saml',
    redirectUris: [acs_url],
    fullScopeAllowed: false,
    defaultClientScopes: [],
    attributes: {
      saml_assertion_consumer_url_post: acs_url,
      'saml.assertion.signature': 'true',
      'saml.server.signature': 'true',
      'saml.client.signature': 'false',
      'saml.authnstatement': 'true',
      'saml.signature.algorithm': 'RSA_SHA256',
      saml_name_id_format: 'email',
      saml_force_name_id_format: 'true',
    },
    protocolMappers: [
      {
        name: 'groups',
        protocol: 'saml',
        protocolMapper: 'saml-group-membership-mapper',
        config: {
          'attribute.name': 'groups',
          'full.path': 'false',
          single: 'true',
          'attribute.nameformat': 'Basic',
        },
      },
    ],
  };
  const oidc = {
    clientId: 'svc',
    protocol: 'openid-connect',
    secret: CLIENT_SECRET,
    publicClient: false,
    redirectUris: [callback_url],
    attributes: {
      'pkce.code.challenge.method': 'S256',
      'backchannel.logout.url': logout_url,
      'backchannel.logout.session.required': 'true',
    },
    protocolMappers: [
      {
        name: 'groups',
        protocol: 'openid-connect',
        protocolMapper: 'oidc-group-membership-mapper',
        config: { 'claim.name': 'groups', 'full.path': 'false', 'id.token.claim': 'true' },
      },
    ],
  };
  return [saml, oidc];
}

const person = (username: string, group: string) => ({
  ...{ username, email: `${username}@acme.example`, emailVerified: true, enabled: true, groups: [group] },
  ...{ firstName: username, lastName: 'Test', credentials: [{ type: 'password', value: PASSWORD }] },
});

async function openAdmin(base: string) {
  const form = { grant_type: 'password', client_id: 'admin-cli', username: 'admin', password: 'admin' };
  const ask = async () => {
    const answer = await fetch(`${base}/realms/master/protocol/openid-connect/token`, {
      ...{ method: 'POST', body: new URLSearchParams(form) },
    });
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { access_token: string }).access_token;
  };
  return async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await fetch(`${base}/admin/realms${path}`, {
      method,
      headers: { authorization: `Bearer ${await ask()}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (answer.status >= 400 && method !== 'DELETE')
      throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
}

/** What a browser keeps and sends of one sign-in. */
async function signIn(url: string, username: string): Promise<{ body: string; location: string | null }> {
  const jar = new Map<string, string>();
  const go = async (at: string, form?: URLSearchParams) => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(at, {
      ...{ redirect: 'manual', headers: { cookie } },
      ...(form === undefined ? {} : { method: 'POST', body: form }),
    });
    for (const set of answer.headers.getSetCookie()) {
      const [pair = ''] = set.split(';', 1);
      jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    return { body: await answer.text(), location: answer.headers.get('location') };
  };
  const page = await go(url);
  const action = /<form[^>]*id="kc-form-login"[^>]*action="([^"]+)"/.exec(page.body)?.[1];
  expect(action, page.body.slice(0, 500)).toBeDefined();
  return go(
    (action as string).replaceAll('&amp;', '&'),
    new URLSearchParams({ username, password: PASSWORD }),
  );
}

/** Makes the realm `svc-test` of the Keycloak at `base` anew: two people in two groups, and both clients. */
export async function makeRealm(base: string, own: Own): Promise<Realm> {
  const admin = await openAdmin(base);
  await admin('DELETE', '/svc-test');
  await admin('POST', '', {
    ...{ realm: 'svc-test', enabled: true, sslRequired: 'none' },
    groups: [{ name: 'Platform' }, { name: 'Books' }],
    users: [person('kim', 'Platform'), person('lee', 'Books')],
    clients: clientsOf(own),
  });
  const { id: realm_id } = (await admin('GET', '/svc-test')) as { id: string };
  return {
    url: `${base}/realms/svc-test`,
    login: signIn,
    async signOut(username) {
      const path = `/svc-test/users?exact=true&username=${username}`;
      const [found] = (await admin('GET', path)) as { id: string }[];
      await admin('POST', `/svc-test/users/${found?.id}/logout`);
    },
    async rotateKeys() {
      const path = `/svc-test/components?type=org.keycloak.keys.KeyProvider`;
      const before = (await admin('GET', path)) as { id: string; providerId: string }[];
      await admin('POST', '/svc-test/components', {
        ...{ name: 'newer', providerId: 'rsa-generated', providerType: 'org.keycloak.keys.KeyProvider' },
        ...{
          parentId: realm_id,
          config: { priority: ['200'], keySize: ['2048'], active: ['true'], enabled: ['true'] },
        },
      });
      for (const { id, providerId } of before)
        if (providerId === 'rsa-generated') await admin('DELETE', `/svc-test/components/${id}`);
    },
  };
}
