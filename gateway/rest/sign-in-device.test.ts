// Known devices: whoever knows an address cannot keep its owner out, and the cookie is of use to nobody else.
import { shiftClock } from '@svc/core/kernel/index.ts';
import type { LightMyRequestResponse } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { codeOf, type Person, startHarness } from '../../test/registry/harness.ts';

const harness = await startHarness();
const { a, call } = harness;
const MINUTE = 60_000;
const DAY = 86_400_000;
const origin = 'http://127.0.0.1:8081';

afterEach(() => shiftClock(0));

type Who = Pick<Person, 'email' | 'password'>;

let addresses = 0;
/** An address that no other test has failed from. */
const freshIp = () => `198.51.100.${++addresses}`;

/** A sign-in of the console, with what the browser has. */
function login(person: Who, more: { ip?: string; cookie?: string } = {}) {
  const { ip = freshIp(), cookie } = more;
  const body = { email: person.email, password: person.password, transport: 'cookie' };
  const headers = { origin, ...(cookie === undefined ? {} : { cookie }) };
  return call('POST', '/v1/auth/login', { body, ip, headers });
}

const seen = (response: LightMyRequestResponse) => [response.statusCode, codeOf(response)];
const wrong = (person: Who) => ({ ...person, password: 'not the password' });

/** A cookie of an answer as a browser sends it back. */
function cookieOf(response: LightMyRequestResponse, name: 'session' | 'device'): string | undefined {
  const all = [response.headers['set-cookie'] ?? []].flat();
  return all.find((each) => each.includes(`svc_${name}=`))?.split(';', 1)[0];
}

/** A person, and the cookie of the browser in which they have signed in. */
async function known(): Promise<{ person: Person; cookie: string }> {
  const person = await harness.makePerson(a, 'owner');
  const cookie = cookieOf(await login(person), 'device') as string;
  return { person, cookie };
}

/** Ten wrong passwords from elsewhere. */
async function attack(person: Who): Promise<void> {
  for (let i = 0; i < 10; i++) expect(seen(await login(wrong(person)))).toEqual([401, 'invalid_credentials']);
}

test('whoever locks an account by guessing does not keep its owner out of the browser that was used before', async () => {
  const { person, cookie } = await known();
  await attack(person);
  expect(seen(await login(person))).toEqual([429, 'too_many_attempts']);
  const entered = await login(person, { cookie });
  expect(entered.statusCode).toBe(200);
  // The owner's sign-in does not open the account for whoever guesses.
  expect(seen(await login(person))).toEqual([429, 'too_many_attempts']);
  // The attack goes on for hours, from everywhere and from the owner's own network too.
  const ip = freshIp();
  for (let i = 0; i < 50; i++) await login({ email: `nobody${i}@acme.example`, password: 'x' }, { ip });
  expect(seen(await login(person, { ip }))).toEqual([429, 'too_many_attempts']);
  expect((await login(person, { ip, cookie })).statusCode).toBe(200);
});

test('guesses with the cookie are no more than ten at once, lock that device, and count for nobody else', async () => {
  const { person, cookie } = await known();
  const guesses = await Promise.all(Array.from({ length: 30 }, () => login(wrong(person), { cookie })));
  expect(guesses.filter(({ statusCode }) => statusCode === 401)).toHaveLength(10);
  const locked = await login(person, { cookie });
  expect([...seen(locked), locked.json().error.details.scope]).toEqual([429, 'too_many_attempts', 'device']);
  expect(Number(locked.headers['retry-after'])).toBeGreaterThan(880);
  // Without it, and in another browser, the person comes in.
  expect((await login(person)).statusCode).toBe(200);
  shiftClock(15 * MINUTE + 1_000);
  expect((await login(person, { cookie })).statusCode).toBe(200);
});

test('a cookie of somebody else, a changed one and one from before a change of the password are as good as none', async () => {
  const { person, cookie } = await known();
  const other = await known();
  await attack(person);
  const [name, value = ''] = cookie.split('=');
  const [id, since, signature] = value.split('.');
  const cookies = {
    'of another person': other.cookie,
    'with another random part': `${name}=${'A'.repeat(22)}.${since}.${signature}`,
    'with another time': `${name}=${id}.${Number(since) + 1}.${signature}`,
    'with another signature': `${name}=${id}.${since}.${'A'.repeat(43)}`,
    'of no form': `${name}=x`,
    empty: `${name}=`,
  };
  for (const [which, forged] of Object.entries(cookies))
    expect([which, ...seen(await login(person, { cookie: forged }))]).toEqual([
      which,
      429,
      'too_many_attempts',
    ]);
  // A right one counts beside one that is not.
  const entered = await login(person, { cookie: `${other.cookie}; ${cookie}` });
  expect(entered.statusCode).toBe(200);
  const session = cookieOf(entered, 'session') as string;
  const csrf = entered.json().session.csrf_token as string;
  const changed = await call('POST', '/v1/auth/password/change', {
    body: { current_password: person.password, new_password: 'seven quiet rivers run' },
    headers: { origin, 'x-svc-csrf': csrf, cookie: `${session}; ${cookie}` },
  });
  expect(changed.statusCode).toBe(200);
  const fresh = { ...person, password: 'seven quiet rivers run' };
  expect(seen(await login(fresh, { cookie }))).toEqual([429, 'too_many_attempts']);
  // The browser in which it was changed stays known.
  expect((await login(fresh, { cookie: cookieOf(changed, 'device') as string })).statusCode).toBe(200);
});

test('the cookie signs nobody in, is not readable by pages, is renewed, and ends after 180 days', async () => {
  const { person, cookie } = await known();
  const answer = await login(person, { cookie });
  const set = [answer.headers['set-cookie'] ?? []].flat().find((each) => each.includes('svc_device='));
  expect(set).toMatch(/; Path=\/; HttpOnly; SameSite=Lax.*; Max-Age=15552000$/);
  expect((await call('GET', '/v1/auth/session', { headers: { cookie } })).statusCode).toBe(401);
  const bearer = await call('POST', '/v1/auth/login', {
    body: { email: person.email, password: person.password, transport: 'bearer' },
  });
  expect(bearer.headers['set-cookie']).toBeUndefined();
  shiftClock(179 * DAY);
  const renewed = cookieOf(await login(person, { cookie }), 'device') as string;
  // The random part is the same: nobody gets another ten guesses by signing in again.
  expect(renewed.split('.')[0]).toBe(cookie.split('.')[0]);
  shiftClock(181 * DAY);
  await attack(person);
  expect(seen(await login(person, { cookie }))).toEqual([429, 'too_many_attempts']);
  expect((await login(person, { cookie: renewed })).statusCode).toBe(200);
});
