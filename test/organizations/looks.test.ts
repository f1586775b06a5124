// Looks of staff at an organization: what they may read, that they change nothing, and when they end.
import { beginLookOperation } from '@svc/core/identity/index.ts';
import { newRequestId, type SessionCaller, type StaffRole, shiftClock } from '@svc/core/kernel/index.ts';
import { admit, createContext, operations } from '@svc/core/operations/index.ts';
import { tenantSchema } from '@svc/graphql/tenant/schema.ts';
import { afterEach, expect, test } from 'vitest';
import { markedCatalog } from '../storefronts/marked-catalog.ts';
import { startWorld } from './world.ts';

const world = await startWorld({ catalog: [await markedCatalog()] });
const { a, b, call, makePerson, pool, signIn } = world;
const MINUTE_MS = 60_000;
let sessions = 0;

afterEach(() => shiftClock(0));

async function rows<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
  return (await pool.query<Row>({ name: '', text, values })).rows;
}

/** A member of staff who is signed in, as the staff listener knows them. */
async function makeStaff(email: string, roles: readonly StaffRole[] = ['support']) {
  const [staff] = await rows<{ id: string }>(
    `insert into staff (id, email, email_key, password_hash, totp_secret, roles, created_at, updated_at)
     values ($1, $2, $2, 'x', '', $3, now(), now())
     on conflict (email_key) do update set roles = excluded.roles returning id`,
    [world.context.newId('staff'), email, roles],
  );
  const session_id = world.context.newId('session');
  await rows(
    `insert into staff_session (id, hash, staff_id, transport, created_at, last_seen_at, idle_seconds, expires_at)
     values ($1, sha256($2::bytea), $3, 'bearer', now(), now(), 1800, now() + interval '8 hours')`,
    [session_id, `staff session ${sessions++}`, staff?.id],
  );
  const caller = { kind: 'staff', name: email, staff_id: staff?.id as never, session_id, roles } as const;
  const services = { sign_in: { console_url: 'https://console.example' } } as never;
  return {
    session_id,
    context: createContext({ request_id: newRequestId(), caller, pool, log: world.context.log, services }),
  };
}
type Staff = Awaited<ReturnType<typeof makeStaff>>;

