// Money in an export adds up: the ledger to the balance, and what calls cost to what was metered and charged.
import { createPool, type Pool } from '@svc/core/db/index.ts';
import { createPerson } from '@svc/core/identity/index.ts';
import { beforeAll, expect, test, vi } from 'vitest';
import type { Json, Reply } from '../calls/caller.ts';
import { bodyOf, useWorld } from '../calls/world.ts';
import { atFileEnd } from '../support/ends.ts';
import { unpack } from '../support/programs/unpack.ts';
import { staffContext } from '../support/provision.ts';
import { detailOf, manage, tenantUnder } from './policy.ts';

vi.setConfig({ testTimeout: 120_000 });
const world = useWorld({ models: { chat: 2 } });
const CALLS = 8;
let pool: Pool;
beforeAll(() => {
  pool = createPool(world().database_url, { max: 2, role: 'svc_runtime' });
  atFileEnd(() => pool.end());
});

interface Line extends Record<string, unknown> {
  readonly environment: 'live' | 'test';
}
const sumOf = (lines: readonly Line[], field: string) =>
  lines.reduce((sum, line) => sum + (line[field] as number), 0);

/** A session of a new owner. */
async function signIn(org_id: `org_${string}`): Promise<string> {
  const email = `leaver-${org_id.slice(-6).toLowerCase()}@mail.example`;
  const { password } = await createPerson(staffContext(pool), { email, org_id, role: 'owner' });
  const reply = await fetch(`${world().gateway.base_url}/v1/auth/login`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ email, password, transport: 'bearer' }),
  });
  return ((await reply.json()) as { token: string }).token;
}

test('ledger, balance, calls and usage of an export say the same, with the content of calls that was stored', async () => {
  const org = await tenantUnder(world(), { logging: 'on' });
  const ids: string[] = [];
  const { id: model } = world().model('chat');
  for (let n = 0; n < CALLS; n++) {
    const reply: Reply = await world().chat(org.key, bodyOf(model, `planted words ${n}`)).reply;
    expect(reply.status, reply.text).toBe(200);
    ids.push(reply.headers['x-svc-request-id'] as string);
  }
  const { body: made } = await manage(world(), org, {
    ...{ method: 'POST', path: '/v1/keys' },
    body: {
      project_id: await testProject(org.live_key),
      name: 'play',
      scopes: ['inference'],
      environment: 'test',
    },
  });
  const played: Reply = await world().chat(made['secret'] as string, bodyOf('sandbox/echo', 'hello')).reply;
  expect(played.status, played.text).toBe(200);
  for (const id of [...ids, played.headers['x-svc-request-id'] as string]) await detailOf(world(), org, id);

  const token = await signIn(org.org_id);
  const headers = { authorization: `Bearer ${token}` };
  const base = world().gateway.base_url;
  const asked = await fetch(`${base}/v1/orgs/${org.org_id}/export`, { method: 'POST', headers });
  expect(asked.status).toBe(201);
  const got = await fetch(`${base}${((await asked.json()) as Json)['path']}`, { headers });
  expect([got.status, got.headers.get('content-type')]).toEqual([200, 'application/zip']);
  const files = await unpack(Buffer.from(await got.arrayBuffer()));
  const linesOf = (name: string) =>
    (files.get(`${name}.ndjson`)?.toString() ?? '')
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Line]));
  const of = (name: string, environment: string) =>
    linesOf(name).filter((line) => line.environment === environment);

  for (const environment of ['live', 'test']) {
    const [balance] = of('balance', environment);
    const ledger = of('ledger', environment);
    expect(sumOf(ledger, 'amount_micro_usd')).toBe(
      sumOf([balance as Line], 'available_micro_usd') + sumOf([balance as Line], 'held_micro_usd'),
    );
    expect(sumOf(of('lots', environment), 'remaining_micro_usd')).toBe(
      (balance as Line)['available_micro_usd'],
    );
    const cost = sumOf(of('requests', environment), 'cost_micro');
    expect(cost).toBeGreaterThan(0);
    expect(cost).toBe(sumOf(of('usage', environment), 'cost_micro'));
    const charged = ledger.filter(({ kind }) => kind === 'settle');
    expect(cost).toBe(-sumOf(charged, 'amount_micro_usd'));
    // Each charge names a call that is there, and the calls together cost it.
    const calls = new Map(
      of('requests', environment).map((line) => [line['request_id'], line['cost_micro']]),
    );
    for (const { request_id, amount_micro_usd } of charged)
      expect(calls.get(request_id)).toBe(-(amount_micro_usd as number));
  }
  const live = of('requests', 'live');
  expect(live.length).toBe(CALLS);
  for (const line of live) {
    expect(line['payload_state']).toBe('available');
    expect(JSON.stringify(line['request'])).toContain('planted words');
    expect(line['response']).toBeTruthy();
  }
});

/** The project of play credit. */
async function testProject(key: string): Promise<string> {
  const reply = await fetch(`${world().gateway.base_url}/v1/projects`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const { data } = (await reply.json()) as { data: { id: string; environment: string }[] };
  return data.find(({ environment }) => environment === 'test')?.id ?? '';
}
