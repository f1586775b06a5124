// A person with several organizations: what the list shows of one that bars the session, and rotations at once.
import type { Id } from '@svc/core/kernel/index.ts';
import { putMember } from '@svc/core/orgs/index.ts';
import { expect, test } from 'vitest';
import { codeOf, type Person, startHarness, type Tenant } from '../../test/registry/harness.ts';

const harness = await startHarness();
const { a, b, call, pool } = harness;
const GSTIN = '29ABCDE1234F1Z5';
const NETWORK = '203.0.113.0/24';

async function join(person: Person, tenant: Tenant): Promise<void> {
  const member = { org_id: tenant.org.id, user_id: person.id, role: 'viewer', source: 'invite' } as const;
  await putMember(pool, { ...member, at: new Date() });
}

async function guard(org_id: Id<'org'>, security: object): Promise<void> {
  await pool.query({
    name: 'test.guard',
    text: `update org set settings = $2, legal_name = 'Acme Private Limited', gstin = $3, billing_email = $4
            where id = $1`,
    values: [org_id, JSON.stringify({ security }), GSTIN, 'books@acme.example'],
  });
}

/** Statements that wait for a lock; asked outside of the transaction that holds it, which would see one snapshot only. */
async function waiting(): Promise<number> {
  const { rows } = await pool.query<{ n: number }>({
    name: 'test.waiting',
    text: `select count(*)::int as n from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`,
  });
  return rows[0]?.n ?? 0;
}

/** Ids of the list, and whether it tells anything that members of `a` alone may read. */
async function listed(key: string, ip?: string): Promise<{ ids: string[]; tells: boolean }> {
  const answer = await call('GET', '/v1/orgs', { key, ...(ip === undefined ? {} : { ip }) });
  expect(answer.statusCode).toBe(200);
  const tells = [GSTIN, 'books@acme.example', NETWORK].some((secret) => answer.body.includes(secret));
  return { ids: (answer.json().data as { id: string }[]).map(({ id }) => id).sort(), tells };
}

test('the list shows nothing of an organization that bars the session, whichever it stands in', async () => {
  const person = await harness.makePerson(b, 'owner');
  await join(person, a);
  const key = await harness.signIn(person);
  const both = [a.org.id, b.org.id].sort();
  expect(await listed(key)).toEqual({ ids: both, tells: false });
  await guard(a.org.id, {});
  expect(await listed(key)).toEqual({ ids: both, tells: true });
  await guard(a.org.id, { console_ip_allow: [NETWORK] });
  expect(await listed(key)).toEqual({ ids: [b.org.id], tells: false });
  expect(await listed(key, '203.0.113.9')).toEqual({ ids: both, tells: true });
  await guard(a.org.id, { require_2fa: true });
  expect(await listed(key, '203.0.113.9')).toEqual({ ids: [b.org.id], tells: false });
  // By id it is refused as before, and a chooser still learns its name.
  const direct = await call('GET', `/v1/orgs/${a.org.id}`, { key });
  expect([direct.statusCode, codeOf(direct)]).toEqual([403, 'two_factor_required']);
  const chooser = (await call('GET', '/v1/auth/session', { key })).json().orgs as { id: string }[];
  expect(chooser.map(({ id }) => id).sort()).toEqual(both);
  // Never on API keys.
  expect((await listed(a.key)).ids).toEqual([a.org.id]);
  await guard(a.org.id, {});
});

test('of two rotations of one token at once one wins, and its token is the one in force', async () => {
  const person = await harness.makePerson(b, 'owner');
  await join(person, a);
  const key = await harness.signIn(person);
  const rotations = await pool.transaction(async (db) => {
    await db.query({
      name: 'test.hold_session',
      text: 'select 1 from session where user_id = $1 for update',
      values: [person.id],
    });
    const started = [a, b].map(({ org }) =>
      call('POST', '/v1/auth/session/org', { key, body: { org_id: org.id } }),
    );
    // Both were let in with the same token, and both now wait to replace it.
    await expect.poll(waiting, { timeout: 20_000 }).toBe(2);
    return started;
  });
  const answers = await Promise.all(rotations);
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 401]);
  const [won, lost] = answers[0]?.statusCode === 200 ? answers : answers.toReversed();
  expect(lost?.json().error.code).toBe('session_expired');
  const after = await call('GET', '/v1/auth/session', { key: won?.json().token });
  expect([after.statusCode, after.json().org.id]).toEqual([200, won?.json().session.org.id]);
});

test('a token that was replaced since its request was let in rotates nothing', async () => {
  const person = await harness.makePerson(b, 'owner');
  await join(person, a);
  const key = await harness.signIn(person);
  const { entering } = await pool.transaction(async (db) => {
    // The request is verified before this change and reads its session after it: it waits in between, at its
    // membership.
    await db.query({ name: 'test.lock_members', text: 'lock table org_member in access exclusive mode' });
    const entering = call('POST', '/v1/auth/session/org', { key, body: { org_id: a.org.id } });
    await expect.poll(waiting, { timeout: 20_000 }).toBe(1);
    await db.query({
      name: 'test.replace_token',
      text: 'update session set hash = $2 where user_id = $1',
      values: [person.id, Buffer.alloc(32, 9)],
    });
    return { entering };
  });
  const refused = await entering;
  expect([refused.statusCode, codeOf(refused)]).toEqual([401, 'session_expired']);
});

test('no caller met a defect', () => {
  expect(harness.defects).toEqual([]);
});
