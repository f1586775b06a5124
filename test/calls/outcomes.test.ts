// The table of ends (docs/outcomes.md): what the caller sees, what is charged, what the row says, in both dialects,
// both lanes, streamed and whole.
import { describe, expect, test } from 'vitest';
import { AS_PROVIDER_SENT } from '../answers/record.ts';
import { errorOf, eventsOf, type Reply, saidBy, svcOf } from './caller.ts';
import { endChunks, refuse, streamHead, textChunk, usageOf, wholeAnswer } from './upstream.ts';
import { bodyOf, type Dialect, grammarFaults, idOf, priceOf, send, useWorld } from './world.ts';

const world = useWorld({ models: { chat: 90, messages: 80 } });

interface Way {
  readonly dialect: Dialect;
  readonly lane: 'raw' | 'canonical';
  readonly stream: boolean;
}

const ways: readonly Way[] = (['chat', 'messages'] as const).flatMap((dialect) =>
  (['raw', 'canonical'] as const).flatMap((lane) =>
    [true, false].map((stream) => ({ dialect, lane, stream })),
  ),
);
const name = '$dialect, $lane lane, stream $stream';

/** The kind of model whose provider puts a call of `dialect` into `lane`. */
const kindOf = ({ dialect, lane }: Way) => ((dialect === 'chat') === (lane === 'raw') ? 'chat' : 'messages');

async function run(
  way: Way,
  knobs: string,
  more: object = {},
  headers: Readonly<Record<string, string>> = {},
) {
  const org = await world().org();
  const model = world().model(kindOf(way));
  const body = bodyOf(model.id, `Say something. sim: ${knobs}`, { stream: way.stream, ...more });
  const reply = await send(world(), way.dialect, org.live_key, body, { headers }).reply;
  if (reply.status === 200 && way.stream) {
    expect(grammarFaults(way.dialect, reply, { raw: way.lane === 'raw' })).toEqual([]);
  }
  const ended = await world().ended(org, idOf(reply));
  const sim = world().sim.calls.filter((call) => call.model === model.upstream);
  return { reply, ended, sim, org, model };
}

const costIn = (reply: Reply) => svcOf(reply)?.['cost']?.total_micro_usd;

/** An error before the first content: envelope of the dialect, headers, nothing charged. */
function expectRefusal(
  way: Way,
  reply: Reply,
  want: { status: number; code: string; attempts: number },
): void {
  expect(reply.status).toBe(want.status);
  const body = JSON.parse(reply.text);
  if (way.dialect === 'messages') {
    expect(body).toMatchObject({ type: 'error', request_id: idOf(reply) });
    expect(body.error.details.error_code).toBe(want.code);
  } else {
    expect(body.error.request_id).toBe(idOf(reply));
  }
  expect(body.error.code).toBe(want.code);
  expect(reply.headers['x-svc-attempts']).toBe(String(want.attempts));
  expect(reply.headers['x-svc-cost-micro']).toBe('0');
}

describe.concurrent('an answer that succeeds (docs/outcomes.md#success)', () => {
  test.each(ways)(`is charged by the provider's figures (${name})`, async (way) => {
    const { reply, ended, sim } = await run(way, 'tokens=20 chunks=5');
    expect(reply.status).toBe(200);
    expect(saidBy(reply)).toContain('lorem ipsum dolor');
    const reported = sim[0]?.reported;
    const cost = priceOf(reported?.prompt_tokens ?? 0, reported?.completion_tokens ?? 0);
    expect(ended.charged).toBe(cost);
    expect(costIn(reply)).toBe(cost);
    const members = way.stream ? reply.trailers : reply.headers;
    expect(members['x-svc-cost-micro']).toBe(String(cost));
    expect(ended.attempts).toEqual(['ok']);
    expect(ended.row).toMatchObject({
      status: 'ok',
      http_status: 200,
      error_code: '',
      usage_source: 'provider',
    });
    expect(ended.row).toMatchObject({ input_tokens: reported?.prompt_tokens, output_tokens: 20 });
    expect(ended.meter).toMatchObject({ cost, estimated: false });
  });
});

