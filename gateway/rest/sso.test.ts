// Signing in over an identity provider that others wrote: who enters, with which role, and where the session reaches.
import { openEgress } from '@svc/core/egress/index.ts';
import { type Role, readConfig, shiftClock } from '@svc/core/kernel/index.ts';
import { putMember } from '@svc/core/orgs/index.ts';
import type { LightMyRequestResponse } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { codeOf, type Person, startHarness, type Tenant } from '../../test/registry/harness.ts';
import { startNameServer } from '../../test/sim/dns.ts';
import { type SimPerson, startProvider } from '../../test/sim/id-provider.ts';
import { arrive, browse, cookieOf, leave, prove } from '../../test/sim/sso-browser.ts';

const names = await startNameServer();
const egress = openEgress(
  readConfig({
    SVC_DNS_SERVERS: names.address,
    SVC_ALLOW_INSECURE_WEBHOOKS: '1',
    SVC_EGRESS_ALLOW: '127.0.0.1',
  }),
);
const harness = await startHarness({ services: { egress } });
const { a, b, call, pool } = harness;
const provider = await startProvider({ redirect_uri: 'http://127.0.0.1:8080/v1/auth/sso/acme/callback' });
const config = {
  issuer: provider.issuer,
  client_id: provider.client_id,
  client_secret: provider.client_secret,
};
await prove(harness, names, a, 'acme.example');

afterEach(() => shiftClock(0));

async function connect(more: object = {}, tenant: Tenant = a) {
  const body = { kind: 'oidc', display_name: 'Acme ID', config, ...more };
  const answer = await call('PUT', '/v1/org/sso', { key: tenant.key, body });
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json();
}

/** A whole sign-in of `person`; the answer of the way back. */
async function signOn(person: SimPerson, query = ''): Promise<LightMyRequestResponse> {
  provider.person = person;
  const begun = await leave(harness, 'acme', query);
  expect(begun.statusCode, begun.body).toBe(303);
  return arrive(harness, await browse(String(begun.headers.location)), cookieOf(begun, 'svc_sso'));
}

const sessionOf = (answer: LightMyRequestResponse) => cookieOf(answer, 'svc_session').split('=')[1] as string;
const whoIs = async (key: string) => (await call('GET', '/v1/auth/session', { key })).json();
const asha = { sub: 'asha', email: 'Asha@Acme.example', email_verified: true, name: 'Asha' };

async function rows(): Promise<Record<string, number>> {
  const count = async (table: string) => {
    const { rows } = await pool.query<{ n: number }>({
      name: `test.count_${table}`,
      text: `select count(*)::int as n from ${table}`,
    });
    return [table, rows[0]?.n] as const;
  };
  return Object.fromEntries(
    (await Promise.all(['person', 'org_member', 'session', 'outbox'].map(count))) as [string, number][],
  );
}

async function roleIn(tenant: Tenant, email: string): Promise<Role | undefined> {
  const { rows } = await pool.query<{ role: Role }>({
    name: 'test.role',
    text: `select role from org_member join person on person.id = user_id
            where org_id = $1 and email_key = lower($2)`,
    values: [tenant.org.id, email],
  });
  return rows[0]?.role;
}

function setMember(person: Pick<Person, 'id'>, tenant: Tenant, change: string): Promise<unknown> {
  return pool.query({
    name: `test.member_${change}`,
    text: `update org_member set ${change} where org_id = $1 and user_id = $2`,
    values: [tenant.org.id, person.id],
  });
}

test('a provider is connected by its own description, and its secret is never shown again', async () => {
  const shown = await connect();
  expect(shown).toMatchObject({
    configured: true,
    sso: { alias: 'acme', status: 'active', enforce: false, default_role: 'developer', last_test: null },
    service_provider: { callback_url: 'http://127.0.0.1:8080/v1/auth/sso/acme/callback' },
  });
  expect(shown.sso.config).toMatchObject({ has_secret: true, scopes: ['openid', 'email', 'profile'] });
  const read = await call('GET', '/v1/org/sso', { key: a.key });
  expect(read.body).not.toContain(provider.client_secret);
  const { rows } = await pool.query<{ text: string }>({
    name: 'test.dump',
    text: `select (select string_agg(t::text, '') from sso_connection t)
               || (select string_agg(t::text, '') from audit_entry t) as text`,
  });
  expect(rows[0]?.text).not.toContain(provider.client_secret);
  const discovered = async (email: string) =>
    (await call('POST', '/v1/auth/sso/discover', { body: { email } })).json();
  expect(await discovered('whoever@ACME.example')).toEqual({ alias: 'acme', enforce: false });
  expect(await discovered('whoever@elsewhere.example')).toEqual({ alias: null, enforce: false });
  expect(await discovered('no address')).toEqual({ alias: null, enforce: false });
});

