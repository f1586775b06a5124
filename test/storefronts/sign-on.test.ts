// Single sign-on of a reseller's customers at its storefront: which addresses a provider is given, and that what a provider says
// to one address is heard at that one alone.
import { inflateRawSync } from 'node:zlib';
import { nowMs } from '@svc/core/kernel/index.ts';
import type { LightMyRequestResponse } from 'fastify';
import { expect, test } from 'vitest';
import type { Tenant } from '../registry/harness.ts';
import { connectDirectory } from '../sim/directory.ts';
import { startLiar } from '../sim/id-provider.ts';
import { inForm } from '../sim/saml/browser.ts';
import { SamlForge } from '../sim/saml/forge.ts';
import { acme } from '../sim/saml/keys.ts';
import { cookieOf, prove } from '../sim/sso-browser.ts';
import { startStorefronts } from './world.ts';

const HOST = 'ai.customer.example';
const OTHER = 'ai.elsewhere.example';
const OURS = 'llm.platform.example';
const world = await startStorefronts({ SVC_BASE_URL: `https://${OURS}` });
const { harness, rows, names } = world;
const { call } = harness;
const glasswing = await world.reseller('glasswing');
const elsewhere = await world.reseller('elsewhere');
for (const [reseller, host] of [
  [glasswing, HOST],
  [elsewhere, OTHER],
] as const) {
  await world.ask('PUT', '/v1/reseller/storefront', reseller.token, { display_name: reseller.org.slug });
  world.publish(await world.claim(reseller, host));
  await world.verify(reseller, host);
}

async function makeChild(slug: string): Promise<Tenant> {
  const child = await harness.makeTenant(slug);
  await rows(`update org set kind = 'child', parent_org_id = $2 where id = $1`, [
    child.org.id,
    glasswing.org.id,
  ]);
  await prove(harness, names, child, `${slug}.example`);
  return child;
}
const forge = new SamlForge('https://id.acme.example', acme);
const liar = await startLiar();
const oidc = { issuer: liar.issuer, client_id: 'svc', client_secret: 'a-secret-of-the-provider' };

async function connect(child: Tenant, host: string, more: object = {}) {
  const answer = await call('PUT', '/v1/org/sso', {
    key: child.key,
    headers: { host },
    body: { kind: 'saml', display_name: 'ID', config: { metadata_xml: forge.metadata() }, ...more },
  });
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json();
}
const shownAt = async (child: Tenant, host: string) =>
  (await call('GET', '/v1/org/sso', { key: child.key, headers: { host } })).json();
const start = (alias: string, host: string, query = '') =>
  call('GET', `/v1/auth/sso/${alias}/start${query}`, { headers: { host } });
const post = (alias: string, host: string, xml: string) =>
  call('POST', `/v1/auth/sso/${alias}/acs`, {
    headers: { host, 'content-type': 'application/x-www-form-urlencoded', origin: 'https://id.acme.example' },
    body: new URLSearchParams(inForm(xml)).toString(),
  });
/** What the provider says, who was asked from `asked` and speaks to the address at `to`. */
function said(alias: string, asked: LightMyRequestResponse, to: string, person = 'asha'): string {
  const request = Buffer.from(
    new URL(String(asked.headers.location)).searchParams.get('SAMLRequest')!,
    'base64',
  );
  const base = `https://${to}/v1/auth/sso/${alias}`;
  const request_id = /\bID="([^"]+)"/.exec(inflateRawSync(request).toString())?.[1] as string;
  const target = { entity_id: `${base}/metadata`, acs_url: `${base}/acs`, request_id, at: nowMs() };
  return forge.answer(target, { email: `${person}@${alias}.example` });
}
async function arrive(begun: LightMyRequestResponse, posted: LightMyRequestResponse, host: string) {
  const next = new URL(String(posted.headers.location));
  const answer = await call('GET', `${next.pathname}${next.search}`, {
    headers: { host, cookie: cookieOf(begun, '__Host-svc_sso') },
  });
  return { at: next.host, answer };
}
const whoIs = async (answer: LightMyRequestResponse, host: string) =>
  (
    await call('GET', '/v1/auth/session', {
      headers: { host, cookie: cookieOf(answer, '__Host-svc_session') },
    })
  ).json();

test('a provider that is connected at a storefront is given its addresses, and people enter there', async () => {
  const child = await makeChild('acme-one');
  const before = await shownAt(child, HOST);
  const base = `https://${HOST}/v1/auth/sso/acme-one`;
  expect(before).toMatchObject({
    service_provider: { acs_url: `${base}/acs`, entity_id: `${base}/metadata`, start_url: `${base}/start` },
    scim_url: `https://${HOST}/scim/v2`,
  });
  expect((await shownAt(child, OURS)).service_provider.acs_url).toContain(OURS);
  const metadata = await call('GET', '/v1/auth/sso/acme-one/metadata', { headers: { host: HOST } });
  expect(metadata.body).toContain(`entityID="${base}/metadata"`);
  expect(metadata.body).not.toContain('platform');
  expect((await connect(child, HOST)).service_provider.acs_url).toBe(`${base}/acs`);
  // It has these addresses wherever one asks for them.
  expect((await shownAt(child, OURS)).service_provider.acs_url).toBe(`${base}/acs`);
  const begun = await start('acme-one', HOST, '?return_to=/acme-one/live/keys');
  expect(begun.statusCode, begun.body).toBe(303);
  const posted = await post('acme-one', HOST, said('acme-one', begun, HOST));
  const { at, answer } = await arrive(begun, posted, HOST);
  expect([at, answer.statusCode, answer.headers.location]).toEqual([
    ...[HOST, 303],
    `https://${HOST}/acme-one/live/keys`,
  ]);
  expect((await whoIs(answer, HOST)).user.email).toBe('asha@acme-one.example');
});