describe.concurrent('a provider that refuses the request (docs/outcomes.md#request-refused-by-provider)', () => {
  test.each(ways)(`is relayed as 400 and free (${name})`, async (way) => {
    const { reply, ended } = await run(way, 'status=400');
    expectRefusal(way, reply, { status: 400, code: 'invalid_request', attempts: 1 });
    expect(errorOf(reply)?.['message']).toContain('The simulator was asked to refuse.');
    expect(reply.headers['x-should-retry']).toBe('false');
    expect(ended).toMatchObject({ charged: 0, meter: null, attempts: ['error client'] });
    expect(ended.row).toMatchObject({ status: 'error', http_status: 400, error_code: 'invalid_request' });
  });
});

describe.concurrent('the only endpoint fails before any content (docs/outcomes.md#all-attempts-failed)', () => {
  const failures = [
    { knobs: 'status=500', status: 502, code: 'upstream_error', attempt: 'error server' },
    { knobs: 'retry_after=7', status: 429, code: 'upstream_rate_limited', attempt: 'error rate_limit' },
    { knobs: 'status=401', status: 502, code: 'upstream_error', attempt: 'error auth' },
    { knobs: 'status=503', status: 503, code: 'upstream_overloaded', attempt: 'error overloaded' },
    { knobs: 'reset=1', status: 502, code: 'upstream_error', attempt: 'error network' },
    { knobs: 'html_error=1', status: 502, code: 'upstream_error', attempt: 'error server' },
  ];
  const all = failures.flatMap((failure) => ways.map((way) => ({ ...failure, ...way })));
  test.each(all)(`$knobs is $code and free (${name})`, async (want) => {
    const { reply, ended } = await run(want, want.knobs);
    const overloaded = want.code === 'upstream_overloaded' && want.dialect === 'messages';
    expectRefusal(want, reply, { status: overloaded ? 529 : want.status, code: want.code, attempts: 1 });
    expect(reply.headers['x-should-retry']).toBe('true');
    expect(reply.text).not.toContain('<html');
    if (want.code === 'upstream_rate_limited') expect(reply.headers['retry-after']).toBe('7');
    if (want.code === 'upstream_overloaded') expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
    expect(ended).toMatchObject({ charged: 0, meter: null, attempts: [want.attempt] });
    expect(ended.row).toMatchObject({ status: 'error', error_code: want.code });
  });
});

describe.concurrent('an error event before the first content (docs/outcomes.md#error-in-a-200)', () => {
  test.each(ways)(`is a plain HTTP error (${name})`, async (way) => {
    const { reply, ended } = await run(way, 'error_after=0');
    expectRefusal(way, reply, { status: reply.status, code: errorOf(reply)?.['code'], attempts: 1 });
    expect([502, 503, 529]).toContain(reply.status);
    expect(errorOf(reply)?.['code']).toMatch(/^upstream_(error|overloaded)$/);
    expect(ended.charged).toBe(0);
    expect(ended.attempts).toEqual(['error stream']);
  });
});

describe.concurrent('an error event after content (docs/outcomes.md#provider-fault-after-content)', () => {
  test.each(ways)(`is members in the stream, or as an HTTP error, and is free (${name})`, async (way) => {
    const { reply, ended } = await run(way, 'error_after=3 chunks=8 tokens=40');
    expect(errorOf(reply)?.['code']).toMatch(/^upstream_(error|overloaded)$/);
    expect(reply.status === 200).toBe(way.stream);
    if (way.stream) {
      expect(saidBy(reply)).toContain('lorem');
      expect(costIn(reply)).toBe(0);
      expect(reply.trailers['x-svc-cost-micro']).toBe('0');
      expect(ended.row).toMatchObject({ http_status: 200 });
      expect(ended.row.output_tokens).toBeGreaterThan(0);
    }
    expect(ended).toMatchObject({ charged: 0, meter: null, attempts: ['error stream'] });
    expect(ended.row).toMatchObject({ status: 'error', error_code: errorOf(reply)?.['code'] });
  });
});

