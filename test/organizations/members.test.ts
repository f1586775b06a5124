// Members: who may change whom, that an organization keeps an owner, and what ends with a membership.
import { shiftClock } from '@svc/core/kernel/index.ts';
import { expect, test } from 'vitest';
import { codeOf } from '../registry/harness.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const { call, makePerson, makeTenant, signIn, roleOf } = world;

async function companyOf(slug: string, owners: number) {
  const tenant = await makeTenant(slug);
  const people = [];
  for (let i = 0; i < owners; i++) people.push(await makePerson(tenant, 'owner'));
  const keys = await Promise.all(people.map(signIn));
  const path = `/v1/orgs/${tenant.org.id}/members`;
  return { tenant, org_id: tenant.org.id, people, keys, path };
}

test('an admin changes and removes members, and no owner', async () => {
  const { tenant, org_id, people, path } = await companyOf('ranks', 1);
  const viewer = await makePerson(tenant, 'viewer');
  const admin = await signIn(await makePerson(tenant, 'admin'));
  const patch = (id: string, role: string) => call('PATCH', `${path}/${id}`, { key: admin, body: { role } });
  const raised = await patch(viewer.id, 'developer');
  expect([raised.statusCode, raised.json().role]).toEqual([200, 'developer']);
  for (const refused of [await patch(viewer.id, 'owner'), await patch(people[0]?.id ?? '', 'viewer')])
    expect([refused.statusCode, codeOf(refused)]).toEqual([403, 'permission_denied']);
  const removal = await call('DELETE', `${path}/${people[0]?.id}`, { key: admin });
  expect([removal.statusCode, codeOf(removal)]).toEqual([403, 'permission_denied']);
  expect((await call('DELETE', `${path}/${viewer.id}`, { key: admin })).statusCode).toBe(204);
  expect(await roleOf(org_id, viewer)).toBeNull();
  expect((await call('DELETE', `${path}/${viewer.id}`, { key: admin })).statusCode).toBe(404);
});

test('of two owners who demote each other at once one succeeds', async () => {
  for (let round = 0; round < 5; round++) {
    const { org_id, people, keys, path } = await companyOf(`duel-${round}`, 2);
    const [one, two] = people as [(typeof people)[0], (typeof people)[0]];
    const answers = await Promise.all([
      call('PATCH', `${path}/${two.id}`, { key: keys[0] as string, body: { role: 'viewer' } }),
      call('PATCH', `${path}/${one.id}`, { key: keys[1] as string, body: { role: 'viewer' } }),
    ]);
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 403]);
    const roles = [await roleOf(org_id, one), await roleOf(org_id, two)].sort();
    expect(roles).toEqual(['owner', 'viewer']);
  }
});

test('of two owners who leave at once one stays, and the last owner neither leaves nor steps down', async () => {
  const { org_id, people, keys, path } = await companyOf('leaving', 2);
  const answers = await Promise.all(
    people.map(({ id }, i) => call('DELETE', `${path}/${id}`, { key: keys[i] as string })),
  );
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([204, 409]);
  const left = answers.findIndex(({ statusCode }) => statusCode === 409);
  const last = { id: people[left]?.id ?? '', key: keys[left] as string };
  expect(await roleOf(org_id, people[left] as { id: `usr_${string}` })).toBe('owner');
  const down = await call('PATCH', `${path}/${last.id}`, { key: last.key, body: { role: 'admin' } });
  expect([down.statusCode, codeOf(down)]).toEqual([409, 'last_owner']);
});

test('a member leaves by himself and removes nobody else', async () => {
  const { tenant, org_id, people, path } = await companyOf('exit', 1);
  const viewer = await makePerson(tenant, 'viewer');
  const key = await signIn(viewer);
  const other = await call('DELETE', `${path}/${people[0]?.id}`, { key });
  expect([other.statusCode, codeOf(other)]).toEqual([403, 'permission_denied']);
  expect((await call('DELETE', `${path}/${viewer.id}`, { key })).statusCode).toBe(204);
  expect(await roleOf(org_id, viewer)).toBeNull();
});

test('whoever is removed has no session in the organization any more, and no way back by an own invitation', async () => {
  const { tenant, org_id, keys, path } = await companyOf('removed', 1);
  const admin = await makePerson(tenant, 'admin');
  const session = await signIn(admin);
  const back = 'back@private.example';
  const invited = await call('POST', `/v1/orgs/${org_id}/invitations`, {
    ...{ key: session, body: { email: back, role: 'admin' } },
  });
  expect(invited.statusCode).toBe(201);
  const token = await world.linkOf('invitation', back);
  expect((await call('DELETE', `${path}/${admin.id}`, { key: keys[0] as string })).statusCode).toBe(204);
  expect((await call('GET', '/v1/auth/session', { key: session })).statusCode).toBe(401);
  const offer = await call('POST', '/v1/invitations/lookup', { body: { token } });
  expect([offer.statusCode, codeOf(offer)]).toEqual([400, 'token_invalid']);
});

test('what was done to members stands in the audit log, with the roles before and after', async () => {
  const { tenant, org_id, keys, path } = await companyOf('logged', 1);
  const viewer = await makePerson(tenant, 'viewer');
  await call('PATCH', `${path}/${viewer.id}`, { key: keys[0] as string, body: { role: 'billing' } });
  await call('DELETE', `${path}/${viewer.id}`, { key: keys[0] as string });
  const { rows } = await world.pool.query<{ action: string; before: object; after: object }>({
    name: 'test.acts',
    text: `select action, before, after from audit_entry where org_id = $1 and target_id = $2 order by id`,
    values: [org_id, viewer.id],
  });
  expect(rows.slice(-2)).toEqual([
    { action: 'members.update', before: { role: 'viewer' }, after: { role: 'billing' } },
    { action: 'members.remove', before: { role: 'billing' }, after: { leaves: false, sessions: 0 } },
  ]);
});

test('nobody met a defect', () => {
  expect(world.defects).toEqual([]);
});

test('a member is shown with these fields and no other, in lists and after a change', async () => {
  const { tenant, org_id, keys, path } = await companyOf('fields', 1);
  const viewer = await makePerson(tenant, 'viewer');
  const shown = {
    ...{ org_id, user_id: viewer.id, email: viewer.email, name: expect.any(String), role: 'viewer' },
    ...{
      grants: [],
      status: 'active',
      source: expect.stringMatching(/^(?:invite|owner)$/),
      two_factor: false,
    },
    ...{ last_seen_at: null, joined_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) },
  };
  const key = keys[0] as string;
  const { data } = (await call('GET', path, { key })).json();
  expect(data.find((one: { user_id: string }) => one.user_id === viewer.id)).toEqual(shown);
  const changed = await call('PATCH', `${path}/${viewer.id}`, { key, body: { role: 'billing' } });
  expect(changed.json()).toEqual({ ...shown, role: 'billing' });
  // A session notes that it was used once a minute, so first a minute after the sign-in.
  const session = await signIn(viewer);
  shiftClock(61_000);
  await call('GET', '/v1/auth/session', { key: session });
  shiftClock(0);
  const seenAt = async () => {
    const { data } = (await call('GET', path, { key })).json();
    return data.find((one: { user_id: string }) => one.user_id === viewer.id).last_seen_at;
  };
  await expect.poll(seenAt).toMatch(/^\d{4}-\d\d-\d\dT/);
});
