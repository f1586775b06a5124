// The staff listener: sign-in of staff, apart from that of people in table, token, cookie and origin.
import { createStaff, signInSettings, totpCode } from '@svc/core/identity/index.ts';
import { machineMs, readConfig, shiftClock } from '@svc/core/kernel/index.ts';
import { staffListenerOperations } from '@svc/core/operations/index.ts';
import { bindOperations, createApp } from '@svc/http/index.ts';
import type { LightMyRequestResponse } from 'fastify';
import { Secret } from 'otpauth';
import { afterEach, expect, test } from 'vitest';
import { codeOf, startHarness } from '../../test/registry/harness.ts';
import { atFileEnd } from '../../test/support/ends.ts';

const harness = await startHarness();
const { a, pool, keys, root_key, request_log } = harness;
const base_url = 'http://127.0.0.1:8082';
const MINUTE = 60_000;
const defects: unknown[] = [];
const log = {
  debug() {},
  info() {},
  warn() {},
  error: (fields: object) => void defects.push(fields),
  child: () => log,
};
const app = createApp({ log, base_url });
bindOperations(
  app,
  {
    pool,
    services: {
      key_ring: keys,
      catalog: () => ({}) as never,
      request_log,
      root_key,
      sign_in: signInSettings(readConfig({}), base_url),
    },
    log,
    base_url,
  },
  staffListenerOperations,
);
atFileEnd(() => app.close());
afterEach(() => shiftClock(0));

const ops = await createStaff(harness.context, root_key, { email: 'Ops@svc.example', roles: ['finance'] });
const secret = Buffer.from(Secret.fromBase32(ops.totp_secret).bytes);

