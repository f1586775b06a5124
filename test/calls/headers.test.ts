// Headers (docs/api.md#headers), the route a caller may ask for (`svc.route`), and a bill that anyone can recompute.
import { describe, expect, test } from 'vitest';
import { errorOf, eventsOf, type Json, open, type Reply, svcOf } from './caller.ts';
import { inOrder, refusing, scripted } from './endpoints.ts';
import { bodyOf, grammarFaults, idOf, send, useWorld } from './world.ts';

const world = useWorld({ models: { pair: 40 } });
const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

async function call(
  kind: Parameters<ReturnType<typeof world>['model']>[0],
  more: object,
  headers = {},
  text = 'sim: tokens=10',
) {
  const org = await world().org();
  const model = world().model(kind);
  const reply = await world().chat(org.live_key, bodyOf(model.id, text, more), { headers }).reply;
  return { org, model, reply };
}

const codesOf = (reply: Reply) =>
  ((svcOf(reply) as Json)['warnings'] as Json[]).map((warning) => warning['code']);

describe.concurrent('headers', () => {
  test.each([
    ['chat', false],
    ['chat', true],
    ['messages', false],
    ['messages', true],
  ] as const)('of an answer (%s, stream %s)', async (dialect, stream) => {
    const org = await world().org();
    const { id } = world().model('pair');
    const reply = await send(
      world(),
      dialect,
      org.live_key,
      bodyOf(id, 'sim: tokens=10 cached=2', { stream }),
    ).reply;
    const { headers } = reply;
    expect(headers['x-svc-request-id']).toMatch(ULID);
    expect(headers['x-request-id']).toBe(headers['x-svc-request-id']);
    expect(headers['request-id']).toBe(headers['x-svc-request-id']);
    expect(headers['x-svc-provider']).toMatch(/^sim-[ab]$/);
    expect(headers['x-svc-endpoint-id']).toMatch(/^ep_/);
    expect(headers['x-svc-price-version']).toMatch(/^pv_/);
    expect(headers).toMatchObject({
      'x-svc-region': 'local',
      'x-svc-attempts': '1',
      'x-svc-model': id,
      'cache-control': 'no-store',
      'svc-version': '2026-09-09',
    });
    expect(Number(headers['openai-processing-ms'])).toBeGreaterThanOrEqual(0);
    if (dialect === 'messages') expect(headers['anthropic-organization-id']).toBe(org.org_id);
    if (stream) {
      expect(headers['content-type']).toBe('text/event-stream; charset=utf-8');
      expect(headers['x-accel-buffering']).toBe('no');
      expect(headers['trailer']).toContain('x-svc-cost-micro');
      expect(headers['x-svc-cost-micro']).toBeUndefined();
      expect(headers['content-encoding']).toBeUndefined();
    } else {
      expect(headers['content-type']).toBe('application/json');
      expect(headers['x-svc-cache']).toBe('hit');
    }
    const cost = stream ? reply.trailers['x-svc-cost-micro'] : headers['x-svc-cost-micro'];
    const ended = await world().ended(org, idOf(reply));
    expect(cost).toBe(String(ended.charged));
    expect(svcOf(reply)).toMatchObject({ request_id: idOf(reply), provider: headers['x-svc-provider'] });
    expect(svcOf(reply)?.['cost'].total_micro_usd).toBe(ended.charged);
  });

  test('of an error after an attempt name the endpoint; of a refusal before one they do not', async () => {
    const { reply } = await call('chat', {}, {}, 'sim: status=500');
    expect(reply.status).toBe(502);
    expect(reply.headers).toMatchObject({
      'x-svc-attempts': '1',
      'x-svc-cost-micro': '0',
      'x-svc-provider': 'sim-a',
      'x-svc-region': 'local',
      'x-should-retry': 'true',
      'cache-control': 'no-store',
    });
    expect(reply.headers['x-svc-endpoint-id']).toMatch(/^ep_/);
    expect(reply.headers['x-request-id']).toBe(reply.headers['request-id']);
    const org = await world().org();
    const before = await world().chat(org.live_key, bodyOf('calls/none', 'Hi')).reply;
    expect(before.headers).toMatchObject({
      'x-svc-attempts': '0',
      'x-svc-cost-micro': '0',
      'x-should-retry': 'false',
    });
    expect(before.headers['x-svc-provider']).toBeUndefined();
    expect(before.headers['request-id']).toMatch(ULID);
  });

  test('svc-version: a known one is applied, an unknown one refused', async () => {
    const { reply } = await call('chat', {}, { 'svc-version': '2026-09-01' });
    expect(reply.headers['svc-version']).toBe('2026-09-01');
    const { reply: refused } = await call('chat', {}, { 'svc-version': '2020-01-01' });
    expect(refused.status).toBe(400);
    expect(errorOf(refused)).toMatchObject({ code: 'unsupported_version', param: 'svc-version' });
    expect(errorOf(refused)?.['details'].supported).toContain('2026-09-09');
  });
});

