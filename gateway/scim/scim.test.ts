// Directories over the wire: what they may do, what they see, and that nothing leaves their organization.
import { openEgress } from '@svc/core/egress/index.ts';
import { readConfig } from '@svc/core/kernel/index.ts';
import { expect, test } from 'vitest';
import { codeOf, startHarness } from '../../test/registry/harness.ts';
import { connectDirectory } from '../../test/sim/directory.ts';
import { startNameServer } from '../../test/sim/dns.ts';

const names = await startNameServer();
const egress = openEgress(readConfig({ SVC_DNS_SERVERS: names.address, SVC_EGRESS_ALLOW: '127.0.0.1' }));
const harness = await startHarness({ services: { egress } });
const { a, b, call, pool } = harness;
const directory = await connectDirectory(harness, names, { tenant: a, domain: 'acme.example' });
const { send, addUser, addGroup, patch } = directory;
const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const fault = (answer: { statusCode: number; json(): { scimType?: string } }) => [
  answer.statusCode,
  answer.json().scimType,
];

async function rows<T>(text: string, values: unknown[] = []): Promise<T[]> {
  return (await pool.query<T>({ name: `test.${text}`.slice(0, 60), text, values })).rows;
}
const member = async (id: string) =>
  (
    await rows<{ role: string; status: string }>(
      'select role, status from org_member where org_id = $1 and user_id = $2',
      [a.org.id, id],
    )
  )[0];

/** All that a request may have changed. */
async function everything(): Promise<unknown> {
  return rows(`select (select json_agg(t order by user_id, org_id) from org_member t) as members,
    (select json_agg(t order by user_id) from scim_user t) as users, (select json_agg(t order by id) from scim_group t) as groups,
    (select json_agg(t order by group_id, user_id) from scim_group_member t) as inside,
    (select count(*) from person) as people, (select count(*) from outbox) as events, (select count(*) from audit_entry) as acts`);
}

test('a token is shown once, kept as a hash, at most three at a time, and ends at once', async () => {
  const tenant = await harness.makeTenant('tokens');
  const make = () => call('POST', '/v1/org/scim/token', { key: tenant.key, body: {} });
  const made = (await make()).json();
  expect(made).toMatchObject({ url: 'http://127.0.0.1:8080/scim/v2', hint: `...${made.token.slice(-4)}` });
  expect(made.token).toMatch(/^svc_scim_[0-9A-Za-z]{38}$/);
  await make();
  await make();
  expect(codeOf(await make())).toBe('plan_limit_reached');
  const [dump] = await rows<{ text: string }>(
    `select (select string_agg(t::text, '') from scim_token t) || (select string_agg(t::text, '') from audit_entry t) as text`,
  );
  expect(dump?.text).not.toContain(made.token.slice(9, 41));
  const ask = (key: string) => call('GET', '/scim/v2/Users', { key });
  expect((await ask(made.token)).statusCode).toBe(200);
  const sso = (await call('GET', '/v1/org/sso', { key: tenant.key })).json();
  expect(sso.scim_tokens).toHaveLength(3);
  expect(sso.scim_tokens[0]).toMatchObject({ id: made.id, hint: made.hint });
  expect(sso.scim_tokens[0].last_used_at).not.toBeNull();
  expect((await call('DELETE', `/v1/org/scim/token/${made.id}`, { key: b.key })).statusCode).toBe(404);
  expect((await call('DELETE', `/v1/org/scim/token/${made.id}`, { key: tenant.key })).statusCode).toBe(204);
  const refused = await ask(made.token);
  expect([refused.statusCode, refused.json().schemas, refused.json().status]).toEqual([
    ...[401, ['urn:ietf:params:scim:api:messages:2.0:Error'], '401'],
  ]);
  expect(refused.headers['content-type']).toBe('application/scim+json; charset=utf-8');
  for (const key of [tenant.key, 'svc_scim_', `${made.token}x`, `svc_scim_${'a'.repeat(38)}`])
    expect((await ask(key)).statusCode).toBe(401);
  expect((await call('GET', '/scim/v2/Users')).statusCode).toBe(401);
});

