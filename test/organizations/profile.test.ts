// What a person changes of themselves: name, language, and the address, which counts once its mailbox is proved.
import { shiftClock } from '@svc/core/kernel/index.ts';
import { afterEach, expect, test } from 'vitest';
import { codeOf } from '../registry/harness.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const { a, call, linkOf, mailsTo, makePerson, pool, signIn } = world;
const DAY = 86_400_000;

afterEach(() => shiftClock(0));

let places = 0;
const somewhere = () => `198.51.100.${++places}`;
const newAddress = () => `moved-${++places}@profile.example`;
const change = (key: string, body: object) => call('PATCH', '/v1/auth/me', { key, body, ip: somewhere() });
const prove = (token: string, password: string) =>
  call('POST', '/v1/auth/verify-email', { body: { token, password }, ip: somewhere() });
const login = (email: string, password: string) =>
  call('POST', '/v1/auth/login', { body: { email, password, transport: 'bearer' }, ip: somewhere() });

test('name and language change at once, and what is left out stays', async () => {
  const person = await makePerson(a, 'viewer');
  const key = await signIn(person);
  const answer = await change(key, { name: 'Asha Rao', locale: 'en-IN' });
  expect([answer.statusCode, answer.json()]).toEqual([
    200,
    { id: person.id, email: person.email, name: 'Asha Rao', locale: 'en-IN', email_pending: null },
  ]);
  expect((await change(key, {})).json()).toEqual(answer.json());
  const session = (await call('GET', '/v1/auth/session', { key })).json();
  expect(session.user.name).toBe('Asha Rao');
  for (const [body, param] of [
    [{ locale: 'english' }, 'locale'],
    [{ email: 'nobody' }, 'email'],
    [{ name: '' }, 'name'],
  ] as const)
    expect((await change(key, body)).json().error.param).toBe(param);
});

test('a new address counts once its mailbox and the password have proved it; sessions end and the old one learns of it', async () => {
  const person = await makePerson(a, 'viewer');
  const key = await signIn(person);
  const email = newAddress();
  expect((await change(key, { email })).json()).toMatchObject({ email: person.email, email_pending: email });
  expect((await login(email, person.password)).statusCode).toBe(401);
  const token = await linkOf('email_change', email);
  expect(codeOf(await prove(token, 'not the password'))).toBe('invalid_credentials');
  const proved = await prove(token, person.password);
  expect([proved.statusCode, proved.json()]).toEqual([200, { email, status: 'verified' }]);
  expect((await call('GET', '/v1/auth/session', { key })).statusCode).toBe(401);
  expect((await login(person.email, person.password)).statusCode).toBe(401);
  const again = await signIn({ email, password: person.password });
  expect((await change(again, {})).json()).toMatchObject({ email, email_pending: null });
  expect(await mailsTo('email_changed', person.email)).toBe(1);
  expect(codeOf(await prove(token, person.password))).toBe('token_invalid');
});

test('a reset that was mailed to the old address does not outlive the change', async () => {
  const person = await makePerson(a, 'viewer');
  const key = await signIn(person);
  await call('POST', '/v1/auth/password/forgot', { body: { email: person.email }, ip: somewhere() });
  const reset = await linkOf('password_reset', person.email);
  const email = newAddress();
  await change(key, { email });
  expect((await prove(await linkOf('email_change', email), person.password)).statusCode).toBe(200);
  const body = { token: reset, password: 'seven quiet rivers' };
  expect(codeOf(await call('POST', '/v1/auth/password/reset', { body, ip: somewhere() }))).toBe(
    'token_invalid',
  );
});

test('asked again the link before leads nowhere, and a link lives a day', async () => {
  const person = await makePerson(a, 'viewer');
  const key = await signIn(person);
  const [first, second] = [newAddress(), newAddress()];
  await change(key, { email: first });
  await change(key, { email: second });
  expect(codeOf(await prove(await linkOf('email_change', first), person.password))).toBe('token_invalid');
  shiftClock(DAY + 1_000);
  expect(codeOf(await prove(await linkOf('email_change', second), person.password))).toBe('token_expired');
});

test('for an address that somebody has the answer is the same, its mailbox learns it, and it is never taken', async () => {
  const [person, other] = [await makePerson(a, 'viewer'), await makePerson(a, 'viewer')];
  const key = await signIn(person);
  const answer = await change(key, { email: other.email });
  expect([answer.statusCode, answer.json().email_pending]).toEqual([200, other.email]);
  expect(await mailsTo('account_exists', other.email)).toBe(1);
  expect(await mailsTo('email_change', other.email)).toBe(0);
  // Two who want one free address: the first link that is opened gets it.
  const email = newAddress();
  const keys = [key, await signIn(other)];
  const tokens: string[] = [];
  for (const each of keys) {
    await change(each, { email });
    tokens.push(await linkOf('email_change', email));
  }
  const [mine, theirs] = tokens as [string, string];
  const answers = await Promise.all([prove(mine, person.password), prove(theirs, other.password)]);
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 400]);
});

test('an address is changed only with a fresh proof, and not by whom a directory rules; a name is', async () => {
  const person = await makePerson(a, 'viewer');
  const key = await signIn(person);
  await pool.query({
    name: 'test.age_proof',
    text: `update session set proved_at = proved_at - interval '16 minutes' where user_id = $1`,
    values: [person.id],
  });
  const stale = await change(key, { name: 'Not this', email: newAddress() });
  expect([stale.statusCode, codeOf(stale)]).toEqual([403, 'reauthentication_required']);
  expect((await change(key, { locale: 'hi' })).json()).toMatchObject({ locale: 'hi', email_pending: null });
  expect((await change(key, {})).json().name).not.toBe('Not this');

  const ruled = await makePerson(a, 'viewer');
  await pool.query({
    name: 'test.by_directory',
    text: `update org_member set source = 'scim' where user_id = $1`,
    values: [ruled.id],
  });
  const ruledKey = await signIn(ruled);
  expect(codeOf(await change(ruledKey, { email: newAddress() }))).toBe('permission_denied');
  expect((await change(ruledKey, { name: 'Ravi' })).statusCode).toBe(200);
});

test('an address gets three such mails an hour', async () => {
  const key = await signIn(await makePerson(a, 'viewer'));
  const email = newAddress();
  for (let n = 0; n < 3; n++) expect((await change(key, { email })).statusCode).toBe(200);
  expect(codeOf(await change(key, { email }))).toBe('too_many_attempts');
});
