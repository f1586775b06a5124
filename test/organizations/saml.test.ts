// Signing in over a SAML provider that others wrote, and over one that says what a test wants: who enters, with which role, and
// how the provider is connected.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openEgress } from '@svc/core/egress/index.ts';
import { refreshMetadata } from '@svc/core/identity/index.ts';
import { nowMs, readConfig, shiftClock } from '@svc/core/kernel/index.ts';
import type { LightMyRequestResponse } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { codeOf, startHarness } from '../registry/harness.ts';
import { connectDirectory } from '../sim/directory.ts';
import { startNameServer } from '../sim/dns.ts';
import { beginSaml, comeBack, inForm, postAnswer, type SamlBegun } from '../sim/saml/browser.ts';
import { attribute, type Said, SamlForge } from '../sim/saml/forge.ts';
import { acme, borealis, stranger } from '../sim/saml/keys.ts';
import { openSamlify } from '../sim/saml/samlify.ts';
import { cookieOf, leave } from '../sim/sso-browser.ts';
import { atFileEnd } from '../support/ends.ts';

const names = await startNameServer();
const egress = openEgress(
  readConfig({
    ...{ SVC_DNS_SERVERS: names.address, SVC_EGRESS_ALLOW: '127.0.0.1', SVC_ALLOW_INSECURE_WEBHOOKS: '1' },
  }),
);
const harness = await startHarness({ services: { egress } });
const { a, call, pool } = harness;
const forge = new SamlForge('https://id.acme.example', acme);
const directory = await connectDirectory(harness, names, { tenant: a, domain: 'acme.example' });

/** A web server that publishes descriptions, and sends on whoever asks for `/moved`. */
const pages = new Map<string, string>();
const asked: string[] = [];
const server = createServer((request, reply) => {
  asked.push(request.url ?? '');
  if (request.url === '/moved') reply.writeHead(302, { location: 'https://10.0.0.1/metadata' }).end();
  else if (pages.has(request.url ?? '')) reply.end(pages.get(request.url ?? ''));
  else reply.writeHead(404).end();
});
await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
atFileEnd(() => new Promise((done) => server.close(done)));
const web = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

afterEach(() => shiftClock(0));

function put(config: object, more: object = {}) {
  return call('PUT', '/v1/org/sso', {
    key: a.key,
    body: { kind: 'saml', display_name: 'Acme ID', config, ...more },
  });
}
async function connect(config: object = {}, more: object = {}) {
  const answer = await put({ metadata_xml: forge.metadata(), ...config }, more);
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json();
}

const BASE = 'http://127.0.0.1:8080/v1/auth/sso/acme';
const targetOf = ({ request_id }: Pick<SamlBegun, 'request_id'>) => ({
  ...{ entity_id: `${BASE}/metadata`, acs_url: `${BASE}/acs`, request_id, at: nowMs() },
});
async function signOn(said: Said = {}, query = '', from = forge): Promise<LightMyRequestResponse> {
  const begun = await beginSaml(harness, 'acme', query);
  return comeBack(harness, begun, from.answer(targetOf(begun), said));
}
const sessionOf = (answer: LightMyRequestResponse) => cookieOf(answer, 'svc_session').split('=')[1] as string;
const whoIs = async (key: string) => (await call('GET', '/v1/auth/session', { key })).json();
const reasonOf = (page: string) => /\((\w+)\)/.exec(page)?.[1] ?? '';
async function count(): Promise<unknown> {
  const { rows } = await pool.query({
    name: 'test.count',
    text: `select (select count(*) from person) as people, (select count(*) from org_member) as members,
                  (select count(*) from session) as sessions, (select count(*) from outbox) as events`,
  });
  return rows[0];
}

test('the description of this service is there before a provider is, and for nobody unknown', async () => {
  const answer = await call('GET', '/v1/auth/sso/acme/metadata');
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([
    200,
    'application/samlmetadata+xml; charset=utf-8',
  ]);
  expect(answer.body).toContain(`entityID="${BASE}/metadata"`);
  expect(answer.body).toContain(`Location="${BASE}/acs"`);
  expect(answer.body).toContain('WantAssertionsSigned="true"');
  expect((await call('GET', '/v1/auth/sso/nobody/metadata')).statusCode).toBe(404);
  expect((await postAnswer(harness, 'acme', inForm('<a/>'))).statusCode).toBe(404);
});