async function beginLink(staff: Staff, org_id: string = a.org.id, reason = 'ticket 17'): Promise<string> {
  const answer = await beginLookOperation.run(staff.context, { id: org_id, reason });
  const { url } = answer as { url: string };
  expect(url).toMatch(/^https:\/\/console\.example\/look#svc-sess-/);
  return url.split('#')[1] as string;
}
const open = (token: string) => call('POST', '/v1/auth/look', { body: { token, transport: 'bearer' } });

/** The token of a look at `a` that is open. */
async function look(staff: Staff): Promise<string> {
  const answer = await open(await beginLink(staff));
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json().token;
}

test('a look reads what a viewer reads, in its organization alone', async () => {
  const key = await look(await makeStaff('reads@svc.example'));
  const session = (await call('GET', '/v1/auth/session', { key })).json();
  expect(session).toMatchObject({ role: 'viewer', org: { id: a.org.id }, orgs: [{ id: a.org.id }] });
  expect(session.look.expires_at).toMatch(/Z$/);
  for (const path of ['/v1/keys', '/v1/usage', '/v1/requests', `/v1/orgs/${a.org.id}`, '/v1/announcements'])
    expect((await call('GET', path, { key })).statusCode, path).toBe(200);
  expect((await call('GET', `/v1/orgs/${b.org.id}`, { key })).statusCode).toBe(404);
  const elsewhere = await call('GET', '/v1/keys', { key, headers: { 'x-svc-org': b.org.id } });
  expect(elsewhere.statusCode).toBe(404);
  expect((await call('GET', '/v1/keys', { key })).body).not.toContain(b.key_id);
});

test('a look at a customer of a reseller shows what the customer sees, and not what is added to its prices', async () => {
  const parent = await world.makeTenant('look-parent');
  const child = await world.makeTenant('look-child');
  await rows(`update org set kind = 'reseller' where id = $1`, [parent.org.id]);
  await rows(`update org set kind = 'child', parent_org_id = $2 where id = $1`, [
    ...[child.org.id, parent.org.id],
  ]);
  const staff = await makeStaff('child@svc.example');
  const added = async (org_id: string) => {
    const key = (await open(await beginLink(staff, org_id))).json().token;
    const { data } = (await call('GET', '/v1/models', { key })).json();
    return data.filter(({ markup_bps }: { markup_bps: number }) => markup_bps > 0).length;
  };
  expect(await added(a.org.id)).toBeGreaterThan(0);
  expect(await added(child.org.id)).toBe(0);
});

const acts = operations.filter(
  ({ method, audience }) => method !== 'GET' && (audience.kind === 'key' || audience.kind === 'session'),
);

test('every operation that is no read refuses a look, but the one that ends it', async () => {
  const staff = await makeStaff('acts@svc.example');
  const key = await look(staff);
  expect(acts.length).toBeGreaterThan(60);
  for (const { name, method, path } of acts.filter(({ name }) => name !== 'auth.logout')) {
    const url = path.replaceAll(':id', a.org.id).replaceAll(/:[a-z_]+/g, 'x');
    const answer = await call(method, url, { key, body: {} });
    expect([name, answer.statusCode, answer.json().error.code]).toEqual([name, 403, 'permission_denied']);
    expect(answer.json().error.details, name).toEqual({ reason: 'look' });
  }
  expect((await call('POST', '/v1/auth/logout', { key, body: {} })).statusCode).toBe(204);
  expect((await call('GET', '/v1/keys', { key })).statusCode).toBe(401);
});

test('every mutation of the schema is an operation that refuses a look', () => {
  const caller: SessionCaller = {
    ...{
      kind: 'session',
      session_id: 'ses_0' as never,
      token_hash: Buffer.alloc(32),
      user_id: 'stf_0' as never,
    },
    ...{ email: 'x@svc.example', org_id: a.org.id, role: 'owner', environment: 'live', two_factor: true },
    proved_at: new Date(),
    looking: { staff_id: 'stf_0' as never, reason: 'x', expires_at: new Date() },
  };
  const fields = Object.values(tenantSchema.getMutationType()?.getFields() ?? {});
  expect(fields.length).toBeGreaterThan(40);
  for (const { name, extensions } of fields) {
    const operation = operations.find((one) => one.name === extensions['operation']);
    if (operation === undefined) throw new Error(`${name} runs no operation`);
    // Even with the rights of an owner.
    expect(() => admit(operation, caller, new Date()), name).toThrow(/read, and do nothing else/);
  }
});

test('reads that are of a person, of content or of secrets are closed to it', async () => {
  const key = await look(await makeStaff('closed@svc.example'));
  for (const path of ['/v1/auth/sessions', '/v1/signup'])
    expect((await call('GET', path, { key })).statusCode, path).toBe(403);
  for (const path of ['/v1/audit-log', '/v1/webhooks', '/v1/byok', `/v1/orgs/${a.org.id}/sessions`]) {
    const viewer = await signIn(await makePerson(a, 'viewer'));
    const theirs = (await call('GET', path, { key: viewer })).statusCode;
    expect((await call('GET', path, { key })).statusCode, path).toBe(theirs);
  }
});

test('a link opens once, within a minute, and of ten at once one opens it', async () => {
  const staff = await makeStaff('links@svc.example');
  const link = await beginLink(staff);
  const all = await Promise.all(Array.from({ length: 10 }, () => open(link)));
  expect(all.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1);
  expect(all.filter(({ statusCode }) => statusCode === 400)).toHaveLength(9);
  expect((await open(link)).json().error.code).toBe('token_invalid');
  // The link itself is no session.
  expect((await call('GET', '/v1/keys', { key: await beginLink(staff) })).statusCode).toBe(401);
  const late = await beginLink(staff);
  shiftClock(MINUTE_MS + 1_000);
  expect((await open(late)).json().error.code).toBe('token_invalid');
});

test('a look ends after half an hour, and no use makes it longer', async () => {
  const staff = await makeStaff('half-hour@svc.example');
  const key = await look(staff);
  const reads = async () => (await call('GET', '/v1/keys', { key })).statusCode;
  shiftClock(29 * MINUTE_MS);
  // The session of staff is used meanwhile.
  await rows(`update staff_session set last_seen_at = now() + interval '29 minutes' where id = $1`, [
    staff.session_id,
  ]);
  expect(await reads()).toBe(200);
  shiftClock(30 * MINUTE_MS + 1_000);
  expect(await reads()).toBe(401);
});

test('a look ends at once when the member of staff signs out, or is one no more', async () => {
  const staff = await makeStaff('leaves@svc.example');
  const key = await look(staff);
  await rows('delete from staff_session where id = $1', [staff.session_id]);
  expect((await call('GET', '/v1/keys', { key })).json().error.code).toBe('session_expired');
  const other = await makeStaff('dismissed@svc.example');
  const second = await look(other);
  await rows(`update staff set status = 'disabled' where email = 'dismissed@svc.example'`);
  expect((await call('GET', '/v1/keys', { key: second })).statusCode).toBe(401);
});

test('both audit logs say who looked, when and why, and the organization reads it', async () => {
  const key = await look(await makeStaff('audited@svc.example'));
  await call('POST', '/v1/auth/logout', { key, body: {} });
  const entries = await rows<{ org_id: string; action: string; reason: string }>(
    `select org_id, action, reason from audit_entry where actor_display = 'audited@svc.example' order by id`,
  );
  expect(entries).toEqual(
    ['staff.looks.begin', 'staff.looks.end'].flatMap((action) =>
      [a.org.id, ''].map((org_id) => ({ org_id, action, reason: 'ticket 17' })),
    ),
  );
  const owner = await signIn(await makePerson(a, 'owner'));
  const log = (await call('GET', '/v1/audit-log?action=staff.looks', { key: owner })).json().data;
  expect(log[0]).toMatchObject({ action: 'staff.looks.end', actor: { type: 'staff' }, reason: 'ticket 17' });
});

test('who is not signed in as staff begins none, and neither does one at nothing', async () => {
  const staff = await makeStaff('nothing@svc.example');
  await expect(beginLink(staff, 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J')).rejects.toMatchObject({
    code: 'not_found',
  });
  const by_hand = { context: world.context, session_id: staff.session_id };
  await expect(beginLink(by_hand)).rejects.toMatchObject({ code: 'permission_denied' });
});