describe.concurrent('an answer that is cut (docs/outcomes.md#cut-without-finish)', () => {
  const cuts = ['cut_after=3 chunks=8 tokens=40', 'reset_mid=1 chunks=8 tokens=40'];
  const all = cuts.flatMap((knobs) => ways.map((way) => ({ knobs, ...way })));
  test.each(all)(`$knobs is an error and free (${name})`, async (want) => {
    const { reply, ended } = await run(want, want.knobs);
    expect(ended).toMatchObject({ charged: 0, meter: null });
    const code = errorOf(reply)?.['code'];
    expect(ended.row).toMatchObject({ status: 'error', error_code: code });
    if (want.stream) {
      expect(reply.status).toBe(200);
      expect(reply.complete).toBe(true);
      expect(code).toBe('upstream_incomplete');
      expect(costIn(reply)).toBe(0);
      expect(ended.attempts).toEqual(['error truncated']);
    } else {
      expect(reply.status).toBe(502);
      expect(code).toMatch(/^upstream_(incomplete|invalid_response|error)$/);
    }
  });
});

test.concurrent.each(ways)(`garbage in the middle is an error and free (${name})`, async (way) => {
  const { reply, ended } = await run(way, 'garbage_after=3 chunks=8 tokens=40');
  expect(errorOf(reply)?.['code']).toBe('upstream_invalid_response');
  expect(ended).toMatchObject({ charged: 0, attempts: ['error protocol'] });
});

describe.concurrent('a complete answer without usage (docs/outcomes.md#usage-missing)', () => {
  test.each(ways)(`is counted, said so, and charged the count (${name})`, async (way) => {
    const { reply, ended } = await run(way, 'no_usage=1 tokens=40 chunks=4', {}, AS_PROVIDER_SENT);
    expect(reply.status).toBe(200);
    const svc = svcOf(reply);
    expect(svc?.['warnings'].map((warning: { code: string }) => warning.code)).toEqual(['usage_estimated']);
    expect(svc?.['cost'].estimated).toBe(true);
    // 40 words of 6 bytes: ⌊240 / 6⌋; the last word of a whole text keeps its space here.
    expect(ended.row).toMatchObject({ status: 'ok', usage_source: 'estimate', output_tokens: 40 });
    expect(ended.charged).toBe(priceOf(ended.row.input_tokens, 40));
    expect(ended.charged).toBe(svc?.['cost'].total_micro_usd);
    expect(ended.meter).toMatchObject({ estimated: true });
    expect(ended.attempts).toEqual(['ok']);
  });
});

describe.concurrent('usage that cannot be true', () => {
  test.each(ways)(`negative figures are treated as missing (${name})`, async (way) => {
    const { reply, ended } = await run(way, 'negative_usage=1 tokens=40 chunks=4', {}, AS_PROVIDER_SENT);
    expect(svcOf(reply)?.['warnings'][0].code).toBe('usage_estimated');
    expect(ended.row).toMatchObject({ usage_source: 'estimate', output_tokens: 40 });
    expect(ended.charged).toBe(priceOf(ended.row.input_tokens, 40));
  });

  test.each([true, false])('absurd figures are treated as missing (stream %s)', async (stream) => {
    const org = await world().org();
    const { id, upstream } = world().model('script');
    const usage = usageOf(4e12, 9e15);
    world().script.on(upstream, 'a', (response, received) => {
      if (!stream) return refuse(200, wholeAnswer(upstream, { usage }))(response, received);
      streamHead(response);
      response.end(`${textChunk(upstream, 'a whole answer')}${endChunks(upstream, usage)}`);
    });
    const reply = await world().chat(org.live_key, bodyOf(id, 'Hi', { stream })).reply;
    expect(svcOf(reply)?.['warnings'][0].code).toBe('usage_estimated');
    const ended = await world().ended(org, idOf(reply));
    // 14 bytes at six a token: a stream may have ended within one, and what came whole has its last one.
    const output_tokens = stream ? 2 : 3;
    expect(ended.row).toMatchObject({ status: 'ok', usage_source: 'estimate', output_tokens });
  });
});

