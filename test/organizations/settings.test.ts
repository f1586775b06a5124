// What an organization sets for itself, and how each of it is enforced; making one, and handing it over.
import { shiftClock } from '@svc/core/kernel/index.ts';
import { afterEach, expect, test } from 'vitest';
import { codeOf, type Tenant } from '../registry/harness.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const { a, call, makePerson, makeTenant, signIn, roleOf } = world;
const owner = await signIn(await makePerson(a, 'owner'));

afterEach(() => shiftClock(0));

const patch = (tenant: Tenant, key: string, body: object, ip?: string) =>
  call('PATCH', `/v1/orgs/${tenant.org.id}`, { key, body, ...(ip === undefined ? {} : { ip }) });
const read = (tenant: Tenant, key: string, ip?: string) =>
  call('GET', `/v1/orgs/${tenant.org.id}`, { key, ...(ip === undefined ? {} : { ip }) });
const secure = (security: object | null, force?: true) => ({
  settings: { security },
  ...(force === undefined ? {} : { force }),
});
const make = (key: string, slug: string, headers: Record<string, string> = {}) =>
  call('POST', '/v1/orgs', { key, headers, body: { name: 'New', slug, billing_country: 'DE' } });

test('owners and admins change name, slug and security; billing members do not', async () => {
  const tenant = await makeTenant('renamed');
  const admin = await signIn(await makePerson(tenant, 'admin'));
  const billing = await signIn(await makePerson(tenant, 'billing'));
  const changed = await patch(tenant, admin, { name: 'Renamed Ltd', slug: 'renamed-ltd' });
  expect([changed.statusCode, changed.json().name, changed.json().slug]).toEqual([
    ...[200, 'Renamed Ltd', 'renamed-ltd'],
  ]);
  for (const body of [{ name: 'x' }, { slug: 'x-y' }, secure({ session_hours: 5 })])
    expect(codeOf(await patch(tenant, billing, body))).toBe('permission_denied');
  expect((await patch(tenant, billing, { low_balance_micro: 1 })).statusCode).toBe(200);
  const merged = await patch(tenant, admin, secure({ session_hours: 5, key_default_expiry_days: 30 }));
  expect(merged.json().settings.security.session_hours).toBe(5);
  const stricter = await patch(tenant, admin, secure({ sso_counts_as_2fa: false }));
  expect(stricter.json().settings.security.sso_counts_as_2fa).toBe(false);
  const reset = await patch(tenant, admin, secure({ session_hours: null, sso_counts_as_2fa: null }));
  expect(reset.json().settings.security).toEqual({
    ...{ require_2fa: false, sso_counts_as_2fa: true, session_hours: 72 },
    ...{ console_ip_allow: [], key_default_expiry_days: 30 },
    ...{ on_deprovision_keys: 'block', transfer_keys_to: null },
  });
});

test('a slug is taken once, also by two that ask for it at once, and never one of the service', async () => {
  const tenants = await Promise.all(['slug-one', 'slug-two', 'slug-three'].map(makeTenant));
  const keys = await Promise.all(tenants.map(async (tenant) => signIn(await makePerson(tenant, 'owner'))));
  const answers = await Promise.all([
    ...tenants.map((tenant, i) => patch(tenant, keys[i] as string, { slug: 'wanted' })),
    make(owner, 'wanted'),
  ]);
  const taken = answers.filter(({ statusCode }) => statusCode === 409);
  expect(taken).toHaveLength(3);
  for (const answer of taken)
    expect(answer.json().error).toMatchObject({ code: 'already_exists', param: 'slug' });
  for (const slug of ['sign-in', 'graphql', 'acme'])
    expect(codeOf(await patch(tenants[0] as Tenant, keys[0] as string, { slug }))).toBe('already_exists');
});

test('shorter sessions count for those that are open', async () => {
  const tenant = await makeTenant('hours');
  const key = await signIn(await makePerson(tenant, 'owner'));
  shiftClock(2 * 3_600_000 + 60_000);
  expect((await read(tenant, key)).statusCode).toBe(200);
  expect((await patch(tenant, key, secure({ session_hours: 2 }))).statusCode).toBe(200);
  const over = await read(tenant, key);
  expect([over.statusCode, codeOf(over)]).toEqual([401, 'session_expired']);
});

test('sessions come from the networks that are allowed, and nobody locks himself out by mistake', async () => {
  const tenant = await makeTenant('networks');
  const key = await signIn(await makePerson(tenant, 'owner'));
  const allow = (console_ip_allow: string[], force?: true) => secure({ console_ip_allow }, force);
  for (const bad of ['office', '203.0.113.0/33', '203.0.113.0/24/1', '::1/129', 'fe80::1%eth0', '1.2.3'])
    expect((await patch(tenant, key, allow(['127.0.0.1', bad]))).json().error.param).toBe(
      'settings.security.console_ip_allow[1]',
    );
  const outside = await patch(tenant, key, allow(['203.0.113.0/24']));
  expect([outside.statusCode, outside.json().error.param]).toEqual([
    400,
    'settings.security.console_ip_allow',
  ]);
  expect((await patch(tenant, key, allow(['203.0.113.0/24', '2001:db8::/32'], true))).statusCode).toBe(200);
  expect(codeOf(await read(tenant, key))).toBe('ip_not_allowed');
  expect((await read(tenant, key, '203.0.113.5')).statusCode).toBe(200);
  expect((await read(tenant, key, '2001:db8::5')).statusCode).toBe(200);
  // Programs are not bound to the networks of people.
  expect((await call('GET', '/v1/models', { key: tenant.key })).statusCode).toBe(200);
});

