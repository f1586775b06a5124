// What directories really send and find, request by request, and many of them at once.
// @see https://learn.microsoft.com/entra/identity/app-provisioning/use-scim-to-provision-users-and-groups
// @see https://developer.okta.com/docs/api/openapi/okta-scim/guides/scim-20
import { openEgress } from '@svc/core/egress/index.ts';
import { readConfig } from '@svc/core/kernel/index.ts';
import { expect, test } from 'vitest';
import { startHarness } from '../../test/registry/harness.ts';
import { connectDirectory } from '../../test/sim/directory.ts';
import { startNameServer } from '../../test/sim/dns.ts';
import { startProvider } from '../../test/sim/id-provider.ts';
import { arrive, browse, cookieOf, leave } from '../../test/sim/sso-browser.ts';

const names = await startNameServer();
const egress = openEgress(
  readConfig({
    ...{ SVC_DNS_SERVERS: names.address, SVC_EGRESS_ALLOW: '127.0.0.1', SVC_ALLOW_INSECURE_WEBHOOKS: '1' },
  }),
);
const harness = await startHarness({ services: { egress } });
const { a, call, pool } = harness;
const provider = await startProvider({ redirect_uri: 'http://127.0.0.1:8080/v1/auth/sso/acme/callback' });
const { send, addUser, addGroup, patch } = await connectDirectory(harness, names, {
  ...{ tenant: a, domain: 'acme.example' },
});
const config = {
  ...{ issuer: provider.issuer, client_id: provider.client_id, client_secret: provider.client_secret },
};
const role_map = { Platform: 'admin', Books: 'billing' };
const connected = await call('PUT', '/v1/org/sso', {
  key: a.key,
  body: { kind: 'oidc', display_name: 'Acme ID', config, role_map, default_role: 'viewer' },
});
expect(connected.statusCode, connected.body).toBe(200);

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

async function rows<T>(text: string, values: unknown[] = []): Promise<T[]> {
  return (await pool.query<T>({ name: `test.${text}`.slice(0, 60), text, values })).rows;
}
const roleOf = async (id: string) =>
  (
    await rows<{ role: string }>('select role from org_member where org_id = $1 and user_id = $2', [
      a.org.id,
      id,
    ])
  )[0]?.role;
const membersOf = async (id: string): Promise<string[]> =>
  ((await send('GET', `/Groups/${id}`)).json().members ?? []).map(({ value }: { value: string }) => value);

/** Makes `n` members by hand: over the wire it would take minutes. */
async function makeMany(n: number, prefix: string): Promise<string[]> {
  const made = await rows<{ id: string }>(
    `with people as (
       insert into person (id, email, email_key, password_hash, password_changed_at, created_at, updated_at)
       select 'usr_' || lpad(upper(to_hex(n)), 26, '0'), $1 || n || '@acme.example', $1 || n || '@acme.example', 'x', now(), now(), now()
         from generate_series($2::int, $2::int + $3::int - 1) as n returning id)
     insert into org_member (org_id, user_id, role, source, joined_at, updated_at)
     select $4, id, 'developer', 'scim', now(), now() from people returning user_id as id`,
    [prefix, 4_096, n, a.org.id],
  );
  return made.map(({ id }) => id).sort();
}

