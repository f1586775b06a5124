// A directory provisions a company and takes its people out again while calls run. `PEOPLE=5000` (`make directory`) is the
// long form.
import { createPool } from '@svc/core/db/index.ts';
import { createPerson } from '@svc/core/identity/index.ts';
import { newRequestId, type Services, silentLog } from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { expect, test, vi } from 'vitest';
import type { Json } from '../calls/caller.ts';
import { bodyOf, expectBooksInOrder, openWorld } from '../calls/world.ts';
import { startNameServer } from '../sim/dns.ts';
import { atFileEnd } from '../support/ends.ts';

const PEOPLE = Number(process.env['PEOPLE'] ?? 200);
/** Those who are signed in, with a key of their own. */
const SIGNED_IN = 10;
/** Identity providers send a few requests at once, and members of a group by hundreds. */
const AT_ONCE = 4;
const SLICE = 100;
const CALL_EVERY_MS = 50;
const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
vi.setConfig({ testTimeout: 120_000 + PEOPLE * 60 });

const names = await startNameServer();
const world = await openWorld({
  gateway: 'alone',
  models: { chat: 2 },
  env: {
    ...{ SVC_DNS_SERVERS: names.address, SVC_EGRESS_ALLOW: '127.0.0.1' },
  },
});
atFileEnd(() => world.close());
const pool = createPool(world.database_url, { max: 2, application: 'svc-test' });
atFileEnd(() => pool.end());
const model = world.model('chat').id;

async function send(method: string, path: string, { key, body }: { key?: string; body?: object } = {}) {
  const answer = await fetch(world.gateway.base_url + path, {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined
        ? {}
        : { 'content-type': path.startsWith('/scim') ? 'application/scim+json' : 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, text, json: (text === '' ? {} : JSON.parse(text)) as Json };
}

async function expected(status: number, sent: ReturnType<typeof send>): Promise<Json> {
  const answer = await sent;
  expect(answer.status, answer.text).toBe(status);
  return answer.json;
}

/** Does `work` for each of `all`, a few at a time. */
async function each<T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  const left = all.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const one of left) await work(one);
    }),
  );
}

/** Calls at a steady pace until `stop`: how long each took, in milliseconds, and what was not answered well. */
function callSteadily(key: string) {
  const open = new Set<Promise<void>>();
  const took: number[] = [];
  const failed: unknown[] = [];
  const timer = setInterval(() => {
    const began = performance.now();
    const one = world
      .chat(key, bodyOf(model, 'hello'))
      .reply.then(({ status, text }) => {
        took.push(performance.now() - began);
        if (status !== 200) failed.push([status, text]);
      })
      .catch((error: unknown) => void failed.push(String(error)))
      .finally(() => open.delete(one));
    open.add(one);
  }, CALL_EVERY_MS);
  return {
    failed,
    /** The calls since the last time. */
    since: () => took.splice(0),
    async stop() {
      clearInterval(timer);
      await Promise.all(open);
    },
  };
}

const centile = (all: readonly number[], share: number) =>
  [...all].sort((a, b) => a - b)[Math.floor(share * (all.length - 1))] ?? Number.NaN;

