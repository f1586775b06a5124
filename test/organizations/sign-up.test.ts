// Accounts that people make for themselves, and forgotten passwords: what whoever asks learns, and what a link does.
import { purgeSignIn, signInSettings } from '@svc/core/identity/index.ts';
import { readConfig, shiftClock } from '@svc/core/kernel/index.ts';
import { afterEach, expect, test } from 'vitest';
import { codeOf } from '../registry/harness.ts';
import { startWorld } from './world.ts';

const settings = readConfig({ SVC_SIGNUP: 'open' });
const world = await startWorld({
  services: { sign_in: signInSettings(settings, 'http://127.0.0.1:8080') },
});
const { a, call, makePerson, makeTenant, signIn, linkOf, mailsTo, pool } = world;
const PASSWORD = 'seven quiet rivers';
const HOUR = 3_600_000;

afterEach(() => shiftClock(0));

let places = 0;
/** A network address that nobody else of this file asks from. */
const somewhere = () => `198.51.100.${++places}`;
const ask = (path: string, body: object, ip = somewhere()) => call('POST', `/v1/auth/${path}`, { body, ip });
const register = (email: string, more: object = {}, ip?: string) =>
  ask('register', { email, password: PASSWORD, name: 'Ravi', accept_terms: true, ...more }, ip);
const verify = (token: string, password = PASSWORD) => ask('verify-email', { token, password });
const forgot = (email: string, ip?: string) => ask('password/forgot', { email }, ip);
const reset = (token: string, password: string, ip?: string) =>
  ask('password/reset', { token, password }, ip);
const login = (email: string, password: string) => ask('login', { email, password, transport: 'bearer' });

async function peopleWith(email_key: string): Promise<number> {
  const { rows } = await pool.query<{ n: number }>({
    name: 'test.people_with',
    text: 'select count(*)::int as n from person where email_key = $1',
    values: [email_key],
  });
  return rows[0]?.n ?? 0;
}

test('a person registers, proves the address, signs in and makes an organization', async () => {
  const email = 'Ravi@Newcomers.example';
  const asked = await register(email);
  expect([asked.statusCode, asked.json()]).toEqual([201, { status: 'verification_sent' }]);
  expect(codeOf(await login(email, PASSWORD))).toBe('invalid_credentials');
  const verified = await verify(await linkOf('email_verification', email));
  expect([verified.statusCode, verified.json()]).toEqual([200, { email, status: 'verified' }]);
  const key = await signIn({ email: 'ravi@newcomers.example', password: PASSWORD });
  const body = { name: 'Newcomers', slug: 'newcomers', billing_country: 'IN' };
  const made = await call('POST', '/v1/orgs', { key, body });
  expect([made.statusCode, made.json().role]).toEqual([201, 'owner']);
});

test('who asks for an address that has an account gets the same answer; its mailbox alone learns of it', async () => {
  const member = await makePerson(a, 'viewer');
  const fresh = await register('nobody@newcomers.example');
  const taken = await register(member.email.toUpperCase());
  expect([taken.statusCode, taken.json()]).toEqual([fresh.statusCode, fresh.json()]);
  expect(await mailsTo('account_exists', member.email.toUpperCase())).toBe(1);
  expect(await mailsTo('email_verification', member.email)).toBe(0);
  const known = await forgot(member.email);
  const unknown = await forgot('nobody@newcomers.example');
  const resent = await ask('verify-email/resend', { email: 'stranger@newcomers.example' });
  expect([known.statusCode, known.json()]).toEqual([200, { status: 'accepted' }]);
  expect(known.json()).toEqual(unknown.json());
  expect(resent.json()).toEqual(known.json());
  expect(await mailsTo('password_reset', 'nobody@newcomers.example')).toBe(0);
  expect((await login(member.email, member.password)).statusCode).toBe(200);
});

test('a weak password, no consent and what is no address ask for no account', async () => {
  const email = 'weakly@newcomers.example';
  expect(codeOf(await register(email, { password: 'password1234' }))).toBe('weak_password');
  expect(codeOf(await register(email, { password: 'I say it weakly' }))).toBe('weak_password');
  expect((await register(email, { accept_terms: false })).json().error.param).toBe('accept_terms');
  expect((await register('no address')).json().error.param).toBe('email');
  expect(await mailsTo('email_verification', email)).toBe(0);
});