describe.concurrent('x-svc-debug: 1', () => {
  const field =
    /^v1; policy=\S+; rule=\S+; sort=\S+; arm=\S+; canary=\S+; aff=\S+; cand=\d+; drop=\S+; plan=\S+; try=\S+; win=\S+; reserve=\d+$/;
  const partsOf = (trace: string) =>
    Object.fromEntries(
      trace
        .split('; ')
        .slice(1)
        .map((part) => part.split('=', 2)),
    );

  test('gives the trace in a header of whole answers and errors, in a trailer of streams', async () => {
    const debug = { 'x-svc-debug': '1' };
    const text = `sim: mark=${Math.random()} fail_first=1`;
    const { reply } = await call('pair', {}, debug, text);
    const trace = reply.headers['x-svc-route-trace'] ?? '';
    expect(trace).toMatch(field);
    expect(trace.length).toBeLessThanOrEqual(1_024);
    const parts = partsOf(trace);
    expect(parts).toMatchObject({ policy: 'default', sort: 'balanced', cand: '2', drop: '-' });
    expect(parts['plan']?.split(',')).toHaveLength(2);
    const [first, second] = (parts['try'] as string).split(',');
    expect(first).toMatch(/^ep_\w+:overloaded:503:\d+$/);
    expect(second).toMatch(/^ep_\w+:ok:200:\d+$/);
    expect(parts['win']).toBe(reply.headers['x-svc-endpoint-id']);
    const { reply: stream } = await call('pair', { stream: true }, debug);
    expect(stream.trailers['x-svc-route-trace']).toMatch(field);
    expect(partsOf(stream.trailers['x-svc-route-trace'] ?? '')['win']).toBe(
      stream.headers['x-svc-endpoint-id'],
    );
    expect(stream.headers['trailer']).toContain('x-svc-route-trace');
    const { reply: failed } = await call('chat', {}, debug, 'sim: status=500');
    expect(partsOf(failed.headers['x-svc-route-trace'] ?? '')).toMatchObject({ win: '-' });
    const { reply: plain } = await call('pair', {});
    expect(plain.headers['x-svc-route-trace']).toBeUndefined();
  });
});

