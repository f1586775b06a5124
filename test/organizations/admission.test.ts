// Who may make an organization while sign-up is not open: invite codes, the waitlist, and what `GET /v1/signup` says.
import {
  createPerson,
  inviteFromWaitlist,
  listWaitingEntries,
  makeInviteCode,
  revokeInviteCode,
  signInSettings,
} from '@svc/core/identity/index.ts';
import { newCode, readConfig, type ServiceError, shiftClock } from '@svc/core/kernel/index.ts';
import { afterEach, expect, test } from 'vitest';
import { codeOf } from '../registry/harness.ts';
import { startWorld } from './world.ts';

const sign_in = signInSettings(readConfig({ SVC_SIGNUP: 'invite' }), 'http://127.0.0.1:8080');
const world = await startWorld({ services: { sign_in } });
const { a, call, context, linkOf, mailsTo, makePerson, pool, root_key, signIn } = world;
const PASSWORD = 'seven quiet rivers';
const DAY = 86_400_000;

afterEach(() => shiftClock(0));

async function rows<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
  return (await pool.query<Row>({ name: `test.${text.length}`, text, values })).rows;
}

let serial = 0;
const somewhere = () => `198.51.100.${++serial % 250}`;
const newAddress = () => `person-${++serial}@admission.example`;
const makeCode = (more: { max_uses?: number; expires_days?: number } = {}) =>
  makeInviteCode(context, { reseller_id: null, note: 'a conference', root_key, ...more });

const register = (email: string, more: object = {}, ip = somewhere()) =>
  call('POST', '/v1/auth/register', {
    ...{ ip, body: { email, password: PASSWORD, name: 'Ravi', accept_terms: true, ...more } },
  });

/** Registers with `code` and proves the address; returns the person's session. */
async function join(code: string): Promise<string> {
  const email = newAddress();
  const answer = await register(email, { invite_code: code });
  expect([answer.statusCode, answer.json()]).toEqual([201, { status: 'verification_sent' }]);
  const token = await linkOf('email_verification', email);
  const verified = await call('POST', '/v1/auth/verify-email', { body: { token, password: PASSWORD } });
  expect(verified.statusCode).toBe(200);
  return signIn({ email, password: PASSWORD });
}

/** A person of the time when sign-up was open. */
async function stranger(): Promise<{ key: string; email: string }> {
  const person = await makePerson(a, 'viewer');
  await rows('update person set admitted_at = null where id = $1', [person.id]);
  return { key: await signIn(person), email: person.email };
}

const found = (key: string, more: object = {}) =>
  call('POST', '/v1/orgs', {
    ...{ key, ip: somewhere() },
    body: { name: 'New', slug: `new-${++serial}`, billing_country: 'IN', ...more },
  });
const signup = async (key: string) => (await call('GET', '/v1/signup', { key })).json();
const usesOf = async (id: string) =>
  (await rows<{ uses: number }>('select uses from invite_code where id = $1', [id]))[0]?.uses;
const reasonOf = (answer: { json(): { error: { details?: { reason?: string } } } }) =>
  answer.json().error.details?.reason;

test('with a code a person registers, and its use is counted when the organization is made', async () => {
  const { id, code } = await makeCode();
  expect(code).toMatch(/^INV(-[0-9A-HJKMNP-TV-Z]{4}){4}$/);
  const key = await join(code.toLowerCase().replaceAll('-', ' '));
  expect(await signup(key)).toEqual({ invite_only: true, needs_invite: false, waitlist: null });
  expect(await usesOf(id)).toBe(0);
  expect((await found(key)).statusCode).toBe(201);
  expect(await usesOf(id)).toBe(1);
  // Whoever was let in stays in, though the code is used up.
  expect((await found(key)).statusCode).toBe(201);
  expect(await usesOf(id)).toBe(1);
});

test('without a code nobody registers, and who registered before makes no organization', async () => {
  expect(codeOf(await register(newAddress()))).toBe('invite_required');
  const { key } = await stranger();
  expect(await signup(key)).toEqual({ invite_only: true, needs_invite: true, waitlist: null });
  const refused = await found(key);
  expect([refused.statusCode, codeOf(refused)]).toEqual([403, 'invite_required']);
  const { code } = await makeCode();
  expect((await found(key, { invite_code: code })).statusCode).toBe(201);
  expect(await signup(key)).toMatchObject({ needs_invite: false });
});

test('a code that lets nobody in says why, for a registration as for an organization', async () => {
  const expired = await makeCode({ expires_days: 1 });
  const revoked = await makeCode();
  await revokeInviteCode(context, { id: revoked.id, reason: 'posted in public', reseller_id: null });
  const used = await makeCode();
  expect((await found((await stranger()).key, { invite_code: used.code })).statusCode).toBe(201);
  shiftClock(DAY + 1_000);
  const { key } = await stranger();
  const cases = [
    [expired.code, 'expired'],
    [revoked.code, 'revoked'],
    [used.code, 'used_up'],
    [newCode('INV'), 'unknown'],
    ['hello', 'unknown'],
  ] as const;
  for (const [invite_code, reason] of cases) {
    for (const answer of [await register(newAddress(), { invite_code }), await found(key, { invite_code })]) {
      expect([answer.statusCode, codeOf(answer), reasonOf(answer)]).toEqual([403, 'invite_required', reason]);
      expect(answer.json().error.param).toBe('invite_code');
    }
  }
});

