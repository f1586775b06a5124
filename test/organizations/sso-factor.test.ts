// Whether signing in over an identity provider counts as a second factor: as the organization says, or as the provider proves.
import { openEgress } from '@svc/core/egress/index.ts';
import { nowMs, readConfig } from '@svc/core/kernel/index.ts';
import type { LightMyRequestResponse } from 'fastify';
import { expect, test } from 'vitest';
import { codeOf, startHarness, type Tenant } from '../registry/harness.ts';
import { startNameServer } from '../sim/dns.ts';
import { startLiar } from '../sim/id-provider.ts';
import { beginSaml, comeBack } from '../sim/saml/browser.ts';
import { SamlForge } from '../sim/saml/forge.ts';
import { acme } from '../sim/saml/keys.ts';
import { arrive, cookieOf, leave, prove } from '../sim/sso-browser.ts';

const names = await startNameServer();
const egress = openEgress(
  readConfig({
    ...{ SVC_DNS_SERVERS: names.address, SVC_EGRESS_ALLOW: '127.0.0.1', SVC_ALLOW_INSECURE_WEBHOOKS: '1' },
  }),
);
const harness = await startHarness({ services: { egress } });
const { a, b, call } = harness;
const saml = new SamlForge('https://id.acme.example', acme);
const oidc = await startLiar();
await prove(harness, names, a, 'acme.example');
await prove(harness, names, b, 'borealis.example');
await connect(a, { kind: 'saml', config: { metadata_xml: saml.metadata() } });
await connect(b, {
  kind: 'oidc',
  config: { issuer: oidc.issuer, client_id: 'svc', client_secret: 'a-secret-of-the-provider' },
});

async function connect(tenant: Tenant, body: object): Promise<void> {
  const answer = await call('PUT', '/v1/org/sso', {
    key: tenant.key,
    body: { display_name: 'ID', ...body },
  });
  expect(answer.statusCode, answer.body).toBe(200);
}

async function secure(tenant: Tenant, security: object): Promise<void> {
  const body = { settings: { security } };
  const answer = await call('PATCH', `/v1/orgs/${tenant.org.id}`, { key: tenant.key, body });
  expect(answer.statusCode, answer.body).toBe(200);
}

async function overSaml(context_class?: string): Promise<LightMyRequestResponse> {
  const begun = await beginSaml(harness, 'acme', '');
  const base = 'http://127.0.0.1:8080/v1/auth/sso/acme';
  const { request_id } = begun;
  const target = { entity_id: `${base}/metadata`, acs_url: `${base}/acs`, request_id, at: nowMs() };
  const said = context_class === undefined ? {} : { context_class };
  return comeBack(harness, begun, saml.answer(target, said));
}

async function overOidc(amr?: unknown): Promise<LightMyRequestResponse> {
  const begun = await leave(harness, 'borealis', '');
  const asked = new URL(String(begun.headers.location)).searchParams;
  const now = Math.floor(nowMs() / 1_000);
  const who = { sub: 'bo', email: 'bo@borealis.example', email_verified: true };
  const claims = {
    iss: oidc.issuer,
    aud: 'svc',
    exp: now + 300,
    iat: now,
    nonce: asked.get('nonce'),
    ...who,
  };
  const id_token = oidc.forge.signed(amr === undefined ? claims : { ...claims, amr });
  oidc.tokenAnswer = () => ({ access_token: 'x', token_type: 'Bearer', expires_in: 60, id_token });
  const search = new URLSearchParams({ code: 'c', state: asked.get('state') ?? '' });
  const back = new URL(`http://127.0.0.1:8080/v1/auth/sso/borealis/callback?${search}`);
  return arrive(harness, back, cookieOf(begun, 'svc_sso'));
}

/** What an organization that asks for a second factor answers to the session of `answer`: its projects, or why not. */
async function reached(answer: LightMyRequestResponse): Promise<number | string> {
  expect(answer.statusCode, answer.body).toBe(303);
  const key = cookieOf(answer, 'svc_session').split('=')[1] as string;
  const projects = await call('GET', '/v1/projects', { key });
  return projects.statusCode === 200 ? 200 : codeOf(projects);
}

const asked = { require_2fa: true };

test('a sign-in at the provider counts as a second factor unless the organization says otherwise', async () => {
  for (const tenant of [a, b]) await secure(tenant, { ...asked, sso_counts_as_2fa: null });
  expect(await reached(await overSaml())).toBe(200);
  expect(await reached(await overOidc())).toBe(200);
});

test('where it does not count, a session without proof of a second factor is asked for one', async () => {
  for (const tenant of [a, b]) await secure(tenant, { ...asked, sso_counts_as_2fa: false });
  expect(await reached(await overSaml())).toBe('two_factor_required');
  expect(await reached(await overOidc())).toBe('two_factor_required');
});

test.each(['https://refeds.org/profile/mfa', 'http://schemas.microsoft.com/claims/multipleauthn'])(
  'an assertion with the context class %s proves it',
  async (context_class) => {
    await secure(a, { ...asked, sso_counts_as_2fa: false });
    expect(await reached(await overSaml(context_class))).toBe(200);
    expect(await reached(await overSaml(`${context_class}x`))).toBe('two_factor_required');
  },
);

test('an ID token with mfa among its methods (RFC 8176) proves it, and nothing that only looks like it', async () => {
  await secure(b, { ...asked, sso_counts_as_2fa: false });
  expect(await reached(await overOidc(['pwd', 'mfa']))).toBe(200);
  for (const amr of [[], ['pwd'], 'mfa', ['MFA'], { mfa: true }, ['otp mfa']]) {
    expect([amr, await reached(await overOidc(amr))]).toEqual([amr, 'two_factor_required']);
  }
});