test("the link of somebody else's request makes no account with the password of theirs", async () => {
  const email = 'targeted@newcomers.example';
  await register(email, { password: 'known to the attacker' });
  const token = await linkOf('email_verification', email);
  const opened = await verify(token);
  expect([opened.statusCode, codeOf(opened)]).toEqual([401, 'invalid_credentials']);
  expect(await peopleWith(email)).toBe(0);
  await register(email);
  expect((await verify(await linkOf('email_verification', email))).statusCode).toBe(200);
  expect((await login(email, 'known to the attacker')).statusCode).toBe(401);
});

test('one link opened by eight at once makes one account', async () => {
  const email = 'eight@newcomers.example';
  await register(email);
  const token = await linkOf('email_verification', email);
  const answers = await Promise.all(Array.from({ length: 8 }, () => verify(token)));
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, ...Array(7).fill(400)]);
  expect(await peopleWith(email)).toBe(1);
  expect(codeOf(await verify(token))).toBe('token_invalid');
});

test('of two accounts asked for one address, whose links are opened at once, one is made with its own password', async () => {
  for (let round = 0; round < 6; round++) {
    const email = `two${round}@newcomers.example`;
    const passwords = ['the first one asked', 'the second one asked'];
    const tokens: string[] = [];
    for (const password of passwords) {
      await register(email, { password });
      tokens.push(await linkOf('email_verification', email));
    }
    const answers = await Promise.all(tokens.map((token, i) => verify(token, passwords[i])));
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 400]);
    const won = answers.findIndex(({ statusCode }) => statusCode === 200);
    expect((await login(email, passwords[won] as string)).statusCode).toBe(200);
    expect((await login(email, passwords[1 - won] as string)).statusCode).toBe(401);
  }
});

test('a link lives a day; sent again there is a new one, and the old one leads nowhere', async () => {
  const email = 'late@newcomers.example';
  await register(email);
  const old = await linkOf('email_verification', email);
  shiftClock(23 * HOUR);
  await ask('verify-email/resend', { email });
  const fresh = await linkOf('email_verification', email);
  expect(codeOf(await verify(old))).toBe('token_invalid');
  shiftClock(48 * HOUR);
  expect(codeOf(await verify(fresh))).toBe('token_expired');
  await ask('verify-email/resend', { email });
  expect(await mailsTo('email_verification', email)).toBe(2);
  shiftClock(80 * HOUR);
  await purgeSignIn(pool, new Date(Date.now() + 80 * HOUR));
  expect(codeOf(await verify(fresh))).toBe('token_invalid');
});

test('an address gets three mails of a kind an hour, known or not, and a network address asks twenty times', async () => {
  const member = await makePerson(a, 'viewer');
  for (const [email, template] of [
    [member.email, 'account_exists'],
    ['many@newcomers.example', 'email_verification'],
  ] as const) {
    for (let n = 0; n < 3; n++) expect((await register(email)).statusCode).toBe(201);
    const fourth = await register(email);
    expect([fourth.statusCode, codeOf(fourth)]).toEqual([429, 'too_many_attempts']);
    expect(Number(fourth.headers['retry-after'])).toBeGreaterThan(3_000);
    expect(codeOf(await ask('verify-email/resend', { email }))).toBe('too_many_attempts');
    expect(await mailsTo(template, email)).toBe(3);
  }
  for (let n = 0; n < 5; n++) expect((await forgot(member.email)).statusCode).toBe(200);
  expect(await mailsTo('password_reset', member.email)).toBe(3);
  const ip = somewhere();
  const answers = [];
  for (let n = 0; n < 22; n++) answers.push(await forgot(`guess${n}@newcomers.example`, ip));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([...Array(20).fill(200), 429, 429]);
  shiftClock(HOUR + 1_000);
  expect((await forgot(member.email, ip)).statusCode).toBe(200);
  expect(await mailsTo('password_reset', member.email)).toBe(4);
});

test('a forgotten password is set once by the link, which ends all sessions and leaves the second factor', async () => {
  const person = await makePerson(a, 'developer');
  const session = await signIn(person);
  await pool.query({
    name: 'test.factor',
    text: 'update person set totp_secret = $2, totp_confirmed_at = created_at where id = $1',
    values: [person.id, Buffer.alloc(48, 1)],
  });
  await forgot(person.email.toUpperCase());
  const token = await linkOf('password_reset', person.email);
  expect(codeOf(await reset(token, 'password1234'))).toBe('weak_password');
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, n) => reset(token, `the new password ${n}`)),
  );
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, ...Array(5).fill(400)]);
  const won = answers.findIndex(({ statusCode }) => statusCode === 200);
  expect((await call('GET', '/v1/auth/session', { key: session })).statusCode).toBe(401);
  expect((await login(person.email, person.password)).statusCode).toBe(401);
  const entered = await login(person.email, `the new password ${won}`);
  expect([entered.statusCode, Object.keys(entered.json())]).toEqual([200, ['mfa_token']]);
  expect(codeOf(await reset(token, 'one more password'))).toBe('token_invalid');
});