describe.concurrent('a prompt that the provider blocks (docs/outcomes.md#prompt-blocked)', () => {
  test.each(ways.filter((way) => kindOf(way) === 'chat'))(
    `is content_filtered and free (${name})`,
    async (way) => {
      const { reply, ended } = await run(way, 'code=content_filter');
      expectRefusal(way, reply, { status: 400, code: 'content_filtered', attempts: 1 });
      expect(ended).toMatchObject({ charged: 0, attempts: ['error content_filter'] });
    },
  );
});

describe.concurrent('an answer that a filter stops after output (docs/outcomes.md#filtered-after-output)', () => {
  const chats = ways.filter((way) => kindOf(way) === 'chat');
  test.each(chats)(`is an answer, and charged (${name})`, async (way) => {
    const { reply, ended } = await run(way, 'finish=content_filter tokens=10');
    expect(reply.status).toBe(200);
    expect(ended.row).toMatchObject({ status: 'ok', stop_reason: 'content_filter' });
    expect(ended.charged).toBeGreaterThan(0);
  });
});

test.concurrent.each([true, false])(
  'an empty answer without a finish costs nothing (stream %s)',
  async (stream) => {
    const org = await world().org();
    const { id, upstream } = world().model('script');
    world().script.on(upstream, 'a', (response, received) => {
      const choices = [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: null }];
      if (!stream)
        return refuse(200, wholeAnswer(upstream, { choices, usage: usageOf(10, 0) }))(response, received);
      streamHead(response);
      response.end('data: [DONE]\n\n');
    });
    const headers = AS_PROVIDER_SENT;
    const reply = await world().chat(org.live_key, bodyOf(id, 'Hi', { stream }), { headers }).reply;
    expect(reply.status).toBe(200);
    expect(costIn(reply)).toBe(0);
    const ended = await world().ended(org, idOf(reply));
    expect(ended).toMatchObject({ charged: 0 });
    expect(ended.row).toMatchObject({ status: 'ok', error_code: '' });
  },
);

describe.concurrent('refused before any attempt', () => {
  test('an unknown model is 404, a row, and no attempt (docs/outcomes.md#refused-before-the-hold)', async () => {
    const org = await world().org();
    const reply = await world().chat(org.live_key, bodyOf('calls/chatt-1', 'Hi')).reply;
    expect(reply.status).toBe(404);
    const ended = await world().ended(org, idOf(reply));
    expect(ended).toMatchObject({ charged: 0, meter: null, attempts: [] });
    expect(ended.row).toMatchObject({
      status: 'rejected',
      error_code: 'model_not_found',
      http_status: 404,
      attempts: 0,
    });
  });

  test('no credit is 402, a row, and no attempt (docs/outcomes.md#no-credit)', async () => {
    const org = await world().org(100);
    const { id, upstream } = world().model('chat');
    const reply = await world().chat(org.live_key, bodyOf(id, 'Hi', { max_tokens: 1000 })).reply;
    expect(reply.status).toBe(402);
    const ended = await world().ended(org, idOf(reply));
    expect(ended.row).toMatchObject({ status: 'rejected', error_code: 'insufficient_credits', attempts: 0 });
    expect(world().sim.calls.filter((call) => call.model === upstream)).toEqual([]);
  });

  test('no endpoint after filters is 400 with each reason, a row, and no attempt (docs/outcomes.md#no-endpoint)', async () => {
    const org = await world().org();
    const { id } = world().model('pair');
    const svc = { route: { providers: { ignore: ['sim-a', 'sim-b'] } } };
    const reply = await world().chat(org.live_key, bodyOf(id, 'Hi', { svc })).reply;
    expect(reply.status).toBe(400);
    expect(errorOf(reply)).toMatchObject({ code: 'no_endpoint_available', type: 'invalid_request_error' });
    expect(errorOf(reply)?.['excluded_by'].map((item: { reason: string }) => item.reason)).toEqual([
      'ignored',
      'ignored',
    ]);
    const ended = await world().ended(org, idOf(reply));
    expect(ended.row).toMatchObject({ status: 'rejected', error_code: 'no_endpoint_available' });
  });

  test('an endpoint with an open circuit is 503 with a time to wait', async () => {
    const org = await world().org();
    const { id } = world().model('chat');
    const failing = bodyOf(id, 'sim: status=500');
    for (let i = 0; i < 5; i++) expect((await world().chat(org.live_key, failing).reply).status).toBe(502);
    const reply = await world().chat(org.live_key, failing).reply;
    expect(reply.status).toBe(503);
    expect(errorOf(reply)).toMatchObject({ code: 'no_endpoint_available', type: 'overloaded_error' });
    expect(reply.headers).toMatchObject({ 'x-should-retry': 'true', 'retry-after': '15' });
    await world().ended(org, idOf(reply));
  });
});

