// Other endpoints (docs/outcomes.md#faults-of-a-provider, docs/outcomes.md#failover): tried before the first content,
// never after it.
import { describe, expect, test } from 'vitest';
import { errorOf, saidBy, svcOf } from './caller.ts';
import { answering, inOrder, refusing, scripted } from './endpoints.ts';
import { type Handler, refuse, streamHead, textChunk, wholeAnswer } from './upstream.ts';
import { bodyOf, eventually, grammarFaults, idOf, priceOf, send, useWorld } from './world.ts';

const world = useWorld({ models: { 'script-pair': 60 } });

describe.concurrent('a fault before the first content is taken over by another endpoint', () => {
  const faults: Record<string, (model: string) => Handler> = {
    'error server': refusing(500),
    'error rate_limit': refusing(429),
    'error auth': refusing(401),
    'error server (a firewall before it)': () => (response) => {
      response.writeHead(403, { 'content-type': 'text/html' });
      response.end('\n<!DOCTYPE html><title>Attention required</title>');
    },
    'error quota': refusing(402),
    'error overloaded': refusing(529),
    'error model_missing': refusing(404, { error: { message: 'no such model', code: 'model_not_found' } }),
    'error network': () => (response) => response.destroy(),
    'error protocol': () => (response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<html><body>captive portal</body></html>');
    },
  };
  const all = Object.keys(faults).flatMap((fault) => [true, false].map((stream) => ({ fault, stream })));
  test.each(all)('$fault, stream $stream', async ({ fault, stream }) => {
    const { reply, ended } = await scripted(
      world(),
      'script-pair',
      { a: faults[fault] as (model: string) => Handler, b: answering(stream) },
      { more: { stream, ...inOrder('script-a', 'script-b') } },
    );
    expect(reply.status).toBe(200);
    expect(saidBy(reply)).toBe('a whole answer');
    expect(reply.headers).toMatchObject({ 'x-svc-attempts': '2', 'x-svc-provider': 'script-b' });
    expect(ended.attempts).toEqual([fault.replace(/ \(.*/, ''), 'ok']);
    expect(ended.row).toMatchObject({ status: 'ok', provider: 'script-b' });
    expect(ended.charged).toBe(priceOf(10, 3));
    expect(svcOf(reply)?.['provider']).toBe('script-b');
    if (stream) expect(grammarFaults('chat', reply)).toEqual([]);
  });

  test.each(['stream', 'truncated'] as const)(
    '%s before content leaves no trace in the stream',
    async (fault) => {
      const failing =
        (model: string): Handler =>
        (response) => {
          streamHead(response);
          const role = { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null };
          response.write(
            `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model, choices: [role] })}\n\n`,
          );
          response.end(
            fault === 'stream' ? 'data: {"error":{"message":"down","type":"server_error"}}\n\n' : '',
          );
        };
      const { reply, ended } = await scripted(
        world(),
        'script-pair',
        { a: failing, b: answering(true) },
        { more: { stream: true, ...inOrder('script-a', 'script-b') } },
      );
      expect(grammarFaults('chat', reply)).toEqual([]);
      expect(reply.text.match(/"role":"assistant"/g)).toHaveLength(1);
      expect(ended.attempts).toEqual([`error ${fault}`, 'ok']);
    },
  );

  test('also from one wire format to another, in both directions', async () => {
    for (const order of [inOrder('sim-a', 'sim-x'), inOrder('sim-x', 'sim-a')]) {
      for (const dialect of ['chat', 'messages'] as const) {
        const org = await world().org();
        const { id } = world().model('cross');
        const text = `sim: mark=${id} fail_first=1 tokens=12`;
        const reply = await send(world(), dialect, org.live_key, bodyOf(id, text, { stream: true, ...order }))
          .reply;
        expect(reply.headers['x-svc-attempts']).toBe('2');
        const raw = (reply.headers['x-svc-provider'] === 'sim-x') === (dialect === 'messages');
        expect(grammarFaults(dialect, reply, { raw })).toEqual([]);
        const ended = await world().ended(org, idOf(reply));
        expect(ended.attempts).toEqual(['error overloaded', 'ok']);
        expect(ended.row.output_tokens).toBe(12);
      }
    }
  });

  test.each([true, false])('a large body arrives whole at the other endpoint, stream %s', async (stream) => {
    const messages = Array.from({ length: 1_501 }, (_, i) => ({
      role: i % 2 === 0 ? 'user' : 'assistant',
      content: `turn ${i}`,
    }));
    const sites = { a: refusing(500), b: answering(stream) };
    const more = { stream, messages, ...inOrder('script-a', 'script-b') };
    const { reply, ended, received } = await scripted(world(), 'script-pair', sites, { more });
    expect(saidBy(reply)).toBe('a whole answer');
    expect(ended.attempts).toEqual(['error server', 'ok']);
    expect(received.map(({ body }) => body['messages'])).toEqual([messages, messages]);
  });

  test('fallbacks: false and max_attempts: 1 try one endpoint alone', async () => {
    for (const route of [{ fallbacks: false }, { max_attempts: 1 }]) {
      const options = { svc: { route: { ...route, providers: { order: ['script-a', 'script-b'] } } } };
      const sites = { a: refusing(500), b: answering(false) };
      const { reply, received } = await scripted(world(), 'script-pair', sites, { more: options });
      expect(reply.status).toBe(502);
      expect(reply.headers['x-svc-attempts']).toBe('1');
      expect(received.map(({ site }) => site)).toEqual(['a']);
    }
  });
});

describe.concurrent('an error event after content', () => {
  const ERROR = 'data: {"error":{"message":"down","type":"server_error"}}\n\n';
  const order = { stream: true, ...inOrder('script-a', 'script-b') };

  test('that the caller has seen ends the stream: there is no failover', async () => {
    const org = await world().org();
    const { id, upstream } = world().model('script-pair');
    world().script.on(upstream, 'a', (response) => {
      streamHead(response);
      response.write(textChunk(upstream, 'half an'));
      fail = () => response.end(ERROR);
    });
    let fail = () => {};
    const exchange = world().chat(org.live_key, bodyOf(id, 'Hi', order));
    await exchange.until((text) => text.includes('half an'));
    fail();
    const reply = await exchange.reply;
    expect(saidBy(reply)).toBe('half an');
    expect(grammarFaults('chat', reply)).toEqual([]);
    expect(errorOf(reply)?.['code']).toBe('upstream_error');
    expect(
      world()
        .script.received(upstream)
        .map(({ site }) => site),
    ).toEqual(['a']);
    const ended = await world().ended(org, idOf(reply));
    expect(ended).toMatchObject({ charged: 0, attempts: ['error stream'] });
  });

  test('that came in one read with it, so that the caller has seen nothing, is taken over', async () => {
    const failing =
      (model: string): Handler =>
      (response) => {
        streamHead(response);
        response.end(`${textChunk(model, 'half an')}${ERROR}`);
      };
    const { reply, ended } = await scripted(
      world(),
      'script-pair',
      { a: failing, b: answering(true) },
      { more: order },
    );
    expect(saidBy(reply)).toBe('a whole answer');
    expect(grammarFaults('chat', reply)).toEqual([]);
    expect(ended.attempts).toEqual(['error stream', 'ok']);
  });
});

describe.concurrent('a refusal of the request itself', () => {
  const leaky =
    'Bad value for org-AbCdEf123456 with key sk-proj-abcdefghijklmnop; see https://internal.example/path?x=1 ' +
    'or request req_0123456789abcdef (id 123e4567-e89b-12d3-a456-426614174000).';

  test('is relayed in the raw lane without failover, with secrets and addresses redacted', async () => {
    const body = {
      error: { message: leaky, type: 'invalid_request_error', param: 'temperature', code: 'bad_value' },
    };
    const sites = { a: refusing(400, body), b: answering(false) };
    const { reply, error, received } = await scripted(world(), 'script-pair', sites);
    expect(reply.status).toBe(400);
    expect(received.map(({ site }) => site)).toEqual(['a']);
    expect(error).toMatchObject({ code: 'invalid_request', param: 'temperature' });
    expect(error['message']).toBe(
      'Bad value for [redacted] with key [redacted]; see [redacted] or request [redacted] (id [redacted]).',
    );
    expect(error['details'].upstream).toMatchObject({ provider: 'script-a', status: 400, code: 'bad_value' });
    for (const secret of ['org-Ab', 'sk-proj', 'internal.example', 'req_0123', '123e4567']) {
      expect(reply.text).not.toContain(secret);
    }
  });

  test('gets one more endpoint in the canonical lane', async () => {
    const sites = { a: refusing(400), b: answering(true) };
    const { reply, ended, received } = await scripted(world(), 'script-pair', sites, { dialect: 'messages' });
    expect(reply.status).toBe(200);
    expect(received.map(({ site }) => site)).toEqual(['a', 'b']);
    expect(ended.attempts).toEqual(['error client', 'ok']);
  });

  test('ends after the second in the canonical lane', async () => {
    const sites = { a: refusing(400), b: refusing(400) };
    const { reply, ended, error } = await scripted(world(), 'script-pair', sites, { dialect: 'messages' });
    expect(reply.status).toBe(400);
    expect(ended.attempts).toEqual(['error client', 'error client']);
    expect(error['details'].attempts).toMatchObject([
      { provider: 'script-a', outcome: 'client', http_status: 400 },
      { provider: 'script-b', outcome: 'client', http_status: 400 },
    ]);
  });

  test('for its length is reported with the class of its own', async () => {
    const body = {
      error: { message: 'This model has a maximum context length.', code: 'context_length_exceeded' },
    };
    const { reply, error } = await scripted(world(), 'script-pair', {
      a: refusing(400, body),
      b: answering(false),
    });
    expect(reply.status).toBe(400);
    expect(error['code']).toBe('context_length_exceeded');
  });
});

describe.concurrent('when every endpoint fails', () => {
  test('429 from all: upstream_rate_limited with the smallest time to wait', async () => {
    const sites = {
      a: refusing(429, { error: { message: 'limit of org-Secret123456' } }, { 'retry-after': '30' }),
      b: refusing(429, { error: { message: 'slow down' } }, { 'retry-after': '4' }),
    };
    const { reply, error, ended } = await scripted(world(), 'script-pair', sites);
    expect(reply.status).toBe(429);
    expect(error).toMatchObject({ code: 'upstream_rate_limited', type: 'rate_limit_error' });
    expect(reply.headers).toMatchObject({
      'retry-after': '4',
      'retry-after-ms': '4000',
      'x-should-retry': 'true',
    });
    expect(reply.text).not.toContain('org-Secret');
    expect(error['details'].upstream).toEqual({ provider: 'script-b', status: 429 });
    expect(ended.attempts).toEqual(['error rate_limit', 'error rate_limit']);
  });

  test.each([
    ['the first', [429, 500], 'upstream_error', 502],
    ['the last', [500, 429], 'upstream_error', 502],
    ['the first', [429, 529], 'upstream_overloaded', 503],
  ] as const)(
    'one of two throttled (%s): the other class is reported',
    async (_which, [one, two], code, status) => {
      const { reply, error } = await scripted(world(), 'script-pair', { a: refusing(one), b: refusing(two) });
      expect(reply.status).toBe(status);
      expect(error['code']).toBe(code);
      expect(error['details'].attempts).toHaveLength(2);
    },
  );

  test('overload is 529 on messages and 503 on chat', async () => {
    const sites = { a: refusing(529), b: refusing(503) };
    const messages = await scripted(world(), 'script-pair', sites, { dialect: 'messages' });
    expect(messages.reply.status).toBe(529);
    expect(JSON.parse(messages.reply.text)).toMatchObject({
      type: 'error',
      error: { type: 'overloaded_error', details: { error_code: 'upstream_overloaded' } },
    });
    expect(messages.ended.row.http_status).toBe(529);
    expect(Number(messages.reply.headers['retry-after'])).toBeGreaterThan(0);
    expect((await scripted(world(), 'script-pair', sites)).reply.status).toBe(503);
  });

  test('a page of HTML never reaches the caller', async () => {
    const page = '<html><head><title>nginx</title></head><body>secret-host.internal</body></html>';
    for (const status of [200, 400, 404, 502]) {
      const html = refusing(status, page, { 'content-type': 'text/html' });
      for (const stream of [true, false]) {
        const { reply } = await scripted(world(), 'script-pair', { a: html, b: html }, { more: { stream } });
        expect(reply.status).toBeGreaterThanOrEqual(400);
        expect(reply.headers['content-type']).toBe('application/json');
        expect(reply.text).not.toMatch(/<html|nginx|secret-host/);
      }
    }
  });
});

describe.concurrent('connections', () => {
  test('a refused connection is tried once more on the same endpoint, then answered with an error', async () => {
    const org = await world().org();
    const { id } = world().model('dead');
    const reply = await world().chat(org.live_key, bodyOf(id, 'Hi')).reply;
    expect(reply.status).toBe(502);
    expect(errorOf(reply)?.['code']).toBe('upstream_error');
    expect(reply.text).not.toContain('ECONNREFUSED');
    // The page about the error is the gateway's own address.
    expect(reply.text.replace(/"doc_url":"[^"]*"/, '')).not.toContain('127.0.0.1');
    const ended = await world().ended(org, idOf(reply));
    expect(ended).toMatchObject({ charged: 0, attempts: ['error network', 'error network'] });
  });

  test('a dead endpoint costs two attempts, and the third is another endpoint', async () => {
    const org = await world().org();
    const { id } = world().model('dead-pair');
    const reply = await world().chat(org.live_key, bodyOf(id, 'Hi', inOrder('dead', 'sim-a'))).reply;
    expect(reply.status).toBe(200);
    const ended = await world().ended(org, idOf(reply));
    expect(ended.attempts).toEqual(['error network', 'error network', 'ok']);
  });

  test('a request that was sent is not sent again to the same endpoint', async () => {
    const { received } = await scripted(world(), 'script', { a: () => (response) => response.destroy() });
    expect(received).toHaveLength(1);
  });

  test('a kept connection that the provider closes is opened anew', async () => {
    const org = await world().org();
    const { id, upstream } = world().model('script');
    world().script.on(upstream, 'a', (response, received) => {
      response.on('finish', () => setImmediate(() => response.socket?.destroy()));
      refuse(200, wholeAnswer(upstream))(response, received);
    });
    for (let i = 0; i < 5; i++) {
      const reply = await world().chat(org.live_key, bodyOf(id, 'Hi')).reply;
      expect(reply.status).toBe(200);
      await world().ended(org, idOf(reply));
    }
  });
});

test.concurrent('a pool key that the provider refuses is parked: the next calls take the other one', async () => {
  const org = await world().org();
  const { id, upstream } = world().model('keyed');
  world().script.on(upstream, 'k', (response, received) => {
    const bad = received.headers.authorization === 'Bearer sk-calls-one';
    refuse(
      bad ? 401 : 200,
      bad ? { error: { message: 'Incorrect API key sk-calls-one' } } : wholeAnswer(upstream),
    )(response, received);
  });
  const call = async () => {
    const reply = await world().chat(org.live_key, bodyOf(id, 'Hi')).reply;
    expect(reply.text).not.toContain('sk-calls');
    return reply.status;
  };
  const keys = () =>
    world()
      .script.received(upstream)
      .map(({ headers }) => headers.authorization);
  // Keys are used in turn, so the refused one is used soon; its call is then tried again with the other key.
  for (let i = 0; !keys().includes('Bearer sk-calls-one'); i++) {
    expect(i).toBeLessThan(10);
    expect(await call()).toBe(200);
  }
  const before = keys().length;
  expect(keys().slice(-2)).toEqual(['Bearer sk-calls-one', 'Bearer sk-calls-two']);
  for (let i = 0; i < 6; i++) expect(await call()).toBe(200);
  expect(keys().slice(before)).toEqual(Array.from({ length: 6 }, () => 'Bearer sk-calls-two'));
});

test('nothing is left open at the provider', async () => {
  await eventually('no call is open', () => world().sim.stats().open_calls === 0);
});

describe.concurrent('a messages stream without message_start', () => {
  const broken =
    (type: string): Handler =>
    (response) => {
      streamHead(response);
      const block = '"index":0,"content_block":{"type":"text","text":""}';
      const delta = '"index":0,"delta":{"type":"text_delta","text":"lost"}';
      if (type === 'start')
        response.write(`event: content_block_start\ndata: {"type":"content_block_start",${block}}\n\n`);
      response.end(`event: content_block_delta\ndata: {"type":"content_block_delta",${delta}}\n\n`);
    };

  test.each(['start', 'delta'])(
    'is taken over by another endpoint, and none of it is seen (%s first)',
    async (type) => {
      const org = await world().org();
      const { id, upstream } = world().model('script-sim-messages');
      world().script.on(upstream, 'x', broken(type));
      const body = bodyOf(id, 'sim: tokens=5', { stream: true, ...inOrder('script-x', 'sim-x') });
      const reply = await world().messages(org.live_key, body).reply;
      expect(grammarFaults('messages', reply, { raw: true })).toEqual([]);
      expect(reply.text).not.toContain('lost');
      expect(saidBy(reply)).toContain('lorem ipsum');
      const ended = await world().ended(org, idOf(reply));
      expect(ended.attempts).toEqual(['error protocol', 'ok']);
      expect(ended.row).toMatchObject({ status: 'ok', provider: 'sim-x' });
    },
  );

  test('from every endpoint is upstream_invalid_response, uncharged', async () => {
    const org = await world().org();
    const { id } = world().model('messages-pair');
    const body = bodyOf(id, 'sim: no_start=1 tokens=5', { stream: true });
    const reply = await world().messages(org.live_key, body).reply;
    expect(reply.status).toBe(502);
    expect(errorOf(reply)).toMatchObject({ code: 'upstream_invalid_response' });
    const ended = await world().ended(org, idOf(reply));
    expect(ended).toMatchObject({ charged: 0, meter: null, attempts: ['error protocol', 'error protocol'] });
  });
});