test('people come, join a group and leave by hundreds while calls run, and whoever leaves is out within a second', async () => {
  const org = await world.org(50_000_000);
  const domain = 'moving.example';
  const { domain: proof } = await expected(
    201,
    send('POST', '/v1/org/sso/domains', { key: org.live_key, body: { domain } }),
  );
  names.zone.set(`TXT ${proof.record}`, [proof.token]);
  await expected(200, send('POST', `/v1/org/sso/domains/${domain}/verify`, { key: org.live_key, body: {} }));
  const { token } = await expected(201, send('POST', '/v1/org/scim/token', { key: org.live_key, body: {} }));
  const scim = (method: string, path: string, body?: object) =>
    send(method, `/scim/v2${path}`, { key: token, ...(body === undefined ? {} : { body }) });
  const patch = (path: string, ...Operations: object[]) =>
    expected(200, scim('PATCH', path, { schemas: [PATCH], Operations }));

  // Some have worked here before the directory was connected: it takes them over.
  const context = createContext({
    ...{ request_id: newRequestId(), pool, log: silentLog, services: {} as Services },
    caller: { kind: 'staff', name: 'test', staff_id: null, roles: ['super'] },
  });
  const inside = await Promise.all(
    Array.from({ length: SIGNED_IN }, async (_, n) => {
      const email = `person${n}@${domain}`;
      const { password } = await createPerson(context, { email, org_id: org.org_id, role: 'developer' });
      const login = { email, password, transport: 'bearer' };
      const session = await expected(200, send('POST', '/v1/auth/login', { body: login }));
      const wanted = { project_id: org.project_id, environment: 'live', name: email, scopes: ['inference'] };
      const key = await expected(201, send('POST', '/v1/keys', { key: session.token, body: wanted }));
      return { email, session: session.token as string, secret: key.secret as string };
    }),
  );

  const calls = callSteadily(org.live_key);
  await expect.poll(() => calls.since().length, { timeout: 20_000, interval: 2_000 }).toBeGreaterThan(20);
  const began = performance.now();
  const ids = new Map<string, string>();
  const emails = Array.from({ length: PEOPLE }, (_, n) => `person${n}@${domain}`);
  await each(emails, async (email) => {
    const body = {
      schemas: [USER],
      userName: email,
      active: true,
      emails: [{ value: email, primary: true }],
    };
    // As identity providers do: they look first, and make what is not there.
    const filter = encodeURIComponent(`userName eq "${email}"`);
    const [known] = (await expected(200, scim('GET', `/Users?filter=${filter}`))).Resources;
    const user =
      known === undefined
        ? await expected(201, scim('POST', '/Users', body))
        : await patch(`/Users/${known.id}`, { op: 'Replace', path: 'active', value: 'True' });
    ids.set(email, user.id);
  });
  const provisioned = performance.now();
  const group = await expected(201, scim('POST', '/Groups', { schemas: [GROUP], displayName: 'Everybody' }));
  const members = [...ids.values()].map((value) => ({ value }));
  const slices = Array.from({ length: Math.ceil(PEOPLE / SLICE) }, (_, n) =>
    members.slice(n * SLICE, (n + 1) * SLICE),
  );
  for (const value of slices) await patch(`/Groups/${group.id}`, { op: 'Add', path: 'members', value });
  const whole = await expected(200, scim('GET', `/Groups/${group.id}`));
  expect(whole.members).toHaveLength(PEOPLE);
  for (const { session, secret } of inside) {
    await expected(200, send('GET', '/v1/auth/session', { key: session }));
    expect((await world.chat(secret, bodyOf(model, 'hi')).reply).status).toBe(200);
  }
  const joined = performance.now();
  const while_in = calls.since();

  const ends_ms: number[] = [];
  await each(emails, async (email) => {
    const deactivate = { op: 'Replace', path: 'active', value: 'False' };
    await patch(`/Users/${ids.get(email)}`, deactivate);
    const person = inside.find((one) => one.email === email);
    if (person === undefined) return;
    const left = performance.now();
    await expect
      .poll(async () => (await send('GET', '/v1/auth/session', { key: person.session })).status)
      .toBe(401);
    await expect.poll(async () => (await send('GET', '/v1/models', { key: person.secret })).status).toBe(401);
    ends_ms.push(performance.now() - left);
  });
  const gone = performance.now();
  const while_out = calls.since();
  await calls.stop();

  const { rows } = await world.db.query<{ n: number }>(
    `select count(*)::int as n from org_member where org_id = $1 and status = 'active' and source = 'scim'`,
    [org.org_id],
  );
  expect(rows[0]?.n).toBe(0);
  expect(calls.failed).toEqual([]);
  expect(Math.max(...ends_ms)).toBeLessThan(1_000);
  await expectBooksInOrder(world, org);
  const rate = (from: number, to: number) => Math.round((PEOPLE * 1_000) / (to - from));
  const p = (all: readonly number[]) =>
    `p50 ${centile(all, 0.5).toFixed(0)} p99 ${centile(all, 0.99).toFixed(0)} ms of ${all.length} calls`;
  process.stdout.write(
    `${PEOPLE} people: ${rate(began, provisioned)} in and ${rate(joined, gone)} out a second; ` +
      `out within ${Math.max(...ends_ms).toFixed(0)} ms; calls ${p(while_in)} in, ${p(while_out)} out\n`,
  );
});