test('a secret stays while issuer and client stay, and is not sent to another', async () => {
  const { client_secret: _, ...kept } = config;
  expect((await connect({ config: kept })).sso.config.has_secret).toBe(true);
  const other = await connect({ config: { ...kept, client_id: 'another' } });
  expect(other.sso.config.has_secret).toBe(false);
  await connect();
});

test('an unknown person of a proved domain becomes a member by coming, and is signed in there alone', async () => {
  const answer = await signOn(asha, '?return_to=/acme/live/keys?tab=1');
  expect([answer.statusCode, answer.headers.location]).toEqual([
    303,
    'http://127.0.0.1:8081/acme/live/keys?tab=1',
  ]);
  const seen = await whoIs(sessionOf(answer));
  expect(seen).toMatchObject({ user: { email: 'Asha@Acme.example', name: 'Asha' }, role: 'developer' });
  expect(seen.session).toMatchObject({ method: 'oidc', two_factor: true });
  expect(seen.orgs.map(({ slug }: { slug: string }) => slug)).toEqual(['acme']);
  // The second time nothing is made anew.
  const before = await rows();
  await signOn(asha);
  const after = await rows();
  expect([after['person'], after['org_member'], after['outbox']]).toEqual([
    before['person'],
    before['org_member'],
    before['outbox'],
  ]);
});

test('a session that a provider made reaches no other organization of its person, makes and joins none, and changes no password', async () => {
  const person = await harness.makePerson(b, 'owner');
  await putMember(pool, {
    ...{ org_id: a.org.id, user_id: person.id, role: 'viewer', source: 'invite' },
    at: new Date(),
  } as Parameters<typeof putMember>[1]);
  const by_password = await harness.signIn(person);
  await prove(harness, names, a, 'borealis.example');
  const key = sessionOf(await signOn({ sub: 'bo', email: person.email, email_verified: true }));
  expect((await whoIs(key)).orgs.map(({ slug }: { slug: string }) => slug)).toEqual(['acme']);
  const reach = [
    call('GET', `/v1/orgs/${b.org.id}`, { key }),
    call('GET', '/v1/keys', { key, headers: { 'x-svc-org': b.org.id } }),
    call('POST', '/v1/auth/session/org', { key, body: { org_id: b.org.id } }),
  ];
  for (const answer of await Promise.all(reach))
    expect([answer.statusCode, codeOf(answer)]).toEqual([404, 'not_found']);
  expect((await call('GET', '/v1/orgs', { key })).json().data).toHaveLength(1);
  expect((await call('GET', '/v1/auth/sessions', { key })).json().data).toHaveLength(1);
  const passwords = { current_password: person.password, new_password: 'seven quiet rivers' };
  const changes: [string, object][] = [
    ['/v1/auth/password/change', passwords],
    ['/v1/auth/totp/enrol', {}],
    ['/v1/auth/totp/confirm', { code: '123456' }],
    ['/v1/auth/totp/disable', { code: '123456' }],
    ['/v1/auth/totp/recovery-codes', { code: '123456' }],
    ['/v1/orgs', { name: 'Mine', slug: 'mine', billing_country: 'DE' }],
    ['/v1/invitations/accept', { token: `svc-inv-${'A'.repeat(43)}` }],
  ];
  for (const [path, body] of changes) {
    const answer = await call('POST', path, { key, body });
    expect([path, answer.statusCode, codeOf(answer)]).toEqual([path, 403, 'permission_denied']);
  }
  // Signing out everywhere ends what the provider made, not what a password did.
  expect((await call('POST', '/v1/auth/logout-all', { key, body: {} })).statusCode).toBe(204);
  expect((await call('GET', '/v1/auth/session', { key })).statusCode).toBe(401);
  expect((await call('GET', '/v1/auth/session', { key: by_password })).statusCode).toBe(200);
});

