// The rights of a key depend on who made it: every operation with keys made in every role, and after the maker's role changed.
import { type Operation, type Role, type Scope, scopes } from '@svc/core/kernel/index.ts';
import { mayGrant } from '@svc/core/keys/rights.ts';
import { operations } from '@svc/core/operations/index.ts';
import { describe, expect, test } from 'vitest';
import { codeOf, type Method, startHarness } from './harness.ts';

const harness = await startHarness();
const { a } = harness;
const roles = ['owner', 'admin', 'developer', 'billing', 'viewer'] as const satisfies readonly Role[];
const keyed = operations.filter(({ audience }) => audience.kind === 'key' && audience.scopes !== 'any');

const GONE = "delete from org_member where user_id = $1 and $2 = ''";
const SUSPENDED = 'update org_member set status = $2 where user_id = $1';

/** The maker's role now, or what became of an owner. */
type Standing = Role | 'gone' | 'suspended';

interface Made {
  readonly role: Standing;
  readonly secret: string;
}

/** A key with every scope whose maker has `role` now. */
async function keyOf(role: Standing): Promise<Made> {
  const is_member = role !== 'gone' && role !== 'suspended';
  const person = await harness.makePerson(a, is_member ? role : 'owner');
  const { secret } = await harness.makeKey(a, { created_by: person.id });
  if (role === 'gone') await setMember(person.id, GONE, '');
  if (role === 'suspended') await setMember(person.id, SUSPENDED, 'suspended');
  return { role, secret };
}

function setMember(user_id: string, text: string, value: string): Promise<unknown> {
  return harness.pool.query({ name: '', text, values: [user_id, value] });
}

const made = await Promise.all([...roles, 'gone' as const, 'suspended' as const].map(keyOf));

function request(operation: Operation, key: string) {
  const path = operation.path
    .replace('/v1/orgs/:id', `/v1/orgs/${a.org.id}`)
    .replace(':id', operation.path.startsWith('/v1/keys') ? 'key_01KACZ3V8S6T5R4Q3P2N1M0K9J' : 'nothing')
    .replaceAll(/:[a-z_]+/g, 'nothing');
  const has_body = ['POST', 'PATCH', 'PUT'].includes(operation.method);
  return harness.call(operation.method as Method, path, {
    key,
    ...(has_body ? { body: '{"no such field":1' } : {}),
  });
}

function admits({ audience }: Operation, role: Standing): boolean {
  if (audience.kind !== 'key' || audience.sandbox === 'only') return false;
  if (role === 'gone' || role === 'suspended') return false;
  return audience.session === 'any' || (audience.session?.includes(role) ?? true);
}

describe.each(keyed.map((operation) => [operation.name, operation] as const))('%s', (_name, operation) => {
  test('is done with a key exactly where its maker may do it now', async () => {
    for (const { role, secret } of made) {
      const answer = await request(operation, secret);
      const refused = [401, 403].includes(answer.statusCode);
      expect([role, refused]).toEqual([role, !admits(operation, role)]);
      if (refused) expect([role, codeOf(answer)]).toEqual([role, 'permission_denied']);
    }
  });
});

test('a role grants the scopes that open something to it, and no other', () => {
  for (const scope of scopes) {
    if (scope === 'inference') continue;
    const opened = keyed.filter(
      ({ audience, name }) =>
        audience.kind === 'key' &&
        audience.scopes !== 'any' &&
        audience.scopes.includes(scope) &&
        // Everybody may; it is no reason to give a key rights over money.
        name !== 'credits.checkin',
    );
    for (const role of roles) {
      const may = opened.some((operation) => admits(operation, role));
      expect([scope, role, mayGrant(role, scope)]).toEqual([scope, role, may]);
    }
  }
});

const wanted = (more: object) => ({ project_id: a.live.id, name: 'made', ...more });

test('a developer gives no key what no developer may do, by no detour', async () => {
  const developer = await harness.signIn(await harness.makePerson(a, 'developer'));
  const body = wanted({ scopes: ['inference', 'manage:credits'] });
  const refused = await harness.call('POST', '/v1/keys', { key: developer, body });
  expect([refused.statusCode, refused.json().error.param]).toEqual([403, 'scopes']);
  const service = await harness.call('POST', '/v1/keys', {
    key: developer,
    body: wanted({ scopes: ['inference'], service: true }),
  });
  expect([service.statusCode, service.json().error.param]).toEqual([403, 'service']);
  const plain = await harness.call('POST', '/v1/keys', {
    key: developer,
    body: wanted({ scopes: ['manage:keys'] }),
  });
  expect(plain.statusCode).toBe(201);
  const key: string = plain.json().secret;
  for (const more of [
    { scopes: ['manage:keys', 'manage:credits'] },
    { scopes: ['manage:keys'], service: true },
  ]) {
    expect((await harness.call('POST', '/v1/keys', { key, body: wanted(more) })).statusCode).toBe(403);
  }
});