describe.concurrent('time is up (docs/outcomes.md#chosen-time-is-up)', { timeout: 40_000 }, () => {
  const timeouts = { total_ms: 10_000 };
  test.each([
    { kind: 'chat', stream: true },
    { kind: 'full', stream: true },
    { kind: 'chat', stream: false },
  ] as const)(
    'a deadline that the caller chose is paid for ($kind, stream $stream)',
    async ({ kind, stream }) => {
      const org = await world().org();
      const { id } = world().model(kind);
      const body = bodyOf(id, stream ? 'sim: tokens=60 chunks=60 chunk_ms=1000' : 'sim: delay_ms=60000', {
        stream,
        svc: { route: { timeouts } },
      });
      const reply = await world().chat(org.live_key, body).reply;
      expect(errorOf(reply)).toMatchObject({ code: 'deadline_exceeded', type: 'timeout_error' });
      expect(reply.status).toBe(stream ? 200 : 504);
      if (stream) expect(grammarFaults('chat', reply)).toEqual([]);
      else expect(reply.headers['x-should-retry']).toBe('false');
      const ended = await world().ended(org, idOf(reply));
      expect(ended.row).toMatchObject({ status: 'error', error_code: 'deadline_exceeded' });
      expect(ended.attempts).toEqual(['timeout timeout']);
      expect(ended.charged).toBeGreaterThan(0);
      expect(ended.row.output_tokens).toBe(stream ? Math.floor(saidBy(reply).length / 6) : 0);
    },
  );

  test('silence longer than the caller allows is paid for as well', async () => {
    const org = await world().org();
    const { id } = world().model('chat');
    const svc = { route: { timeouts: { idle_ms: 10_000 } } };
    const body = bodyOf(id, 'sim: tokens=60 chunks=6 stall_after=3', { stream: true, svc });
    const reply = await world().chat(org.live_key, body).reply;
    const ended = await world().ended(org, idOf(reply));
    expect(errorOf(reply)).toMatchObject({ code: 'deadline_exceeded' });
    expect(ended.row).toMatchObject({
      status: 'error',
      error_code: 'deadline_exceeded',
      output_tokens: 30,
    });
    expect(ended.attempts).toEqual(['timeout idle']);
    expect(ended.charged).toBe(priceOf(ended.row.input_tokens, 30));
  });

  test.each(['chat', 'messages'] as const)(
    'a silent provider commits the %s stream after 15 s, and an error then rides in it',
    async (dialect) => {
      const org = await world().org();
      const slow = 'sim: delay_ms=16500';
      const [good, bad] = await Promise.all(
        ['', ' error_after=0'].map((knob) => {
          const { id } = world().model(dialect === 'chat' ? 'messages' : 'chat');
          return send(world(), dialect, org.live_key, bodyOf(id, `${slow}${knob}`, { stream: true })).reply;
        }),
      );
      for (const reply of [good, bad] as Reply[]) {
        expect(reply.status).toBe(200);
        expect(reply.text.startsWith(': svc keep-alive\n\n')).toBe(true);
        expect(grammarFaults(dialect, reply)).toEqual([]);
      }
      expect(errorOf(good as Reply)).toBeNull();
      expect(saidBy(good as Reply)).toContain('lorem');
      expect(errorOf(bad as Reply)?.['code']).toMatch(/^upstream_/);
      expect(eventsOf((bad as Reply).text).at(-1)).toBeDefined();
      expect((await world().ended(org, idOf(bad as Reply))).charged).toBe(0);
      expect((await world().ended(org, idOf(good as Reply))).charged).toBeGreaterThan(0);
    },
  );
});