test('groups give the highest role that one of them is mapped to, and none takes or gives ownership', async () => {
  const role_map = { Platform: 'admin', Books: 'billing', Everybody: 'viewer' };
  await connect({ role_map, default_role: 'developer' });
  const come = async (groups: unknown) => {
    const answer = await signOn({ ...asha, ...(groups === undefined ? {} : { groups }) });
    expect(answer.statusCode).toBe(303);
    return roleIn(a, asha.email);
  };
  expect(await come(['Everybody', 'Platform', 'Books'])).toBe('admin');
  expect(await come(['Everybody', 'Books'])).toBe('billing');
  expect(await come('Everybody')).toBe('viewer');
  expect(await come(undefined)).toBe('viewer');
  expect(await come(['Somebody', '__proto__', 'constructor'])).toBe('developer');
  const owner = await harness.makePerson(a, 'owner');
  await signOn({ sub: 'o', email: owner.email, email_verified: true, groups: ['Books'] });
  expect(await roleIn(a, owner.email)).toBe('owner');
  const owners = await call('PUT', '/v1/org/sso', {
    key: a.key,
    body: { kind: 'oidc', display_name: 'x', config, role_map: { Bosses: 'owner' } },
  });
  expect(owners.statusCode).toBe(400);
  await connect();
});

test('who is not let in leaves no row: foreign domain, no membership, suspended, address not verified', async () => {
  const suspended = await harness.makePerson(a, 'developer');
  await setMember(suspended, a, `status = 'suspended'`);
  const refused: [SimPerson, object, string][] = [
    [{ sub: 'f', email: 'eve@elsewhere.example', email_verified: true }, {}, 'sso_domain_unverified'],
    [{ sub: 's', email: 'eve@sub.acme.example', email_verified: true }, {}, 'sso_domain_unverified'],
    [{ sub: 'm', email: 'eve@acme.example@elsewhere.example' }, {}, 'sso_domain_unverified'],
    [{ sub: 'n', email: 'new@acme.example' }, { config: { ...config, jit: false } }, 'user_not_provisioned'],
    [{ sub: 'd', email: suspended.email, email_verified: true }, {}, 'user_not_provisioned'],
    [{ sub: 'u', email: 'unverified@acme.example', email_verified: false }, {}, 'email_unverified'],
    [{ sub: 'v', email: 'unverified@acme.example', email_verified: 'false' }, {}, 'email_unverified'],
    [{ sub: 'e' }, {}, 'email_missing'],
    [{ sub: 'l', email: ['list@acme.example'] }, {}, 'email_missing'],
  ];
  for (const [person, more, code] of refused) {
    await connect(more);
    const before = await rows();
    const answer = await signOn(person);
    expect([person.sub, answer.statusCode, answer.body.includes(code)]).toEqual([person.sub, 403, true]);
    expect(answer.headers['set-cookie']?.includes('svc_session')).not.toBe(true);
    expect([person.sub, await rows()]).toEqual([person.sub, before]);
  }
  await connect();
  const { rows: entries } = await pool.query<{ text: string }>({
    name: 'test.entries',
    text: `select string_agg(t::text, '') as text from audit_entry t where outcome = 'denied'`,
  });
  expect(entries[0]?.text).toContain('user_not_provisioned');
  for (const secret of ['eve@', 'new@acme', suspended.email]) expect(entries[0]?.text).not.toContain(secret);
});

