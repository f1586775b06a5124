// Signing in over the wire: both transports, both factors, what rotates, what ends, and what is counted.
import { createPool } from '@svc/core/db/index.ts';
import { csrfToken, verifyAudit, verifySession } from '@svc/core/identity/index.ts';
import { nowMs, shiftClock } from '@svc/core/kernel/index.ts';
import { putMember } from '@svc/core/orgs/index.ts';
import type { LightMyRequestResponse } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import { codeOf, type Person, startHarness } from '../../test/registry/harness.ts';
import { atFileEnd } from '../../test/support/ends.ts';

const harness = await startHarness();
const { a, b, call, pool } = harness;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const origin = 'http://127.0.0.1:8081';

afterEach(() => shiftClock(0));

function login(person: Pick<Person, 'email' | 'password'>, more: { transport?: string; ip?: string } = {}) {
  const { transport = 'bearer', ip } = more;
  const body = { email: person.email, password: person.password, transport };
  return call('POST', '/v1/auth/login', { body, ...(ip === undefined ? {} : { ip }) });
}

const session = (key: string) => call('GET', '/v1/auth/session', { key });
const seen = (response: LightMyRequestResponse) => [response.statusCode, codeOf(response)];

/** The cookie of an answer as a browser sends it back. */
function cookieOf(response: LightMyRequestResponse): string {
  return setSession(response).split(';', 1)[0] as string;
}

/** The header that sets the cookie of the session, beside the one of the device. */
function setSession(response: LightMyRequestResponse): string {
  return String([response.headers['set-cookie']].flat().find((each) => each?.includes('svc_session=')));
}

test('a bearer sign-in shows the token once and sets no cookie; the session says who and where', async () => {
  const person = await harness.makePerson(a, 'owner');
  const answer = await login(person);
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['set-cookie']).toBeUndefined();
  const { token, session: info } = answer.json();
  expect(token).toMatch(/^svc-sess-[A-Za-z0-9_-]{43}$/);
  expect(info).toMatchObject({
    user: { id: person.id, email: person.email, two_factor: false },
    org: { id: a.org.id, role: 'owner' },
    role: 'owner',
    session: { current: true, method: 'password', ip_prefix: '127.0.0.1/32' },
    barred: null,
  });
  expect(info.csrf_token).toBe(csrfToken(harness.root_key, info.session.id));
  const read = await session(token);
  expect(read.json()).toEqual({ ...info, session: { ...info.session } });
  expect(read.body.includes(token)).toBe(false);
});

