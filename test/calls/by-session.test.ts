// Questions about calls that a person asks, signed in and without a key.
import { createPool } from '@svc/core/db/index.ts';
import { createPerson } from '@svc/core/identity/index.ts';
import type { Role } from '@svc/core/kernel/index.ts';
import { describe, expect, test } from 'vitest';
import { staffContext } from '../support/provision.ts';
import { errorOf, type Json, open, type Reply } from './caller.ts';
import { bodyOf, type Org, useWorld } from './world.ts';

const CONSOLE = 'https://console.example.com';
const world = useWorld({ models: { pair: 12, chat: 12 }, env: { SVC_CONSOLE_ORIGINS: CONSOLE } });

const post = (path: string, body: object, headers: Record<string, string>): Promise<Reply> =>
  open(world().gateway.base_url, { path, body: JSON.stringify(body), headers }).reply;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const read = ({ text }: Reply): Json => JSON.parse(text) as Json;

async function signIn(org: Org, role: Role, transport: 'bearer' | 'cookie' = 'bearer') {
  const pool = createPool(world().database_url, { max: 1 });
  try {
    const email = `${role}-${transport}-${org.org_id.toLowerCase()}@people.example`;
    const { password } = await createPerson(staffContext(pool), { email, org_id: org.org_id, role });
    return await post('/v1/auth/login', { email, password, transport }, {});
  } finally {
    await pool.end();
  }
}
const tokenOf = async (org: Org, role: Role) => String(read(await signIn(org, role))['token']);

/** What depends on the call and not on when it was asked about. */
function decisionOf(reply: Reply): Json {
  const { plan, reserve_micro, price_version } = read(reply);
  const endpoints = (plan as Json[]).map(({ endpoint_id }) => endpoint_id);
  return { endpoints: endpoints.sort(), reserve_micro, price_version };
}

describe.each(['owner', 'admin', 'developer'] as const)('a session of the role %s', (role) => {
  test('is told what a call of the default project would do, and no call happens', async () => {
    const org = await world().org();
    const token = await tokenOf(org, role);
    const { id } = world().model('chat');
    const body = bodyOf(id, 'How long is the Oder?');
    const asked = await post('/v1/svc/dry_run', { ...body, max_tokens: undefined }, bearer(token));
    expect([asked.status, asked.text]).toEqual([200, expect.stringContaining('"object":"dry_run"')]);
    const by_key = await post('/v1/svc/dry_run', { ...body, max_tokens: undefined }, bearer(org.live_key));
    expect(decisionOf(asked)).toEqual(decisionOf(by_key));
    const { rows } = await world().db.query('select 1 from request_row where org_id = $1', [org.org_id]);
    expect(rows).toEqual([]);
  });

  test('is told how many tokens a prompt has', async () => {
    const org = await world().org();
    const token = await tokenOf(org, role);
    const body = { ...bodyOf(world().model('chat').id, 'How long is the Oder?'), max_tokens: undefined };
    const counted = await post('/v1/svc/count_tokens', body, bearer(token));
    const by_key = await post('/v1/svc/count_tokens', body, bearer(org.live_key));
    expect([counted.status, read(counted)]).toEqual([200, read(by_key)]);
  });
});

test('in the test environment the sandbox would answer', async () => {
  const org = await world().org();
  const token = await tokenOf(org, 'developer');
  const body = { ...bodyOf(world().model('chat').id, 'Hello'), max_tokens: undefined };
  const asked = await post('/v1/svc/dry_run?environment=test', body, bearer(token));
  expect((read(asked)['plan'] as Json[]).map(({ provider }) => provider)).toContain('sandbox');
});

test.each(['billing', 'viewer'] as const)('the role %s may not ask', async (role) => {
  const org = await world().org();
  const token = await tokenOf(org, role);
  for (const path of ['/v1/svc/dry_run', '/v1/svc/count_tokens']) {
    const refused = await post(path, { model: 'sandbox/echo', messages: [] }, bearer(token));
    expect([refused.status, errorOf(refused)?.['code']]).toEqual([403, 'permission_denied']);
  }
});

test('calls themselves, and questions in other formats, take keys only', async () => {
  const org = await world().org();
  const token = await tokenOf(org, 'owner');
  const body = bodyOf('sandbox/echo', 'Hello');
  for (const path of ['/v1/svc/generate', '/v1/chat/completions', '/v1/messages/count_tokens']) {
    const refused = await post(path, body, bearer(token));
    expect([path, refused.status]).toEqual([path, 401]);
  }
});

test('a console page may ask with its cookie and CSRF token, and no other page', async () => {
  const org = await world().org();
  const signed_in = await signIn(org, 'developer', 'cookie');
  const cookie = String(signed_in.headers['set-cookie']).split(';', 1)[0] as string;
  const { csrf_token } = read(signed_in)['session'] as Json;
  const body = { ...bodyOf(world().model('chat').id, 'Hello'), max_tokens: undefined };
  const ask = (headers: Record<string, string>) => post('/v1/svc/dry_run', body, { cookie, ...headers });
  const asked = await ask({ origin: CONSOLE, 'x-svc-csrf': String(csrf_token) });
  expect([asked.status, asked.headers['access-control-allow-origin']]).toEqual([200, CONSOLE]);
  expect(asked.headers['access-control-allow-credentials']).toBe('true');
  const forged: Record<string, string>[] = [
    {},
    { origin: CONSOLE },
    { origin: 'https://evil.example', 'x-svc-csrf': String(csrf_token) },
  ];
  for (const headers of forged) {
    const refused = await ask(headers);
    expect([headers, refused.status, errorOf(refused)?.['code']]).toEqual([headers, 403, 'csrf_failed']);
    expect(refused.headers['access-control-allow-credentials']).toBe(
      headers['origin'] === CONSOLE ? 'true' : undefined,
    );
  }
});

test('a session that has ended is refused', async () => {
  const org = await world().org();
  const token = await tokenOf(org, 'owner');
  await fetch(`${world().gateway.base_url}/v1/auth/logout`, { method: 'POST', headers: bearer(token) });
  const refused = await post('/v1/svc/dry_run', { model: 'sandbox/echo', messages: [] }, bearer(token));
  expect([refused.status, errorOf(refused)?.['code']]).toEqual([401, 'session_expired']);
});