test('a new address becomes a person and a member; one that is a member already is a conflict that changes nothing', async () => {
  const more = {
    externalId: 'x1',
    name: { givenName: 'Asha', familyName: 'Rao' },
    emails: [{ value: 'asha@acme.example', type: 'work', primary: true }],
  };
  const made = await addUser('Asha@Acme.example', {
    ...more,
    title: 'Dr',
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: 'x' },
    password: 'a secret of theirs',
  });
  expect(made).toMatchObject({ schemas: [USER], userName: 'Asha@Acme.example', active: true, ...more });
  expect(made).not.toHaveProperty('password');
  expect(made).not.toHaveProperty('title');
  expect(await member(made.id)).toEqual({ role: 'developer', status: 'active' });
  expect(await rows('select name, email from person where id = $1', [made.id])).toEqual([
    { name: 'Asha Rao', email: 'Asha@Acme.example' },
  ]);
  await patch(`/Users/${made.id}`, { op: 'replace', path: 'displayName', value: 'Asha R.' });
  const before = (await send('GET', `/Users/${made.id}`)).json();
  const again = await send('POST', '/Users', {
    schemas: [USER],
    userName: 'ASHA@acme.example',
    externalId: 'x2',
  });
  expect(fault(again)).toEqual([409, 'uniqueness']);
  expect((await send('GET', `/Users/${made.id}`)).json()).toEqual(before);
  expect(await rows(`select 1 from scim_user where attributes::text like '%secret%'`)).toEqual([]);
});

test('only addresses of proved domains come in, and nobody of another organization is seen or touched', async () => {
  for (const userName of ['eve@elsewhere.example', 'eve', '', 'eve@sub.acme.example', 'eve@borealis.example'])
    expect([userName, ...fault(await send('POST', '/Users', { schemas: [USER], userName }))]).toEqual([
      userName,
      400,
      'invalidValue',
    ]);
  const foreign = await harness.makePerson(b, 'owner');
  for (const [method, body] of [
    ['GET'],
    ['DELETE'],
    ['PUT', { schemas: [USER], userName: 'x@acme.example' }],
  ] as const)
    expect((await send(method, `/Users/${foreign.id}`, body)).statusCode).toBe(404);
  expect((await patch(`/Users/${foreign.id}`, { op: 'replace', value: { active: false } })).statusCode).toBe(
    404,
  );
  expect((await send('GET', `/Users?filter=userName eq "${foreign.email}"`)).json().totalResults).toBe(0);
  const group = await addGroup('Strangers');
  expect(
    fault(await patch(`/Groups/${group.id}`, { op: 'add', path: 'members', value: [{ value: foreign.id }] })),
  ).toEqual([400, 'invalidValue']);
  // A person of another organization whose address is of the proved domain is linked, and keeps password and name there.
  const linked = await harness.makePerson({ ...b, org: { ...b.org, slug: 'acme' } }, 'owner');
  const [before] = await rows('select password_hash, name, email from person where id = $1', [linked.id]);
  const made = await addUser(linked.email, { displayName: 'Somebody Else', password: 'mine now' });
  expect(made.id).toBe(linked.id);
  expect(await rows('select password_hash, name, email from person where id = $1', [linked.id])).toEqual([
    before,
  ]);
  await send('DELETE', `/Users/${linked.id}`);
  expect(await rows('select role, status from org_member where user_id = $1', [linked.id])).toEqual([
    { role: 'owner', status: 'active' },
  ]);
});