test('a link to set a password lives half an hour, and ends when the password is changed or set by another', async () => {
  const person = await makePerson(a, 'developer');
  await forgot(person.email);
  const late = await linkOf('password_reset', person.email);
  shiftClock(HOUR / 2);
  expect(codeOf(await reset(late, 'too late by now'))).toBe('token_expired');
  shiftClock(0);
  await forgot(person.email);
  const other = await linkOf('password_reset', person.email);
  const key = await signIn(person);
  const body = { current_password: person.password, new_password: 'changed in the profile' };
  expect((await call('POST', '/v1/auth/password/change', { key, body })).statusCode).toBe(200);
  for (const token of [late, other])
    expect(codeOf(await reset(token, 'one more password'))).toBe('token_invalid');
});

test('a new password opens an account that wrong ones have locked', async () => {
  const person = await makePerson(a, 'developer');
  for (let n = 0; n < 10; n++) await login(person.email, 'wrong');
  expect(codeOf(await login(person.email, person.password))).toBe('too_many_attempts');
  await forgot(person.email);
  expect((await reset(await linkOf('password_reset', person.email), 'remembered at last')).statusCode).toBe(
    200,
  );
  expect((await login(person.email, 'remembered at last')).statusCode).toBe(200);
});

test('a mail tells the owner of an account that is locked, once a lock, and nobody of an account that does not exist', async () => {
  const person = await makePerson(a, 'developer');
  for (let n = 0; n < 14; n++) await login(person.email, 'wrong');
  expect(await mailsTo('sign_in_locked', person.email)).toBe(1);
  shiftClock(16 * 60_000);
  for (let n = 0; n < 14; n++) await login(person.email, 'wrong');
  expect(await mailsTo('sign_in_locked', person.email)).toBe(2);
  for (let n = 0; n < 14; n++) await login('nobody@nowhere.example', 'wrong');
  expect(await mailsTo('sign_in_locked', 'nobody@nowhere.example')).toBe(0);
});

test('where single sign-on rules an address the mail says so, and nobody registers there', async () => {
  const { org } = await makeTenant('ruled');
  const tenant = { ...a, org };
  const person = await makePerson(tenant, 'developer');
  await forgot(person.email);
  const before = await linkOf('password_reset', person.email);
  await enforce(org.id, 'ruled.example');
  await forgot(person.email);
  expect(await mailsTo('password_reset_sso', person.email)).toBe(1);
  expect(await mailsTo('password_reset', person.email)).toBe(1);
  expect(codeOf(await reset(before, 'got before the rule'))).toBe('sso_required');
  for (const email of [person.email, 'nobody@ruled.example'])
    expect(codeOf(await register(email))).toBe('sso_required');
});

/** Single sign-on as an organization would have it: in force, for a domain of its own. */
async function enforce(org_id: string, domain: string): Promise<void> {
  const at = new Date();
  await pool.query({
    name: 'test.connection',
    text: `
      with connection as (
             insert into sso_connection (org_id, kind, display_name, status, enforce, default_role, role_map, config,
                                         metadata, created_at, updated_at)
             values ($1, 'oidc', 'Directory', 'active', true, 'developer', '{}', '{}', '{}', $5, $5)),
           alias as (insert into sso_alias (alias, org_id) values ($4, $1)),
           domain as (insert into sso_domain (org_id, domain, token, created_at) values ($1, $2, $3, $5))
      select`,
    values: [org_id, domain, `svc-verify=${'A'.repeat(32)}`, domain.split('.')[0], at],
  });
  await pool.query({
    name: 'test.domain_proof',
    text: `insert into sso_domain_proof (domain, org_id, verified_at, checked_at) values ($1, $2, $3, $3)`,
    values: [domain, org_id, at],
  });
}

test('tokens are stored as hashes, and nothing of them or of passwords is in the log of acts', async () => {
  const email = 'hashed@newcomers.example';
  await register(email);
  const token = await linkOf('email_verification', email);
  const { rows } = await pool.query<{ text: string }>({
    name: 'test.stored',
    text: `select coalesce(string_agg(r::text, ' '), '') || (select coalesce(string_agg(a::text, ' '), '')
             from audit_entry a) as text from registration r`,
  });
  expect(rows[0]?.text).toContain(email);
  expect(rows[0]?.text).not.toContain(token);
  expect(rows[0]?.text).not.toContain(PASSWORD);
});

test('nobody met a defect', () => {
  expect(world.defects).toEqual([]);
});