describe.concurrent('svc.route', () => {
  const providerOf = async (route: object) => {
    const { reply } = await call('pair', { svc: { route } });
    expect(reply.status).toBe(200);
    return reply.headers['x-svc-provider'];
  };

  test('order, only and ignore choose the endpoint', async () => {
    expect(await providerOf({ providers: { order: ['sim-b'] } })).toBe('sim-b');
    expect(await providerOf({ providers: { order: ['sim-a'] } })).toBe('sim-a');
    expect(await providerOf({ providers: { only: ['sim-b'] } })).toBe('sim-b');
    expect(await providerOf({ providers: { ignore: ['sim-b'] } })).toBe('sim-a');
  });

  test('zdr admits only endpoints that promise it, said in any of its three places', async () => {
    for (const svc of [
      { data_policy: 'zdr' },
      { route: { data_policy: 'zdr' } },
      { route: { require: { zdr: true } } },
    ]) {
      const { reply } = await call('pair', {
        svc: { ...svc, ...{ route: { ...svc.route, providers: { order: ['sim-b'] } } } },
      });
      expect(reply.headers['x-svc-provider']).toBe('sim-a');
    }
  });

  test('sort takes each of its values, and max_price excludes', async () => {
    for (const sort of ['price', 'latency', 'throughput'])
      expect(await providerOf({ sort })).toMatch(/^sim-/);
    const cheap = { require: { max_price: { output: 1 } } };
    const { reply } = await call('pair', { svc: { route: cheap } });
    expect(reply.status).toBe(400);
    expect(errorOf(reply)?.['excluded_by'].map((item: Json) => item['reason'])).toEqual(['price', 'price']);
    expect(await providerOf({ require: { max_price: { input: 1.25, output: 4.75 } } })).toMatch(/^sim-/);
  });

  test('may stand in a header, and the body wins key by key', async () => {
    const header = { 'x-svc-route': JSON.stringify({ providers: { only: ['sim-b'] } }) };
    const { reply } = await call('pair', {}, header);
    expect(reply.headers['x-svc-provider']).toBe('sim-b');
    const { reply: body } = await call(
      'pair',
      { svc: { route: { providers: { only: ['sim-a'] } } } },
      header,
    );
    expect(body.headers['x-svc-provider']).toBe('sim-a');
  });
});

test.concurrent('metadata becomes tags of the row, svc.metadata before metadata before the header', async () => {
  const headers = { 'x-svc-metadata': JSON.stringify({ team: 'header', from: 'header' }) };
  const more = { metadata: { team: 'body', kind: 'body' }, svc: { metadata: { team: 'svc' } } };
  const { org, reply, model } = await call('chat', more, headers);
  const ended = await world().ended(org, idOf(reply));
  expect(ended.row.tags).toEqual({ team: 'svc', kind: 'body', from: 'header' });
  const sent = world().sim.calls.find(({ model: name }) => name === model.upstream)?.body;
  expect(sent).not.toHaveProperty('metadata');
  expect(sent).not.toHaveProperty('svc');
});

describe.concurrent('svc.compat', () => {
  const lossy = { seed: 7 };
  test('warn answers and says what was lost, in body and header', async () => {
    const { reply } = await call('messages', { ...lossy, stream: false });
    expect(reply.status).toBe(200);
    expect(codesOf(reply).length).toBeGreaterThan(0);
    expect(reply.headers['x-svc-warnings']).toBe(codesOf(reply).join(','));
    expect(svcOf(reply)?.['warnings'][0]).toMatchObject({ param: 'seed' });
  });
  test('drop answers and says nothing', async () => {
    const { reply } = await call('messages', { ...lossy, svc: { compat: 'drop' } });
    expect(reply.status).toBe(200);
    expect(codesOf(reply)).toEqual([]);
  });
  test('strict refuses, naming the field', async () => {
    const { reply } = await call('messages', { ...lossy, svc: { compat: 'strict' } });
    expect(reply.status).toBe(400);
    expect(errorOf(reply)).toMatchObject({ code: 'unsupported_parameter', param: 'seed' });
  });
  test("names a field in the words of the caller's dialect, wherever the gateway has put it", async () => {
    const org = await world().org();
    const strict = { svc: { compat: 'strict' } };
    const odd = { type: 'text', text: 'Hi', zzz: 1 };
    const call = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] };
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a' }, odd] };
    const messages = [{ role: 'user', content: 'q' }, call, result];
    const more = { system: 'Be brief.', messages, ...strict };
    const reported = await world().messages(org.live_key, bodyOf(world().model('chat').id, '', more)).reply;
    expect([reported.status, errorOf(reported)?.['param']]).toEqual([400, 'messages[2]']);
    const input = [
      { role: 'user', content: 'q' },
      { role: 'user', content: [{ ...odd, type: 'input_text' }] },
    ];
    const reply = await open(world().gateway.base_url, {
      path: '/v1/responses',
      headers: { authorization: `Bearer ${org.live_key}` },
      body: JSON.stringify({
        model: world().model('messages').id,
        instructions: 'Be brief.',
        input,
        ...strict,
      }),
    }).reply;
    expect([reply.status, errorOf(reply)?.['param']]).toEqual([400, 'input[1]']);
  });
  test('strict takes the endpoint that loses nothing', async () => {
    const options = { compat: 'strict', route: { providers: { order: ['sim-x'] } } };
    const { reply } = await call('cross', { ...lossy, svc: options });
    expect(reply.headers['x-svc-provider']).toBe('sim-a');
  });
});

