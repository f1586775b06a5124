// Sign-outs that an organization's OpenID provider tells of: what they end, and what ends nothing.
import { openEgress } from '@svc/core/egress/index.ts';
import { nowMs, readConfig, shiftClock } from '@svc/core/kernel/index.ts';
import { afterEach, expect, test } from 'vitest';
import { startHarness } from '../registry/harness.ts';
import { startNameServer } from '../sim/dns.ts';
import { Forge, startLiar, startProvider } from '../sim/id-provider.ts';
import { arrive, browse, cookieOf, leave, prove } from '../sim/sso-browser.ts';

const names = await startNameServer();
const env = {
  ...{ SVC_DNS_SERVERS: names.address, SVC_ALLOW_INSECURE_WEBHOOKS: '1', SVC_EGRESS_ALLOW: '127.0.0.1' },
};
const harness = await startHarness({ services: { egress: openEgress(readConfig(env)) } });
const { a, b, call, pool } = harness;
const path = (alias: string) => `/v1/auth/sso/${alias}/logout`;
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const send = (body: string, alias = 'acme') => call('POST', path(alias), { headers: form, body });
const provider = await startProvider({
  redirect_uri: 'http://127.0.0.1:8080/v1/auth/sso/acme/callback',
  logout: {
    uri: `http://127.0.0.1:8080${path('acme')}`,
    send: async ({ pathname }, body) => (await call('POST', pathname, { headers: form, body })).statusCode,
  },
});
const liar = await startLiar();
await prove(harness, names, a, 'acme.example');
await prove(harness, names, b, 'borealis.example');

afterEach(() => shiftClock(0));

async function connect(issuer: string, tenant = a): Promise<void> {
  const config = { issuer, client_id: 'svc', client_secret: provider.client_secret };
  const body = { kind: 'oidc', display_name: 'ID', config };
  const answer = await call('PUT', '/v1/org/sso', { key: tenant.key, body });
  expect(answer.statusCode, answer.body).toBe(200);
}

/** Signs `sub` in over the real provider: the session here, and the provider's own word for its session. */
async function signOn(sub: string): Promise<{ key: string; sid: string }> {
  provider.person = { sub, email: `${sub}@acme.example`, email_verified: true };
  const begun = await leave(harness, 'acme');
  const answer = await arrive(
    harness,
    await browse(String(begun.headers.location)),
    cookieOf(begun, 'svc_sso'),
  );
  expect(answer.statusCode, answer.body).toBe(303);
  return { key: cookieOf(answer, 'svc_session').split('=')[1] as string, sid: provider.sid() };
}
const isSignedIn = async (key: string) => (await call('GET', '/v1/auth/session', { key })).statusCode === 200;

async function sessions(): Promise<number> {
  const { rows } = await pool.query<{ n: number }>({
    name: 'test.sessions',
    text: 'select count(*)::int as n from session',
  });
  return rows[0]?.n ?? 0;
}

test('a sign-out at the provider ends the session that came of it at once, and no other', async () => {
  await connect(provider.issuer);
  const [here, there, other] = [await signOn('asha'), await signOn('asha'), await signOn('lee')];
  expect(here.sid).not.toBe(there.sid);
  await provider.signOut('asha', here.sid);
  expect(await Promise.all([here, there, other].map(({ key }) => isSignedIn(key)))).toEqual([
    ...[false, true, true],
  ]);
  const log = (await call('GET', '/v1/audit-log', { key: a.key })).json();
  expect(log.data[0]).toMatchObject({
    action: 'auth.logout',
    reason: 'signed out at the identity provider',
  });
  // Told again, as providers do after an answer that was lost.
  await provider.signOut('asha', here.sid);
});

type Claims = Readonly<Record<string, unknown>>;
const event = { 'http://schemas.openid.net/event/backchannel-logout': {} };
const claims = (more: Claims = {}): Claims => {
  const now = Math.floor(nowMs() / 1_000);
  const base = { iss: liar.issuer, aud: 'svc', iat: now, exp: now + 120, jti: 'one', events: event };
  return { ...base, sub: 'asha', ...more };
};
const logout = (token: string, alias = 'acme') =>
  send(new URLSearchParams({ logout_token: token }).toString(), alias);

/** A session that the provider made for `sub`, over its own ID token. */
async function enter(sub: string): Promise<string> {
  const begun = await leave(harness, 'acme');
  const asked = new URL(String(begun.headers.location)).searchParams;
  const who = { sub, email: `${sub}@acme.example`, nonce: asked.get('nonce') };
  const id_token = liar.forge.signed(claims({ ...who, events: undefined }));
  liar.tokenAnswer = () => ({ access_token: 'x', token_type: 'Bearer', expires_in: 60, id_token });
  const search = new URLSearchParams({ code: 'c', state: String(asked.get('state')) });
  const url = new URL(`http://127.0.0.1:8080/v1/auth/sso/acme/callback?${search}`);
  const answer = await arrive(harness, url, cookieOf(begun, 'svc_sso'));
  expect(answer.statusCode, answer.body).toBe(303);
  return cookieOf(answer, 'svc_session').split('=')[1] as string;
}