test('Entra ID: looks for a user, makes, changes, disables, enables and deletes one', async () => {
  const looked = await send('GET', `/Users?filter=${encodeURIComponent('userName eq "riya@acme.example"')}`);
  expect(looked.json()).toMatchObject({ totalResults: 0, Resources: [] });
  const made = await send('POST', '/Users', {
    schemas: [USER, ENTERPRISE],
    ...{ externalId: 'riya', userName: 'riya@acme.example', active: true },
    ...{
      addresses: [{ primary: false, type: 'work', country: 'IN' }],
      displayName: 'Riya Sen',
      meta: { resourceType: 'User' },
    },
    name: { formatted: 'Riya Sen', familyName: 'Sen', givenName: 'Riya' },
    emails: [{ primary: true, type: 'work', value: 'riya@acme.example' }],
    ...{
      preferredLanguage: 'en',
      phoneNumbers: [{ type: 'work', value: '1' }],
      [ENTERPRISE]: { department: 'R&D' },
    },
  });
  expect(made.statusCode, made.body).toBe(201);
  const { id } = made.json();
  expect(made.headers['location']).toBe(`http://127.0.0.1:8080/scim/v2/Users/${id}`);
  const changed = await patch(
    `/Users/${id}`,
    { op: 'Replace', path: 'emails[type eq "work"].value', value: 'r.sen@acme.example' },
    { op: 'Add', path: 'emails[type eq "other"].value', value: 'riya@home.example' },
    { op: 'Replace', path: 'name.familyName', value: 'Sen-Roy' },
    { op: 'Add', path: `${ENTERPRISE}:manager`, value: 'usr_1' },
    { op: 'Replace', path: 'addresses[type eq "work"].country', value: 'DE' },
    { op: 'Add', path: 'roles[primary eq "True"].value', value: 'Billing' },
    {
      op: 'Add',
      value: { displayName: 'Riya Sen-Roy', [`${ENTERPRISE}:employeeNumber`]: '7', externalId: 'riya2' },
    },
  );
  expect(changed.statusCode, changed.body).toBe(200);
  expect(changed.json()).toMatchObject({
    ...{
      displayName: 'Riya Sen-Roy',
      externalId: 'riya2',
      name: { familyName: 'Sen-Roy', givenName: 'Riya' },
    },
    emails: [
      { primary: true, type: 'work', value: 'r.sen@acme.example' },
      { type: 'other', value: 'riya@home.example' },
    ],
  });
  expect(await roleOf(id)).toBe('billing');
  const off = await patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'False' });
  expect([off.statusCode, off.json().active]).toEqual([200, false]);
  const on = await patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'True' });
  expect(on.json().active).toBe(true);
  expect(await roleOf(id)).toBe('billing');
  await patch(`/Users/${id}`, { op: 'Replace', value: { active: false } });
  expect((await send('DELETE', `/Users/${id}`)).statusCode).toBe(204);
  expect((await send('GET', `/Users/${id}`)).statusCode).toBe(404);
});

