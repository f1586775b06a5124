// Saved views: who sees and changes them, what they may ask, and what becomes of them when their maker leaves.
import { expect, test } from 'vitest';
import { codeOf, startHarness } from './harness.ts';

const harness = await startHarness();
const { a, b } = harness;
const personOf = async (role: 'owner' | 'admin' | 'developer' | 'viewer', tenant = a) => {
  const person = await harness.makePerson(tenant, role);
  return { ...person, key: await harness.signIn(person) };
};
const owner = await personOf('owner');
const admin = await personOf('admin');
const developer = await personOf('developer');
const viewer = await personOf('viewer');
const stranger = await personOf('owner', b);

interface View {
  readonly id: string;
  readonly name: string;
  readonly shared: boolean;
  readonly query: string;
  readonly changeable: boolean;
}
const ask = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, key: string, body?: object) =>
  harness.call(method, `/v1/usage/views${path}`, { key, ...(body === undefined ? {} : { body }) });
const save = async (key: string, body: object): Promise<View> => {
  const answer = await ask('POST', '', key, body);
  expect([answer.statusCode, answer.body]).toEqual([201, expect.any(String)]);
  return answer.json();
};
const seen = async (key: string) => {
  const { data } = (await ask('GET', '', key)).json() as { data: readonly View[] };
  return data.map(({ name, changeable }) => [name, changeable]);
};

test("a private view is its maker's alone; a shared one is everybody's, and admins change it too", async () => {
  const own = await save(developer.key, { name: 'mine', query: 'range=7d' });
  const shared = await save(developer.key, { name: 'ours', query: 'range=30d&group_by=model', shared: true });
  expect(await seen(developer.key)).toEqual([
    ['mine', true],
    ['ours', true],
  ]);
  for (const [one, may] of [
    [viewer, false],
    [admin, true],
    [owner, true],
  ] as const) {
    expect(await seen(one.key)).toEqual([['ours', may]]);
    const foreign = await ask('PATCH', `/${own.id}`, one.key, { name: 'taken' });
    expect([foreign.statusCode, codeOf(foreign)]).toEqual([404, 'not_found']);
  }
  expect(await seen(stranger.key)).toEqual([]);
  const refused = await ask('DELETE', `/${shared.id}`, viewer.key);
  expect([refused.statusCode, codeOf(refused)]).toEqual([403, 'permission_denied']);
  // An admin may not hide it from the others: it would be nobody's but its maker's.
  const hidden = await ask('PATCH', `/${shared.id}`, admin.key, { shared: false });
  expect([hidden.statusCode, codeOf(hidden)]).toEqual([403, 'permission_denied']);
  const renamed = await ask('PATCH', `/${shared.id}`, admin.key, { name: 'of the month' });
  expect(renamed.json()).toMatchObject({ name: 'of the month', shared: true, query: shared.query });
  expect((await ask('DELETE', `/${shared.id}`, admin.key)).statusCode).toBe(204);
  expect((await ask('DELETE', `/${own.id}`, developer.key)).statusCode).toBe(204);
  expect(await seen(developer.key)).toEqual([]);
});

test('a view asks what usage answers, in one form, and nothing else', async () => {
  const { query, id } = await save(owner.key, {
    name: 'form',
    query: 'group_by=tag&tag=team&timezone=Asia%2FKolkata&range=30d&compare=1',
  });
  expect(query).toBe('range=30d&group_by=tag&timezone=Asia%2FKolkata&compare=true&tag=team');
  expect((await harness.call('GET', `/v1/usage?${query}`, { key: a.key })).statusCode).toBe(200);
  for (const wrong of [
    ...[
      'range=9d',
      'unknown=1',
      'range=7d&range=30d',
      'group_by=tag',
      'tag_value=x',
      'timezone=Mars/Olympus',
    ],
    ...['range=custom', 'format=csv', 'environment=test', 'range=custom&from=2024-01-01&to=2026-01-01'],
  ]) {
    for (const answer of [
      await ask('POST', '', owner.key, { name: 'wrong', query: wrong }),
      await ask('PATCH', `/${id}`, owner.key, { query: wrong }),
    ]) {
      expect([wrong, answer.statusCode]).toEqual([wrong, 400]);
    }
  }
  const long = await ask('POST', '', owner.key, { name: 'long', query: `model=${'x'.repeat(2_000)}` });
  expect(long.statusCode).toBe(400);
});

test('a name is free once for each maker, also for those who save at once', async () => {
  const body = { name: 'race', query: '' };
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask('POST', '', admin.key, body)));
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([201, ...Array(7).fill(409)]);
  await save(owner.key, body);
  const other = await save(admin.key, { name: 'other', query: '' });
  const renamed = await ask('PATCH', `/${other.id}`, admin.key, { name: 'race' });
  expect([renamed.statusCode, codeOf(renamed)]).toEqual([409, 'already_exists']);
});

test('of views saved at once no more than a hundred are kept for a member', async () => {
  await harness.pool.query({
    name: '',
    text: `insert into usage_view (id, org_id, created_by, private_to, name, query, created_at, updated_at)
           select 'uvw_' || lpad(n::text, 26, '0'), $1, $2, $2, 'v' || n, '', now(), now()
             from generate_series(1, 98) as n`,
    values: [a.org.id, viewer.id],
  });
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, i) => ask('POST', '', viewer.key, { name: `last ${i}`, query: '' })),
  );
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([201, 201, 409, 409, 409, 409]);
  expect(answers.filter(({ statusCode }) => statusCode === 409).map(codeOf)).toEqual(
    Array(4).fill('plan_limit_reached'),
  );
});

test('when a member leaves, private views go and shared ones stay', async () => {
  const leaving = await personOf('developer');
  const own = await save(leaving.key, { name: 'private', query: '' });
  const shared = await save(leaving.key, { name: 'left behind', query: '', shared: true });
  const gone = await harness.call('DELETE', `/v1/orgs/${a.org.id}/members/${leaving.id}`, { key: owner.key });
  expect(gone.statusCode).toBe(204);
  const { rows } = await harness.pool.query<{ id: string }>({
    name: '',
    text: 'select id from usage_view where created_by = $1',
    values: [leaving.id],
  });
  expect(rows).toEqual([{ id: shared.id }]);
  expect(own.id).not.toBe(shared.id);
});

test('views are of people: a key is refused', async () => {
  const answer = await ask('GET', '', a.key);
  expect([answer.statusCode, codeOf(answer)]).toEqual([403, 'session_required']);
});