test('who is demoted takes the rights of their keys along, of keys made by those keys too, and gets them back', async () => {
  const person = await harness.makePerson(a, 'admin');
  const { secret } = await harness.makeKey(a, { created_by: person.id });
  const second = await harness.call('POST', '/v1/keys', {
    key: secret,
    body: wanted({ scopes: ['manage:keys'] }),
  });
  const keys: string[] = [secret, second.json().secret];
  const tried = async () => {
    const answers = keys.map((key) =>
      harness.call('POST', '/v1/keys', { key, body: wanted({ scopes: ['manage:keys'] }) }),
    );
    return (await Promise.all(answers)).map(({ statusCode }) => statusCode);
  };
  expect(await tried()).toEqual([201, 201]);
  await setMember(person.id, 'update org_member set role = $2 where user_id = $1', 'viewer');
  expect(await tried()).toEqual([403, 403]);
  // What every key may do is still allowed.
  for (const key of keys) expect((await harness.call('GET', '/v1/models', { key })).statusCode).toBe(200);
  await setMember(person.id, 'update org_member set role = $2 where user_id = $1', 'admin');
  expect(await tried()).toEqual([201, 201]);
});

test('a service key of an owner keeps its scopes whatever becomes of the owner, and makes service keys', async () => {
  const person = await harness.makePerson(a, 'owner');
  const session = await harness.signIn(person);
  const body = wanted({ scopes: ['manage:keys'], service: true });
  const made_so = await harness.call('POST', '/v1/keys', { key: session, body });
  expect([made_so.statusCode, made_so.json().created_by]).toEqual([201, null]);
  await setMember(person.id, GONE, '');
  const next = await harness.call('POST', '/v1/keys', { key: made_so.json().secret, body });
  expect([next.statusCode, next.json().created_by]).toEqual([201, null]);
  const { rows } = await harness.pool.query<{ after: { service?: boolean } }>({
    name: 'test.audit',
    text: "select after from audit_entry where action = 'keys.create' and target_id = $1",
    values: [made_so.json().id],
  });
  expect(rows).toEqual([{ after: expect.objectContaining({ service: true }) }]);
});

describe('management scopes that would outlast the role of who gives them', async () => {
  const developer = await harness.makePerson(a, 'developer');
  const session = await harness.signIn(developer);
  const admin = await harness.signIn(await harness.makePerson(a, 'admin'));
  const owner = await harness.makePerson(a, 'owner');
  const service = (scopes: readonly Scope[]) => harness.makeKey(a, { scopes });
  const of = (created_by: string, scopes: readonly Scope[]) =>
    harness.makeKey(a, { scopes, created_by: created_by as typeof owner.id });
  const patch = (key: string, id: string, body: object) =>
    harness.call('PATCH', `/v1/keys/${id}`, { key, body });
  const rotate = (key: string, id: string) =>
    harness.call('POST', `/v1/keys/${id}/rotate`, { key, body: { grace_seconds: 60 } });
  const managing: readonly Scope[] = ['inference', 'manage:keys'];

  test.each([
    ['a service key', service],
    ["another person's key", (scopes: readonly Scope[]) => of(owner.id, scopes)],
  ])('%s gets them from an owner or admin alone', async (_name, make) => {
    const narrow = await make(['inference']);
    const own_key = await of(developer.id, managing);
    for (const by of [session, own_key.secret]) {
      const refused = await patch(by, narrow.id, { scopes: managing });
      expect([refused.statusCode, refused.json().error.details.scope]).toEqual([403, 'manage:keys']);
      expect((await patch(by, narrow.id, { name: 'renamed' })).statusCode).toBe(200);
    }
    expect((await patch(admin, narrow.id, { scopes: managing })).statusCode).toBe(200);
    // Once it has them, a narrower set is no gift, and its secret is one.
    expect((await patch(session, narrow.id, { scopes: ['manage:keys'] })).statusCode).toBe(200);
    for (const by of [session, own_key.secret]) expect((await rotate(by, narrow.id)).statusCode).toBe(403);
    const rotated = await rotate(admin, narrow.id);
    expect(rotated.statusCode).toBe(201);
    const before = await harness.call('GET', `/v1/keys/${narrow.id}`, { key: admin });
    expect(rotated.json().created_by).toBe(before.json().created_by);
  });

  test('who made a key gives and rotates as before, by the session and by another key of theirs', async () => {
    const own_key = await of(developer.id, managing);
    for (const by of [session, own_key.secret]) {
      const own = await of(developer.id, ['inference']);
      expect((await patch(by, own.id, { scopes: managing })).statusCode).toBe(200);
      expect((await rotate(by, own.id)).statusCode).toBe(201);
    }
    // Inference alone is no right of management: any developer may roll over a key that leaked.
    const narrow = await service(['inference']);
    expect((await rotate(session, narrow.id)).statusCode).toBe(201);
  });
});