test('whoever is deactivated is out at once, keeps the role, and is let back in with it', async () => {
  const person = await harness.makePerson(a, 'billing');
  const key = await harness.signIn(person);
  const see = () => call('GET', `/v1/orgs/${a.org.id}`, { key });
  expect((await see()).statusCode).toBe(200);
  expect(
    (await patch(`/Users/${person.id}`, { op: 'Replace', path: 'active', value: 'False' })).json().active,
  ).toBe(false);
  expect((await see()).statusCode).toBe(401);
  expect(await member(person.id)).toEqual({ role: 'billing', status: 'suspended' });
  const events = await rows<{ topic: string }>(
    `select topic from outbox where payload ->> 'user_id' = $1 order by created_at`,
    [person.id],
  );
  expect(events.map(({ topic }) => topic)).toEqual(['member.added', 'member.deprovisioned']);
  const acts = await rows(
    `select actor_type, actor_id from audit_entry where action = 'members.suspend' and target_id = $1`,
    [person.id],
  );
  expect(acts).toEqual([{ actor_type: 'scim', actor_id: directory.token_id }]);
  await patch(`/Users/${person.id}`, { op: 'Replace', value: { active: true } });
  expect(await member(person.id)).toEqual({ role: 'billing', status: 'active' });
  expect((await send('DELETE', `/Users/${person.id}`)).statusCode).toBe(204);
  expect(await member(person.id)).toBeUndefined();
  expect((await send('GET', `/Users/${person.id}`)).statusCode).toBe(404);
});

test('the last owner stays, of two that go at once one does, and no owner is renamed or given another role', async () => {
  const tenant = await harness.makeTenant('owned');
  const owned = await connectDirectory(harness, names, { tenant, domain: 'owned.example' });
  const one = await harness.makePerson(tenant, 'owner');
  const two = await harness.makePerson(tenant, 'owner');
  expect(
    fault(
      await owned.patch(`/Users/${one.id}`, {
        op: 'replace',
        path: 'userName',
        value: 'mallory@owned.example',
      }),
    ),
  ).toEqual([400, 'mutability']);
  await owned.patch(`/Users/${one.id}`, { op: 'add', path: 'roles', value: [{ value: 'viewer' }] });
  const off = { op: 'replace', path: 'active', value: false };
  const answers = await Promise.all([
    owned.patch(`/Users/${one.id}`, off),
    owned.send('DELETE', `/Users/${two.id}`),
  ]);
  expect(answers.filter(({ statusCode }) => statusCode < 300)).toHaveLength(1);
  expect(
    answers.filter(({ statusCode }) => statusCode === 400).map((answer) => answer.json().scimType),
  ).toEqual(['mutability']);
  const left = await rows<{ role: string }>(
    `select role from org_member where org_id = $1 and role = 'owner' and status = 'active'`,
    [tenant.org.id],
  );
  expect(left).toHaveLength(1);
});

test('filters find what they say and nothing else; what is not understood is refused', async () => {
  const made = await addUser('filter@acme.example', {
    externalId: 'F-1',
    displayName: 'Filter "Q" Person',
    emails: [
      { value: 'f@home.example', type: 'home' },
      { value: 'f@work.example', type: 'work' },
    ],
  });
  const find = async (filter: string) => {
    const answer = await send('GET', `/Users?filter=${encodeURIComponent(filter)}`);
    return answer.statusCode === 200
      ? answer.json().Resources.map(({ id }: { id: string }) => id)
      : fault(answer);
  };
  for (const filter of [
    'userName eq "FILTER@acme.example"',
    'username Eq "filter@acme.example" and active eq true',
    'externalId eq "F-1"',
    `id eq "${made.id}"`,
    'displayName eq "filter \\"q\\" person"',
    'emails.value eq "f@work.example"',
    'emails eq "f@work.example"',
    'emails[type eq "work"].value eq "f@work.example"',
    'urn:ietf:params:scim:schemas:core:2.0:User:userName eq "filter@acme.example"',
    'userName eq "filter@acme.example" and active eq "True"',
  ])
    expect([filter, await find(filter)]).toEqual([filter, [made.id]]);
  for (const filter of [
    ...[
      'userName eq "nobody@acme.example"',
      'externalId eq "f-1"',
      'emails[type eq "home"].value eq "f@work.example"',
    ],
    ...['userName eq "filter@acme.example" and active eq false', 'userName eq "no address"', 'id eq "usr_1"'],
  ])
    expect([filter, await find(filter)]).toEqual([filter, []]);
  for (const filter of [
    ...[
      'userName',
      'userName eq',
      'userName eq filter',
      'userName co "f"',
      'userName eq "f" or active eq true',
      'not (active eq true)',
    ],
    ...[
      '(userName eq "f")',
      'nothing eq "f"',
      'userName eq "f" and',
      'userName eq "f" active eq true',
      'emails[type eq "work" eq "f"',
    ],
    ...[
      'emails[nothing eq "f"].value eq "f"',
      `userName eq "f" and ${'x'.repeat(2_001)}`,
      'userName eq "\\x"',
      'userName pr',
    ],
  ])
    expect([filter, await find(filter)]).toEqual([filter, [400, 'invalidFilter']]);
});

