// What a person proves beyond the password: second factor, recovery codes, fresh proofs, and a changed password.
import { hash } from '@node-rs/argon2';
import { purgeSignIn, totpCode, writeAudit } from '@svc/core/identity/index.ts';
import { machineMs, nowMs, shiftClock } from '@svc/core/kernel/index.ts';
import type { LightMyRequestResponse } from 'fastify';
import { Secret } from 'otpauth';
import { afterEach, expect, test } from 'vitest';
import { codeOf, type Person, startHarness } from '../../test/registry/harness.ts';

const harness = await startHarness();
const { a, call, pool } = harness;
const MINUTE = 60_000;

afterEach(() => shiftClock(0));

function login({ email, password }: Pick<Person, 'email' | 'password'>) {
  return call('POST', '/v1/auth/login', { body: { email, password, transport: 'bearer' } });
}

const session = (key: string) => call('GET', '/v1/auth/session', { key });
const seen = (response: LightMyRequestResponse) => [response.statusCode, codeOf(response)];

/** The code of the next step, taken already: for whoever has used the present one up. */
const nextCode = (secret: Buffer) => totpCode(secret, machineMs() + 30_000);

async function withTotp(person: Person): Promise<{ token: string; secret: Buffer; codes: string[] }> {
  const first = await harness.signIn(person);
  const enrolled = await call('POST', '/v1/auth/totp/enrol', { key: first, body: {} });
  const secret = Buffer.from(Secret.fromBase32(enrolled.json().secret).bytes);
  const code = totpCode(secret, machineMs());
  const confirmed = await call('POST', '/v1/auth/totp/confirm', { key: first, body: { code } });
  expect(confirmed.statusCode).toBe(200);
  return { token: confirmed.json().token, secret, codes: confirmed.json().recovery_codes };
}

test('with a second factor the password gives a token for the code, and the code works once', async () => {
  const person = await harness.makePerson(a, 'owner');
  const { secret } = await withTotp(person);
  const halves = await Promise.all([1, 2, 3, 4].map(() => login(person)));
  const tokens = halves.map((half) => half.json().mfa_token as string);
  for (const half of halves) {
    expect(Object.keys(half.json())).toEqual(['mfa_token']);
    expect(half.headers['set-cookie']).toBeUndefined();
  }
  expect(seen(await session(tokens[0] as string))[0]).toBe(401);
  // The confirming code is used up; the next step's is fresh, and wanted by four sign-ins at once.
  const code = nextCode(secret);
  const finish = (mfa_token: string, typed: string) =>
    call('POST', '/v1/auth/login/totp', { body: { mfa_token, code: typed, transport: 'bearer' } });
  const answers = await Promise.all(tokens.map((mfa_token) => finish(mfa_token, code)));
  expect(answers.map((answer) => answer.statusCode).sort()).toEqual([200, 401, 401, 401]);
  const won = answers.find((answer) => answer.statusCode === 200);
  expect(won?.json().session.session.two_factor).toBe(true);
  const again = (await login(person)).json().mfa_token as string;
  expect(seen(await finish(again, code))).toEqual([401, 'invalid_totp']);
});

test('codes follow the clock of the machine, however far the development clock was moved', async () => {
  const person = await harness.makePerson(a, 'owner');
  const { secret } = await withTotp(person);
  const finish = async (code: string) => {
    const { mfa_token } = (await login(person)).json();
    return call('POST', '/v1/auth/login/totp', { body: { mfa_token, code, transport: 'bearer' } });
  };
  shiftClock(40 * 24 * 60 * MINUTE);
  expect(seen(await finish(totpCode(secret, nowMs())))).toEqual([401, 'invalid_totp']);
  const entered = await finish(nextCode(secret));
  expect(entered.statusCode).toBe(200);
  // Setting one up follows it too.
  const other = await harness.makePerson(a, 'owner');
  expect((await withTotp(other)).codes).toHaveLength(10);
});

