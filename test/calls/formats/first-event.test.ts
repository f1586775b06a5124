// A limit to the first event that the caller lowered (docs/outcomes.md#chosen-time-is-up): it fails over like any
// silence, and where nothing is left to try it is the caller who ended the call, and pays for its prompt.
import { describe, expect, test } from 'vitest';
import { errorOf, saidBy } from '../caller.ts';
import { streamHead } from '../upstream.ts';
import { bodyOf, grammarFaults, idOf, priceOf, useWorld } from '../world.ts';

const world = useWorld();
const timeouts = { first_event_ms: 5_000 };

describe.concurrent('no first event in the time that the caller allows', { timeout: 40_000 }, () => {
  test.each([
    { kind: 'chat', stream: true },
    { kind: 'full', stream: true },
    { kind: 'unknown', stream: true },
    { kind: 'messages', stream: true },
    // The canonical lane reads a stream also for a whole answer; the raw one has no first event before its end.
    { kind: 'messages', stream: false },
  ] as const)('is the caller leaving, who pays for the prompt ($kind, stream $stream)', async (way) => {
    const org = await world().org();
    const { id } = world().model(way.kind);
    const svc = { route: { timeouts } };
    const body = bodyOf(id, 'sim: delay_ms=30000', { stream: way.stream, svc });
    const reply = await world().chat(org.live_key, body).reply;
    expect(reply.status).toBe(504);
    expect(errorOf(reply)).toMatchObject({ code: 'deadline_exceeded', type: 'timeout_error' });
    expect(reply.headers['x-should-retry']).toBe('false');
    const ended = await world().ended(org, idOf(reply));
    expect(ended.attempts).toEqual(['timeout timeout']);
    expect(ended.row).toMatchObject({ status: 'error', error_code: 'deadline_exceeded', output_tokens: 0 });
    expect(ended.row.input_tokens).toBeGreaterThan(0);
    expect(ended.charged).toBe(priceOf(ended.row.input_tokens, 0));
    expect(reply.headers['x-svc-cost-micro']).toBe(String(ended.charged));
    expect(ended.meter).toMatchObject({ estimated: true });
  });

  test('fails over first, and the endpoint that answers is all that is paid', async () => {
    const org = await world().org();
    const late = world().model('script-pair');
    world().script.on(late.upstream, 'a', (response) => streamHead(response));
    world().script.on(late.upstream, 'b', (response) => {
      streamHead(response);
      const choices = [{ index: 0, delta: { content: 'here' }, finish_reason: 'stop' }];
      const usage = { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 };
      response.end(`data: ${JSON.stringify({ choices, usage })}\n\ndata: [DONE]\n\n`);
    });
    const order = { timeouts, providers: { order: ['script-a', 'script-b'] } };
    const slow = bodyOf(late.id, 'Hi', { stream: true, svc: { route: order } });
    const reply = await world().chat(org.live_key, slow).reply;
    expect(saidBy(reply)).toBe('here');
    expect(grammarFaults('chat', reply)).toEqual([]);
    const ended = await world().ended(org, idOf(reply));
    expect(ended.attempts).toEqual(['timeout timeout', 'ok']);
    expect(ended.charged).toBe(priceOf(10, 3));
  });

  test('says nothing of the endpoint: another tenant finds its circuit closed', async () => {
    const hasty = await world().org();
    const other = await world().org();
    const { id } = world().model('chat');
    const body = bodyOf(id, 'sim: delay_ms=30000', { stream: true, svc: { route: { timeouts } } });
    const cut = await Promise.all(Array.from({ length: 6 }, () => world().chat(hasty.live_key, body).reply));
    expect(cut.map((reply) => reply.status)).toEqual([504, 504, 504, 504, 504, 504]);
    const reply = await world().chat(other.live_key, bodyOf(id, 'Hi', {})).reply;
    expect(reply.status).toBe(200);
  });

  test('is free where the last attempt failed of itself', async () => {
    const org = await world().org();
    const { id, upstream } = world().model('script-pair');
    world().script.on(upstream, 'a', (response) => streamHead(response));
    world().script.on(upstream, 'b', (response) => {
      response.writeHead(500);
      response.end();
    });
    const route = { timeouts, providers: { order: ['script-a', 'script-b'] } };
    const reply = await world().chat(org.live_key, bodyOf(id, 'Hi', { stream: true, svc: { route } })).reply;
    expect(errorOf(reply)?.['code']).toBe('upstream_error');
    const ended = await world().ended(org, idOf(reply));
    expect(ended).toMatchObject({ charged: 0, meter: null, attempts: ['timeout timeout', 'error server'] });
  });
});