test('pages walk every user once, and only what is asked for is shown', async () => {
  const all = (await send('GET', '/Users?count=200')).json();
  const walked: string[] = [];
  for (let start = 1; start <= all.totalResults; start += 2) {
    const part = (await send('GET', `/Users?startIndex=${start}&count=2`)).json();
    expect([part.totalResults, part.startIndex]).toEqual([all.totalResults, start]);
    walked.push(...part.Resources.map(({ id }: { id: string }) => id));
  }
  expect(walked).toEqual(all.Resources.map(({ id }: { id: string }) => id));
  expect((await send('GET', '/Users?count=0')).json()).toMatchObject({
    totalResults: all.totalResults,
    Resources: [],
  });
  expect((await send('GET', '/Users?startIndex=-5&count=1')).json()).toMatchObject({
    startIndex: 1,
    itemsPerPage: 1,
  });
  expect(fault(await send('GET', '/Users?count=many'))).toEqual([400, 'invalidValue']);
  const only = (await send('GET', '/Users?count=1&attributes=userName,emails.value')).json().Resources[0];
  expect(Object.keys(only).sort()).toEqual(['emails', 'id', 'schemas', 'userName']);
  const user = await addUser('shown@acme.example');
  const group = await addGroup('Shown', [user.id]);
  const without = (await send('GET', `/Groups/${group.id}?excludedAttributes=members`)).json();
  expect([without.displayName, without.members]).toEqual(['Shown', undefined]);
  const search = {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'],
    filter: 'displayName eq "shown"',
    count: 5,
  };
  const found = (await send('POST', '/Groups/.search', search)).json();
  expect(found.Resources[0]).toMatchObject({ id: group.id, members: [{ value: user.id, type: 'User' }] });
  const wanted = { ...search, filter: 'userName eq "SHOWN@acme.example"', attributes: ['userName'] };
  const people = (await send('POST', '/Users/.search', wanted)).json();
  expect(people).toMatchObject({
    totalResults: 1,
    Resources: [{ id: user.id, userName: 'shown@acme.example' }],
  });
  expect(Object.keys(people.Resources[0]).sort()).toEqual(['id', 'schemas', 'userName']);
  const faulty = await send('POST', '/Users/.search', { ...search, filter: 'userName eq' });
  expect(fault(faulty)).toEqual([400, 'invalidFilter']);
});