test('Entra ID: a group comes empty, its members in slices, is read without them, and loses one by name', async () => {
  const people = await makeMany(250, 'slice');
  const group = await send('POST', '/Groups', {
    schemas: [GROUP, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
    ...{ externalId: 'g1', displayName: 'Platform', meta: { resourceType: 'Group' } },
  });
  expect(group.statusCode, group.body).toBe(201);
  const { id } = group.json();
  for (let i = 0; i < people.length; i += 100) {
    const value = people.slice(i, i + 100).map((one) => ({ value: one }));
    const answer = await patch(`/Groups/${id}?excludedAttributes=members`, {
      op: 'Add',
      path: 'members',
      value,
    });
    expect([answer.statusCode, answer.json().members]).toEqual([200, undefined]);
  }
  expect(await membersOf(id)).toEqual(people);
  const [one = '', two = ''] = people;
  expect(await roleOf(one)).toBe('admin');
  await patch(`/Groups/${id}`, { op: 'Remove', path: 'members', value: [{ value: one }] });
  await patch(`/Groups/${id}`, { op: 'Remove', path: `members[value eq "${two}"]` });
  expect(await membersOf(id)).toEqual(people.slice(2));
  expect([await roleOf(one), await roleOf(two)]).toEqual(['viewer', 'viewer']);
  await patch(`/Groups/${id}`, { op: 'Remove', path: 'members', value: [] });
  expect(await membersOf(id)).toHaveLength(248);
  await patch(`/Groups/${id}`, { op: 'Replace', path: 'displayName', value: 'Books' });
  expect(await roleOf(people[9] as string)).toBe('billing');
  await patch(`/Groups/${id}`, { op: 'Remove', path: 'members' });
  expect([await membersOf(id), await roleOf(people[9] as string)]).toEqual([[], 'viewer']);
  expect((await send('DELETE', `/Groups/${id}`)).statusCode).toBe(204);
});

test('Okta: makes a user, replaces it whole, deactivates by value, and pushes a group', async () => {
  const looked = await send(
    'GET',
    `/Users?filter=${encodeURIComponent('userName eq "omar@acme.example"')}&startIndex=1&count=100`,
  );
  expect(looked.json().totalResults).toBe(0);
  const body = {
    schemas: [USER],
    userName: 'omar@acme.example',
    name: { givenName: 'Omar', familyName: 'Khan' },
    emails: [{ primary: true, value: 'omar@acme.example', type: 'work' }],
    ...{
      displayName: 'Omar Khan',
      locale: 'en-US',
      externalId: '00u1',
      groups: [],
      password: '1mz050nq',
      active: true,
    },
  };
  const made = await send('POST', '/Users', body);
  expect(made.statusCode, made.body).toBe(201);
  const { id } = made.json();
  const put = await send('PUT', `/Users/${id}`, {
    ...(made.json() as object),
    name: { givenName: 'Umar', familyName: 'Khan' },
  });
  expect([put.statusCode, put.json().name.givenName, put.json().externalId]).toEqual([200, 'Umar', '00u1']);
  const off = await patch(`/Users/${id}`, { op: 'replace', value: { active: false } });
  expect(off.json().active).toBe(false);
  expect((await send('PUT', `/Users/${id}`, { ...body, active: true })).json().active).toBe(true);
  const group = await send('POST', '/Groups', { schemas: [GROUP], displayName: 'Books', members: [] });
  const path = `/Groups/${group.json().id}`;
  await patch(path, { op: 'replace', value: { id: group.json().id, displayName: 'Books' } });
  await patch(path, { op: 'add', path: 'members', value: [{ value: id, display: 'omar@acme.example' }] });
  expect(await roleOf(id)).toBe('billing');
  const replaced = await send('PUT', path, {
    schemas: [GROUP],
    displayName: 'Books',
    members: [{ value: id }],
  });
  expect(replaced.json().members).toHaveLength(1);
  await patch(
    path,
    { op: 'remove', path: `members[value eq "${id}"]` },
    { op: 'add', path: 'members', value: [] },
  );
  expect([await membersOf(group.json().id), await roleOf(id)]).toEqual([[], 'viewer']);
  const twice = await send('POST', '/Groups', { schemas: [GROUP], displayName: 'BOOKS' });
  expect([twice.statusCode, twice.json().scimType]).toEqual([409, 'uniqueness']);
});

test('a version that was read is the one that is changed, or nothing is', async () => {
  const user = await addUser('version@acme.example');
  const group = await addGroup('Versions');
  for (const path of [`/Users/${user.id}`, `/Groups/${group.id}`]) {
    const read = await send('GET', path);
    const etag = String(read.headers['etag']);
    expect(read.json().meta.version).toBe(etag);
    expect((await send('GET', path, undefined, { 'if-none-match': etag })).statusCode).toBe(304);
    const body = {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'add', path: 'externalId', value: 'v2' }],
    };
    const changed = await send('PATCH', path, body, { 'if-match': etag });
    expect([changed.statusCode, changed.headers['etag'] === etag]).toEqual([200, false]);
    expect((await send('PATCH', path, body, { 'if-match': etag })).statusCode).toBe(412);
    expect((await send('DELETE', path, undefined, { 'if-match': etag })).statusCode).toBe(412);
  }
});

