// The audit log as owners and admins read it: filtered, in pages, as a file.
import { expect, test } from 'vitest';
import { codeOf } from '../registry/harness.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const { a, b, call, makePerson, signIn } = world;
const person = await makePerson(a, 'owner');
const owner = await signIn(person);
const get = (query: string, key = owner) => call('GET', `/v1/audit-log${query}`, { key });
type Entry = { id: number; action: string; actor: { id: string }; target: { id: string } | null };
const data = async (query: string): Promise<Entry[]> => (await get(query)).json().data;

for (const name of ['One', '=SUM(1)', 'Three', 'Four', 'Five'])
  await call('PATCH', `/v1/orgs/${a.org.id}`, { key: owner, body: { name } });
const viewer = await makePerson(a, 'viewer');
await call('DELETE', `/v1/orgs/${a.org.id}/members/${viewer.id}`, { key: owner });
await call('PATCH', `/v1/orgs/${b.org.id}`, {
  key: await signIn(await makePerson(b, 'owner')),
  body: { name: 'Theirs' },
});

test('entries come newest first, by what was done, by whom and to what', async () => {
  const [newest] = await data('');
  expect(newest).toMatchObject({
    action: 'members.remove',
    actor: { id: person.id },
    target: { id: viewer.id },
  });
  expect((await data('?action=orgs.')).map(({ action }) => action)).toEqual(Array(5).fill('orgs.update'));
  expect((await data(`?target=${viewer.id}`)).map(({ action }) => action)).toEqual([
    'members.remove',
    'members.add',
  ]);
  for (const { actor } of await data(`?actor=${person.id}`)) expect(actor.id).toBe(person.id);
});

test('since is inclusive, until is not, to the millisecond and in any offset', async () => {
  const all = (await get('?action=orgs.')).json().data as { id: number; at: string }[];
  const [newest, , third] = all;
  const [from, to] = [third?.at as string, newest?.at as string];
  const within = all.filter(({ at }) => at >= from && at < to).map(({ id }) => id);
  expect(within.length).toBeGreaterThan(0);
  const ids = async (query: string) => (await data(`?action=orgs.&${query}`)).map(({ id }) => id);
  expect(await ids(`since=${from}&until=${to}`)).toEqual(within);
  const shifted = (at: string) =>
    encodeURIComponent(`${new Date(Date.parse(at) + 19_800_000).toISOString().slice(0, -1)}+05:30`);
  expect(await ids(`since=${shifted(from)}&until=${shifted(to)}`)).toEqual(within);
  expect(await data('?until=2020-01-01')).toEqual([]);
  expect(await data('?since=2100-01-01')).toEqual([]);
});

test('pages lead through all entries once', async () => {
  const seen: number[] = [];
  let cursor = '';
  do {
    const answer = (await get(`?action=orgs.&limit=2&cursor=${cursor}`)).json();
    seen.push(...answer.data.map(({ id }: Entry) => id));
    cursor = answer.next_cursor;
  } while (cursor !== '');
  expect(seen).toHaveLength(5);
  expect(seen).toEqual([...new Set(seen)].sort((one, other) => other - one));
});

test('as a file it runs no formula, and that it was taken is an entry too', async () => {
  const file = await get('?action=orgs.&format=csv');
  expect(file.headers['content-disposition']).toMatch(
    /^attachment; filename="audit-acme-\d{4}-\d\d-\d\d\.csv"$/,
  );
  const lines = file.body.trim().split('\r\n');
  expect(lines).toHaveLength(6);
  expect(lines[0]).toMatch(/^id,at,actor_type,/);
  expect(file.body).toContain('=SUM(1)');
  for (const line of lines) expect(line).not.toMatch(/(?:^|,)"?[=+@]/);
  expect((await data('')).at(0)).toMatchObject({ action: 'audit.export' });
});

test('it is for owners and admins, and for keys that one of them made', async () => {
  for (const role of ['developer', 'billing', 'viewer'] as const) {
    const other = await makePerson(a, role);
    expect(codeOf(await get('', await signIn(other)))).toBe('permission_denied');
    const key = await world.makeKey(a, { created_by: other.id });
    expect(codeOf(await get('', key.secret))).toBe('permission_denied');
  }
  expect((await get('', a.key)).statusCode).toBe(200);
  expect(codeOf(await get('', a.test_key))).toBe('sandbox_key_not_allowed');
  expect((await get('')).body).not.toContain('Theirs');
});

test('an entry says from where and with which program it was done', async () => {
  const headers = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) audit-test' };
  await call('PATCH', `/v1/orgs/${a.org.id}`, {
    ...{ key: owner, ip: '203.0.113.77', headers, body: { name: 'Six' } },
  });
  const [entry] = await data('?action=orgs.update&limit=1');
  expect(entry).toMatchObject({ ip_prefix: '203.0.113.77/32', user_agent: headers['user-agent'] });
});