test('what is said to the address of a storefront is heard there alone', async () => {
  const child = await makeChild('acme-two');
  await connect(child, HOST);
  const to = async (host: string, spoken: string) => {
    const begun = await start('acme-two', HOST);
    const posted = await post('acme-two', host, said('acme-two', begun, spoken));
    return posted.statusCode;
  };
  expect(await to(HOST, HOST)).toBe(303);
  for (const host of [OURS, OTHER]) expect([host, await to(host, HOST)]).toEqual([host, 404]);
  // Nor is what was said to ours, or to somebody else's, heard at the storefront.
  for (const spoken of [OURS, OTHER]) expect([spoken, await to(HOST, spoken)]).toEqual([spoken, 403]);
  expect(await to(OURS, OURS)).toBe(404);
  // The second step is taken where the first was.
  const begun = await start('acme-two', HOST);
  const posted = await post('acme-two', HOST, said('acme-two', begun, HOST));
  for (const host of [OURS, OTHER]) {
    const { answer } = await arrive(begun, posted, host);
    expect([host, answer.statusCode]).toEqual([host, 404]);
  }
  expect((await arrive(begun, posted, HOST)).answer.statusCode).toBe(303);
  // At the storefront of another reseller there is no description either.
  const other = await call('GET', '/v1/auth/sso/acme-two/metadata', { headers: { host: OTHER } });
  expect(other.statusCode).toBe(404);
});

test('a provider that was given our addresses goes on with them, also for who begins at the storefront', async () => {
  const child = await makeChild('acme-three');
  await connect(child, OURS);
  const begun = await start('acme-three', HOST, '?return_to=/acme-three/live/keys&fresh=1');
  expect([begun.statusCode, begun.headers.location]).toEqual([
    303,
    `https://${OURS}/v1/auth/sso/acme-three/start?return_to=%2Facme-three%2Flive%2Fkeys&fresh=1`,
  ]);
  const there = await start('acme-three', OURS);
  const posted = await post('acme-three', OURS, said('acme-three', there, OURS));
  const { answer } = await arrive(there, posted, OURS);
  expect((await whoIs(answer, OURS)).user.email).toBe('asha@acme-three.example');
  expect(
    (await post('acme-three', HOST, said('acme-three', await start('acme-three', OURS), HOST))).statusCode,
  ).toBe(404);
  // A change at the storefront moves nothing by itself; it does where the provider was given the others.
  expect((await connect(child, HOST, { default_role: 'viewer' })).service_provider.acs_url).toContain(OURS);
  expect((await connect(child, HOST, { move_here: true })).service_provider.acs_url).toContain(HOST);
  expect((await start('acme-three', OURS)).headers.location).toBe(
    `https://${HOST}/v1/auth/sso/acme-three/start`,
  );
});

test('an OpenID provider sends people back to the storefront, and to nowhere else', async () => {
  const child = await makeChild('acme-four');
  await connect(child, HOST, { kind: 'oidc', config: oidc });
  const begun = await start('acme-four', HOST);
  const asked = new URL(String(begun.headers.location)).searchParams;
  expect(asked.get('redirect_uri')).toBe(`https://${HOST}/v1/auth/sso/acme-four/callback`);
  const now = Math.floor(nowMs() / 1_000);
  const id_token = liar.forge.signed({
    ...{ iss: liar.issuer, aud: 'svc', exp: now + 300, iat: now, nonce: asked.get('nonce') },
    ...{ sub: 'bo', email: 'bo@acme-four.example', email_verified: true },
  });
  liar.tokenAnswer = () => ({ access_token: 'x', token_type: 'Bearer', expires_in: 60, id_token });
  const search = new URLSearchParams({ code: 'c', state: asked.get('state') ?? '' });
  const back = (host: string) =>
    call('GET', `/v1/auth/sso/acme-four/callback?${search}`, {
      headers: { host, cookie: cookieOf(begun, '__Host-svc_sso') },
    });
  for (const host of [OURS, OTHER]) expect([host, (await back(host)).statusCode]).toEqual([host, 404]);
  const answer = await back(HOST);
  expect([answer.statusCode, answer.headers.location]).toEqual([303, `https://${HOST}/`]);
  expect((await whoIs(answer, HOST)).user.email).toBe('bo@acme-four.example');
  expect((await back(HOST)).statusCode).toBe(403);
});

test('a directory that comes to the storefront is told of its addresses', async () => {
  const child = await makeChild('acme-five');
  const directory = await connectDirectory(harness, names, { tenant: child, domain: 'five.example' });
  const at = { host: HOST };
  const made = await directory.send(
    'POST',
    '/Users',
    { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: 'cy@five.example', active: true },
    at,
  );
  expect(made.json().meta.location).toBe(`https://${HOST}/scim/v2/Users/${made.json().id}`);
  for (const path of ['/ServiceProviderConfig', '/Schemas', '/ResourceTypes', '/Users', '/Groups'])
    expect([path, (await directory.send('GET', path, undefined, at)).body.includes(OURS)]).toEqual([
      path,
      false,
    ]);
});

test('a storefront that is given up takes no address with it for good', async () => {
  const child = await makeChild('acme-six');
  await connect(child, HOST);
  await rows('delete from storefront_domain_proof where domain = $1', [HOST]);
  world.forget();
  expect((await shownAt(child, OURS)).service_provider.acs_url).toContain(OURS);
  const begun = await start('acme-six', OURS);
  const posted = await post('acme-six', OURS, said('acme-six', begun, OURS));
  expect((await arrive(begun, posted, OURS)).answer.statusCode).toBe(303);
});