test('where single sign-on is asked for, passwords are refused, but for owners with a second factor', async () => {
  const member = await harness.makePerson(a, 'developer');
  const owner = await harness.makePerson(a, 'owner');
  const open_session = await harness.signIn(member);
  const without = await call('PUT', '/v1/org/sso', {
    key: a.key,
    body: { kind: 'oidc', display_name: 'Acme ID', config, enforce: true },
  });
  expect([without.statusCode, codeOf(without)]).toEqual([409, 'state_conflict']);
  await pool.query({
    name: 'test.factor',
    text: `update person set totp_secret = '\\x00', totp_confirmed_at = now() where id = $1`,
    values: [owner.id],
  });
  await connect({ enforce: true });
  expect((await call('GET', '/v1/auth/session', { key: open_session })).statusCode).toBe(401);
  const login = async (email: string, password: string) => {
    const answer = await call('POST', '/v1/auth/login', { body: { email, password, transport: 'bearer' } });
    return answer.statusCode === 200 ? Object.keys(answer.json()) : [answer.statusCode, codeOf(answer)];
  };
  const asked = [403, 'sso_required'];
  expect(await login(member.email, member.password)).toEqual(asked);
  expect(await login(member.email, 'not the password')).toEqual(asked);
  expect(await login('nobody@acme.example', 'not the password')).toEqual(asked);
  expect(await login(owner.email, 'not the password')).toEqual(asked);
  expect(await login(owner.email, owner.password)).toEqual(['mfa_token']);
  const elsewhere = await harness.makePerson(b, 'owner');
  await call('DELETE', '/v1/org/sso/domains/borealis.example', { key: a.key });
  expect(await login(elsewhere.email, elsewhere.password)).toContain('token');
  await connect();
  expect(await login(member.email, member.password)).toContain('token');
});

test('a fresh proof at the provider is asked for and counts; taking the provider away ends its sessions', async () => {
  await connect({ role_map: { Platform: 'admin' } });
  const admin = { ...asha, groups: ['Platform'] };
  const key = sessionOf(await signOn(admin));
  shiftClock(16 * 60_000);
  const stale = await call('DELETE', '/v1/org/sso', { key });
  expect([stale.statusCode, codeOf(stale), stale.json().error.details.methods]).toEqual([
    403,
    'reauthentication_required',
    ['sso'],
  ]);
  shiftClock(0);
  const logins = provider.logins();
  const fresh = sessionOf(await signOn(admin, '?fresh=1'));
  expect(provider.logins()).toBe(logins + 1);
  const wrong = await call('DELETE', '/v1/org/sso?alias=other', { key: fresh });
  expect([wrong.statusCode, codeOf(wrong)]).toEqual([409, 'state_conflict']);
  expect((await call('DELETE', '/v1/org/sso', { key: fresh })).statusCode).toBe(204);
  expect((await call('GET', '/v1/auth/session', { key: fresh })).statusCode).toBe(401);
  expect((await leave(harness, 'acme')).statusCode).toBe(404);
  const again = await connect();
  expect(again.sso.alias).toBe('acme');
});

test('an admin tries a connection out before it is switched on; nobody is signed in by that', async () => {
  await connect({ status: 'draft', role_map: { Platform: 'admin' } });
  expect((await leave(harness, 'acme')).statusCode).toBe(404);
  expect((await leave(harness, 'acme', '?test=1')).statusCode).toBe(401);
  const viewer = await harness.signIn(await harness.makePerson(a, 'viewer'));
  const stranger = await harness.signIn(await harness.makePerson(b, 'owner'));
  for (const key of [viewer, stranger])
    expect((await leave(harness, 'acme', '?test=1', { key })).statusCode).toBe(404);
  const key = await harness.signIn(await harness.makePerson(a, 'admin'));
  const before = await rows();
  provider.person = { sub: 't', email: 'tess@acme.example', name: 'Tess', groups: ['Platform', 'Books'] };
  const begun = await leave(harness, 'acme', '?test=1&return_to=/acme/live/sign-on', { key });
  const answer = await arrive(
    harness,
    await browse(String(begun.headers.location)),
    cookieOf(begun, 'svc_sso'),
  );
  expect(answer.headers.location).toBe('http://127.0.0.1:8081/acme/live/sign-on');
  expect(await rows()).toEqual(before);
  const { sso } = (await call('GET', '/v1/org/sso', { key: a.key })).json();
  expect(sso.last_test).toMatchObject({
    ...{ ok: true, reason: '', email: 'tess@acme.example', name: 'Tess' },
    ...{ groups: ['Platform', 'Books'], role: 'admin' },
  });
  await connect();
});

test('no caller met a defect', () => {
  expect(harness.defects).toEqual([]);
});