test('the service tells what it supports, and what it does not', async () => {
  const config = (await send('GET', '/ServiceProviderConfig')).json();
  expect(config).toMatchObject({
    patch: { supported: true },
    etag: { supported: true },
    bulk: { supported: false },
  });
  const schemas = (await send('GET', '/Schemas')).json();
  expect(schemas.Resources.map(({ id }: { id: string }) => id)).toEqual([
    USER,
    'urn:ietf:params:scim:schemas:core:2.0:Group',
  ]);
  expect((await send('GET', `/Schemas/${USER}`)).json().attributes[0]).toMatchObject({
    name: 'userName',
    required: true,
  });
  expect((await send('GET', '/ResourceTypes/User')).json()).toMatchObject({
    endpoint: '/Users',
    schema: USER,
  });
  for (const [method, path, status] of [
    ...([
      ['GET', '/Schemas/urn:none', 404],
      ['POST', '/Schemas', 405],
      ['GET', '/Me', 501],
      ['POST', '/Bulk', 501],
      ['POST', '/.search', 501],
    ] as const),
    ...([
      ['GET', '/Things', 404],
      ['GET', '/', 404],
      ['PUT', '/Users', 405],
      ['GET', '/Users/.search', 405],
      ['POST', '/Users/usr_1', 405],
    ] as const),
  ]) {
    const answer = await send(method, path, method === 'GET' ? undefined : {});
    expect([path, answer.statusCode, answer.json().status]).toEqual([path, status, String(status)]);
  }
  const text = await send('POST', '/Users', 'x', { 'content-type': 'text/plain' });
  expect([text.statusCode, text.headers['content-type']]).toEqual([
    415,
    'application/scim+json; charset=utf-8',
  ]);
  expect(harness.defects).toEqual([]);
});

test('two hundred changes at once of a group of 5,000 end as they would one after the other', async () => {
  await rows(`delete from org_member where user_id like 'usr_00000000000%'`);
  await rows(`delete from person where email_key like 'slice%'`);
  const people = await makeMany(5_100, 'many');
  const [inside, outside] = [people.slice(0, 5_000), people.slice(5_000)];
  const group = await addGroup('Everybody', inside);
  expect(await membersOf(group.id)).toHaveLength(5_000);
  const path = `/Groups/${group.id}?excludedAttributes=members`;
  const changes = [
    ...outside.map((value) => ({ op: 'Add', path: 'members', value: [{ value }] })),
    ...inside.slice(0, 100).map((value) => ({ op: 'Remove', path: `members[value eq "${value}"]` })),
  ];
  const answers = await Promise.all(changes.map((change) => patch(path, change)));
  expect(answers.filter(({ statusCode }) => statusCode !== 200)).toEqual([]);
  expect(await membersOf(group.id)).toEqual([...inside.slice(100), ...outside]);
  const version = answers.map(({ headers }) => String(headers['etag']));
  expect(new Set(version).size).toBe(200);
});

test('whoever was deactivated and comes by single sign-on leaves no row; a new name leads to the same person', async () => {
  const user = await addUser('ghost@acme.example');
  const come = async (email: string) => {
    provider.person = { sub: email, email, email_verified: true };
    const begun = await leave(harness, 'acme');
    return arrive(harness, await browse(String(begun.headers.location)), cookieOf(begun, 'svc_sso'));
  };
  const count = () =>
    rows(`select (select count(*) from person) as people, (select count(*) from org_member) as members,
    (select count(*) from session) as sessions, (select count(*) from outbox) as events`);
  await patch(`/Users/${user.id}`, { op: 'replace', path: 'userName', value: 'spirit@acme.example' });
  expect((await come('spirit@acme.example')).statusCode).toBe(303);
  await patch(`/Users/${user.id}`, { op: 'replace', path: 'active', value: false });
  const before = await count();
  for (const email of ['spirit@acme.example', 'ghost@acme.example'])
    expect((await come(email)).statusCode).toBe(403);
  expect(await count()).toEqual(before);
  const [log] = await rows<{ text: string }>(
    `select string_agg(t::text, '') as text from audit_entry t where outcome = 'denied'`,
  );
  expect(log?.text).not.toMatch(/ghost@|spirit@/);
  expect(harness.defects).toEqual([]);
});