test('a second factor is asked of everybody only by whoever has one, or says that it is meant', async () => {
  const tenant = await makeTenant('factors');
  const key = await signIn(await makePerson(tenant, 'owner'));
  const early = await patch(tenant, key, secure({ require_2fa: true }));
  expect([early.statusCode, codeOf(early)]).toEqual([409, 'state_conflict']);
  expect((await patch(tenant, key, secure({ require_2fa: true }, true))).statusCode).toBe(200);
  expect(codeOf(await read(tenant, key))).toBe('two_factor_required');
});

test('keys that are made without an end get the one that the organization sets', async () => {
  const tenant = await makeTenant('ends');
  const key = await signIn(await makePerson(tenant, 'owner'));
  await patch(tenant, key, secure({ key_default_expiry_days: 7 }));
  const body = { name: 'k', project_id: tenant.live.id, scopes: ['inference'] };
  const made = (await call('POST', '/v1/keys', { key, body })).json();
  const days = (Date.parse(made.expires_at) - Date.parse(made.created_at)) / 86_400_000;
  expect(days).toBe(7);
});

test('a person makes organizations and owns them: five, however many are asked for at once', async () => {
  const person = await makePerson(a, 'viewer');
  const key = await signIn(person);
  const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => make(key, `mine-${i}`)));
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([
    ...Array(5).fill(201),
    ...Array(3).fill(409),
  ]);
  const made = answers.find(({ statusCode }) => statusCode === 201)?.json();
  expect(made).toMatchObject({ role: 'owner', plan_id: 'payg', billing_currency: 'EUR', status: 'active' });
  expect(await roleOf(made.id, person)).toBe('owner');
  const projects = await call('GET', '/v1/projects', { key, headers: { 'x-svc-org': made.id } });
  expect(projects.json().data.map(({ slug }: { slug: string }) => slug)).toEqual(['default', 'sandbox']);
  const refused = answers.find(({ statusCode }) => statusCode === 409);
  expect(refused?.json().error.code).toBe('plan_limit_reached');
});

test('the same request again makes no second organization', async () => {
  const key = await signIn(await makePerson(a, 'viewer'));
  const headers = { 'idempotency-key': 'make-one' };
  const [first, again] = [await make(key, 'made-once', headers), await make(key, 'made-once', headers)];
  expect([first.statusCode, again.statusCode]).toEqual([201, 201]);
  expect(again.json().id).toBe(first.json().id);
});

test('an owner hands over and is an admin then; two who hand over to each other at once both end as one of each', async () => {
  const tenant = await makeTenant('handover');
  const [one, two] = [await makePerson(tenant, 'owner'), await makePerson(tenant, 'owner')];
  const keys = [await signIn(one), await signIn(two)] as const;
  const path = `/v1/orgs/${tenant.org.id}/transfer`;
  const answers = await Promise.all([
    call('POST', path, { key: keys[0], body: { user_id: two.id } }),
    call('POST', path, { key: keys[1], body: { user_id: one.id } }),
  ]);
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 200]);
  const roles = [await roleOf(tenant.org.id, one), await roleOf(tenant.org.id, two)];
  expect(roles.sort()).toEqual(['admin', 'owner']);
});

test('it is handed to members alone, by an owner who has just proved who he is', async () => {
  const tenant = await makeTenant('careful');
  const person = await makePerson(tenant, 'owner');
  const key = await signIn(person);
  const viewer = await makePerson(tenant, 'viewer');
  const stranger = await makePerson(a, 'viewer');
  const hand = (user_id: string) =>
    call('POST', `/v1/orgs/${tenant.org.id}/transfer`, { key, body: { user_id } });
  expect((await hand(stranger.id)).statusCode).toBe(404);
  expect(codeOf(await hand(person.id))).toBe('state_conflict');
  shiftClock(16 * 60_000);
  expect(codeOf(await hand(viewer.id))).toBe('reauthentication_required');
  shiftClock(0);
  const done = await hand(viewer.id);
  expect(done.json()).toEqual({
    ...{ org_id: tenant.org.id, owner_id: viewer.id, previous_owner_role: 'admin' },
  });
  expect([await roleOf(tenant.org.id, viewer), await roleOf(tenant.org.id, person)]).toEqual([
    'owner',
    'admin',
  ]);
  expect(codeOf(await hand(person.id))).toBe('permission_denied');
});

test('nobody met a defect', () => {
  expect(world.defects).toEqual([]);
});
