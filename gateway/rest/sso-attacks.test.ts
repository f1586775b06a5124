// Answers of a provider that are not what was asked for, and browsers that did not ask: none signs anybody in, and none
// leaves a row. Each is named for what it tries.
import { openEgress } from '@svc/core/egress/index.ts';
import { nowMs, readConfig, shiftClock } from '@svc/core/kernel/index.ts';
import type { LightMyRequestResponse } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { codeOf, startHarness } from '../../test/registry/harness.ts';
import { startNameServer } from '../../test/sim/dns.ts';
import { Forge, startLiar } from '../../test/sim/id-provider.ts';
import { arrive, cookieOf, leave, prove } from '../../test/sim/sso-browser.ts';

const names = await startNameServer();
const env = {
  SVC_DNS_SERVERS: names.address,
  SVC_ALLOW_INSECURE_WEBHOOKS: '1',
  SVC_EGRESS_ALLOW: '127.0.0.1',
};
const harness = await startHarness({ services: { egress: openEgress(readConfig(env)) } });
const { a, b, call, pool } = harness;
const liar = await startLiar();
const stranger = new Forge();
await prove(harness, names, a, 'acme.example');
await prove(harness, names, b, 'borealis.example');

afterEach(() => shiftClock(0));

function put(tenant = a, more: object = {}) {
  const config = {
    issuer: liar.issuer,
    client_id: 'svc',
    client_secret: 'a-secret-of-the-provider',
    ...more,
  };
  return call('PUT', '/v1/org/sso', { key: tenant.key, body: { kind: 'oidc', display_name: 'ID', config } });
}
for (const tenant of [a, b]) expect((await put(tenant)).statusCode).toBe(200);

/** What the browser took to the provider. */
interface Begun {
  readonly cookie: string;
  readonly state: string;
  readonly nonce: string;
}

async function begin(alias = 'acme', query = ''): Promise<Begun> {
  const answer = await leave(harness, alias, query);
  expect(answer.statusCode, answer.body).toBe(303);
  const asked = new URL(String(answer.headers.location)).searchParams;
  expect(asked.get('code_challenge_method')).toBe('S256');
  const [state, nonce] = ['state', 'nonce'].map((name) => asked.get(name) as string) as [string, string];
  return { cookie: cookieOf(answer, 'svc_sso'), state, nonce };
}

type Claims = Readonly<Record<string, unknown>>;
function claimsFor({ nonce }: Begun): Claims {
  const now = Math.floor(nowMs() / 1_000);
  const who = { sub: 'asha', email: 'asha@acme.example', email_verified: true };
  return { iss: liar.issuer, aud: 'svc', exp: now + 300, iat: now, nonce, ...who };
}

/** The provider's answer to the code: this ID token. */
function answerWith(id_token: string | undefined): void {
  liar.tokenAnswer = () => ({ access_token: 'x', token_type: 'Bearer', expires_in: 60, id_token });
}

function comeBack(begun: Begun, query: Readonly<Record<string, string>> = {}, alias = 'acme') {
  const search = new URLSearchParams({ code: 'c', state: begun.state, ...query });
  const url = new URL(`http://127.0.0.1:8080/v1/auth/sso/${alias}/callback?${search}`);
  return arrive(harness, url, begun.cookie);
}

async function traces(): Promise<unknown> {
  const { rows } = await pool.query({
    name: 'test.traces',
    text: `select (select count(*) from person)::int, (select count(*) from org_member)::int as members,
                  (select count(*) from session)::int as sessions, (select count(*) from outbox)::int as events`,
  });
  return rows[0];
}

async function isRefused(attempt: () => Promise<LightMyRequestResponse>): Promise<string> {
  const before = await traces();
  const answer = await attempt();
  expect(answer.statusCode, answer.body).toBe(403);
  expect(answer.headers['content-type']).toContain('text/html');
  expect(answer.body).toContain('href="http://127.0.0.1:8081/sign-in"');
  expect(cookieOf(answer, 'svc_session')).toBe('');
  expect(await traces()).toEqual(before);
  return /\((\w+)\)/.exec(answer.body)?.[1] ?? '';
}

test('the honest answer signs in, so that what follows fails for its fault alone', async () => {
  const begun = await begin();
  answerWith(liar.forge.signed(claimsFor(begun)));
  const answer = await comeBack(begun);
  expect(answer.statusCode, answer.body).toBe(303);
  expect(cookieOf(answer, 'svc_session')).not.toBe('');
});

