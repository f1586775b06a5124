// Projects and keys that name the Kubernetes object which keeps them.
import { expect, test } from 'vitest';
import { codeOf, startHarness } from '../../test/registry/harness.ts';

const { a, b, call } = await startHarness();
const by = (name: string, more = {}) => ({ 'x-svc-managed-by': `k8s/c1/team-a/${name}`, ...more });
const make = (slug: string, headers = {}) =>
  call('POST', '/v1/projects', { key: a.key, body: { slug, name: slug }, headers });
const patch = (id: string, body: object, headers = {}) =>
  call('PATCH', `/v1/projects/${id}`, { key: a.key, body, headers });

test('a project has one keeper: another is refused, the first one after it let go is not', async () => {
  const made = (await make('search', by('one'))).json();
  expect(made.managed_by).toBe('k8s/c1/team-a/one');
  const refused = await patch(made.id, { name: 'Two' }, by('two'));
  expect([refused.statusCode, codeOf(refused)]).toEqual([403, 'managed_elsewhere']);
  const removal = await call('DELETE', `/v1/projects/${made.id}`, { key: a.key, headers: by('two') });
  expect(codeOf(removal)).toBe('managed_elsewhere');
  // What a person changes is theirs to change, and the keeper's to take back.
  expect((await patch(made.id, { name: 'Mine' })).json()).toMatchObject({
    ...{ name: 'Mine', managed_by: 'k8s/c1/team-a/one' },
  });
  expect((await patch(made.id, {}, by('one', { 'x-svc-release': '1' }))).json().managed_by).toBeNull();
  expect((await patch(made.id, {}, by('two'))).json().managed_by).toBe('k8s/c1/team-a/two');
});

test('of two objects that adopt one project at once exactly one keeps it', async () => {
  const { id } = (await make('adopted')).json();
  const answers = await Promise.all(['one', 'two', 'three', 'four'].map((name) => patch(id, {}, by(name))));
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 403, 403, 403]);
});

test('a malformed manifest is refused, at keys and at projects', async () => {
  const headers = { 'x-svc-managed-by': 'k8s/c1/../secret' };
  const key = { project_id: a.live.id, name: 'n', scopes: ['inference'] };
  for (const answer of [
    await make('malformed', headers),
    await call('POST', '/v1/keys', { key: a.key, body: key, headers }),
  ]) {
    expect([answer.statusCode, codeOf(answer)]).toEqual([400, 'invalid_request']);
  }
});

test('the keys of one object are listed, its successors by rotation too, and nobody else’s', async () => {
  const body = { project_id: a.live.id, name: 'ci', scopes: ['inference'] };
  const made = (await call('POST', '/v1/keys', { key: a.key, body, headers: by('ci') })).json();
  await call('POST', '/v1/keys', { key: a.key, body, headers: by('other') });
  await call('POST', '/v1/keys', { key: a.key, body });
  const path = `/v1/keys/${made.id}/rotate`;
  const next = (await call('POST', path, { key: a.key, body: { grace_seconds: 60 } })).json();
  const list = async (key: string) => {
    const answer = await call('GET', '/v1/keys?managed_by=k8s%2Fc1%2Fteam-a%2Fci', { key });
    return (answer.json() as { data: { id: string; status: string }[] }).data;
  };
  expect((await list(a.key)).map(({ id, status }) => [id, status])).toEqual([
    [next.id, 'active'],
    [made.id, 'rotating'],
  ]);
  expect(await list(b.key)).toEqual([]);
});
