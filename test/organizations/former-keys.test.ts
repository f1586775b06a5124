// What people hold from before a rotation of the key ring counts until the former key is removed, at a gateway that runs on
// (docs/operate/key-ring.md#what-follows-from-the-root-key): CSRF tokens, known devices, cursors of lists, links to pay.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPool } from '@svc/core/db/index.ts';
import { createPerson } from '@svc/core/identity/index.ts';
import { type Id, loadRootKey, rootKeys } from '@svc/core/kernel/index.ts';
import { findPepper } from '@svc/core/orgs/index.ts';
import { expect, test, vi } from 'vitest';
import { startRailASim } from '../sim/rails/index.ts';
import { createTestDatabase } from '../support/database.ts';
import { atFileEnd } from '../support/ends.ts';
import { startGatewayProcess } from '../support/gateway.ts';
import { runSvcctl } from '../support/programs/svcctl.ts';
import { provision, staffContext } from '../support/provision.ts';

vi.setConfig({ testTimeout: 120_000 });
/** A program looks at its file every five seconds. */
const followed = { timeout: 20_000, interval: 250 };

const file = join(mkdtempSync(join(tmpdir(), 'svc-ring-')), 'keyring.json');
loadRootKey(file);
const database_url = await createTestDatabase();
const pool = createPool(database_url, { max: 2 });
atFileEnd(() => pool.end());
const sim = await startRailASim({ webhook_secrets: ['rail-a'], keys: ['rzp_test_ring:secret'] });
atFileEnd(() => sim.close());
const org = await provision({
  ...{ database_url, slug: 'bharat', live_micro_usd: 0, country: 'IN' },
  keys: ['one', 'two', 'three'].map((name) => ({ name })),
});
await pool.query({
  name: '',
  text: `update org set billing_email = 'pay@bharat.example', billing_address = '{"state_code":"27"}' where id = $1`,
  values: [org.org_id],
});
const person = { email: 'asha@bharat.example', password: 'correct horse battery nine' };
await createPerson(staffContext(pool), { ...person, org_id: org.org_id, role: 'owner' });
const gateway = await startGatewayProcess({
  database_url,
  env: {
    ...{ SVC_MASTER_KEY_FILE: file, SVC_TRUSTED_PROXIES: '127.0.0.1/32' },
    ...{ SVC_RAIL_A_BASE_URL: sim.url, SVC_RAIL_A_WEBHOOK_SECRET: 'rail-a' },
    ...{ SVC_RAIL_A_KEY_ID: 'rzp_test_ring', SVC_RAIL_A_KEY_SECRET: 'secret' },
  },
});
atFileEnd(() => gateway.kill());

async function keyring(...args: string[]): Promise<Record<string, unknown>> {
  const env = { SVC_DATABASE_URL: database_url, SVC_MASTER_KEY_FILE: file, SVC_DATA_DIR: '/nonexistent' };
  const { code, out, err } = await runSvcctl(['keyring', ...args, '--json'], env);
  expect(code, err).toBe(0);
  return JSON.parse(out) as Record<string, unknown>;
}

interface Answer {
  readonly status: number;
  readonly code: string | null;
  readonly body: Record<string, unknown>;
  readonly cookies: readonly string[];
}

