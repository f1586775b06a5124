// Budgets of runs (docs/limits.md#runs): what several calls of an agent may cost together.
import { describe, expect, test } from 'vitest';
import { errorOf, type Json, svcOf } from '../caller.ts';
import { bodyOf, type Dialect, idOf, type Org, send, useWorld } from '../world.ts';

const world = useWorld({ models: { chat: 20, messages: 4 } });

const within = (id: string, max_micro: number) => ({ svc: { budget: { id, max_micro } } });

async function runOf(org: Org, id: string, key = org.live_key): Promise<{ status: number; json: Json }> {
  const path = `/v1/projects/${org.project_id}/runs/${encodeURIComponent(id)}`;
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${world().gateway.base_url}${path}`, { headers });
  return { status: answer.status, json: (await answer.json()) as Json };
}
const stateOf = async (org: Org, id: string) => (await runOf(org, id)).json;

describe.each(['chat', 'messages'] as const)('in the dialect %s', (dialect: Dialect) => {
  test('a call that the budget of its run does not cover is refused before it is sent, with what is left', async () => {
    const org = await world().org(1_000_000);
    const { id, upstream } = world().model(dialect);
    const ask = (more: object) => send(world(), dialect, org.live_key, bodyOf(id, 'Hi', more)).reply;
    const first = await ask(within('survey', 1_000));
    expect(first.status).toBe(200);
    const { charged } = await world().ended(org, idOf(first));
    const sent = world().sim.calls.filter(({ model }) => model === upstream).length;
    const second = await ask(within('survey', charged + 100));
    expect(second.status).toBe(402);
    expect(errorOf(second)).toMatchObject({
      code: 'budget_exhausted',
      details: { scope: 'run', max_micro: charged + 100, spent_micro: charged, held_micro: 0 },
    });
    expect(errorOf(second)?.['message']).toContain(`${charged} spent`);
    expect(world().sim.calls.filter(({ model }) => model === upstream)).toHaveLength(sent);
    // The same under another name, or without one, is a call as any.
    for (const more of [within('another', 1_000), {}]) expect((await ask(more)).status).toBe(200);
    expect(await stateOf(org, 'survey')).toMatchObject({ spent_micro: charged, held_micro: 0 });
  });
});

test('the calls of a run by all keys of a project count together, to the micro-dollar', async () => {
  const org = await world().org(1_000_000, [{ name: 'a' }, { name: 'b' }]);
  const { id } = world().model('chat');
  let charged = 0;
  for (const key of [org.live_key, ...org.keys.map(({ secret }) => secret)]) {
    const reply = await world().chat(key, bodyOf(id, 'sim: tokens=20', within('shared', 50_000))).reply;
    charged += (await world().ended(org, idOf(reply))).charged;
    expect(svcOf(reply)?.['cost'].total_micro_usd).toBeGreaterThan(0);
  }
  expect(await stateOf(org, 'shared')).toEqual({
    ...{ id: 'shared', project_id: org.project_id, max_micro: 50_000 },
    ...{ spent_micro: charged, held_micro: 0, remaining_micro: 50_000 - charged },
  });
});

test('an answer that outgrows the budget of its run ends there, and costs no more', async () => {
  const org = await world().org(1_000_000);
  const { id } = world().model('chat');
  const body = bodyOf(id, 'sim: tokens=7000 chunks=140 chunk_ms=20', {
    ...{ max_tokens: 8_000, stream: true },
    ...within('long', 22_000),
  });
  const reply = await world().chat(org.live_key, body).reply;
  expect(((svcOf(reply) as Json)['warnings'] as Json[]).map(({ code }) => code)).toEqual([
    'credit_limit_reached',
  ]);
  const { charged } = await world().ended(org, idOf(reply));
  expect(charged).toBeLessThanOrEqual(22_000);
  expect(await stateOf(org, 'long')).toMatchObject({ spent_micro: charged, held_micro: 0 });
});

test('in the native dialect the budget is a field of the body', async () => {
  const org = await world().org(1_000_000);
  const { id } = world().model('chat');
  const headers = { authorization: `Bearer ${org.live_key}`, 'content-type': 'application/json' };
  const ask = (max_micro: number) =>
    fetch(`${world().gateway.base_url}/v1/svc/generate`, {
      ...{ method: 'POST', headers },
      body: JSON.stringify({
        ...{ model: id, generation: { max_tokens: 64 }, budget: { id: 'native', max_micro } },
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      }),
    });
  const answer = await ask(40_000);
  expect([answer.status, await answer.json()]).toMatchObject([200, {}]);
  const { charged } = await world().ended(org, answer.headers.get('x-svc-request-id') ?? '');
  expect(await stateOf(org, 'native')).toMatchObject({ max_micro: 40_000, spent_micro: charged });
  expect((await ask(charged)).status).toBe(402);
});

test('a header gives the budget to clients that send no fields of ours; the body goes first', async () => {
  const org = await world().org(1_000_000);
  const { id } = world().model('chat');
  const headers = { 'x-svc-budget': JSON.stringify({ id: 'by header', max_micro: 40_000 }) };
  const reply = await world().chat(org.live_key, bodyOf(id, 'Hi'), { headers }).reply;
  const { charged } = await world().ended(org, idOf(reply));
  expect(await stateOf(org, 'by header')).toMatchObject({ max_micro: 40_000, spent_micro: charged });
  const refused = await world().chat(org.live_key, bodyOf(id, 'Hi', within('by header', 1)), { headers })
    .reply;
  expect(errorOf(refused)).toMatchObject({ code: 'budget_exhausted', details: { max_micro: 1 } });
});

test.each([
  [{ id: 'x' }, 'svc.budget.max_micro'],
  [{ max_micro: 5 }, 'svc.budget.id'],
  [{ id: ' ', max_micro: 5 }, 'svc.budget.id'],
  [{ id: 'x'.repeat(129), max_micro: 5 }, 'svc.budget.id'],
  [{ id: 'x', max_micro: -1 }, 'svc.budget.max_micro'],
  [{ id: 'x', max_micro: 0.5 }, 'svc.budget.max_micro'],
  [{ id: 'x', max_micro: 1e300 }, 'svc.budget.max_micro'],
  [{ id: 'x', max_micro: 5, hard: true }, 'svc.budget.hard'],
  ['x', 'svc.budget'],
])('%j is no budget: the call is refused with the path of the fault', async (budget, param) => {
  const org = await world().org(1_000);
  const { id } = world().model('chat');
  const reply = await world().chat(org.live_key, bodyOf(id, 'Hi', { svc: { budget } })).reply;
  expect([reply.status, errorOf(reply)?.['param']]).toEqual([400, param]);
});

test('a run is found by its own project alone, and one that no call has named is not found', async () => {
  const org = await world().org(1_000_000);
  const stranger = await world().org(1_000_000);
  const { id } = world().model('chat');
  const reply = await world().chat(org.live_key, bodyOf(id, 'Hi', within('mine', 9_000))).reply;
  await world().ended(org, idOf(reply));
  expect((await runOf(org, 'mine')).status).toBe(200);
  expect((await runOf(org, 'yours')).status).toBe(404);
  expect((await runOf(org, 'mine', stranger.live_key)).status).toBe(404);
  expect((await runOf(stranger, 'mine')).status).toBe(404);
});

test('what a caller calls its run is stored nowhere', async () => {
  const org = await world().org(1_000_000);
  const { id } = world().model('chat');
  const name = 'run-of-jane@example.com';
  const reply = await world().chat(org.live_key, bodyOf(id, 'Hi', within(name, 9_000))).reply;
  await world().ended(org, idOf(reply));
  const { rows } = await world().db.query<{ found: number }>(
    `select count(*)::int as found from (
       select to_jsonb(r)::text as row from ledger.run r union all select to_jsonb(m)::text from ledger.meter m
       union all select to_jsonb(q)::text from request_row q) all_rows where row like '%jane@example%'`,
  );
  expect(rows[0]?.found).toBe(0);
});
