// `make keycloak KEYCLOAK=http://127.0.0.1:18080`: both ways of single sign-on over a Keycloak that runs already, with groups and
// a change of its keys. Run by hand: Keycloak is 177 MB and takes a minute to start (test/README.md).
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openEgress } from '@svc/core/egress/index.ts';
import { refreshMetadata } from '@svc/core/identity/index.ts';
import { readConfig, shiftClock } from '@svc/core/kernel/index.ts';
import type { LightMyRequestResponse } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { startHarness } from '../registry/harness.ts';
import { startNameServer } from '../sim/dns.ts';
import { beginSaml, comeBack } from '../sim/saml/browser.ts';
import { arrive, cookieOf, leave, prove } from '../sim/sso-browser.ts';
import { atFileEnd } from '../support/ends.ts';
import { CLIENT_SECRET, makeRealm } from './realm.ts';

const names = await startNameServer();
const egress = openEgress(
  readConfig({
    ...{ SVC_DNS_SERVERS: names.address, SVC_EGRESS_ALLOW: '127.0.0.1', SVC_ALLOW_INSECURE_WEBHOOKS: '1' },
  }),
);
const harness = await startHarness({ services: { egress } });
const { a, call } = harness;
await prove(harness, names, a, 'acme.example');
const BASE = 'http://127.0.0.1:8080/v1/auth/sso/acme';
/** Carries what the provider sends by itself into this process, which listens nowhere else. */
const carrier = createServer(async (request, reply) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body = Buffer.concat(parts).toString();
  const headers = { 'content-type': String(request.headers['content-type']) };
  reply.writeHead((await call('POST', String(request.url), { headers, body })).statusCode).end();
});
await new Promise<void>((done) => carrier.listen(0, '127.0.0.1', done));
atFileEnd(() => new Promise((done) => carrier.close(done)));
const logout_url = `http://127.0.0.1:${(carrier.address() as AddressInfo).port}/v1/auth/sso/acme/logout`;
const realm = await makeRealm(process.env['KEYCLOAK'] ?? 'http://127.0.0.1:18080', {
  ...{ entity_id: `${BASE}/metadata`, acs_url: `${BASE}/acs`, callback_url: `${BASE}/callback` },
  logout_url,
});

afterEach(() => shiftClock(0));

async function connect(kind: 'saml' | 'oidc', config: object): Promise<void> {
  const role_map = { Platform: 'admin', Books: 'billing' };
  const body = { kind, display_name: 'Keycloak', config, role_map };
  const answer = await call('PUT', '/v1/org/sso', { key: a.key, body });
  expect(answer.statusCode, answer.body).toBe(200);
}
const connectSaml = (more: object = {}) =>
  connect('saml', { metadata_url: `${realm.url}/protocol/saml/descriptor`, ...more });

async function bySaml(username: string): Promise<LightMyRequestResponse> {
  const begun = await beginSaml(harness);
  const { body } = await realm.login(begun.url.href, username);
  const sent = /name="SAMLResponse" value="([^"]+)"/i.exec(body)?.[1];
  expect(sent, body.slice(0, 500)).toBeDefined();
  return comeBack(harness, begun, Buffer.from(sent as string, 'base64').toString());
}

async function byOidc(username: string): Promise<LightMyRequestResponse> {
  const begun = await leave(harness, 'acme');
  const { location } = await realm.login(String(begun.headers.location), username);
  return arrive(harness, new URL(location as string), cookieOf(begun, 'svc_sso'));
}

async function who(answer: LightMyRequestResponse): Promise<unknown> {
  expect(answer.statusCode, answer.body).toBe(303);
  const key = cookieOf(answer, 'svc_session').split('=')[1] as string;
  const { user, role, session } = (await call('GET', '/v1/auth/session', { key })).json();
  return [user.email, role, session.method];
}

test('people of Keycloak enter over SAML with the roles of their groups', async () => {
  await connectSaml();
  expect(await who(await bySaml('kim'))).toEqual(['kim@acme.example', 'admin', 'saml']);
  expect(await who(await bySaml('lee'))).toEqual(['lee@acme.example', 'billing', 'saml']);
});

test('people of Keycloak enter over OpenID Connect with the roles of their groups', async () => {
  await connect('oidc', { issuer: realm.url, client_id: 'svc', client_secret: CLIENT_SECRET });
  expect(await who(await byOidc('kim'))).toEqual(['kim@acme.example', 'admin', 'oidc']);
  expect(await who(await byOidc('lee'))).toEqual(['lee@acme.example', 'billing', 'oidc']);
});

test('a sign-out at Keycloak ends the session here, and the one of another person stays', async () => {
  await connect('oidc', { issuer: realm.url, client_id: 'svc', client_secret: CLIENT_SECRET });
  const keyOf = async (username: string) =>
    cookieOf(await byOidc(username), 'svc_session').split('=')[1] as string;
  const [kim, lee] = [await keyOf('kim'), await keyOf('lee')];
  await realm.signOut('kim');
  const status = async (key: string) => (await call('GET', '/v1/auth/session', { key })).statusCode;
  expect([await status(kim), await status(lee)]).toEqual([401, 200]);
});

test('after a change of its keys OpenID Connect goes on, and SAML does once its description was fetched', async () => {
  await connectSaml();
  await realm.rotateKeys();
  const refused = await bySaml('kim');
  expect([refused.statusCode, refused.body.includes('signature_invalid')]).toEqual([403, true]);
  shiftClock(24 * 3_600_000 + 60_000);
  expect(await refreshMetadata(harness.context, egress)).toBe(1);
  shiftClock(0);
  expect(await who(await bySaml('kim'))).toEqual(['kim@acme.example', 'admin', 'saml']);
  await connect('oidc', { issuer: realm.url, client_id: 'svc', client_secret: CLIENT_SECRET });
  expect(await who(await byOidc('kim'))).toEqual(['kim@acme.example', 'admin', 'oidc']);
});

test('no caller met a defect', () => {
  expect(harness.defects).toEqual([]);
});