test('a provider is connected by its description, and shown by its facts, which connect it as well', async () => {
  const shown = await connect();
  expect(shown).toMatchObject({
    sso: { kind: 'saml', alias: 'acme', status: 'active' },
    service_provider: { acs_url: `${BASE}/acs`, entity_id: `${BASE}/metadata` },
  });
  const { config } = shown.sso;
  expect(config).toMatchObject({
    ...{ idp_entity_id: 'https://id.acme.example', sso_url: 'https://id.acme.example/sso', issuer: null },
    ...{ metadata_url: null, sign_requests: false, allow_idp_initiated: false, jit: true },
  });
  expect(config.certificates[0]).toMatchObject({ pem: `${acme.certificate.trim()}\n` });
  const { idp_entity_id, sso_url } = config;
  const again = await put({ idp_entity_id, sso_url, certificates: [config.certificates[0].pem] });
  expect(again.json().sso.config).toEqual(config);
});

test.each([false, true])(
  'a person of a provider by samlify enters, and stays in its organization (response signed: %s)',
  async (both) => {
    const samlify = openSamlify({ both });
    await connect({ metadata_xml: samlify.metadata }, { role_map: { Platform: 'admin' } });
    const own = (await call('GET', '/v1/auth/sso/acme/metadata')).body;
    const begun = await beginSaml(harness, 'acme', '?return_to=/acme/live/keys');
    const person = { email: `Sam${both}@Acme.example`, name: 'Sam', group: 'Platform' };
    const xml = await samlify.answer(begun.url, own, person);
    const answer = await comeBack(harness, begun, xml);
    expect([answer.statusCode, answer.headers.location]).toEqual([
      303,
      'http://127.0.0.1:8081/acme/live/keys',
    ]);
    const key = sessionOf(answer);
    const seen = await whoIs(key);
    expect(seen).toMatchObject({ user: { email: person.email, name: 'Sam' }, role: 'admin' });
    expect(seen.session).toMatchObject({ method: 'saml' });
    expect(seen.orgs.map(({ slug }: { slug: string }) => slug)).toEqual(['acme']);
    const made = await call('POST', '/v1/orgs', {
      key,
      body: { name: 'Mine', slug: 'mine', billing_country: 'DE' },
    });
    expect([made.statusCode, codeOf(made)]).toEqual([403, 'permission_denied']);
  },
);

test('requests are signed with a key of the organization, which its description has, and which stays', async () => {
  const samlify = openSamlify({ wants_signed: true });
  await connect({ metadata_xml: samlify.metadata, sign_requests: true });
  const own = (await call('GET', '/v1/auth/sso/acme/metadata')).body;
  expect(own).toContain('AuthnRequestsSigned="true"');
  const begun = await beginSaml(harness);
  expect(begun.url.searchParams.get('SigAlg')).toBe('http://www.w3.org/2001/04/xmldsig-more#rsa-sha256');
  const person = { email: 'signed@acme.example', name: 'S', group: 'x' };
  const answer = await comeBack(harness, begun, await samlify.answer(begun.url, own, person));
  expect(answer.statusCode, answer.body).toBe(303);
  const other = new URL((await beginSaml(harness)).url);
  other.searchParams.set('Signature', begun.url.searchParams.get('Signature') as string);
  await expect(samlify.answer(other, own, person)).rejects.toThrow();
  await connect({ metadata_xml: samlify.metadata, sign_requests: false });
  await connect({ metadata_xml: samlify.metadata, sign_requests: true });
  expect((await call('GET', '/v1/auth/sso/acme/metadata')).body).toBe(own);
});

