// The route as callers meet it (docs/routing.md): kept where their cache is, out of what asks for a pause, told in
// full.
import { describe, expect, test } from 'vitest';
import { errorOf, type Json, type Reply } from './caller.ts';
import { endChunks, type Handler, refuse, streamHead, textChunk, usageOf, wholeAnswer } from './upstream.ts';
import { bodyOf, idOf, type Kind, type Org, send, useWorld } from './world.ts';

const world = useWorld({ models: { 'script-pair': 24, script: 12 } });
const DEBUG = { headers: { 'x-svc-debug': '1' } };

/** Field `name` of the trace of an answer. */
function traced(reply: Reply, name: string): string | undefined {
  const line = reply.headers['x-svc-route-trace'] ?? '';
  expect(Buffer.byteLength(line)).toBeLessThanOrEqual(1024);
  return new RegExp(`(?:^|; )${name}=([^;]*)`).exec(line)?.[1];
}

const answers =
  (model: string): Handler =>
  (response, received) => {
    if (received.body['stream'] !== true) return refuse(200, wholeAnswer(model))(response, received);
    streamHead(response);
    response.end(`${textChunk(model, 'a whole answer')}${endChunks(model, usageOf(10, 3))}`);
  };

/** A model of `kind` whose sites all answer until a test says otherwise, and calls to it. */
async function scripted(kind: Kind = 'script-pair') {
  const org = await world().org();
  const { id, upstream } = world().model(kind);
  const on = (site: 'a' | 'b', handler: Handler) => world().script.on(upstream, site, handler);
  const wellAgain = () => {
    on('a', answers(upstream));
    on('b', answers(upstream));
  };
  wellAgain();
  const call = (more: object = {}, text = 'Hi', by: Org = org) =>
    send(world(), 'chat', by.live_key, bodyOf(id, text, more), DEBUG).reply;
  const sites = () =>
    world()
      .script.received(upstream)
      .map(({ site }) => site);
  return { org, id, on, wellAgain, call, sites };
}

const siteOf = (reply: Reply) => (reply.headers['x-svc-provider'] as string).slice(-1) as 'a' | 'b';
const other = (site: 'a' | 'b') => (site === 'a' ? 'b' : 'a');
const bySession = (session: string) => ({ svc: { session, route: { affinity: 'session' } } });

describe.concurrent('a session', () => {
  test('stays at the endpoint that answered, goes on elsewhere when that fails, and then stays there', async () => {
    const { call, on, wellAgain } = await scripted();
    const first = await call(bySession('s'));
    expect(traced(first, 'aff')).toBe('miss');
    const home = siteOf(first);
    for (let i = 0; i < 4; i++) {
      const reply = await call(bySession('s'));
      expect([siteOf(reply), traced(reply, 'aff')]).toEqual([home, 'hit']);
    }
    on(home, refuse(500, { error: { message: 'down' } }));
    const moved = await call(bySession('s'));
    expect(moved.status).toBe(200);
    expect([siteOf(moved), moved.headers['x-svc-attempts']]).toEqual([other(home), '2']);
    wellAgain();
    const after = await call(bySession('s'));
    expect([siteOf(after), traced(after, 'aff')]).toEqual([other(home), 'hit']);
  });

  test('of another organization or another name is none of its business', async () => {
    const { call } = await scripted();
    await call(bySession('mine'));
    expect(traced(await call(bySession('mine')), 'aff')).toBe('hit');
    expect(traced(await call(bySession('yours')), 'aff')).toBe('miss');
    const stranger = await world().org();
    expect(traced(await call(bySession('mine'), 'Hi', stranger), 'aff')).toBe('miss');
  });

  test('is left where the caller leaves out the session, and off where it says so', async () => {
    const { call } = await scripted();
    expect(traced(await call({ svc: { route: { affinity: 'session' } } }), 'aff')).toBe('-');
    expect(traced(await call({ svc: { route: { affinity: 'off' }, session: 's' } }), 'aff')).toBe('-');
    expect(traced(await call(), 'aff')).toBe('-');
  });
});

