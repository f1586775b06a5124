// What refused sign-ins leave behind: the same for every account, there or not, and nothing that grows without end.
import { expect, test } from 'vitest';
import { codeOf, type Person, startHarness } from '../../test/registry/harness.ts';

const harness = await startHarness();
const { a, call, pool } = harness;

let addresses = 0;
/** An address that no other test has failed from. */
const freshIp = () => `198.51.100.${++addresses}`;

function login({ email, password }: Pick<Person, 'email' | 'password'>, { ip }: { ip: string }) {
  return call('POST', '/v1/auth/login', { body: { email, password, transport: 'bearer' }, ip });
}

const seen = (response: Awaited<ReturnType<typeof login>>) => [response.statusCode, codeOf(response)];

test('an address that is stopped takes no place of any account, and leaves no counter behind', async () => {
  const ip = freshIp();
  const other = (i: number) => ({ email: `guess${i}@acme.example`, password: 'not the password' });
  for (let i = 0; i < 50; i++) await login(other(i), { ip });
  const counters = async () => {
    const { rows } = await pool.query<{ n: number; places: number }>({
      name: 'test.counters',
      text: 'select count(*)::int as n, sum(failures)::int as places from sign_in_throttle',
    });
    return rows[0];
  };
  const before = await counters();
  for (let i = 50; i < 60; i++)
    expect(seen(await login(other(i), { ip }))).toEqual([429, 'too_many_attempts']);
  expect(await counters()).toEqual(before);
});

test('a refused sign-in leaves the same trace for an unknown account, and one that is locked out leaves none', async () => {
  const person = await harness.makePerson(a, 'viewer');
  const denials = async () => {
    const { rows } = await pool.query<{ actor: string | null; text: string }>({
      name: 'test.denials',
      text: `select actor_id as actor, to_jsonb(audit_entry)::text as text from audit_entry
              where action = 'auth.login' and outcome = 'denied' order by id`,
    });
    return rows;
  };
  const before = (await denials()).length;
  const ip = freshIp();
  const unknown = { email: 'nobody.here@acme.example', password: 'not the password' };
  expect(seen(await login({ ...person, password: 'not the password' }, { ip }))[0]).toBe(401);
  expect(seen(await login(unknown, { ip }))[0]).toBe(401);
  const found = (await denials()).slice(before);
  expect(found.map(({ actor }) => actor)).toEqual([person.id, null]);
  expect(found[1]?.text).not.toContain('nobody.here');
  for (let i = 0; i < 9; i++) await login({ ...person, password: 'not the password' }, { ip });
  const locked = await denials();
  expect(seen(await login(person, { ip }))).toEqual([429, 'too_many_attempts']);
  expect(await denials()).toHaveLength(locked.length);
});

test('no caller met a defect', () => {
  expect(harness.defects).toEqual([]);
});
