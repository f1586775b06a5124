// Guessing passwords: what locks an account, what stops an address, and that guesses at once count like guesses in a row.
import { shiftClock } from '@svc/core/kernel/index.ts';
import type { LightMyRequestResponse } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { codeOf, type Person, startHarness } from '../../test/registry/harness.ts';

const harness = await startHarness();
const { a, call } = harness;
const MINUTE = 60_000;

afterEach(() => shiftClock(0));

let addresses = 0;
/** An address that no other test has failed from. */
const freshIp = () => `198.51.100.${++addresses}`;

function login(person: Pick<Person, 'email' | 'password'>, more: { transport?: string; ip?: string } = {}) {
  const { transport = 'bearer', ip } = more;
  const body = { email: person.email, password: person.password, transport };
  return call('POST', '/v1/auth/login', { body, ...(ip === undefined ? {} : { ip }) });
}

const seen = (response: LightMyRequestResponse) => [response.statusCode, codeOf(response)];

test('ten wrong passwords lock an account for 15 minutes, the right one too, and longer the second time', async () => {
  const person = await harness.makePerson(a, 'viewer');
  const wrong = { ...person, password: 'not the password' };
  const ip = freshIp();
  const failTen = async () => {
    for (let i = 0; i < 10; i++)
      expect(seen(await login(wrong, { ip }))).toEqual([401, 'invalid_credentials']);
  };
  await failTen();
  const locked = await login(person, { ip: freshIp() });
  expect(seen(locked)).toEqual([429, 'too_many_attempts']);
  expect(Number(locked.headers['retry-after'])).toBeGreaterThan(880);
  expect(Number(locked.headers['retry-after'])).toBeLessThanOrEqual(900);
  shiftClock(15 * MINUTE + 1_000);
  await failTen();
  shiftClock(31 * MINUTE);
  expect(seen(await login(person, { ip: freshIp() }))).toEqual([429, 'too_many_attempts']);
  shiftClock(46 * MINUTE);
  expect((await login(person, { ip: freshIp() })).statusCode).toBe(200);
  // Proven: the count begins anew.
  await failTen();
});

test('a hundred guesses at once are no more than ten in a row', async () => {
  const person = await harness.makePerson(a, 'viewer');
  const ips = [freshIp(), freshIp(), freshIp()];
  const guesses = Array.from({ length: 30 }, (_, i) =>
    login({ ...person, password: `guess number ${i}` }, { ip: ips[i % 3] as string }),
  );
  const statuses = (await Promise.all(guesses)).map((response) => response.statusCode);
  expect(statuses.filter((status) => status === 401)).toHaveLength(10);
  expect(statuses.filter((status) => status === 429)).toHaveLength(20);
});

test('fifty failures from one address stop it for everybody, and another address goes on', async () => {
  const ip = freshIp();
  for (let i = 0; i < 50; i++) {
    const answer = await login({ email: `nobody${i}@acme.example`, password: 'not the password' }, { ip });
    expect([i, answer.statusCode]).toEqual([i, 401]);
  }
  const person = await harness.makePerson(a, 'viewer');
  const stopped = await login(person, { ip });
  expect([...seen(stopped), stopped.json().error.details.scope]).toEqual([
    429,
    'too_many_attempts',
    'address',
  ]);
  expect((await login(person, { ip: freshIp() })).statusCode).toBe(200);
}, 60_000);
