// Keys of people whom a directory or an admin takes out of the organization.
import { openEgress } from '@svc/core/egress/index.ts';
import { readConfig } from '@svc/core/kernel/index.ts';
import { expect, test } from 'vitest';
import { codeOf, startHarness } from '../../test/registry/harness.ts';
import { connectDirectory } from '../../test/sim/directory.ts';
import { startNameServer } from '../../test/sim/dns.ts';

const names = await startNameServer();
const egress = openEgress(readConfig({ SVC_DNS_SERVERS: names.address, SVC_EGRESS_ALLOW: '127.0.0.1' }));
const harness = await startHarness({ services: { egress } });
const { a, call, makeKey, makePerson, signIn, keys } = harness;
const { patch, addUser, send } = await connectDirectory(harness, names, {
  tenant: a,
  domain: 'acme.example',
});

/** What a process says of a key that asks the database anew, as each does within a second of a change. */
async function state(key: { id: `key_${string}`; secret: string }): Promise<string> {
  keys.forget(key.id);
  const shown = (await call('GET', `/v1/keys/${key.id}`, { key: a.key })).json();
  const verified = await Promise.resolve()
    .then(() => keys.verify(key.secret))
    .then(
      () => 'works',
      (error: { details: { reason: string } }) => error.details.reason,
    );
  return `${shown.status} ${verified}`;
}
const set = (security: object) =>
  call('PATCH', `/v1/orgs/${a.org.id}`, { key: a.key, body: { settings: { security } } });

test('keys of whoever leaves are blocked until they are back; service keys stay', async () => {
  const person = await makePerson(a, 'developer');
  const own = await makeKey(a, { created_by: person.id });
  const service = await makeKey(a);
  expect(await state(own)).toBe('active works');
  await patch(`/Users/${person.id}`, { op: 'replace', path: 'active', value: false });
  expect([await state(own), await state(service)]).toEqual(['blocked blocked', 'active works']);
  const rotated = await call('POST', `/v1/keys/${own.id}/rotate`, { key: a.key, body: {} });
  expect([rotated.statusCode, codeOf(rotated)]).toEqual([409, 'state_conflict']);
  const listed = (await call('GET', '/v1/keys?status=blocked', { key: a.key })).json();
  expect(listed.data.map(({ id }: { id: string }) => id)).toEqual([own.id]);
  await patch(`/Users/${person.id}`, { op: 'replace', path: 'active', value: true });
  expect(await state(own)).toBe('active works');
  await send('DELETE', `/Users/${person.id}`);
  expect(await state(own)).toBe('blocked blocked');
  await addUser(person.email);
  expect(await state(own)).toBe('active works');
});

test('an admin who removes somebody blocks their keys too, and an organization can keep or transfer them', async () => {
  const admin = await makePerson(a, 'owner');
  const session = await signIn(admin);
  const leave = async () => {
    const person = await makePerson(a, 'developer');
    const key = await makeKey(a, { created_by: person.id });
    const answer = await call('DELETE', `/v1/orgs/${a.org.id}/members/${person.id}`, { key: session });
    expect(answer.statusCode, answer.body).toBe(204);
    return key;
  };
  expect(await state(await leave())).toBe('blocked blocked');
  await set({ on_deprovision_keys: 'keep' });
  expect(await state(await leave())).toBe('active works');
  expect(codeOf(await set({ on_deprovision_keys: 'transfer' }))).toBe('invalid_request');
  const viewer = await makePerson(a, 'viewer');
  const to_viewer = await set({ on_deprovision_keys: 'transfer', transfer_keys_to: viewer.id });
  expect(codeOf(to_viewer)).toBe('invalid_request');
  expect((await set({ on_deprovision_keys: 'transfer', transfer_keys_to: admin.id })).statusCode).toBe(200);
  const given = await leave();
  expect(await state(given)).toBe('active works');
  expect((await call('GET', `/v1/keys/${given.id}`, { key: a.key })).json().created_by).toBe(admin.id);
  // Whoever was named is no admin any more: the keys are blocked.
  await call('PATCH', `/v1/orgs/${a.org.id}/members/${admin.id}`, { key: session, body: { role: 'owner' } });
  const second = await makePerson(a, 'owner');
  await call('PATCH', `/v1/orgs/${a.org.id}/members/${admin.id}`, {
    key: await signIn(second),
    body: { role: 'developer' },
  });
  const person = await makePerson(a, 'developer');
  const key = await makeKey(a, { created_by: person.id });
  await send('DELETE', `/Users/${person.id}`);
  expect(await state(key)).toBe('blocked blocked');
});