const seconds = () => Math.floor(nowMs() / 1_000);
const tokens: Readonly<Record<string, (begun: Begun) => string | undefined>> = {
  'no ID token': () => undefined,
  'alg none': (begun) => liar.forge.unsigned(claimsFor(begun)),
  'alg None in another case': (begun) => liar.forge.unsigned(claimsFor(begun), 'NoNe'),
  'the signature cut off': (begun) => liar.forge.signed(claimsFor(begun)).replace(/[^.]+$/, ''),
  'HS256 with the public key as its secret': (begun) =>
    liar.forge.hmac(claimsFor(begun), liar.forge.public_pem),
  'HS256 with the secret of the client': (begun) =>
    liar.forge.hmac(claimsFor(begun), 'a-secret-of-the-provider'),
  'the key of a stranger under the same name': (begun) => stranger.signed(claimsFor(begun)),
  'a key brought along in the header': (begun) => stranger.signed(claimsFor(begun), { jwk: stranger.jwk }),
  'the address of a key in the header': (begun) =>
    stranger.signed(claimsFor(begun), { jku: 'http://127.0.0.1:1/' }),
  'a key of an unknown name': (begun) => liar.forge.signed(claimsFor(begun), { kid: 'two' }),
  'another signature algorithm than it says': (begun) =>
    liar.forge.signed(claimsFor(begun), { alg: 'RS512' }),
  'a critical header that nobody knows': (begun) =>
    liar.forge.signed(claimsFor(begun), { crit: ['x'], x: 1 }),
  'claims changed after signing': (begun) => {
    const [head, , tail] = liar.forge.signed(claimsFor(begun)).split('.');
    const other = Buffer.from(JSON.stringify({ ...claimsFor(begun), email: 'owner@acme.example' }));
    return `${head}.${other.toString('base64url')}.${tail}`;
  },
  'another issuer': (begun) =>
    liar.forge.signed({ ...claimsFor(begun), iss: 'https://id.elsewhere.example' }),
  'an issuer that begins alike': (begun) =>
    liar.forge.signed({ ...claimsFor(begun), iss: `${liar.issuer}.evil.example` }),
  'no issuer': (begun) => liar.forge.signed({ ...claimsFor(begun), iss: undefined }),
  'another audience': (begun) => liar.forge.signed({ ...claimsFor(begun), aud: 'another' }),
  'many audiences and none authorized': (begun) =>
    liar.forge.signed({ ...claimsFor(begun), aud: ['svc', 'another'] }),
  'authorized for another client': (begun) =>
    liar.forge.signed({ ...claimsFor(begun), aud: ['svc', 'another'], azp: 'another' }),
  'no audience': (begun) => liar.forge.signed({ ...claimsFor(begun), aud: undefined }),
  'the nonce of another sign-in': (begun) => liar.forge.signed({ ...claimsFor(begun), nonce: 'n' }),
  'no nonce': (begun) => liar.forge.signed({ ...claimsFor(begun), nonce: undefined }),
  expired: (begun) => liar.forge.signed({ ...claimsFor(begun), exp: seconds() - 120 }),
  'without an end': (begun) => liar.forge.signed({ ...claimsFor(begun), exp: undefined }),
  'not valid yet': (begun) => liar.forge.signed({ ...claimsFor(begun), nbf: seconds() + 600 }),
  'an end that is text': (begun) => liar.forge.signed({ ...claimsFor(begun), exp: '9999999999' }),
  'no subject': (begun) => liar.forge.signed({ ...claimsFor(begun), sub: undefined }),
  'no JSON inside': () => 'x.y.z',
  'an address with a line end': (begun) =>
    liar.forge.signed({ ...claimsFor(begun), email: 'a@acme.example\n' }),
  'an address with another behind it': (begun) =>
    liar.forge.signed({ ...claimsFor(begun), email: 'a@acme.example,b@elsewhere.example' }),
  'a domain that only looks like it': (begun) =>
    liar.forge.signed({ ...claimsFor(begun), email: 'a@аcme.example' }),
};

test.each(Object.entries(tokens))('an ID token with %s signs nobody in', async (_name, make) => {
  const begun = await begin();
  answerWith(make(begun));
  await isRefused(() => comeBack(begun));
});

const callbacks: Readonly<Record<string, () => Promise<[string, LightMyRequestResponse]>>> = {
  'a state that nobody began': async () => [
    'state_unknown',
    await comeBack({ ...(await begin()), state: 'made-up' }),
  ],
  'no state': async () => ['state_unknown', await comeBack({ ...(await begin()), state: '' })],
  'a browser without the cookie': async () => [
    'other_browser',
    await comeBack({ ...(await begin()), cookie: '' }),
  ],
  "another browser's cookie": async () => {
    const other = await begin();
    return ['other_browser', await comeBack({ ...(await begin()), cookie: other.cookie })];
  },
  'an answer that was used already': async () => {
    const begun = await begin();
    answerWith(liar.forge.signed(claimsFor(begun)));
    expect((await comeBack(begun)).statusCode).toBe(303);
    return ['state_unknown', await comeBack(begun)];
  },
  'an answer after ten minutes': async () => {
    const begun = await begin();
    answerWith(liar.forge.signed(claimsFor(begun)));
    shiftClock(10 * 60_000 + 1_000);
    return ['state_unknown', await comeBack(begun)];
  },
  'the answer of one organization at the address of another': async () => {
    const begun = await begin('borealis');
    answerWith(liar.forge.signed({ ...claimsFor(begun), email: 'x@acme.example' }));
    return ['state_unknown', await comeBack(begun)];
  },
  'another issuer beside the code (mix-up)': async () => {
    const begun = await begin();
    answerWith(liar.forge.signed(claimsFor(begun)));
    return ['answer_invalid', await comeBack(begun, { iss: 'https://id.elsewhere.example' })];
  },
  'the refusal of the provider': async () => [
    'provider_refused',
    await comeBack(await begin(), { error: 'access_denied', error_description: '<script>alert(1)</script>' }),
  ],
  'a stale proof where a fresh one was asked for': async () => {
    const begun = await begin('acme', '?fresh=1');
    answerWith(liar.forge.signed({ ...claimsFor(begun), auth_time: seconds() - 3_600 }));
    return ['answer_invalid', await comeBack(begun)];
  },
  'no time of the proof where a fresh one was asked for': async () => {
    const begun = await begin('acme', '?fresh=1');
    answerWith(liar.forge.signed(claimsFor(begun)));
    return ['answer_invalid', await comeBack(begun)];
  },
};