test('a cookie sign-in hands over an http-only cookie, and its writes need origin and CSRF token', async () => {
  const person = await harness.makePerson(a, 'developer');
  const answer = await login(person, { transport: 'cookie' });
  expect(answer.json().token).toBeUndefined();
  const set = setSession(answer);
  expect(set).toMatch(/^svc_session=svc-sess-[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=259200$/);
  const cookie = cookieOf(answer);
  const { csrf_token } = answer.json().session;
  const write = (headers: Record<string, string>) =>
    call('POST', '/v1/keys', {
      headers: { cookie, ...headers },
      body: { name: 'from the console', project_id: a.live.id, scopes: ['inference'] },
    });
  expect((await call('GET', '/v1/keys', { headers: { cookie } })).statusCode).toBe(200);
  const forged: Record<string, string>[] = [
    {},
    { 'x-svc-csrf': csrf_token },
    { origin },
    { origin, 'x-svc-csrf': `${csrf_token}x` },
    { origin: 'https://evil.example', 'x-svc-csrf': csrf_token },
    { referer: 'https://evil.example/http://127.0.0.1:8081', 'x-svc-csrf': csrf_token },
    { origin: 'null', 'x-svc-csrf': csrf_token },
  ];
  for (const headers of forged) {
    expect([headers, ...seen(await write(headers))]).toEqual([headers, 403, 'csrf_failed']);
  }
  const made = await write({ origin, 'x-svc-csrf': csrf_token });
  expect([made.statusCode, made.json().created_by]).toEqual([201, person.id]);
  const by_referer = await write({ referer: `${origin}/keys`, 'x-svc-csrf': csrf_token });
  expect(by_referer.statusCode).toBe(201);
});

test('who signs in anew by cookie leaves no session behind, and a sign-in by bearer or one refused ends none', async () => {
  const person = await harness.makePerson(a, 'developer');
  const cookie = cookieOf(await login(person, { transport: 'cookie' }));
  const again = (more: object) =>
    call('POST', '/v1/auth/login', { headers: { cookie }, body: { ...person, id: undefined, ...more } });
  const stands = async () => (await call('GET', '/v1/auth/session', { headers: { cookie } })).statusCode;
  expect((await again({ password: 'not the password' })).statusCode).toBe(401);
  expect((await again({ transport: 'bearer' })).statusCode).toBe(200);
  expect(await stands()).toBe(200);
  const fresh = cookieOf(await again({ transport: 'cookie' }));
  expect(await stands()).toBe(401);
  expect((await call('GET', '/v1/auth/session', { headers: { cookie: fresh } })).statusCode).toBe(200);
});

test('two credentials at once are refused, and a session never hides in x-api-key', async () => {
  const token = await harness.signIn(await harness.makePerson(a, 'viewer'));
  const cookie = `svc_session=${token}`;
  const both = await call('GET', '/v1/auth/session', { key: token, headers: { cookie } });
  expect(seen(both)).toEqual([400, 'invalid_request']);
  const doubled = await call('GET', '/v1/auth/session', { headers: { cookie: `${cookie}; ${cookie}` } });
  expect(seen(doubled)).toEqual([401, 'authentication_required']);
  const header = await call('GET', '/v1/credits', { headers: { 'x-api-key': token } });
  expect(header.statusCode).toBe(401);
  // A key beside a cookie of the browser is meant: the key acts.
  const key = await call('GET', '/v1/credits', { key: a.key, headers: { cookie } });
  expect(key.statusCode).toBe(200);
});

test('an unknown address, a wrong password and a broken address get the very same answer', async () => {
  const person = await harness.makePerson(a, 'viewer');
  const bodyOf = (response: LightMyRequestResponse) =>
    response.body.replaceAll(response.headers['x-svc-request-id'] as string, '');
  const wrong = await login({ ...person, password: 'not the password' });
  const unknown = await login({ email: 'nobody@acme.example', password: 'not the password' });
  const broken = await login({ email: 'no address', password: 'not the password' });
  expect(seen(wrong)).toEqual([401, 'invalid_credentials']);
  expect([unknown, broken].map(bodyOf)).toEqual([bodyOf(wrong), bodyOf(wrong)]);
});

test('a sign-in by cookie from a foreign page is refused before the password is looked at', async () => {
  const person = await harness.makePerson(a, 'viewer');
  const { email, password } = person;
  const foreign = await call('POST', '/v1/auth/login', {
    body: { email, password },
    headers: { origin: 'https://evil.example' },
  });
  expect(seen(foreign)).toEqual([403, 'csrf_failed']);
  const own = await call('POST', '/v1/auth/login', { body: { email, password }, headers: { origin } });
  expect(own.statusCode).toBe(200);
});

test('a session ends after 12 idle hours, and after 72 however busy', async () => {
  const person = await harness.makePerson(a, 'viewer');
  const idle = await harness.signIn(person);
  const busy = await harness.signIn(person);
  for (let hours = 11; hours < 72; hours += 11) {
    shiftClock(hours * HOUR);
    expect([hours, (await session(busy)).statusCode]).toEqual([hours, 200]);
  }
  expect(seen(await session(idle))).toEqual([401, 'session_expired']);
  shiftClock(72 * HOUR + 1_000);
  expect(seen(await session(busy))).toEqual([401, 'session_expired']);
});

test('the strictest organization says how long a session lasts', async () => {
  const person = await harness.makePerson(a, 'viewer');
  const strict = await harness.makeTenant('strict');
  await pool.query({
    name: 'test.security',
    text: 'update org set settings = $2 where id = $1',
    values: [strict.org.id, JSON.stringify({ security: { session_hours: 2 } })],
  });
  const at = new Date();
  await putMember(pool, { org_id: strict.org.id, user_id: person.id, role: 'viewer', source: 'invite', at });
  const token = await harness.signIn(person);
  shiftClock(2 * HOUR - MINUTE);
  expect((await session(token)).statusCode).toBe(200);
  shiftClock(2 * HOUR + MINUTE);
  expect(seen(await session(token))).toEqual([401, 'session_expired']);
});

test('the twenty-first session of a person ends the oldest, also when they begin at once', async () => {
  const person = await harness.makePerson(a, 'viewer');
  const first = await harness.signIn(person);
  const more: string[] = [];
  for (let round = 0; round < 5; round++) {
    more.push(...(await Promise.all(Array.from({ length: 4 }, () => harness.signIn(person)))));
  }
  expect(seen(await session(first))).toEqual([401, 'session_expired']);
  const listed = await call('GET', '/v1/auth/sessions', { key: more.at(-1) as string });
  expect(listed.json().data).toHaveLength(20);
  expect(listed.json().data.filter((one: { current: boolean }) => one.current)).toHaveLength(1);
});

test('a session ended in one place stops at once there, and in another process too', async () => {
  const person = await harness.makePerson(a, 'viewer');
  const [one, two, three] = (await Promise.all([1, 2, 3].map(() => harness.signIn(person)))) as [
    string,
    string,
    string,
  ];
  // Another process is another pool: nothing is remembered between requests but in PostgreSQL.
  const elsewhere = createPool(harness.url, { max: 1, role: 'svc_runtime' });
  atFileEnd(() => elsewhere.end());
  const there = (token: string) =>
    verifySession(elsewhere, {
      token,
      environment: 'live',
      org_override: null,
      at: new Date(nowMs()),
      ip: null,
    });
  expect(await there(two)).toMatchObject({ user_id: person.id });
  const { id } = (await session(two)).json().session;
  expect((await call('DELETE', `/v1/auth/sessions/${id}`, { key: one })).statusCode).toBe(204);
  expect(seen(await session(two))).toEqual([401, 'session_expired']);
  await expect(there(two)).rejects.toMatchObject({ code: 'session_expired' });
  expect((await call('DELETE', `/v1/auth/sessions/${id}`, { key: one })).statusCode).toBe(404);
  expect((await call('POST', '/v1/auth/logout', { key: one })).statusCode).toBe(204);
  expect(seen(await session(one))).toEqual([401, 'session_expired']);
  expect((await call('POST', '/v1/auth/logout-all', { key: three })).statusCode).toBe(204);
  await expect(there(three)).rejects.toMatchObject({ code: 'session_expired' });
});

test("nobody ends another person's session, nor learns that it is there", async () => {
  const mine = await harness.signIn(await harness.makePerson(a, 'owner'));
  const theirs = await harness.signIn(await harness.makePerson(b, 'owner'));
  const { id } = (await session(theirs)).json().session;
  for (const path of [
    `/v1/auth/sessions/${id}`,
    `/v1/orgs/${a.org.id}/sessions/${id}`,
    `/v1/orgs/${b.org.id}/sessions/${id}`,
  ]) {
    expect([path, (await call('DELETE', path, { key: mine })).statusCode]).toEqual([path, 404]);
  }
  expect((await session(theirs)).statusCode).toBe(200);
});

test('owners and admins see and end the sessions of their organization, others do not', async () => {
  const target = await harness.signIn(await harness.makePerson(a, 'developer'));
  const { id } = (await session(target)).json().session;
  const path = `/v1/orgs/${a.org.id}/sessions`;
  for (const role of ['developer', 'billing', 'viewer'] as const) {
    const key = await harness.signIn(await harness.makePerson(a, role));
    const listed = await call('GET', path, { key });
    expect([role, ...seen(listed)]).toEqual([role, 403, 'permission_denied']);
    expect((await call('DELETE', `${path}/${id}`, { key })).statusCode).toBe(403);
  }
  const admin = await harness.signIn(await harness.makePerson(a, 'admin'));
  const ids = (await call('GET', path, { key: admin })).json().data.map((one: { id: string }) => one.id);
  expect(ids).toContain(id);
  expect((await call('DELETE', `${path}/${id}`, { key: admin })).statusCode).toBe(204);
  expect(seen(await session(target))).toEqual([401, 'session_expired']);
  expect((await call('GET', path, { key: a.key })).json().error.code).toBe('session_required');
});

test('entering another organization gives a new token, and x-svc-org lends one for a single request', async () => {
  const person = await harness.makePerson(a, 'owner');
  const at = new Date();
  await putMember(pool, { org_id: b.org.id, user_id: person.id, role: 'viewer', source: 'invite', at });
  const token = await harness.signIn(person);
  const lent = await call('GET', '/v1/auth/session', { key: token, headers: { 'x-svc-org': b.org.id } });
  expect([lent.json().org.id, lent.json().role]).toEqual([b.org.id, 'viewer']);
  const write = await call('POST', '/v1/keys', {
    key: token,
    headers: { 'x-svc-org': b.org.id },
    body: { name: 'x', project_id: b.live.id, scopes: ['inference'] },
  });
  expect(seen(write)).toEqual([403, 'permission_denied']);
  expect((await session(token)).json().org.id).toBe(a.org.id);
  // The path names the organization: the role there counts.
  expect((await call('GET', `/v1/orgs/${b.org.id}/sessions`, { key: token })).statusCode).toBe(403);
  expect((await call('GET', `/v1/orgs/${b.org.id}`, { key: token })).json()).toMatchObject({
    role: 'viewer',
  });
  const entered = await call('POST', '/v1/auth/session/org', { key: token, body: { org_id: b.org.id } });
  expect(entered.json().session.org.id).toBe(b.org.id);
  expect(seen(await session(token))).toEqual([401, 'session_expired']);
  const next = entered.json().token as string;
  expect((await session(next)).json().role).toBe('viewer');
  const foreign = await harness.makeTenant('foreign');
  for (const org_id of [foreign.org.id, 'org_x', a.key_id]) {
    const refused = await call('POST', '/v1/auth/session/org', { key: next, body: { org_id } });
    expect([org_id, ...seen(refused)]).toEqual([org_id, 404, 'not_found']);
    const header = await call('GET', '/v1/credits', { key: next, headers: { 'x-svc-org': org_id } });
    expect([org_id, ...seen(header)]).toEqual([org_id, 404, 'not_found']);
  }
});

test('a membership that is taken away and a role that changes count from the next request', async () => {
  const person = await harness.makePerson(a, 'owner');
  const token = await harness.signIn(person);
  expect((await call('GET', '/v1/credits/ledger', { key: token })).statusCode).toBe(200);
  const at = new Date();
  await putMember(pool, { org_id: a.org.id, user_id: person.id, role: 'viewer', source: 'invite', at });
  expect(seen(await call('GET', '/v1/credits/ledger', { key: token }))).toEqual([403, 'permission_denied']);
  await pool.query({
    name: 'test.suspend_member',
    text: `update org_member set status = 'suspended' where user_id = $1`,
    values: [person.id],
  });
  expect(seen(await call('GET', '/v1/credits', { key: token }))).toEqual([403, 'permission_denied']);
  expect((await session(token)).json()).toMatchObject({ org: null, role: null, orgs: [] });
});

test('sessions read live rows unless the test environment is asked for, and cannot act there for live money', async () => {
  const token = await harness.signIn(await harness.makePerson(a, 'owner'));
  const environments = async (path: string) =>
    new Set(
      (await call('GET', path, { key: token }))
        .json()
        .data.map((key: { environment: string }) => key.environment),
    );
  expect(await environments('/v1/keys')).toEqual(new Set(['live']));
  expect(await environments('/v1/keys?environment=test')).toEqual(new Set(['test']));
  const live = (await call('GET', '/v1/credits', { key: token })).json();
  const sandbox = (await call('GET', '/v1/credits?environment=test', { key: token })).json();
  expect([live.available_micro_usd, sandbox.available_micro_usd]).toEqual([0, 100_000_000]);
  expect((await call('POST', '/v1/credits/sandbox/refill', { key: token })).statusCode).toBe(200);
});

test('an Idempotency-Key of a session is its organization’s, and answers again', async () => {
  const token = await harness.signIn(await harness.makePerson(a, 'developer'));
  const body = { name: 'once', project_id: a.live.id, scopes: ['inference'] };
  const make = () => call('POST', '/v1/keys', { key: token, body, headers: { 'idempotency-key': 'one' } });
  const [first, second] = [await make(), await make()];
  expect([first.statusCode, second.headers['x-svc-idempotent-replay']]).toEqual([201, 'true']);
  expect(second.json()).toEqual(first.json());
});

test('last_seen_at moves at most once a minute', async () => {
  const token = await harness.signIn(await harness.makePerson(a, 'viewer'));
  const lastSeen = async () => (await session(token)).json().session.last_seen_at as string;
  const first = await lastSeen();
  shiftClock(30_000);
  expect(await lastSeen()).toBe(first);
  shiftClock(61_000);
  await lastSeen();
  expect(Date.parse(await lastSeen()) - Date.parse(first)).toBeGreaterThanOrEqual(60_000);
});

test('a changed key stands in the audit log with what changed and who did it, and never with its secret', async () => {
  const person = await harness.makePerson(a, 'admin');
  const token = await harness.signIn(person);
  const body = { name: 'before', project_id: a.live.id, scopes: ['inference'] };
  const made = (await call('POST', '/v1/keys', { key: token, body })).json();
  const patch = {
    name: 'after',
    scopes: ['inference'],
    expires_at: '2030-01-01',
    data_policy: { zdr: true },
  };
  expect((await call('PATCH', `/v1/keys/${made.id}`, { key: token, body: patch })).statusCode).toBe(200);
  const { rows } = await pool.query<Record<string, unknown>>({
    name: 'test.audit_of_key',
    text: `
      select action, actor_type, actor_id, ip_prefix, before, after, to_jsonb(audit_entry)::text as text
        from audit_entry where target_id = $1 order by id`,
    values: [made.id],
  });
  const by = { actor_type: 'user', actor_id: person.id, ip_prefix: '127.0.0.1/32' };
  expect(rows).toMatchObject([
    { ...by, action: 'keys.create', before: null, after: { name: 'before', environment: 'live' } },
    {
      ...by,
      action: 'keys.update',
      before: { name: 'before', expires_at: null, data_policy: null },
      after: { name: 'after', expires_at: '2030-01-01T00:00:00.000Z', data_policy: { zdr: true } },
    },
  ]);
  expect(Object.keys(rows[1]?.['after'] as object).sort()).toEqual(['data_policy', 'expires_at', 'name']);
  for (const { text } of rows) expect(String(text).includes(made.secret)).toBe(false);
});

test('everything signed, ended and refused stands in the audit log, whose chains are whole until someone touches them', async () => {
  const { entries, faults } = await verifyAudit(pool);
  expect(entries).toBeGreaterThan(50);
  expect(faults).toEqual([]);
  const { rows } = await pool.query<{ action: string; outcome: string; text: string }>({
    name: 'test.audit',
    text: 'select action, outcome, to_jsonb(audit_entry)::text as text from audit_entry',
  });
  const seen = new Set(rows.map(({ action, outcome }) => `${action} ${outcome}`));
  for (const one of ['auth.login ok', 'auth.login denied', 'auth.logout ok', 'orgs.sessions.end ok']) {
    expect(seen).toContain(one);
  }
  for (const { text } of rows) expect(text).not.toMatch(/svc-(?:sess|mfa|staff)-/);
  const tamper = (text: string) => pool.query({ name: `test.tamper ${text.length}`, text });
  await expect(tamper(`update audit_entry set action = 'x'`)).rejects.toThrow('append only');
  await expect(tamper('delete from audit_entry')).rejects.toThrow('append only');
  await tamper('alter table audit_entry disable trigger all');
  await tamper(
    `update audit_entry set outcome = 'ok' where id = (select min(id) from audit_entry where outcome = 'denied')`,
  );
  expect((await verifyAudit(pool)).faults.map(({ reason }) => reason)).toEqual(['altered']);
  await tamper('delete from audit_entry where id = (select max(id) from audit_entry)');
  expect((await verifyAudit(pool)).faults.map(({ reason }) => reason)).toContain('end');
});

test('no caller met a defect', () => {
  expect(harness.defects).toEqual([]);
});