test('address, name and groups come from the attributes that providers send, or that an admin names', async () => {
  await connect({}, { role_map: { Platform: 'admin', Books: 'billing' }, default_role: 'viewer' });
  const claims = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims';
  const come = async (said: Said) => {
    const answer = await signOn(said);
    expect(answer.statusCode, answer.body).toBe(303);
    const { user, role } = await whoIs(sessionOf(answer));
    return [user.email, user.name, role];
  };
  const other = { name_id: 'opaque', name_id_format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent' };
  const entra =
    attribute(`${claims}/emailaddress`, 'entra@acme.example') +
    attribute('http://schemas.microsoft.com/identity/claims/displayname', 'Entra') +
    attribute('http://schemas.microsoft.com/ws/2008/06/identity/claims/groups', 'Books', 'Platform');
  expect(await come({ ...other, attributes: entra })).toEqual(['entra@acme.example', 'Entra', 'admin']);
  const okta = attribute('email', 'okta@acme.example') + attribute('groups', 'Books');
  expect(await come({ ...other, attributes: okta })).toEqual(['okta@acme.example', '', 'billing']);
  expect(await come({ email: 'plain@acme.example', attributes: attribute('groups', 'None') })).toEqual([
    'plain@acme.example',
    '',
    'viewer',
  ]);
  // A member whose provider says nothing of groups keeps the role.
  expect((await come({ ...other, attributes: attribute('mail', 'okta@acme.example') }))[2]).toBe('billing');
  await connect(
    { attribute_map: { email: 'post', name: 'called', groups: 'teams' } },
    { role_map: { T: 'admin' } },
  );
  const own = attribute('post', 'own@acme.example') + attribute('called', 'Own') + attribute('teams', 'T');
  expect(await come({ ...other, attributes: own })).toEqual(['own@acme.example', 'Own', 'admin']);
  // Where an admin has named the attribute, no other one counts.
  expect(reasonOf((await signOn({ email: 'x@acme.example' })).body)).toBe('email_missing');
});

test('who is not let in leaves no row, also whom the directory has deactivated', async () => {
  await connect();
  const user = await directory.addUser('ghost@acme.example');
  await directory.patch(`/Users/${user.id}`, { op: 'replace', path: 'active', value: false });
  const refused: [Said, object, string][] = [
    [{ email: 'ghost@acme.example' }, {}, 'user_not_provisioned'],
    [{ email: 'eve@elsewhere.example' }, {}, 'sso_domain_unverified'],
    [{ email: 'eve@sub.acme.example' }, {}, 'sso_domain_unverified'],
    [{ email: 'new@acme.example' }, { jit: false }, 'user_not_provisioned'],
  ];
  for (const [said, config, code] of refused) {
    await connect(config);
    const before = await count();
    const answer = await signOn(said);
    expect([said.email, answer.statusCode, answer.body.includes(code)]).toEqual([said.email, 403, true]);
    expect(cookieOf(answer, 'svc_session')).toBe('');
    expect(await count()).toEqual(before);
  }
  const { rows } = await pool.query<{ text: string }>({
    name: 'test.denied',
    text: `select string_agg(t::text, '') as text from audit_entry t where outcome = 'denied'`,
  });
  for (const secret of ['ghost@', 'eve@', 'new@acme']) expect(rows[0]?.text).not.toContain(secret);
});

test('a fresh proof is asked for and counts; an old one is refused where a fresh one was asked for', async () => {
  await connect({}, { role_map: { Platform: 'admin' } });
  const admin = { email: 'admin@acme.example', attributes: attribute('groups', 'Platform') };
  const hour_ago = nowMs() - 3_600_000;
  const stale = sessionOf(await signOn({ ...admin, authn_instant: hour_ago }));
  const asked_for = await call('DELETE', '/v1/org/sso', { key: stale });
  expect([asked_for.statusCode, codeOf(asked_for)]).toEqual([403, 'reauthentication_required']);
  expect((await beginSaml(harness, 'acme', '?fresh=1')).xml).toContain('ForceAuthn="true"');
  const old = await signOn({ ...admin, authn_instant: hour_ago }, '?fresh=1');
  expect([old.statusCode, reasonOf(old.body)]).toEqual([403, 'proof_stale']);
  const fresh = sessionOf(await signOn(admin, '?fresh=1'));
  expect((await call('DELETE', '/v1/org/sso', { key: fresh })).statusCode).toBe(204);
  expect((await call('GET', '/v1/auth/session', { key: fresh })).statusCode).toBe(401);
  expect((await leave(harness, 'acme')).statusCode).toBe(404);
});

test('an admin tries a draft out, sees what came or why not, and nobody is signed in by that', async () => {
  await connect({}, { status: 'draft', role_map: { Platform: 'admin' } });
  expect((await leave(harness, 'acme')).statusCode).toBe(404);
  const key = await harness.signIn(await harness.makePerson(a, 'admin'));
  const before = await count();
  const query = '?test=1&return_to=/acme/live/sign-on';
  const attempt = async (said: Said) => {
    const begun = await beginSaml(harness, 'acme', query, { key });
    const answer = await comeBack(harness, begun, forge.answer(targetOf(begun), said));
    expect(answer.headers.location).toBe('http://127.0.0.1:8081/acme/live/sign-on');
    return (await call('GET', '/v1/org/sso', { key: a.key })).json().sso.last_test;
  };
  const wrong = await attempt({ audience: 'https://elsewhere.example' });
  expect(wrong).toMatchObject({ ok: false, reason: 'audience_wrong', email: '' });
  const right = await attempt({
    email: 'tess@acme.example',
    attributes: attribute('groups', 'Platform', 'Books'),
  });
  expect(right).toMatchObject({
    ok: true,
    email: 'tess@acme.example',
    groups: ['Platform', 'Books'],
    role: 'admin',
  });
  expect(await count()).toEqual(before);
  // What came over a connection that was changed meanwhile counts for nothing.
  await connect();
  const begun = await beginSaml(harness);
  const posted = await postAnswer(harness, 'acme', inForm(forge.answer(targetOf(begun))));
  await connect({}, { role_map: {} });
  const next = new URL(String(posted.headers.location));
  const late = await call('GET', `${next.pathname}${next.search}`, { headers: { cookie: begun.cookie } });
  expect([late.statusCode, reasonOf(late.body)]).toEqual([403, 'request_unknown']);
});

test('people begin at the provider only where the organization allows it', async () => {
  await connect();
  const said = { email: 'idp@acme.example', in_response_to: null, subject_in_response_to: null };
  const come = () =>
    comeBack(harness, { alias: 'acme', cookie: '' }, forge.answer(targetOf({ request_id: '' }), said));
  expect(reasonOf((await come()).body)).toBe('request_unknown');
  await connect({ allow_idp_initiated: true });
  const answer = await come();
  expect([answer.statusCode, answer.headers.location]).toEqual([303, 'http://127.0.0.1:8081/']);
  expect(cookieOf(answer, 'svc_session')).not.toBe('');
});

test('a new certificate of the provider is taken within a day, and the old one is not', async () => {
  pages.set('/metadata', forge.metadata());
  const shown = (await put({ metadata_url: `${web}/metadata` })).json();
  expect(shown.sso.config).toMatchObject({ metadata_url: `${web}/metadata`, metadata_fault: null });
  const newer = new SamlForge('https://id.acme.example', stranger);
  pages.set('/metadata', newer.metadata());
  expect(reasonOf((await signOn({}, '', newer)).body)).toBe('signature_invalid');
  expect(await refreshMetadata(harness.context, egress)).toBe(0);
  shiftClock(24 * 3_600_000 + 60_000);
  expect(await refreshMetadata(harness.context, egress)).toBe(1);
  shiftClock(0);
  expect((await signOn({}, '', newer)).statusCode).toBe(303);
  expect(reasonOf((await signOn()).body)).toBe('signature_invalid');
  const { rows } = await pool.query({
    name: 'test.refreshed',
    text: `select 1 from audit_entry where action = 'sso.metadata'`,
  });
  expect(rows).toHaveLength(1);
});

test('a description that is gone, that is another provider, or that leads inside changes nothing, and says so', async () => {
  pages.set('/metadata', forge.metadata());
  expect((await put({ metadata_url: `${web}/metadata` })).statusCode).toBe(200);
  const faults: [() => void, string][] = [
    [() => pages.delete('/metadata'), 'provider_unreachable'],
    [
      () => pages.set('/metadata', new SamlForge('https://evil.example', borealis).metadata()),
      'entity_unknown',
    ],
    [() => pages.set('/metadata', '<!DOCTYPE a><a/>'), 'metadata_invalid'],
  ];
  for (const [change, fault] of faults) {
    change();
    shiftClock(24 * 3_600_000 * (1 + faults.findIndex(([one]) => one === change)) + 60_000);
    expect(await refreshMetadata(harness.context, egress)).toBe(1);
    const { config } = (await call('GET', '/v1/org/sso', { key: a.key })).json().sso;
    expect(config).toMatchObject({ metadata_fault: fault, idp_entity_id: 'https://id.acme.example' });
  }
  shiftClock(0);
  expect((await signOn()).statusCode).toBe(303);
  // Who only switches it off needs no description; who connects another needs one.
  pages.delete('/metadata');
  expect((await put({ metadata_url: `${web}/metadata` }, { status: 'disabled' })).statusCode).toBe(200);
  for (const path of ['/other', '/moved'])
    expect((await put({ metadata_url: `${web}${path}` })).json().error.param).toBe('config.metadata_url');
  expect(asked).toContain('/moved');
});

test('a name that leads elsewhere by the time it is asked for is not followed inside', async () => {
  let times = 0;
  names.zone.set('A rebind.acme.example', () => (times++ < 2 ? ['93.184.215.14'] : ['10.0.0.9']));
  const answer = await put({ metadata_url: 'https://rebind.acme.example/metadata' });
  // Twice it was public: when the address was looked at, and when it was about to be asked.
  expect(times).toBe(3);
  expect([answer.statusCode, answer.json().error.param]).toEqual([400, 'config.metadata_url']);
});

test('where it is enforced passwords are refused, and changing the kind of provider ends its sessions', async () => {
  const member = await harness.makePerson(a, 'developer');
  const owner = await harness.makePerson(a, 'owner');
  await pool.query({
    name: 'test.factor',
    text: `update person set totp_secret = '\\x00', totp_confirmed_at = now() where id = $1`,
    values: [owner.id],
  });
  await connect({}, { enforce: true });
  const { email, password } = member;
  const login = await call('POST', '/v1/auth/login', { body: { email, password, transport: 'bearer' } });
  expect([login.statusCode, codeOf(login)]).toEqual([403, 'sso_required']);
  const key = sessionOf(await signOn({ email }));
  expect((await call('GET', '/v1/auth/session', { key })).statusCode).toBe(200);
  const elsewhere = new SamlForge('https://id.new.example', borealis);
  await connect({ metadata_xml: elsewhere.metadata() });
  expect((await call('GET', '/v1/auth/session', { key })).statusCode).toBe(401);
});

test('no caller met a defect', () => {
  expect(harness.defects).toEqual([]);
});
