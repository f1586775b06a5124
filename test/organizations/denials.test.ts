// Who tries what owners alone may do is in the organization's log, whichever way they come.
import { beforeAll, expect, test } from 'vitest';
import { startWorld } from '../graphql/world.ts';

const world = await startWorld();
const { harness, tenant } = world;
const { a, b, call, makePerson, signIn } = harness;
let admin = '';
let admin_email = '';

beforeAll(async () => {
  const person = await makePerson(a, 'admin');
  admin_email = person.email;
  admin = await signIn(person);
});

interface Entry {
  readonly action: string;
  readonly outcome: string;
  readonly actor: { readonly display: string };
  readonly after: Readonly<Record<string, unknown>> | null;
}
const denials = async (key: string): Promise<Entry[]> =>
  (await call('GET', '/v1/audit-log', { key }))
    .json()
    .data.filter(({ outcome }: Entry) => outcome === 'denied');

test('an admin who closes the organization, by REST or GraphQL, is refused and in the log, with nothing else', async () => {
  const path = `/v1/orgs/${a.org.id}/close`;
  const refused = await call('POST', path, { key: admin, body: { confirm: 'acme' } });
  expect(refused.statusCode).toBe(403);
  const plan = await call('PUT', `/v1/orgs/${a.org.id}/plan`, { key: admin, body: { plan_id: 'team' } });
  expect(plan.statusCode).toBe(403);
  const input = { id: a.org.id, confirm: 'acme' };
  const asked = await world.ask(
    tenant,
    admin,
    'mutation($input: CloseOrgInput!) { closeOrg(input: $input) { __typename ... on UserError { code } } }',
    { input },
  );
  expect(asked.data?.closeOrg, JSON.stringify(asked.errors)).toMatchObject({ code: 'permission_denied' });
  const after = { code: 'permission_denied', role: 'admin' };
  const actor = { display: admin_email };
  expect(await denials(a.key)).toMatchObject([
    { action: 'orgs.close', actor, after },
    { action: expect.stringContaining('plan'), actor, after },
    { action: 'orgs.close', actor, after },
  ]);
});

test('what others than owners may do too, and what a key of another organization tries, makes no entry there', async () => {
  const before = (await denials(a.key)).length;
  const viewer = await signIn(await makePerson(a, 'viewer'));
  const made = await call('POST', '/v1/keys', {
    ...{ key: viewer, body: { project_id: a.live.id, name: 'k', scopes: ['inference'] } },
  });
  expect(made.statusCode).toBe(403);
  const foreign = await call('POST', `/v1/orgs/${a.org.id}/close`, { key: b.key, body: { confirm: 'acme' } });
  expect(foreign.statusCode).toBe(404);
  expect(await denials(a.key)).toHaveLength(before);
});

test('no caller met a defect', () => {
  expect([...world.defects, ...harness.defects]).toEqual([]);
});