describe.concurrent('the bill', () => {
  test.each([true, false])('can be recomputed from the reply alone (stream %s)', async (stream) => {
    for (const kind of ['chat', 'messages'] as const) {
      const usage = stream ? { stream_options: { include_usage: true } } : {};
      const { org, reply } = await call(kind, { stream, ...usage }, {}, 'sim: tokens=31 cached=3');
      if (stream) expect(grammarFaults('chat', reply, { include_usage: true })).toEqual([]);
      const cost = svcOf(reply)?.['cost'] as Json;
      const lines = cost['lines'] as {
        kind: string;
        units: number;
        unit_price_nano: number;
        micro_usd: number;
      }[];
      for (const { units, unit_price_nano, micro_usd } of lines) {
        expect(micro_usd).toBe(Number((BigInt(units) * BigInt(unit_price_nano) + 500n) / 1000n));
      }
      expect(lines.reduce((sum, line) => sum + line.micro_usd, 0)).toBe(cost['total_micro_usd']);
      expect(cost['price_version']).toBe(reply.headers['x-svc-price-version']);
      const said = (stream ? eventsOf(reply.text).at(-1) : JSON.parse(reply.text))?.['usage'] as Json;
      const units = (name: string) => lines.find((line) => line.kind === name)?.units ?? 0;
      expect(units('output')).toBe(said['completion_tokens']);
      expect(units('input') + units('cache_read')).toBe(said['prompt_tokens']);
      expect((await world().ended(org, idOf(reply))).charged).toBe(cost['total_micro_usd']);
    }
  });

  test('is the same in the reply, the header, the ledger, the row and the generation record', async () => {
    const { org, reply } = await call('chat', {});
    const ended = await world().ended(org, idOf(reply));
    const headers = { authorization: `Bearer ${org.live_key}` };
    const record = await fetch(`${world().gateway.base_url}/v1/generation/${idOf(reply)}`, { headers });
    const { cost } = (await record.json()) as { cost: Json };
    expect(cost).toEqual(svcOf(reply)?.['cost']);
    expect(cost['total_micro_usd']).toBe(ended.charged);
  });
});

describe.concurrent('warnings are about the endpoint that answered, not about one that failed', () => {
  const lossy = { seed: 7, n: 1, logit_bias: { '1': 2 } };
  const codes = (reply: Parameters<typeof svcOf>[0]) =>
    ((svcOf(reply)?.['warnings'] ?? []) as Json[]).map(({ param }) => param);
  test.each([true, false])('stream %s', async (stream) => {
    const more = { stream, ...lossy };
    const there = await scripted(
      world(),
      'script-cross',
      { a: refusing(500) },
      { more: { ...more, ...inOrder('script-a', 'sim-x') } },
    );
    expect(there.reply.headers).toMatchObject({ 'x-svc-attempts': '2', 'x-svc-provider': 'sim-x' });
    expect(codes(there.reply)).toEqual(expect.arrayContaining(['seed', 'logit_bias']));
    expect(there.ended.row.warnings.map(({ param }) => param)).toEqual(codes(there.reply));
    const back = await scripted(
      world(),
      'script-cross-back',
      { x: refusing(500) },
      { more: { ...more, ...inOrder('script-x', 'sim-a') } },
    );
    expect(back.reply.headers).toMatchObject({ 'x-svc-attempts': '2', 'x-svc-provider': 'sim-a' });
    expect(codes(back.reply)).toEqual([]);
  });
});