describe.concurrent('a long prompt', () => {
  const system = `You are careful. ${'Mind the gap between words. '.repeat(200)}`;
  const turns = (...texts: string[]) => ({
    messages: [{ role: 'system', content: system }, ...texts.map((content) => ({ role: 'user', content }))],
  });

  test('is kept by its beginning: later turns and other endings come to the same endpoint', async () => {
    const { call } = await scripted();
    const first = await call({ ...turns('one'), stream: true });
    expect(traced(first, 'aff')).toBe('miss');
    for (const more of [turns('one', 'two'), turns('something else'), { ...turns('x'), stream: true }]) {
      const reply = await call(more);
      expect([siteOf(reply), traced(reply, 'aff')]).toEqual([siteOf(first), 'hit']);
    }
    const different = {
      messages: [
        { role: 'system', content: `No. ${system}` },
        { role: 'user', content: 'x' },
      ],
    };
    expect(traced(await call(different), 'aff')).toBe('miss');
  });

  test('with a cache key is kept by the key', async () => {
    const { call } = await scripted();
    const first = await call({ prompt_cache_key: 'k' });
    expect(traced(first, 'aff')).toBe('miss');
    const reply = await call({ prompt_cache_key: 'k', ...turns('anything') });
    expect([siteOf(reply), traced(reply, 'aff')]).toEqual([siteOf(first), 'hit']);
  });
});

describe.concurrent('an endpoint that asks for a pause', () => {
  const throttling = refuse(429, { error: { message: 'slow down' } }, { 'retry-after': '30' });
  const busy = refuse(503, { error: { message: 'busy' } }, { 'retry-after': '30' });

  test.each([
    ['its key is throttled', throttling, 'rate', 429, 'upstream_rate_limited'],
    ['it is overloaded', busy, 'capacity', 503, 'upstream_overloaded'],
  ] as const)(
    'because %s is left alone until then: 503 with the wait',
    async (_why, handler, reason, status, code) => {
      const { call, on, sites, org } = await scripted('script');
      on('a', handler);
      const reported = await call();
      expect([reported.status, (errorOf(reported) as Json)['code']]).toEqual([status, code]);
      const refused = await call();
      expect(refused.status).toBe(503);
      const error = errorOf(refused) as Json;
      expect(error['code']).toBe('no_endpoint_available');
      expect(error['excluded_by']).toMatchObject([{ provider: 'script-a', reason }]);
      const wait_s = Number(refused.headers['retry-after']);
      expect(wait_s).toBeGreaterThan(20);
      expect(wait_s).toBeLessThanOrEqual(30);
      expect(refused.headers).toMatchObject({ 'x-should-retry': 'true', 'x-svc-attempts': '0' });
      expect(traced(refused, 'drop')).toMatch(new RegExp(`^ep_\\w+:${reason}$`));
      expect(traced(refused, 'policy')).toBe('default');
      expect(sites()).toEqual(['a']);
      const { row, charged } = await world().ended(org, idOf(refused));
      expect([row.status, row.error_code, charged]).toEqual(['rejected', 'no_endpoint_available', 0]);
    },
  );

  test('is passed over while another one answers', async () => {
    const { call, on, sites } = await scripted();
    const order = { svc: { route: { providers: { order: ['script-a', 'script-b'] } } } };
    on('a', throttling);
    const first = await call(order);
    expect([first.status, first.headers['x-svc-attempts']]).toEqual([200, '2']);
    const second = await call(order);
    expect([second.status, second.headers['x-svc-attempts'], siteOf(second)]).toEqual([200, '1', 'b']);
    expect(traced(second, 'drop')).toMatch(/^ep_\w+:rate$/);
    expect(sites()).toEqual(['a', 'b', 'b']);
  });
});

describe.concurrent('failover.on of a policy', () => {
  async function ruled(yaml: string) {
    const made = await scripted();
    const ask = async (path: string, body: object) => {
      const reply = await fetch(`${world().gateway.base_url}/v1/policies${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${made.org.live_key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      expect(reply.ok).toBe(true);
    };
    await ask('', { name: 'p', yaml });
    await ask('/p/activate', { version: 1 });
    return made;
  }
  const order = { svc: { route: { providers: { order: ['script-a', 'script-b'] } } } };
  const filtered = refuse(400, { error: { message: 'no', code: 'content_filter' } });

  test('sends what a filter refused to the next endpoint, and without it does not', async () => {
    for (const [yaml, status, tried] of [
      ['defaults: {failover: {on: [content_filtered]}}', 200, ['a', 'b']],
      ['defaults: {max_attempts: 3}', 400, ['a']],
    ] as const) {
      const { call, on, sites } = await ruled(yaml);
      on('a', filtered);
      const reply = await call(order);
      expect(reply.status).toBe(status);
      expect(sites()).toEqual(tried);
    }
  });

  test('keeps a throttled call where it is, with its own wait', async () => {
    const { call, on, sites } = await ruled('defaults: {failover: {on: [-rate_limit]}}');
    on('a', refuse(429, { error: { message: 'slow down' } }, { 'retry-after': '3' }));
    const reply = await call(order);
    expect([reply.status, reply.headers['retry-after']]).toEqual([429, '3']);
    expect(sites()).toEqual(['a']);
  });
});
