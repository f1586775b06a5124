// The native and the completions dialect end to end, on providers of both families and on the sandbox.
import { describe, expect, test } from 'vitest';
import { checkCompletionsStream } from '../../grammar/completions.ts';
import { checkNativeStream, readNativeStream } from '../../grammar/native.ts';
import { errorOf, eventsOf, type Json, open, type Reply, svcOf } from '../caller.ts';
import { eventually, idOf, type Kind, type Org, priceOf, useWorld } from '../world.ts';

const world = useWorld({ models: { chat: 60, messages: 40, pair: 4 } });

type Surface = 'native' | 'completions';
const paths = { native: '/v1/svc/generate', completions: '/v1/completions' } as const;

function post(key: string, path: string, body: object, headers: Record<string, string> = {}) {
  return open(world().gateway.base_url, {
    path,
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${key}`, ...headers },
  });
}

function bodyFor(surface: Surface, model: string, text: string, more: object = {}): object {
  return surface === 'native'
    ? {
        model,
        messages: [{ role: 'user', content: [{ type: 'text', text }] }],
        generation: { max_tokens: 64 },
        ...more,
      }
    : { model, prompt: text, max_tokens: 64, ...more };
}

function faultsOf(surface: Surface, reply: Reply, include_usage = false): string[] {
  return surface === 'native'
    ? checkNativeStream(reply.text)
    : checkCompletionsStream(reply.text, { include_usage });
}

/** What an answer says, whole or streamed. */
function shownBy(surface: Surface, reply: Reply): Json {
  const whole = reply.text.startsWith('{');
  if (surface === 'native') {
    const answer: Json = whole ? (JSON.parse(reply.text) as Json) : readNativeStream(reply.text);
    const { id, candidates, usage, cost, warnings, provider_meta, resolved } = answer;
    return { id, candidates, usage, cost, warnings, provider_meta, resolved };
  }
  const svc = svcOf(reply);
  if (whole) {
    const { id, choices } = JSON.parse(reply.text) as Json;
    const said = choices.map(({ index, text, finish_reason }: Json) => [index, text, finish_reason]);
    return { id, choices: said, cost: svc?.['cost'], warnings: svc?.['warnings'] };
  }
  const choices: [number, string, unknown][] = [];
  const events = eventsOf(reply.text);
  for (const event of events) {
    for (const { index, text, finish_reason } of (event['choices'] ?? []) as Json[]) {
      choices[index] ??= [index, '', null];
      const choice = choices[index] as [number, string, unknown];
      choice[1] += text;
      choice[2] = finish_reason ?? choice[2];
    }
  }
  return { id: events[0]?.['id'], choices, cost: svc?.['cost'], warnings: svc?.['warnings'] };
}

const lanes = (['native', 'completions'] as const).flatMap((surface) =>
  (['chat', 'messages'] as const).flatMap((kind) =>
    [true, false].map((stream) => ({ surface, kind, stream })),
  ),
);

describe.concurrent('an answer', () => {
  test.each(lanes)(
    'is charged by its usage: $surface on $kind, stream $stream',
    async ({ surface, kind, stream }) => {
      const org = await world().org();
      const { id, upstream } = world().model(kind as Kind);
      const body = bodyFor(surface, id, 'sim: tokens=20 chunks=5', { stream });
      const reply = await post(org.live_key, paths[surface], body).reply;
      expect(reply.status).toBe(200);
      if (stream) expect(faultsOf(surface, reply)).toEqual([]);
      const [call] = world().sim.calls.filter((seen) => seen.model === upstream);
      const cost = priceOf(call?.reported?.prompt_tokens ?? 0, call?.reported?.completion_tokens ?? 0);
      const said = shownBy(surface, reply);
      expect(said['id']).toBe(idOf(reply));
      expect(said['cost'].total_micro_usd).toBe(cost);
      expect((stream ? reply.trailers : reply.headers)['x-svc-cost-micro']).toBe(String(cost));
      const text = surface === 'native' ? said['candidates'][0].content[0].text : said['choices'][0][1];
      expect(text).toContain('lorem ipsum dolor');
      const codes = said['warnings'].map(({ code }: Json) => code);
      expect(codes).toEqual(surface === 'native' ? [] : ['completion_as_chat']);
      const ended = await world().ended(org, idOf(reply));
      expect(ended).toMatchObject({
        charged: cost,
        attempts: ['ok'],
        row: { status: 'ok', dialect_in: surface },
      });
      if (surface !== 'native') return;
      expect(said['candidates'][0].stop).toEqual({ reason: 'end_turn', sequence: null, detail: null });
      expect(said['provider_meta']).toMatchObject({ region: 'local', attempt: 1 });
      expect(said['resolved']).toMatchObject({ upstream_model: upstream, region: 'local' });
      expect(said['usage']).toMatchObject({ output_tokens: 20, source: 'provider' });
    },
  );

  test('of tools comes back to the provider with its results, on either family', async () => {
    for (const kind of ['chat', 'messages'] as const) {
      const org = await world().org();
      const { id, upstream } = world().model(kind);
      const tools = [{ name: 'look', schema: { type: 'object', properties: { at: { type: 'string' } } } }];
      const asked = { role: 'user', content: 'sim: tools=2 text=first' };
      const body = { model: id, messages: [asked], tools, stream: true };
      const reply = await post(org.live_key, paths.native, body).reply;
      expect(faultsOf('native', reply)).toEqual([]);
      const { content, stop } = readNativeStream(reply.text).candidates[0];
      const calls = content.filter(({ type }: Json) => type === 'tool_call');
      expect([calls.length, stop.reason]).toEqual([2, 'tool_use']);
      const results = calls.map((call: Json) => ({
        type: 'tool_result',
        tool_call_id: call['id'],
        content: 'seen',
      }));
      const messages = [asked, { role: 'assistant', content }, { role: 'tool', content: results }];
      const next = await post(org.live_key, paths.native, { ...body, messages, stream: false }).reply;
      expect([next.status, next.text.slice(0, 200)]).toEqual([200, expect.any(String)]);
      expect(world().sim.calls.filter((seen) => seen.model === upstream)).toHaveLength(2);
      expect((await world().ended(org, idOf(reply))).row).toMatchObject({ tool_calls: 2 });
    }
  });

  test('names the attempt that gave it, and nothing of one that failed before', async () => {
    const org = await world().org();
    const { id } = world().model('pair');
    const body = bodyFor('native', id, `sim: mark=${id} fail_first=1`, { stream: true });
    const reply = await post(org.live_key, paths.native, body).reply;
    expect(faultsOf('native', reply)).toEqual([]);
    expect(readNativeStream(reply.text).provider_meta.attempt).toBe(2);
    expect(eventsOf(reply.text).filter(({ type }) => type === 'start')).toHaveLength(1);
    expect((await world().ended(org, idOf(reply))).attempts).toHaveLength(2);
  });

  test('has usage in a chunk of its own where a completion asks for it', async () => {
    const org = await world().org();
    const more = { stream: true, stream_options: { include_usage: true } };
    const body = bodyFor('completions', world().model('chat').id, 'sim: tokens=7', more);
    const reply = await post(org.live_key, paths.completions, body).reply;
    expect(faultsOf('completions', reply, true)).toEqual([]);
    expect(eventsOf(reply.text).at(-1)?.['usage'].completion_tokens).toBe(7);
  });

  test.each(['native', 'completions'] as const)(
    'that fails in mid-stream ends in an error and is free: %s',
    async (surface) => {
      const org = await world().org();
      const { id } = world().model('chat');
      const body = bodyFor(surface, id, 'sim: error_after=2 chunks=5', { stream: true });
      const reply = await post(org.live_key, paths[surface], body).reply;
      expect(reply.status).toBe(200);
      expect(faultsOf(surface, reply)).toEqual([]);
      expect(errorOf(reply)).toMatchObject({ request_id: idOf(reply) });
      expect((await world().ended(org, idOf(reply))).charged).toBe(0);
    },
  );
});

describe.concurrent('a refusal', () => {
  test.each<[Surface, object, number, string, string]>([
    ['native', { temperature: 1 }, 400, 'invalid_request', 'temperature'],
    ['native', { generation: { max_tokens: 100_000 } }, 400, 'invalid_request', 'generation.max_tokens'],
    [
      'native',
      { route: { fallback_models: ['no/such'] } },
      404,
      'model_not_found',
      'route.fallback_models[0]',
    ],
    ['completions', { prompt: ['a', 'b'] }, 400, 'unsupported_parameter', 'prompt'],
    ['completions', { prompt: [[1, 2]] }, 400, 'unsupported_parameter', 'prompt'],
    ['completions', { prompt: [1, 2] }, 400, 'unsupported_parameter', 'prompt'],
    ['completions', { suffix: 'x' }, 400, 'unsupported_parameter', 'suffix'],
    ['completions', { echo: true }, 400, 'unsupported_parameter', 'echo'],
    ['completions', { best_of: 2 }, 400, 'unsupported_parameter', 'best_of'],
    ['completions', { logprobs: 0 }, 400, 'unsupported_parameter', 'logprobs'],
    ['completions', { messages: [] }, 400, 'unsupported_parameter', 'messages'],
    ['completions', { prompt: null }, 400, 'invalid_request', 'prompt'],
    ['completions', { models: ['a'] }, 400, 'unsupported_parameter', 'models'],
  ])('%s %j is %i %s of %s', async (surface, more, status, code, param) => {
    const org = await world().org();
    const { id } = world().model('chat');
    const reply = await post(org.live_key, paths[surface], bodyFor(surface, id, 'Hi', more)).reply;
    expect([reply.status, errorOf(reply)?.['code'], errorOf(reply)?.['param']]).toEqual([
      status,
      code,
      param,
    ]);
    expect((await world().ended(org, idOf(reply))).charged).toBe(0);
  });

  test('is spared to fields that ask for nothing, and to those the caller lets go', async () => {
    const org = await world().org();
    const { id } = world().model('chat');
    const empty = { echo: false, best_of: 1, suffix: '', logprobs: null, prompt: ['sim: tokens=3'] };
    const fine = await post(org.live_key, paths.completions, bodyFor('completions', id, '', empty)).reply;
    expect(fine.status).toBe(200);
    const dropped = { echo: true, logprobs: 2, svc: { compat: 'drop' } };
    const body = bodyFor('completions', id, 'sim: tokens=3', dropped);
    const reply = await post(org.live_key, paths.completions, body).reply;
    expect(reply.status).toBe(200);
    const params = svcOf(reply)?.['warnings'].map(({ param }: Json) => param);
    expect(params).toEqual(expect.arrayContaining(['echo', 'logprobs']));
  });

  test('strict compatibility takes no completion as chat where a field would be lost', async () => {
    const org = await world().org();
    const { id } = world().model('chat');
    const more = { svc: { compat: 'strict' }, unheard_of: 1 };
    const reply = await post(org.live_key, paths.completions, bodyFor('completions', id, 'Hi', more)).reply;
    expect([reply.status, errorOf(reply)?.['code']]).toEqual([400, 'unsupported_parameter']);
  });
});

async function expectOneCharge(org: Org, first: Reply): Promise<void> {
  expect((await world().ended(org, idOf(first))).charged).toBeGreaterThan(0);
  const { rows } = await world().db.query<{ n: number }>(
    'select count(*)::int as n from ledger.entry where book_id = $1 and request_id is not null',
    [org.live_book_id],
  );
  expect(rows[0]?.n).toBe(1);
}

describe.concurrent('with an Idempotency-Key', () => {
  const turns = (['native', 'completions'] as const).flatMap((surface) =>
    (['chat', 'messages'] as const).flatMap((kind) =>
      [true, false].flatMap((first) => [true, false].map((second) => ({ surface, kind, first, second }))),
    ),
  );
  test.each(turns)(
    'a retry is a replay: $surface on $kind, stream $first then $second',
    async ({ surface, kind, first, second }) => {
      const org = await world().org();
      const { id, upstream } = world().model(kind as Kind);
      const key = { 'idempotency-key': 'k' };
      const ask = (stream: boolean) =>
        post(org.live_key, paths[surface], bodyFor(surface, id, 'sim: tokens=20 chunks=5', { stream }), key)
          .reply;
      const original = await ask(first);
      const replay = await ask(second);
      expect([replay.status, replay.headers['x-svc-idempotent-replay']]).toEqual([200, 'true']);
      expect(shownBy(surface, replay)).toEqual(shownBy(surface, original));
      if (second) expect(faultsOf(surface, replay)).toEqual([]);
      expect(world().sim.calls.filter((call) => call.model === upstream)).toHaveLength(1);
      await expectOneCharge(org, original);
    },
  );

  test.each(['native', 'completions'] as const)(
    'a caller left in mid-stream finds the whole answer: %s',
    async (surface) => {
      const org = await world().org();
      const { id, upstream } = world().model('chat');
      const body = bodyFor(surface, id, 'sim: tokens=30 chunks=15 chunk_ms=30', { stream: true });
      const key = { 'idempotency-key': 'k' };
      const first = post(org.live_key, paths[surface], body, key);
      await first.until((text) => text.includes('ipsum'));
      first.leave();
      await first.reply;
      const retry = await eventually('the call is drained', async () => {
        const reply = await post(org.live_key, paths[surface], { ...body, stream: false }, key).reply;
        return reply.status === 409 ? null : reply;
      });
      expect(retry.headers['x-svc-idempotent-replay']).toBe('true');
      const said = shownBy(surface, retry);
      const text = surface === 'native' ? said['candidates'][0].content[0].text : said['choices'][0][1];
      expect(text).toHaveLength(180);
      expect(world().sim.calls.filter((call) => call.model === upstream)).toHaveLength(1);
      await expectOneCharge(org, retry);
    },
  );

  test('another body is 422, and the same under another svc-version too', async () => {
    const org = await world().org();
    const { id } = world().model('chat');
    const key = { 'idempotency-key': 'k' };
    const body = bodyFor('native', id, 'Hi');
    const first = await post(org.live_key, paths.native, body, key).reply;
    expect(first.status).toBe(200);
    const other = await post(org.live_key, paths.native, { ...body, user: 'u' }, key).reply;
    expect([other.status, errorOf(other)?.['code']]).toEqual([422, 'idempotency_conflict']);
    const dated = { ...key, 'svc-version': '2026-09-01' };
    expect((await post(org.live_key, paths.native, body, dated).reply).status).toBe(422);
    await expectOneCharge(org, first);
  });
});

describe.concurrent('the sandbox', () => {
  const models = ['echo', 'tools', 'reasoning', 'refusal', 'filter-mid', 'zero', 'lorem', 'json'];
  test.each(models)('sandbox/%s says the same as a stream and whole', async (name) => {
    const org = await world().org();
    const body = bodyFor('native', `sandbox/${name}`, 'say it', {
      tools: name === 'tools' ? [{ name: 'look', schema: { type: 'object' } }] : undefined,
    });
    const whole = await post(org.sandbox_key, paths.native, body).reply;
    const stream = await post(org.sandbox_key, paths.native, { ...body, stream: true }).reply;
    expect(faultsOf('native', stream)).toEqual([]);
    const { id: _a, provider_meta: _b, resolved: _c, cost: _d, ...one } = shownBy('native', whole);
    const { id: _e, provider_meta: _f, resolved: _g, cost: _h, ...other } = shownBy('native', stream);
    expect(other).toEqual(one);
  });

  test('candidates do not mix', async () => {
    const org = await world().org();
    const generation = { candidates: 3, max_tokens: 20 };
    const body = bodyFor('native', 'sandbox/echo', 'three times', { generation, stream: true });
    const reply = await post(org.sandbox_key, paths.native, body).reply;
    expect(faultsOf('native', reply)).toEqual([]);
    expect(readNativeStream(reply.text).candidates).toHaveLength(3);
    const more = { n: 3, stream: true };
    const legacy = bodyFor('completions', 'sandbox/echo', 'three times', more);
    const chunks = await post(org.sandbox_key, paths.completions, legacy).reply;
    expect(faultsOf('completions', chunks)).toEqual([]);
    expect(shownBy('completions', chunks)['choices']).toHaveLength(3);
  });

  test('reasoning goes back with the next turn, and is left out where it is not wanted', async () => {
    const org = await world().org();
    const asked = { role: 'user', content: 'think' };
    const body = { model: 'sandbox/reasoning', messages: [asked] };
    const first = await post(org.sandbox_key, paths.native, body).reply;
    const { content } = (JSON.parse(first.text) as Json)['candidates'][0];
    expect(content[0]).toMatchObject({ type: 'reasoning', signature: expect.stringMatching(/^sbx1\./) });
    const messages = [asked, { role: 'assistant', content }, { role: 'user', content: 'more' }];
    expect((await post(org.sandbox_key, paths.native, { ...body, messages }).reply).status).toBe(200);
    content[0].signature = 'sbx1.other';
    expect((await post(org.sandbox_key, paths.native, { ...body, messages }).reply).status).toBe(400);
    for (const stream of [true, false]) {
      const silent = { ...body, reasoning: { include: false }, stream };
      const reply = await post(org.sandbox_key, paths.native, silent).reply;
      expect(shownBy('native', reply)['candidates'][0].content).toMatchObject([{ type: 'text' }]);
    }
    const legacy = await post(org.sandbox_key, paths.completions, { model: 'sandbox/reasoning', prompt: 'x' })
      .reply;
    expect(svcOf(legacy)?.['warnings']).toContainEqual(
      expect.objectContaining({ code: 'reasoning_dropped' }),
    );
  });
});