async function ask(
  method: string,
  path: string,
  more: { body?: object; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const reply = await fetch(gateway.base_url + path, {
    method,
    headers: { ...(more.body && { 'content-type': 'application/json' }), ...more.headers },
    ...(more.body && { body: JSON.stringify(more.body) }),
  });
  const body = (await reply.json()) as Record<string, unknown>;
  const code = (body['error'] as { code: string } | undefined)?.code ?? null;
  const cookies = reply.headers.getSetCookie().map((one) => one.split(';', 1)[0] as string);
  return { status: reply.status, code, body, cookies };
}

let addresses = 0;
/** A sign-in of the console from an address that nobody has failed from. */
const signIn = (more: { password?: string; cookie?: string } = {}) =>
  ask('POST', '/v1/auth/login', {
    body: { ...person, password: more.password ?? person.password, transport: 'cookie' },
    headers: {
      ...{ origin: 'http://127.0.0.1:8081', 'x-forwarded-for': `198.51.100.${++addresses}` },
      ...(more.cookie === undefined ? {} : { cookie: more.cookie }),
    },
  });
const cookieOf = ({ cookies }: Answer, name: string) =>
  cookies.find((one) => one.includes(`svc_${name}=`)) as string;

const byKey = { authorization: `Bearer ${org.live_key}` };
const idsAt = async (cursor: string | null) => {
  const query = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
  const { body } = await ask('GET', `/v1/keys?limit=1${query}`, { headers: byKey });
  return { ids: (body['data'] as { id: string }[]).map(({ id }) => id), next: body['next_cursor'] as string };
};
const opens = async (url: string) => (await fetch(url, { redirect: 'manual' })).status;

test('what was made under the former key counts after the rotation, and ends when that key is removed', async () => {
  const signed_in = await signIn();
  expect(signed_in.status).toBe(200);
  const session = cookieOf(signed_in, 'session');
  const device = cookieOf(signed_in, 'device');
  const rename = (csrf: unknown) =>
    ask('PATCH', '/v1/auth/me', {
      body: { name: 'Asha Rao' },
      headers: { cookie: session, origin: 'http://127.0.0.1:8081', 'x-svc-csrf': String(csrf) },
    });
  const csrf = (signed_in.body['session'] as { csrf_token: string }).csrf_token;
  expect((await rename(csrf)).status).toBe(200);
  const first = await idsAt(null);
  const second = await idsAt(first.next);
  expect(second.ids).not.toEqual(first.ids);
  const bought = await ask('POST', '/v1/credits/topups', { body: { amount_minor: 100_000 }, headers: byKey });
  const topup_id = (bought.body['topup'] as { id: string }).id;
  const link = async () =>
    (await ask('GET', `/v1/credits/topups/${topup_id}`, { headers: byKey })).body['checkout_url'] as string;
  const mailed = await link();
  expect(await opens(mailed)).toBe(200);
  // Somebody guesses at the account, so that only known devices come in.
  for (let i = 0; i < 10; i++)
    expect((await signIn({ password: 'a guess' })).code).toBe('invalid_credentials');
  expect((await signIn()).code).toBe('too_many_attempts');

  const [former] = rootKeys(loadRootKey(file));
  const { name } = await keyring('add');
  await keyring('promote', name as string);
  // The gateway has followed: what it makes now is under the new key.
  await expect.poll(link, followed).not.toBe(mailed);
  expect((await rename(csrf)).status).toBe(200);
  expect((await idsAt(first.next)).ids).toEqual(second.ids);
  expect(await opens(mailed)).toBe(200);
  const again = await signIn({ cookie: device });
  expect(again.status).toBe(200);
  // A sign-in brings the device under the current key.
  const renewed = cookieOf(again, 'device');

  await keyring('rotate');
  await keyring('remove', former.name);
  await expect.poll(() => opens(mailed), followed).toBe(404);
  expect((await rename(csrf)).code).toBe('csrf_failed');
  expect((await idsAt(first.next)).ids).toEqual(first.ids);
  expect((await signIn({ cookie: device })).code).toBe('too_many_attempts');
  // What was made since then goes on: the page that was loaded again, the device, the new link, the new cursor.
  const read = await ask('GET', '/v1/auth/session', { headers: { cookie: session } });
  expect((await rename(read.body['csrf_token'])).status).toBe(200);
  expect((await signIn({ cookie: renewed })).status).toBe(200);
  expect(await opens(await link())).toBe(200);
  expect((await idsAt((await idsAt(null)).next)).ids).toEqual(second.ids);

  // An organization that is made now has its pepper sealed at once, and its keys work.
  const founded = await ask('POST', '/v1/orgs', {
    body: { name: 'Later', slug: 'later', billing_country: 'US' },
    headers: {
      ...{ cookie: session, origin: 'http://127.0.0.1:8081' },
      'x-svc-csrf': String(read.body['csrf_token']),
    },
  });
  expect(founded.status).toBe(201);
  const org_id = founded.body['id'] as Id<'org'>;
  const { rows } = await pool.query<{ is_plain: boolean }>({
    ...{ name: '', text: 'select pepper is not null as is_plain from org where id = $1', values: [org_id] },
  });
  expect(rows).toEqual([{ is_plain: false }]);
  expect(await findPepper({ db: pool, root_key: loadRootKey(file) }, org_id)).toHaveLength(32);
  expect(await keyring('status')).toMatchObject({ outdated: 0, keys: [{ name, is_current: true }] });
});