test.each(Object.entries(callbacks))('%s signs nobody in', async (_name, attempt) => {
  let reason = '';
  // What an attempt does before its last step may leave rows; that one may not.
  const [expected, answer] = await attempt();
  reason = /\((\w+)\)/.exec(answer.body)?.[1] ?? '';
  expect([answer.statusCode, reason, cookieOf(answer, 'svc_session')]).toEqual([403, expected, '']);
  expect(answer.body).not.toContain('<script>');
});

test('of an answer that comes twice at once one signs in', async () => {
  const begun = await begin();
  answerWith(liar.forge.signed(claimsFor(begun)));
  const answers = await Promise.all(Array.from({ length: 8 }, () => comeBack(begun)));
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([303, ...Array(7).fill(403)]);
});

test('a provider of one organization signs nobody in for the domain of another', async () => {
  const begun = await begin('borealis');
  answerWith(liar.forge.signed(claimsFor(begun)));
  const answer = await comeBack(begun, {}, 'borealis');
  expect([answer.statusCode, answer.body.includes('sso_domain_unverified')]).toEqual([403, true]);
});

test('the way back leads nowhere but into the console', async () => {
  const paths: [string, string][] = [
    ['https://evil.example/', '/'],
    ['//evil.example/', '/'],
    ['/\\evil.example/', '/'],
    ['/\t/evil.example/', '/'],
    ['\\\\evil.example', '/'],
    ['javascript:alert(1)', '/'],
    ['/a/../..//evil.example', '//evil.example'],
    ['acme/live', '/'],
    ['/acme/live/keys?x=1#y', '/acme/live/keys?x=1#y'],
    [`/${'a'.repeat(3_000)}`, '/'],
  ];
  for (const [asked, path] of paths) {
    const begun = await begin('acme', `?return_to=${encodeURIComponent(asked)}`);
    answerWith(liar.forge.signed(claimsFor(begun)));
    const { location } = (await comeBack(begun)).headers;
    const url = new URL(String(location));
    expect([asked, url.origin]).toEqual([asked, 'http://127.0.0.1:8081']);
    if (path !== '//evil.example') expect([asked, location]).toEqual([asked, `http://127.0.0.1:8081${path}`]);
  }
});

const issuers: Readonly<Record<string, () => Promise<LightMyRequestResponse>>> = {
  'inside the network': () => put(a, { issuer: 'https://10.0.0.1/' }),
  'of the cloud around it': () => put(a, { issuer: 'http://169.254.169.254/latest' }),
  'that is no address': () => put(a, { issuer: 'id.acme.example' }),
  'with a password in it': () => put(a, { issuer: 'https://user:word@id.acme.example' }),
  'that calls itself another': () => {
    liar.facts = { issuer: 'https://id.elsewhere.example' };
    return put();
  },
  'that signs with shared secrets alone': () => {
    liar.facts = { id_token_signing_alg_values_supported: ['HS256', 'none'] };
    return put();
  },
  'without keys': () => {
    liar.facts = { jwks_uri: null };
    return put();
  },
  'that has no such document': () => put(a, { issuer: `${liar.issuer}/other` }),
};

test.each(Object.entries(issuers))('an issuer %s is not connected', async (_name, attempt) => {
  const answer = await attempt();
  liar.facts = {};
  expect([answer.statusCode, codeOf(answer), answer.json().error.param]).toEqual([
    400,
    'invalid_request',
    'config.issuer',
  ]);
});

test('a document that leads inside the network is not followed', async () => {
  const asked = liar.asked.length;
  liar.facts = { token_endpoint: 'http://10.0.0.1/token' };
  expect((await put()).statusCode).toBe(200);
  const begun = await begin();
  expect(await isRefused(() => comeBack(begun))).toBe('unsafe_url');
  expect(liar.asked.slice(asked)).not.toContain('/token');
  liar.facts = {};
  await put();
});

test('no attack met a defect', () => {
  expect(harness.defects).toEqual([]);
});