function call(
  method: 'GET' | 'POST',
  url: string,
  options: { body?: object; headers?: Record<string, string> } = {},
) {
  const { body, headers } = options;
  return app.inject({
    method,
    url,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const seen = (response: LightMyRequestResponse) => [response.statusCode, codeOf(response)];
const login = (password: string) =>
  call('POST', '/auth/login', { body: { email: 'ops@SVC.example', password } });

/** A sign-in as by a code that was not used before. */
async function enter(transport: 'cookie' | 'bearer', cookie?: string) {
  shiftClock(0);
  await pool.query({ name: 'test.unuse_codes', text: 'update staff set totp_last_step = 0' });
  const { mfa_token } = (await login(ops.password)).json();
  return call('POST', '/auth/login/totp', {
    body: { mfa_token, code: totpCode(secret, machineMs()), transport },
    ...(cookie === undefined ? {} : { headers: { cookie } }),
  });
}

test('the token of svcctl signs in for twelve hours, and nothing of people works here', async () => {
  const read = await call('GET', '/auth/session', { headers: bearer(ops.token) });
  expect(read.json()).toMatchObject({ staff: { id: ops.id, email: 'Ops@svc.example', roles: ['finance'] } });
  const person = await harness.signIn(await harness.makePerson(a, 'owner'));
  for (const token of [a.key, person, 'svc-staff-x', `svc-staff-${'A'.repeat(43)}`]) {
    expect([token, (await call('GET', '/auth/session', { headers: bearer(token) })).statusCode]).toEqual([
      token,
      401,
    ]);
  }
  expect(seen(await call('GET', '/auth/session'))).toEqual([401, 'authentication_required']);
  expect((await call('POST', '/v1/auth/login', { body: {} })).statusCode).toBe(404);
  shiftClock(12 * 60 * MINUTE - MINUTE);
  expect((await call('GET', '/auth/session', { headers: bearer(ops.token) })).statusCode).toBe(200);
  shiftClock(12 * 60 * MINUTE + MINUTE);
  expect(seen(await call('GET', '/auth/session', { headers: bearer(ops.token) }))).toEqual([
    401,
    'session_expired',
  ]);
});

test('staff never get in by password alone, and a code works once', async () => {
  const half = await login(ops.password);
  expect(Object.keys(half.json())).toEqual(['mfa_token']);
  expect(half.headers['set-cookie']).toBeUndefined();
  const entered = await enter('bearer');
  expect(entered.statusCode).toBe(200);
  expect(entered.json().token).toMatch(/^svc-staff-/);
  const { mfa_token } = (await login(ops.password)).json();
  const again = await call('POST', '/auth/login/totp', {
    body: { mfa_token, code: totpCode(secret, machineMs()) },
  });
  expect(seen(again)).toEqual([401, 'invalid_totp']);
  // A person's half sign-in opens no door here, nor theirs there.
  const crossed = await harness.call('POST', '/v1/auth/login/totp', { body: { mfa_token, code: '000000' } });
  expect(seen(crossed)).toEqual([401, 'invalid_totp']);
});

test('a staff session ends after 30 idle minutes and after 8 hours', async () => {
  const entered = await enter('bearer');
  const headers = bearer(entered.json().token);
  for (let minutes = 29; minutes < 480; minutes += 29) {
    shiftClock(minutes * MINUTE);
    expect([minutes, (await call('GET', '/auth/session', { headers })).statusCode]).toEqual([minutes, 200]);
  }
  shiftClock(481 * MINUTE);
  expect(seen(await call('GET', '/auth/session', { headers }))).toEqual([401, 'session_expired']);
  const idle = bearer((await enter('bearer')).json().token);
  shiftClock(31 * MINUTE);
  expect(seen(await call('GET', '/auth/session', { headers: idle }))).toEqual([401, 'session_expired']);
});

test("a staff cookie is its own, and writes need the staff page's origin and token", async () => {
  const entered = await enter('cookie');
  const set = String(entered.headers['set-cookie']);
  expect(set).toMatch(/^svc_staff=svc-staff-[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=28800$/);
  expect(entered.json().token).toBeUndefined();
  const cookie = set.split(';', 1)[0] as string;
  const csrf = entered.json().session.csrf_token as string;
  const origin = 'http://127.0.0.1:8082';
  const refused: Record<string, string>[] = [
    { cookie },
    { cookie, origin },
    // A console page of customers is no staff page.
    { cookie, origin: 'http://127.0.0.1:8081', 'x-svc-csrf': csrf },
  ];
  for (const headers of refused) {
    expect(seen(await call('POST', '/auth/logout', { headers }))).toEqual([403, 'csrf_failed']);
  }
  const both = { cookie, ...bearer(ops.token) };
  expect(seen(await call('GET', '/auth/session', { headers: both }))).toEqual([400, 'invalid_request']);
  const out = await call('POST', '/auth/logout', { headers: { cookie, origin, 'x-svc-csrf': csrf } });
  expect([out.statusCode, String(out.headers['set-cookie'])]).toEqual([
    204,
    expect.stringContaining('Max-Age=0'),
  ]);
  expect(seen(await call('GET', '/auth/session', { headers: { cookie } }))).toEqual([401, 'session_expired']);
});

test('a sign-in of staff by cookie ends the session whose cookie the browser gives up, by bearer it does not', async () => {
  const cookieOf = (entered: LightMyRequestResponse) =>
    String(entered.headers['set-cookie']).split(';', 1)[0] as string;
  const status = async (cookie: string) =>
    (await call('GET', '/auth/session', { headers: { cookie } })).statusCode;
  const first = cookieOf(await enter('cookie'));
  await enter('bearer', first);
  expect(await status(first)).toBe(200);
  const second = cookieOf(await enter('cookie', first));
  expect([await status(first), await status(second)]).toEqual([401, 200]);
});

test('ten wrong passwords lock the account of staff, not that of a person with the same address', async () => {
  const person = { email: 'double@svc.example', password: 'correct horse battery' };
  await createStaff(harness.context, root_key, { email: person.email, roles: ['support'] });
  for (let i = 0; i < 10; i++) {
    const wrong = await call('POST', '/auth/login', { body: { email: person.email, password: 'wrong' } });
    expect(seen(wrong)).toEqual([401, 'invalid_credentials']);
  }
  const denials = async () => {
    const { rows } = await pool.query({
      name: 'test.staff_denials',
      text: `select 1 from audit_entry where action = 'staff.login' and outcome = 'denied'`,
    });
    return rows.length;
  };
  const before = await denials();
  const locked = await call('POST', '/auth/login', { body: { email: person.email, password: 'wrong' } });
  expect(seen(locked)).toEqual([429, 'too_many_attempts']);
  // Nobody fills the log by knocking at a locked door; an unknown address leaves the trace of a known one.
  expect(await denials()).toBe(before);
  await call('POST', '/auth/login', { body: { email: 'nobody@svc.example', password: 'wrong' } });
  expect(await denials()).toBe(before + 1);
  const unknown = await harness.call('POST', '/v1/auth/login', { body: person });
  expect(seen(unknown)).toEqual([401, 'invalid_credentials']);
});

test('staff who are disabled stop at their next request', async () => {
  const made = await createStaff(harness.context, root_key, {
    email: 'gone@svc.example',
    roles: ['support'],
  });
  expect((await call('GET', '/auth/session', { headers: bearer(made.token) })).statusCode).toBe(200);
  await pool.query({
    name: 'test.disable_staff',
    text: `update staff set status = 'disabled' where id = $1`,
    values: [made.id],
  });
  expect(seen(await call('GET', '/auth/session', { headers: bearer(made.token) }))).toEqual([
    401,
    'session_expired',
  ]);
});

test('no caller met a defect', () => {
  expect([...defects, ...harness.defects]).toEqual([]);
});