test('five wrong codes end the sign-in, and ten lock the second factor against a known password', async () => {
  const person = await harness.makePerson(a, 'owner');
  const { secret } = await withTotp(person);
  const code = nextCode(secret);
  const wrong = code === '000000' ? '000001' : '000000';
  const finish = (mfa_token: string, typed: string) =>
    call('POST', '/v1/auth/login/totp', { body: { mfa_token, code: typed, transport: 'bearer' } });
  const first = (await login(person)).json().mfa_token as string;
  for (const left of [4, 3, 2, 1, 0]) {
    const answer = await finish(first, wrong);
    expect([...seen(answer), answer.json().error.details.attempts_left]).toEqual([401, 'invalid_totp', left]);
  }
  expect(seen(await finish(first, code))).toEqual([401, 'invalid_totp']);
  const second = (await login(person)).json().mfa_token as string;
  for (let i = 0; i < 5; i++) expect((await finish(second, wrong)).statusCode).toBe(401);
  const third = (await login(person)).json().mfa_token as string;
  expect(seen(await finish(third, code))).toEqual([429, 'too_many_attempts']);
  const late = (await login(person)).json().mfa_token as string;
  shiftClock(6 * MINUTE);
  expect(seen(await finish(late, code))).toEqual([401, 'invalid_totp']);
});

test('a recovery code stands in for the second factor once; a new set ends the old one', async () => {
  const person = await harness.makePerson(a, 'owner');
  const { token, codes } = await withTotp(person);
  const enter = async (code: string) => {
    const { mfa_token } = (await login(person)).json();
    return call('POST', '/v1/auth/login/totp', { body: { mfa_token, code, transport: 'bearer' } });
  };
  expect((await enter(codes[0] as string)).statusCode).toBe(200);
  expect(seen(await enter(codes[0] as string))).toEqual([401, 'invalid_totp']);
  const renewed = await call('POST', '/v1/auth/totp/recovery-codes', {
    key: token,
    body: { code: codes[9] as string },
  });
  const fresh = renewed.json().recovery_codes as string[];
  expect(fresh).toHaveLength(10);
  expect(seen(await enter(codes[1] as string))).toEqual([401, 'invalid_totp']);
  expect((await enter((fresh[0] as string).toUpperCase())).statusCode).toBe(200);
  // Each use, and nothing else, is in a mail to the person.
  const { rows } = await harness.pool.query<{ left: number }>({
    name: 'test.mails_of_codes',
    text: `select (data ->> 'left')::int as left from mail
            where template = 'recovery_code_used' and recipient = $1 order by created_at`,
    values: [person.email],
  });
  expect(rows.map(({ left }) => left)).toEqual([9, 8, 9]);
});

test('a second factor in force is neither replaced nor given new recovery codes without a code of it', async () => {
  const person = await harness.makePerson(a, 'owner');
  const { token, secret, codes } = await withTotp(person);
  for (const path of ['enrol', 'recovery-codes']) {
    const ask = (body: object) => call('POST', `/v1/auth/totp/${path}`, { key: token, body });
    const bare = await ask({});
    expect([...seen(bare), bare.json().error.param]).toEqual([400, 'invalid_request', 'code']);
    expect(seen(await ask({ code: 'zzzzz-zzzzz' }))).toEqual([401, 'invalid_totp']);
  }
  const by_code = { code: nextCode(secret) };
  const enrolled = await call('POST', '/v1/auth/totp/enrol', { key: token, body: by_code });
  expect(enrolled.statusCode).toBe(200);
  // Until the new one is confirmed the old one is in force.
  const { mfa_token } = (await login(person)).json();
  const entered = await call('POST', '/v1/auth/login/totp', {
    body: { mfa_token, code: codes[0], transport: 'bearer' },
  });
  expect(entered.statusCode).toBe(200);
});

