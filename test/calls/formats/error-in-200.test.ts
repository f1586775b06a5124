// A provider that answers 200 with an error object in place of the answer (docs/outcomes.md#error-in-a-200): the
// caller and the plan see what they would see of the same error as an HTTP refusal.
import { describe, expect, test } from 'vitest';
import { errorOf, saidBy } from '../caller.ts';
import { refuse, wholeAnswer } from '../upstream.ts';
import { bodyOf, type Dialect, idOf, send, useWorld } from '../world.ts';

const world = useWorld();

const overloaded = { message: 'We are at capacity.', type: 'overloaded_error' };
const limited = { message: 'Slow down.', type: 'rate_limit_error', code: 'rate_limit_exceeded' };

const cases = ([true, false] as const).flatMap(
  (stream) =>
    [
      { stream, dialect: 'chat', error: overloaded, status: 503, code: 'upstream_overloaded' },
      { stream, dialect: 'chat', error: limited, status: 429, code: 'upstream_rate_limited' },
      { stream, dialect: 'messages', error: overloaded, status: 529, code: 'upstream_overloaded' },
      { stream, dialect: 'messages', error: limited, status: 429, code: 'upstream_rate_limited' },
    ] as const,
);

describe.concurrent('an error object under status 200', () => {
  test.each(cases)('is $code on $dialect, and free (stream $stream)', async (want) => {
    const org = await world().org();
    const kind = want.dialect === 'chat' ? 'script' : 'script-messages';
    const { id, upstream } = world().model(kind);
    const site = want.dialect === 'chat' ? 'a' : 'x';
    world().script.on(upstream, site, refuse(200, { type: 'error', error: want.error }));
    const body = bodyOf(id, 'Hi', { stream: want.stream });
    const reply = await send(world(), want.dialect as Dialect, org.live_key, body).reply;
    expect(reply.status).toBe(want.status);
    expect(errorOf(reply)?.['code']).toBe(want.code);
    expect(reply.headers['x-should-retry']).toBe('true');
    const ended = await world().ended(org, idOf(reply));
    expect(ended).toMatchObject({ charged: 0, meter: null, attempts: ['error stream'] });
  });

  test.each([true, false])('is taken over by the next endpoint (stream %s)', async (stream) => {
    const org = await world().org();
    const { id, upstream } = world().model('script-pair');
    world().script.on(upstream, 'a', refuse(200, { error: overloaded }));
    world().script.on(upstream, 'b', (response, received) => {
      if (!stream) return refuse(200, wholeAnswer(upstream))(response, received);
      const { choices, ...rest } = wholeAnswer(upstream);
      const [{ message }] = choices as [{ message: object }];
      const chunk = { ...rest, choices: [{ index: 0, delta: message, finish_reason: 'stop' }] };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
    });
    const route = { providers: { order: ['script-a', 'script-b'] } };
    const body = bodyOf(id, 'Hi', { stream, svc: { route } });
    const reply = await world().chat(org.live_key, body).reply;
    expect(reply.status).toBe(200);
    expect(saidBy(reply)).toBe('a whole answer');
    const ended = await world().ended(org, idOf(reply));
    expect(ended.attempts).toEqual(['error stream', 'ok']);
  });

  test("that is the caller's own fault is reported as such, and no endpoint is tried in vain", async () => {
    const org = await world().org();
    const { id, upstream } = world().model('script-pair');
    const error = { message: 'Bad tools.', type: 'invalid_request_error' };
    for (const site of ['a', 'b']) world().script.on(upstream, site, refuse(200, { error }));
    const reply = await world().chat(org.live_key, bodyOf(id, 'Hi')).reply;
    expect(reply.status).toBe(400);
    expect(errorOf(reply)).toMatchObject({ code: 'invalid_request', message: 'Bad tools.' });
    expect(world().script.received(upstream)).toHaveLength(1);
  });

  test('that throttles one key of a pool lets that key rest', async () => {
    const org = await world().org();
    const keys: unknown[] = [];
    for (let n = 0; n < 3; n++) {
      const { id, upstream } = world().model('keyed');
      world().script.on(upstream, 'k', (response, received) => {
        const is_first = keys.push(received.headers.authorization) === 1;
        refuse(200, is_first ? { error: limited } : wholeAnswer(upstream))(response, received);
      });
      await world().chat(org.live_key, bodyOf(id, 'Hi')).reply;
    }
    // The throttled call itself is tried again with the other key.
    const [throttled, ...later] = keys;
    expect(later).toHaveLength(3);
    expect(later).not.toContain(throttled);
  });
});

describe.concurrent('a whole answer that does not say why it ended', () => {
  const said = { role: 'assistant', content: 'half an' };
  const unfinished = [
    { dialect: 'chat', body: { choices: [{ index: 0, message: said, finish_reason: null }] } },
    { dialect: 'chat', body: { choices: [{ index: 0, message: said }] } },
    { dialect: 'chat', body: { choices: [{ index: 0, message: said, finish_reason: '' }] } },
    // The provider bills it although it has no content.
    { dialect: 'chat', body: { choices: [{ index: 0, message: { role: 'assistant', content: '' } }] } },
    {
      dialect: 'messages',
      body: {
        ...{ id: 'msg_1', type: 'message', role: 'assistant', stop_reason: null, stop_sequence: null },
        content: [{ type: 'text', text: 'half an' }],
        usage: { input_tokens: 10, output_tokens: 3 },
      },
    },
  ] as const;

  test.each(unfinished)('is no clean end: upstream_incomplete, and free ($dialect)', async (want) => {
    const org = await world().org();
    const { id, upstream } = world().model(want.dialect === 'chat' ? 'script' : 'script-messages');
    const answer =
      want.dialect === 'chat' ? wholeAnswer(upstream, want.body) : { ...want.body, model: upstream };
    world().script.on(upstream, want.dialect === 'chat' ? 'a' : 'x', refuse(200, answer));
    const reply = await send(world(), want.dialect, org.live_key, bodyOf(id, 'Hi')).reply;
    expect(reply.status).toBe(502);
    expect(errorOf(reply)?.['code']).toBe('upstream_incomplete');
    const ended = await world().ended(org, idOf(reply));
    expect(ended).toMatchObject({ charged: 0, meter: null, attempts: ['error truncated'] });
  });

  test('is taken over by the next endpoint', async () => {
    const org = await world().org();
    const { id, upstream } = world().model('script-pair');
    const choices = [{ index: 0, message: said, finish_reason: null }];
    world().script.on(upstream, 'a', refuse(200, wholeAnswer(upstream, { choices })));
    world().script.on(upstream, 'b', refuse(200, wholeAnswer(upstream)));
    const route = { providers: { order: ['script-a', 'script-b'] } };
    const reply = await world().chat(org.live_key, bodyOf(id, 'Hi', { svc: { route } })).reply;
    expect([reply.status, saidBy(reply)]).toEqual([200, 'a whole answer']);
    expect((await world().ended(org, idOf(reply))).attempts).toEqual(['error truncated', 'ok']);
  });
});
