// Zero data retention: a call is refused rather than sent to an endpoint that retains data, whatever fails.
import { describe, expect, test } from 'vitest';
import { errorOf, type Json, type Reply } from '../calls/caller.ts';
import { bodyOf, eventually, type Org, useWorld } from '../calls/world.ts';
import { manage, storedOf, tenantUnder } from './policy.ts';

// sim-a and script-a are zdr, sim-b is not (test/calls/world.ts).
const world = useWorld({ models: { pair: 16, script: 4, chat: 2 } });
const idOf = (reply: Reply) => reply.headers['x-svc-request-id'] as string;

/** The ways to ask for zero retention: an organization, a key of it, a request. */
const ways = ['organization', 'key', 'request', 'route'] as const;

async function caller(way: (typeof ways)[number]): Promise<{ org: Org; key: string; more: object }> {
  const org = await tenantUnder(world(), { logging: 'on', zdr: way === 'organization' });
  if (way === 'request') return { org, key: org.key, more: { svc: { data_policy: 'zdr' } } };
  if (way === 'route') return { org, key: org.key, more: { svc: { route: { require: { zdr: true } } } } };
  if (way === 'organization') return { org, key: org.key, more: {} };
  const options = { project_id: org.project_id, environment: 'live', name: 'zdr', scopes: ['inference'] };
  const body = { ...options, data_policy: { zdr: true } };
  const made = await manage(world(), org, { method: 'POST', path: '/v1/keys', body });
  return { org, key: made.body['secret'], more: {} };
}

function withRoute(more: Json, route: object): object {
  return { svc: { ...more['svc'], route: { ...more['svc']?.route, ...route } } };
}

/** How many requests for `model` reached the simulator. */
function attemptsAt(model: string): number {
  return world().sim.calls.filter((call) => call.model === model).length;
}

async function providersOf(request_id: string): Promise<string[]> {
  return eventually(`attempts of ${request_id}`, async () => {
    const row = await world().db.query('select 1 from request_row where request_id = $1', [request_id]);
    if (row.rowCount === 0) return null;
    const { rows } = await world().db.query<{ provider: string }>(
      'select provider from request_attempt where request_id = $1 order by attempt',
      [request_id],
    );
    return rows.map(({ provider }) => provider);
  });
}

test.concurrent('asked for by a header, it holds whatever else the body requires', async () => {
  const org = await tenantUnder(world(), { logging: 'on', zdr: false });
  const { id, upstream } = world().model('pair');
  const body = bodyOf(id, 'sim: status=503', { svc: { route: { require: { max_retention_days: 0 } } } });
  const headers = { 'x-svc-route': '{"require":{"zdr":true}}' };
  const reply = await world().chat(org.key, body, { headers }).reply;
  expect(reply.status).toBeGreaterThanOrEqual(500);
  expect(await providersOf(idOf(reply))).toEqual(['sim-a']);
  expect(attemptsAt(upstream)).toBe(1);
  expect(await storedOf(world(), org)).toBe(0);
});

describe.each(ways)('asked for by the %s', (way) => {
  test.concurrent('a failing endpoint is not replaced by one that retains', async () => {
    const { org, key, more } = await caller(way);
    const { id, upstream } = world().model('pair');
    const reply = await world().chat(key, bodyOf(id, 'sim: status=503', more)).reply;
    expect(reply.status).toBeGreaterThanOrEqual(500);
    expect(await providersOf(idOf(reply))).toEqual(['sim-a']);
    expect(attemptsAt(upstream)).toBe(1);
    expect(await storedOf(world(), org)).toBe(0);
  });

  test.concurrent('nor is a failing model by one of which an endpoint retains', async () => {
    const { key, more } = await caller(way);
    const script = world().model('script');
    const { id } = world().model('pair');
    world().script.on(script.upstream, 'a', (response) => {
      response.writeHead(503).end('{}');
    });
    const route = withRoute(more, { fallback_models: [id] });
    const reply = await world().chat(key, bodyOf(script.id, 'sim: status=503', route)).reply;
    expect(await providersOf(idOf(reply))).toEqual(['script-a', 'sim-a']);
  });

  test.concurrent('a call that could only go to one that retains is refused and says why', async () => {
    const { org, key, more } = await caller(way);
    const { id, upstream } = world().model('pair');
    const route = withRoute(more, { providers: { only: ['sim-b'] } });
    const reply = await world().chat(key, bodyOf(id, 'Hi', route)).reply;
    expect([reply.status, errorOf(reply)?.['code']]).toEqual([400, 'no_endpoint_available']);
    const { excluded_by } = errorOf(reply) as Json;
    expect(excluded_by.find(({ provider }: Json) => provider === 'sim-b').reason).toBe('zdr');
    expect(attemptsAt(upstream)).toBe(0);
    expect(await storedOf(world(), org)).toBe(0);
  });

  test.concurrent('nothing of its content is stored, neither for the log nor for a retry', async () => {
    const { org, key, more } = await caller(way);
    const { id } = world().model(way === 'organization' || way === 'key' ? 'chat' : 'pair');
    const headers = { 'idempotency-key': 'k' };
    const reply = await world().chat(key, bodyOf(id, 'Hi', more), { headers }).reply;
    expect(reply.status).toBe(200);
    const { row } = await world().ended(org, idOf(reply));
    expect([row.zdr, (row as unknown as Json)['logged']]).toEqual([true, false]);
    const again = await world().chat(key, bodyOf(id, 'Hi', more), { headers }).reply;
    expect(errorOf(again)?.['code']).toBe('idempotency_replay_unavailable');
    const { rowCount } = await world().db.query(
      'select 1 from ledger.idempotency where sealed_answer is not null and book_id = $1',
      [org.live_book_id],
    );
    expect([rowCount, await storedOf(world(), org)]).toEqual([0, 0]);
  });
});

test.concurrent('a region that no endpoint stands in refuses the same way', async () => {
  const { id, upstream } = world().model('pair');
  const org = await tenantUnder(world(), { regions: ['eu'] });
  const reply = await world().chat(org.key, bodyOf(id, 'Hi')).reply;
  expect([reply.status, errorOf(reply)?.['code']]).toEqual([400, 'no_endpoint_available']);
  const reasons = (errorOf(reply) as Json)['excluded_by'].map(({ reason }: Json) => reason);
  expect(reasons).toEqual(['region', 'region']);
  expect(attemptsAt(upstream)).toBe(0);
});