test('a provider that names no session of its own ends all that it made of the person', async () => {
  await connect(liar.issuer);
  const [one, two, other] = [await enter('asha'), await enter('asha'), await enter('lee')];
  const answer = await logout(liar.forge.signed(claims(), { typ: 'logout+jwt' }));
  expect([answer.statusCode, answer.headers['cache-control'], answer.body]).toEqual([200, 'no-store', '']);
  expect(await Promise.all([one, two, other].map(isSignedIn))).toEqual([false, false, true]);
});

test('a sign-out that comes late or twice ends no session that began after it', async () => {
  await connect(liar.issuer);
  const token = liar.forge.signed(claims());
  shiftClock(120_000);
  const later = await enter('asha');
  expect((await logout(token)).statusCode).toBe(200);
  expect(await isSignedIn(later)).toBe(true);
});

test('of two organizations with one provider, a sign-out told to one ends nothing of the other', async () => {
  await connect(liar.issuer);
  await connect(liar.issuer, b);
  const key = await enter('asha');
  expect((await logout(liar.forge.signed(claims()), 'borealis')).statusCode).toBe(200);
  expect(await isSignedIn(key)).toBe(true);
});

const stranger = new Forge();
const refused: readonly (readonly [string, () => string, string])[] = [
  ['no token', () => '', 'answer_invalid'],
  ['no signature', () => liar.forge.unsigned(claims()), 'answer_invalid'],
  ['another key', () => stranger.signed(claims()), 'signature_invalid'],
  ['an unknown key', () => liar.forge.signed(claims(), { kid: 'two' }), 'signature_invalid'],
  ['HMAC with the public key', () => liar.forge.hmac(claims(), liar.forge.public_pem), 'answer_invalid'],
  ['an ID token', () => liar.forge.signed(claims({ events: undefined, nonce: 'n' })), 'answer_invalid'],
  ['an ID token with the event', () => liar.forge.signed(claims({ nonce: 'n' })), 'answer_invalid'],
  ['another event', () => liar.forge.signed(claims({ events: { other: {} } })), 'answer_invalid'],
  ['events that are no object', () => liar.forge.signed(claims({ events: 'logout' })), 'answer_invalid'],
  ['another issuer', () => liar.forge.signed(claims({ iss: 'https://id.example' })), 'issuer_wrong'],
  ['another client', () => liar.forge.signed(claims({ aud: 'other' })), 'audience_wrong'],
  ['nobody', () => liar.forge.signed(claims({ sub: undefined })), 'answer_invalid'],
  ['no time', () => liar.forge.signed(claims({ iat: undefined })), 'answer_invalid'],
  ['an old one', () => liar.forge.signed(claims({ iat: (claims()['iat'] as number) - 400 })), 'expired'],
  ['one that ended', () => liar.forge.signed(claims({ exp: (claims()['iat'] as number) - 90 })), 'expired'],
];

test.each(refused)('a sign-out with %s ends nothing', async (_name, token, reason) => {
  await connect(liar.issuer);
  const key = await enter('asha');
  const before = await sessions();
  const answer = await logout(token());
  expect([answer.statusCode, answer.json().error]).toMatchObject([
    ...[400, { code: 'token_invalid', param: 'logout_token', details: { reason } }],
  ]);
  expect([await sessions(), await isSignedIn(key)]).toEqual([before, true]);
});

test('other forms of a sign-out, and those of organizations without such a provider, are refused', async () => {
  const token = new URLSearchParams({ logout_token: liar.forge.signed(claims()) }).toString();
  expect((await send(`${token}&${token}`)).json().error.details).toEqual({ reason: 'answer_invalid' });
  expect((await send('x'.repeat(20_000))).statusCode).toBe(413);
  expect((await send(token, 'nobody')).statusCode).toBe(404);
  expect((await call('GET', path('acme'))).statusCode).toBe(405);
});

test('a storm of forged sign-outs asks the provider for its keys once', async () => {
  await connect(liar.issuer);
  await logout(liar.forge.signed(claims()));
  const before = liar.asked.filter((at) => at === '/jwks').length;
  for (let i = 0; i < 20; i++) await logout(stranger.signed(claims(), { kid: `k${i}` }));
  expect(liar.asked.filter((at) => at === '/jwks').length).toBeLessThanOrEqual(before + 1);
});

test('no caller met a defect', () => {
  expect(harness.defects).toEqual([]);
});