test('a shape that is not understood changes nothing and is in the log with its reason', async () => {
  const user = await addUser('shape@acme.example', { displayName: 'Shape' });
  const group = await addGroup('Shapes', [user.id]);
  const P = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
  const op = (more: object) => ({
    schemas: [P],
    Operations: [{ op: 'replace', path: 'displayName', value: 'Changed' }, more],
  });
  const wrong: [string, unknown, string][] = [
    ['Users', op({ op: 'move', path: 'displayName', value: 'x' }), 'invalidSyntax'],
    ['Users', op({ op: 'replace', path: 'nothing', value: 'x' }), 'invalidPath'],
    ['Users', op({ op: 'replace', path: 'displayName[a eq "b"]', value: 'x' }), 'invalidPath'],
    ['Users', op({ op: 'replace', path: 'active', value: 'maybe' }), 'invalidValue'],
    ['Users', op({ op: 'replace', path: 'active', value: [true] }), 'invalidValue'],
    ['Users', op({ op: 'replace', value: 'active' }), 'invalidValue'],
    ['Users', op({ op: 'replace', path: 'displayName', value: { a: 1 } }), 'invalidValue'],
    ['Users', op({ op: 'remove', path: 'userName' }), 'mutability'],
    ['Users', op({ op: 'replace', path: 'groups', value: [] }), 'mutability'],
    ['Users', op({ op: 'replace', value: { id: 'usr_other' } }), 'mutability'],
    ['Users', op({ op: 'remove' }), 'noTarget'],
    ['Users', op({ op: 'add', path: 'roles', value: [{ value: 'owner' }] }), 'invalidValue'],
    ['Users', op({ op: 'add', path: 'emails[type sw "w"].value', value: 'a@b.example' }), 'invalidFilter'],
    ['Users', { schemas: [P], Operations: {} }, 'invalidSyntax'],
    ['Users', { Operations: [{ op: 'replace', path: 'displayName', value: 'x' }] }, 'invalidSyntax'],
    ['Users', [], 'invalidSyntax'],
    ['Users', '{"schemas":', 'invalidSyntax'],
    ['Users', '{"schemas":["a"],"Operations":[],"Operations":[]}', 'invalidSyntax'],
    ['Groups', op({ op: 'replace', path: 'members', value: null }), 'invalidValue'],
    ['Groups', op({ op: 'remove', path: 'members', value: null }), 'invalidValue'],
    ['Groups', op({ op: 'add', path: 'members', value: user.id }), 'invalidValue'],
    [
      'Groups',
      op({ op: 'add', path: 'members', value: [{ value: group.id, type: 'Group' }] }),
      'invalidValue',
    ],
    ['Groups', op({ op: 'add', path: 'members', value: [{ display: 'x' }] }), 'invalidValue'],
    ['Groups', op({ op: 'replace', path: `members[value eq "${user.id}"]`, value: [] }), 'invalidPath'],
    ['Groups', op({ op: 'remove', path: 'members[display eq "x"]' }), 'invalidFilter'],
    ['Groups', op({ op: 'remove', path: 'members.value' }), 'invalidPath'],
    ['Groups', op({ op: 'remove', path: 'displayName' }), 'mutability'],
  ];
  const before = await everything();
  for (const [type, body, scim_type] of wrong) {
    const path = `/${type}/${type === 'Users' ? user.id : group.id}`;
    expect([body, ...fault(await send('PATCH', path, body))]).toEqual([body, 400, scim_type]);
  }
  expect(await everything()).toEqual(before);
  const log = (await call('GET', `/v1/org/scim/log?limit=${wrong.length}`, { key: a.key })).json();
  expect(log.data.map(({ reason }: { reason: string }) => reason)).toEqual(
    wrong.map(([, , reason]) => reason).reverse(),
  );
  expect(log.data[0]).toMatchObject({
    method: 'PATCH',
    path: `/Groups/${group.id}`,
    resource_type: 'Group',
    resource_id: group.id,
    status: 400,
    token_id: directory.token_id,
  });
});

test('the log has every request of the directory, without what people are called', async () => {
  await send('GET', '/Users?filter=userName eq "private@acme.example"');
  await send('GET', '/Users/private@acme.example');
  await send('GET', '/private@acme.example/x');
  await send('POST', '/Users', { schemas: [USER], userName: 'private@elsewhere.example' });
  const log = (await call('GET', '/v1/org/scim/log?limit=4', { key: a.key })).json();
  expect(log.data.map(({ path, status }: { path: string; status: number }) => [path, status])).toEqual([
    ['/Users', 400],
    ['/…/…', 404],
    ['/Users/…', 404],
    ['/Users', 200],
  ]);
  expect(log.next_cursor).not.toBe('');
  const next = (
    await call('GET', `/v1/org/scim/log?limit=4&cursor=${log.next_cursor}`, { key: a.key })
  ).json();
  expect(next.data[0].id).toBeLessThan(log.data[3].id);
  expect((await call('GET', '/v1/org/scim/log', { key: b.key })).json().data).toEqual([]);
  expect(harness.defects).toEqual([]);
});