test('a sign-in that got past the old password does not finish once the password is another', async () => {
  const person = await harness.makePerson(a, 'owner');
  await withTotp(person);
  // As `auth.password.change` does it: the row is held, the hash replaced, the half sign-ins ended.
  const { entering } = await pool.transaction(async (db) => {
    await db.query({
      name: 'test.change_password',
      text: `update person set password_hash = (select password_hash from person where id <> $1 limit 1)
              where id = $1`,
      values: [person.id],
    });
    await db.query({
      name: 'test.end_challenges',
      text: 'delete from sign_in_challenge where subject = $1',
      values: [person.id],
    });
    const entering = login(person);
    // Whoever still opens a challenge now waits for the row, or has passed it by.
    const waits = () =>
      db.query<{ n: number }>({
        name: 'test.waiting',
        text: `select (select count(*) from pg_stat_activity
                      where datname = current_database() and wait_event_type = 'Lock')::int
                  + (select count(*) from sign_in_challenge where subject = $1)::int as n`,
        values: [person.id],
      });
    while ((await waits()).rows[0]?.n === 0);
    return { entering };
  });
  expect(seen(await entering)).toEqual([401, 'invalid_credentials']);
});

test('an organization that asks for a second factor lets in nobody without one, but to set it up', async () => {
  const tenant = await harness.makeTenant('guarded');
  const person = await harness.makePerson(tenant, 'owner');
  const token = await harness.signIn(person);
  const secure = (security: object) =>
    pool.query({
      name: 'test.security',
      text: 'update org set settings = $2 where id = $1',
      values: [tenant.org.id, JSON.stringify({ security })],
    });
  await secure({ require_2fa: true });
  expect(seen(await call('GET', '/v1/keys', { key: token }))).toEqual([403, 'two_factor_required']);
  expect((await session(token)).json().barred).toBe('two_factor_required');
  const { token: strong, secret } = await withTotp(person);
  expect((await call('GET', '/v1/keys', { key: strong })).statusCode).toBe(200);
  const disabled = await call('POST', '/v1/auth/totp/disable', {
    key: strong,
    body: { code: nextCode(secret) },
  });
  expect(seen(disabled)).toEqual([409, 'state_conflict']);
  await secure({ console_ip_allow: ['203.0.113.0/24'] });
  expect(seen(await call('GET', '/v1/keys', { key: strong }))).toEqual([403, 'ip_not_allowed']);
  const within = await call('GET', '/v1/keys', { key: strong, ip: '203.0.113.5' });
  expect(within.statusCode).toBe(200);
  // Never on API keys.
  expect((await call('GET', '/v1/keys', { key: tenant.key })).statusCode).toBe(200);
});

test('what needs a fresh proof is refused after 15 minutes until the person proves again, with a new token', async () => {
  const person = await harness.makePerson(a, 'owner');
  const token = await harness.signIn(person);
  shiftClock(15 * MINUTE + 1_000);
  const stale = await call('POST', '/v1/auth/totp/enrol', { key: token, body: {} });
  expect(seen(stale)).toEqual([403, 'reauthentication_required']);
  expect(stale.json().error.details.methods).toEqual(['password']);
  const wrong = await call('POST', '/v1/auth/reauthenticate', { key: token, body: { password: 'wrong' } });
  expect(seen(wrong)).toEqual([401, 'invalid_credentials']);
  const nothing = await call('POST', '/v1/auth/reauthenticate', { key: token, body: {} });
  expect(seen(nothing)).toEqual([400, 'invalid_request']);
  const { password } = person;
  const proved = await call('POST', '/v1/auth/reauthenticate', { key: token, body: { password } });
  expect(proved.statusCode).toBe(200);
  expect(seen(await session(token))).toEqual([401, 'session_expired']);
  const fresh = proved.json().token as string;
  expect((await call('POST', '/v1/auth/totp/enrol', { key: fresh, body: {} })).statusCode).toBe(200);
});