test('of twenty who come at once for the last use of a code one makes an organization', async () => {
  const { id, code } = await makeCode();
  const people = await Promise.all(Array.from({ length: 20 }, stranger));
  const answers = await Promise.all(people.map(({ key }) => found(key, { invite_code: code })));
  expect(answers.filter(({ statusCode }) => statusCode === 201)).toHaveLength(1);
  expect(new Set(answers.filter(({ statusCode }) => statusCode !== 201).map(reasonOf))).toEqual(
    new Set(['used_up']),
  );
  expect(await usesOf(id)).toBe(1);
  const orgs = await rows('select 1 from invite_code_use where invite_code_id = $1', [id]);
  expect(orgs).toHaveLength(1);
});

test('an organization that is not made uses no code', async () => {
  const { id, code } = await makeCode();
  const { key } = await stranger();
  expect(codeOf(await found(key, { invite_code: code, slug: a.org.slug }))).toBe('already_exists');
  expect(await usesOf(id)).toBe(0);
});

test('codes that do not exist are counted per network address', async () => {
  const ip = '203.0.113.77';
  for (let n = 0; n < 10; n++)
    expect(codeOf(await register(newAddress(), { invite_code: newCode('INV') }, ip))).toBe('invite_required');
  const { code } = await makeCode();
  const late = await register(newAddress(), { invite_code: code }, ip);
  expect([late.statusCode, codeOf(late)]).toEqual([429, 'too_many_attempts']);
});

test('only a keyed hash of a code is stored, and only its end is shown again', async () => {
  const { id, code } = await makeCode();
  const [row] = await rows<Record<string, unknown>>('select * from invite_code where id = $1', [id]);
  expect(row).toMatchObject({ hint: `...${code.slice(-4)}` });
  expect(JSON.stringify(row)).not.toContain(code.slice(0, 14));
  const audit = await rows(`select * from audit_entry where action = 'staff.invite_codes.create'`);
  expect(audit.length).toBeGreaterThan(0);
  expect(JSON.stringify(audit)).not.toContain(code);
});

test('who waits is listed, invited with a mail, and makes an organization; asked again the entry is the same', async () => {
  const { key, email } = await stranger();
  const body = { company: 'Acme', use_case: 'Answers in nine languages.' };
  const first = await call('POST', '/v1/signup/waitlist', { key, body });
  expect(first.statusCode).toBe(201);
  const entry = first.json();
  expect(entry).toMatchObject({ ...body, status: 'waiting', replay: false });
  const again = await call('POST', '/v1/signup/waitlist', { key, body: { ...body, company: 'Other' } });
  expect([again.statusCode, again.json()]).toEqual([200, { ...entry, replay: true }]);
  const waiting = await listWaitingEntries(pool, { after: null, limit: 200 });
  expect(waiting.filter((row) => row.email === email)).toHaveLength(1);
  await inviteFromWaitlist(context, { id: entry.id, reason: 'next fifty' });
  expect(await mailsTo('waitlist_invited', email)).toBe(1);
  expect(await signup(key)).toMatchObject({ needs_invite: false, waitlist: { status: 'invited' } });
  expect((await found(key)).statusCode).toBe(201);
  const second = inviteFromWaitlist(context, { id: entry.id, reason: 'twice' });
  await expect(second).rejects.toMatchObject({ code: 'state_conflict' } satisfies Partial<ServiceError>);
});

test('six requests at once make one entry', async () => {
  const { key } = await stranger();
  const body = { company: 'Acme', use_case: 'Search.' };
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => call('POST', '/v1/signup/waitlist', { key, body })),
  );
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 200, 200, 200, 200, 201]);
  expect(new Set(answers.map((answer) => answer.json().id)).size).toBe(1);
});

test('who may make an organization already does not wait', async () => {
  const key = await signIn(await makePerson(a, 'viewer'));
  const answer = await call('POST', '/v1/signup/waitlist', { key, body: { company: 'A', use_case: 'b' } });
  expect([answer.statusCode, codeOf(answer)]).toEqual([409, 'state_conflict']);
});

test('a key answers for the person who made it; one that nobody answers for cannot wait', async () => {
  expect(await signup(a.key)).toEqual({ invite_only: true, needs_invite: false, waitlist: null });
  const answer = await call('POST', '/v1/signup/waitlist', {
    ...{ key: a.key, body: { company: 'A', use_case: 'b' } },
  });
  expect([answer.statusCode, codeOf(answer)]).toEqual([403, 'session_required']);
});

test('while sign-up is closed a code lets nobody in, and an invitation does', async () => {
  Object.assign(sign_in, { signup: 'closed' });
  try {
    const { code } = await makeCode();
    const { key } = await stranger();
    for (const answer of [
      await register(newAddress(), { invite_code: code }),
      await found(key, { invite_code: code }),
    ])
      expect(codeOf(answer)).toBe('invite_required');
    const email = newAddress();
    await createPerson(context, { email, org_id: a.org.id, role: 'viewer', password: PASSWORD });
    expect((await found(await signIn({ email, password: PASSWORD }))).statusCode).toBe(201);
  } finally {
    Object.assign(sign_in, { signup: 'invite' });
  }
});