test('a new password ends every other session and every half sign-in, and the old one is worth nothing', async () => {
  const person = await harness.makePerson(a, 'owner');
  const mine = await harness.signIn(person);
  const other = await harness.signIn(person);
  const new_password = 'correct horse battery';
  const change = (current_password: string, options: string, key: string) =>
    call('POST', '/v1/auth/password/change', { key, body: { current_password, new_password: options } });
  expect(seen(await change('wrong', new_password, mine))).toEqual([401, 'invalid_credentials']);
  const weak = await change(person.password, 'password1234', mine);
  expect([...seen(weak), weak.json().error.param]).toEqual([400, 'weak_password', 'new_password']);
  const changed = await change(person.password, new_password, mine);
  expect(changed.statusCode).toBe(200);
  for (const ended of [mine, other]) expect(seen(await session(ended))).toEqual([401, 'session_expired']);
  expect((await session(changed.json().token)).statusCode).toBe(200);
  expect((await login(person)).statusCode).toBe(401);
  expect((await login({ ...person, password: new_password })).statusCode).toBe(200);
});

/** Whether as many statements as `n` wait for a lock. */
async function isWaiting(n: number): Promise<boolean> {
  const { rows } = await pool.query<{ n: number }>({
    name: 'test.waiting',
    text: `select count(*)::int as n from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`,
  });
  return rows[0]?.n === n;
}

test('a session that an owner ends while its person changes the password is ended, and neither fails', async () => {
  const person = await harness.makePerson(a, 'developer');
  const key = await harness.signIn(person);
  const { id } = (await session(key)).json().session;
  const body = { current_password: person.password, new_password: 'correct horse battery' };
  let changed: Promise<LightMyRequestResponse> | null = null;
  // What `orgs.sessions.end` does, held open in between.
  await harness.context.transaction(async (context) => {
    await context.db.query({ name: 'test.end', text: 'delete from session where id = $1', values: [id] });
    changed = call('POST', '/v1/auth/password/change', { key, body });
    void changed.catch(() => {});
    await expect.poll(() => isWaiting(1)).toBe(true);
    await writeAudit(context, { action: 'orgs.sessions.end', org_id: a.org.id });
  });
  expect(seen(await (changed as unknown as Promise<LightMyRequestResponse>))).toEqual([
    401,
    'session_expired',
  ]);
  expect(harness.defects).toEqual([]);
});

test('a password hashed with weaker parameters is hashed anew when it is next used', async () => {
  const person = await harness.makePerson(a, 'viewer');
  const weak = await hash(person.password, { algorithm: 2, memoryCost: 8_192, timeCost: 1, parallelism: 1 });
  await pool.query({
    name: 'test.weaken',
    text: 'update person set password_hash = $2 where id = $1',
    values: [person.id, weak],
  });
  for (let i = 0; i < 2; i++) expect((await login(person)).statusCode).toBe(200);
  const { rows } = await pool.query<{ password_hash: string }>({
    name: 'test.hash_of',
    text: 'select password_hash from person where id = $1',
    values: [person.id],
  });
  expect(rows[0]?.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
});

test('the hourly job takes what has lapsed and leaves what is in force', async () => {
  const person = await harness.makePerson(a, 'viewer');
  const token = await harness.signIn(person);
  await login({ ...person, password: 'not the password' });
  const present = new Date(nowMs());
  await purgeSignIn(pool, present);
  expect((await session(token)).statusCode).toBe(200);
  const later = new Date(present.getTime() + 73 * 60 * MINUTE);
  expect(await purgeSignIn(pool, later)).toBeGreaterThanOrEqual(2);
  expect(await purgeSignIn(pool, later)).toBe(0);
  expect(seen(await session(token))).toEqual([401, 'session_expired']);
});

test('no caller met a defect', () => {
  expect(harness.defects).toEqual([]);
});
