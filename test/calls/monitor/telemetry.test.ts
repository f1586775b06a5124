// Traces and metrics of real calls, as a collector gets them by its protocol: one span for each call, one below it for
// each attempt, the names of the conventions, and nothing that anybody wrote.
import { freePort } from '@svc/cli/tools/postgres.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Collector, type SentSpan, startCollector } from '../../sim/collector/collector.ts';
import { type Json, open } from '../caller.ts';
import { bodyOf, eventually, idOf, type Org, openWorld, type World } from '../world.ts';

const PLANTED = 'planted-content-7c1f';
const SERVER = 2;
const CLIENT = 3;
const UNSET = 0;
const ERROR = 2;

/** A model behind the Responses API, of which `openWorld` has none. */
const RESPONSES = `
  - id: telemetry/responses
    name: responses
    context_length: 128000
    max_output: 8192
    endpoints:
      - provider: sim-a
        upstream_model: responses-1
        family: openai_responses
        region: local
        price: { input: "1", output: "1" }`;

let collector: Collector;
let metrics_port: number;
let world: World;
let org: Org;

beforeAll(async () => {
  collector = await startCollector();
  metrics_port = await freePort();
  world = await openWorld({
    env: { SVC_OTLP_ENDPOINT: collector.url, SVC_CELL: 'cell-t', SVC_METRICS_PORT: String(metrics_port) },
    extras: () => ({ providers: '', models: RESPONSES }),
  });
  org = await world.org();
});
afterAll(async () => {
  await world.close();
  await collector.close();
});

/** The spans of a call once they have come, the server's first. */
function spansOf(request_id: string): Promise<SentSpan[]> {
  return eventually(`spans of ${request_id}`, () => {
    const server = collector.spans.find(({ attributes }) => attributes['gen_ai.response.id'] === request_id);
    if (server === undefined) return null;
    const attempts = Number(server.attributes['svc.attempts']);
    const children = collector.spans.filter(({ parent_span_id }) => parent_span_id === server.span_id);
    return children.length === attempts ? [server, ...children] : null;
  });
}

const chat = (id: string, text: string, more: object = {}, headers: Record<string, string> = {}) =>
  world.chat(org.live_key, bodyOf(id, `${PLANTED} ${text}`, more), { headers });

// At once, because each waits for the gateway to send what it has gathered.
describe.concurrent('spans', () => {
  test('of a call that succeeds: one of the server, below it one of the attempt', async () => {
    const { id, upstream } = world.model('chat');
    const asked = { max_tokens: 64, temperature: 0.5, top_p: 0.9, seed: 7, frequency_penalty: 0.1 };
    const reply = await chat(id, 'sim: tokens=7 cached=2', { ...asked, stop: [PLANTED], n: 1 }).reply;
    const usage = JSON.parse(reply.text).usage as Json;
    const [server, attempt, ...more] = (await spansOf(idOf(reply))) as [SentSpan, SentSpan];
    expect(more).toEqual([]);
    expect(server).toMatchObject({
      ...{ name: `chat ${id}`, kind: SERVER, status: UNSET, parent_span_id: '' },
      schema_url: 'https://opentelemetry.io/schemas/1.45.0',
      resource: { 'service.name': 'svc-gateway', 'svc.cell': 'cell-t' },
    });
    const numbers = {
      'gen_ai.request.stream': false,
      'gen_ai.request.max_tokens': 64,
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.top_p': 0.9,
      'gen_ai.request.seed': 7,
      'gen_ai.request.frequency_penalty': 0.1,
    };
    const answered = {
      'gen_ai.response.model': upstream,
      'gen_ai.response.finish_reasons': ['end_turn'],
      'gen_ai.usage.input_tokens': usage['prompt_tokens'],
      'gen_ai.usage.output_tokens': 7,
      'gen_ai.usage.cache_read.input_tokens': 2,
      'gen_ai.usage.cache_creation.input_tokens': 0,
      'gen_ai.usage.reasoning.output_tokens': 0,
      'svc.usage.source': 'provider',
    };
    expect(server.attributes).toEqual({
      ...numbers,
      ...answered,
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'sim-a',
      'gen_ai.request.model': id,
      'gen_ai.response.id': idOf(reply),
      'http.response.status_code': 200,
      'svc.status': 'ok',
      'svc.dialect': 'chat',
      'svc.org_id': org.org_id,
      'svc.project_id': org.project_id,
      'svc.key_id': expect.stringMatching(/^key_/),
      'svc.attempts': 1,
      'svc.cost_micro_usd': Number(reply.headers['x-svc-cost-micro']),
      'svc.endpoint_id': expect.stringMatching(/^ep_/),
    });
    expect(attempt).toMatchObject({ name: `chat ${upstream}`, kind: CLIENT, status: UNSET });
    expect(attempt.attributes).toEqual({
      ...numbers,
      ...answered,
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'sim-a',
      'gen_ai.request.model': upstream,
      'server.address': '127.0.0.1',
      'server.port': world.sim.port,
      'http.response.status_code': 200,
      'svc.attempt': 1,
      'svc.endpoint_id': server.attributes['svc.endpoint_id'],
      'svc.region': 'local',
      'gen_ai.response.id': expect.stringMatching(/^chatcmpl-sim/),
    });
    expect(attempt.trace_id).toBe(server.trace_id);
    expect(attempt.start_ms).toBeGreaterThanOrEqual(server.start_ms - 1);
    expect(attempt.end_ms).toBeLessThanOrEqual(server.end_ms + 2);
  });

  test('of a call that fails over: both attempts, the first one an error', async () => {
    const { id } = world.model('pair');
    const fails = 'sim: tokens=3 fail_first=1 fail_status=500 mark=telemetry-pair';
    const reply = await chat(id, fails, { stream: true }).reply;
    expect(reply.status).toBe(200);
    const [server, ...attempts] = (await spansOf(idOf(reply))) as [SentSpan, ...SentSpan[]];
    expect(server).toMatchObject({
      status: UNSET,
      attributes: { 'svc.attempts': 2 },
    });
    expect(server.attributes['gen_ai.response.time_to_first_chunk']).toBeGreaterThanOrEqual(0);
    attempts.sort((a, b) => Number(a.attributes['svc.attempt']) - Number(b.attributes['svc.attempt']));
    expect(attempts.map(({ status, attributes }) => [status, attributes['error.type']])).toEqual([
      [ERROR, 'server'],
      [UNSET, undefined],
    ]);
    // The answer and its tokens belong to the attempt that gave them.
    expect(attempts.map(({ attributes }) => attributes['gen_ai.usage.output_tokens'])).toEqual([
      undefined,
      3,
    ]);
    const [first, second] = attempts.map(({ attributes }) => attributes['gen_ai.provider.name']);
    expect([first, second].sort()).toEqual(['sim-a', 'sim-b']);
    expect(server.attributes['gen_ai.provider.name']).toBe(second);
  });

  test.each([
    ['/v1/chat/completions', 'chat', 'messages'],
    ['/v1/completions', 'chat', 'prompt'],
    ['/v1/messages', 'messages', 'messages'],
    ['/v1/responses', 'responses', 'input'],
    ['/v1/chat/completions', 'messages', 'messages'],
    ['/v1/messages', 'gemini-3', 'messages'],
  ] as const)('name the provider’s id of its answer: %s at %s', async (path, kind, member) => {
    for (const stream of [false, true]) {
      const model = kind === 'responses' ? 'telemetry/responses' : world.model(kind).id;
      const mark = `id-${path.slice(4).replaceAll('/', '-')}-${kind}-${stream}`;
      const text = `sim: tokens=3 mark=${mark}`;
      const asked = member === 'messages' ? [{ role: 'user', content: text }] : text;
      const cap = member === 'input' ? {} : { max_tokens: 64 };
      const body = { model, stream, ...cap, [member]: asked };
      const reply = await world.chat(org.live_key, body, { path }).reply;
      expect([reply.status, reply.complete]).toEqual([200, true]);
      const [, attempt] = (await spansOf(idOf(reply))) as [SentSpan, SentSpan];
      const call = world.sim.calls.find((one) => one.mark === mark);
      expect(call?.id).toMatch(/sim/);
      expect(attempt.attributes['gen_ai.response.id']).toBe(call?.id);
    }
  });

  test('of a call that fails', async () => {
    const { id } = world.model('chat');
    const reply = await chat(id, 'sim: status=500').reply;
    expect(reply.status).toBe(502);
    const [server, attempt] = (await spansOf(idOf(reply))) as [SentSpan, SentSpan];
    expect(server).toMatchObject({
      status: ERROR,
      attributes: { 'svc.status': 'error', 'svc.cost_micro_usd': 0 },
    });
    expect(server.attributes['error.type']).toBe('upstream_error');
    expect(attempt).toMatchObject({
      status: ERROR,
      attributes: { 'error.type': 'server', 'http.response.status_code': 500 },
    });
  });

  test('of a caller who leaves are no errors of ours', async () => {
    const { id } = world.model('chat');
    const running = chat(id, 'sim: tokens=60 chunks=60 chunk_ms=40', { stream: true });
    await running.until((text) => text.includes('ipsum'));
    running.leave();
    const request_id = await eventually('the call ended', () => {
      const span = collector.spans.find(
        ({ kind, attributes }) => kind === SERVER && attributes['svc.status'] === 'cancelled',
      );
      return span === undefined ? null : (span.attributes['gen_ai.response.id'] as string);
    });
    const [server, attempt] = (await spansOf(request_id)) as [SentSpan, SentSpan];
    expect(server).toMatchObject({ status: UNSET, attributes: { 'error.type': 'client_closed' } });
    expect(attempt).toMatchObject({ status: UNSET, attributes: { 'error.type': 'client_gone' } });
  });

  test('of a refused call name its code and not what the caller wrote', async () => {
    const reply = await chat(`no/${PLANTED}`, 'x').reply;
    expect(reply.status).toBe(404);
    const [server, ...attempts] = (await spansOf(idOf(reply))) as [SentSpan];
    expect(attempts).toEqual([]);
    expect(server).toMatchObject({ name: 'chat', status: UNSET });
    expect(server.attributes).toMatchObject({ 'error.type': 'model_not_found', 'svc.status': 'rejected' });
    expect(server.attributes).not.toHaveProperty('gen_ai.request.model');
  });

  test('go below the span that the caller names, and are left out where it is not sampled', async () => {
    const { id } = world.model('chat');
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const parent = '00f067aa0ba902b7';
    const sampled = await chat(id, 'sim: tokens=1', {}, { traceparent: `00-${trace}-${parent}-01` }).reply;
    const [server, attempt] = (await spansOf(idOf(sampled))) as [SentSpan, SentSpan];
    expect(server).toMatchObject({ trace_id: trace, parent_span_id: parent });
    expect(attempt).toMatchObject({ trace_id: trace, parent_span_id: server.span_id });
    const silent = await chat(id, 'sim: tokens=1', {}, { traceparent: `00-${trace}-${parent}-00` }).reply;
    const broken = [
      'nonsense',
      `00-${'0'.repeat(32)}-${parent}-01`,
      `ff-${trace}-${parent}-01`,
      `00-${trace}-${parent}-01-x`,
    ];
    await Promise.all(
      broken.map(async (traceparent) => {
        const reply = await chat(id, 'sim: tokens=1', {}, { traceparent }).reply;
        expect(reply.status).toBe(200);
        const [own] = (await spansOf(idOf(reply))) as [SentSpan];
        expect(own).toMatchObject({ parent_span_id: '' });
        expect(own.trace_id).not.toBe(trace);
      }),
    );
    // The later calls have come, so the silent one would have.
    expect(collector.spans.some(({ attributes }) => attributes['gen_ai.response.id'] === idOf(silent))).toBe(
      false,
    );
    // And the provider is told nothing of the caller's trace.
    expect(JSON.stringify(world.sim.calls)).not.toContain(trace);
  });

  test('of the other dialects have the operation of the conventions', async () => {
    const { id } = world.model('messages');
    const messages = await world.messages(org.live_key, bodyOf(id, 'sim: tokens=2')).reply;
    const [server] = (await spansOf(idOf(messages))) as [SentSpan];
    expect(server.attributes).toMatchObject({ 'gen_ai.operation.name': 'chat', 'svc.dialect': 'messages' });
    const post = (path: string, body: object) =>
      open(world.gateway.base_url, {
        path,
        body: JSON.stringify(body),
        headers: { authorization: `Bearer ${org.sandbox_key}` },
      }).reply;
    const text = await post('/v1/completions', { model: 'sandbox/echo', prompt: PLANTED, max_tokens: 9 });
    expect(text.status).toBe(200);
    const [completion, attempt] = (await spansOf(idOf(text))) as [SentSpan, SentSpan];
    expect(completion.name).toBe('text_completion sandbox/echo');
    // In process: it has no address.
    expect(attempt.attributes).not.toHaveProperty('server.address');
  });
});

test('metrics count what the calls used and how long they took; nothing that was sent holds content or a secret', async () => {
  // Tags, app and agent are the caller's own text as well.
  const { id, upstream } = world.model('chat');
  const marked = {
    'x-svc-metadata': JSON.stringify({ note: PLANTED }),
    'x-svc-app': PLANTED,
    'user-agent': PLANTED,
  };
  const more = { stream: true, user: PLANTED, tools: [{ type: 'function', function: { name: PLANTED } }] };
  const reply = await chat(id, 'sim: tokens=9 tools=0 chunk_ms=1', more, marked).reply;
  expect(reply.status).toBe(200);
  await spansOf(idOf(reply));
  const scraped = await (await fetch(`http://127.0.0.1:${metrics_port}/metrics`)).text();
  await world.gateway.stop();
  const own = (metric: string) =>
    collector
      .points(metric)
      .filter(({ attributes }) => [id, upstream].includes(attributes['gen_ai.request.model'] as string));
  const usage = own('gen_ai.client.token.usage');
  expect(usage.map(({ attributes, count, unit }) => [attributes['gen_ai.token.type'], count, unit])).toEqual([
    ['input', 1, '{token}'],
    ['output', 1, '{token}'],
  ]);
  expect(usage[1]?.sum).toBe(9);
  expect(usage[0]?.bounds).toContain(1_048_576);
  const client = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'sim-a',
    'gen_ai.request.model': upstream,
  };
  const server = { ...client, 'gen_ai.request.model': id, 'gen_ai.response.model': upstream };
  const address = { 'server.address': '127.0.0.1', 'server.port': world.sim.port };
  for (const [metric, attributes] of [
    ['gen_ai.client.operation.duration', { ...client, ...address }],
    ['gen_ai.client.operation.time_to_first_chunk', { ...client, ...address }],
    ['gen_ai.server.request.duration', server],
    ['gen_ai.server.time_to_first_token', server],
    ['gen_ai.server.time_per_output_token', server],
  ] as const) {
    expect(own(metric), metric).toMatchObject([{ attributes, count: 1, unit: 's' }]);
    expect(own(metric)[0]?.attributes).toEqual(attributes);
    expect(own(metric)[0]?.sum).toBeLessThan(30);
  }
  const failed = collector
    .points('gen_ai.client.operation.duration')
    .flatMap(({ attributes }) => attributes['error.type'] ?? []);
  expect(failed.sort()).toEqual(['client_gone', 'server', 'server']);

  expect(collector.faults).toEqual([]);
  const sent = collector.bodies.join('\n');
  expect(sent.length).toBeGreaterThan(5_000);
  expect(scraped).toContain('svc_');
  for (const secret of [PLANTED, 'sk-calls', org.live_key, org.sandbox_key, 'lorem', 'ipsum', 'Bearer']) {
    expect(sent, secret).not.toContain(secret);
    expect(scraped, secret).not.toContain(secret);
    expect(world.gateway.output(), secret).not.toContain(secret);
  }
});

test('a collector that hangs, refuses or is gone makes no call wait or fail, and no gateway end late', async () => {
  const lost = await startCollector();
  const own = await openWorld({ gateway: 'here', env: { SVC_OTLP_ENDPOINT: lost.url } });
  try {
    const { live_key } = await own.org();
    const { id } = own.model('chat');
    for (const how of ['hang', 503, null] as const) {
      if (how === null) await lost.close();
      else lost.answer(how);
      const before = lost.requests;
      for (let i = 0; i < 20; i++) {
        const reply = await own.chat(live_key, bodyOf(id, 'sim: tokens=1')).reply;
        expect(reply.status).toBe(200);
      }
      if (how === 'hang') await eventually('the collector was asked', () => lost.requests > before);
    }
    const began = performance.now();
    await own.gateway.stop();
    expect(performance.now() - began).toBeLessThan(15_000);
  } finally {
    await own.close();
  }
});

test('a share of none traces only calls whose caller asks for it', async () => {
  const some = await startCollector();
  const own = await openWorld({
    gateway: 'here',
    env: { SVC_OTLP_ENDPOINT: some.url, SVC_OTLP_SAMPLE_PERCENT: '0' },
  });
  try {
    const { live_key } = await own.org();
    const body = bodyOf(own.model('chat').id, 'sim: tokens=1');
    await own.chat(live_key, body).reply;
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const asked = await own.chat(live_key, body, { headers: { traceparent } }).reply;
    await own.gateway.stop();
    const servers = some.spans.filter(({ kind }) => kind === SERVER);
    expect(servers.map(({ attributes }) => attributes['gen_ai.response.id'])).toEqual([idOf(asked)]);
    // Metrics count every call.
    expect(some.points('gen_ai.server.request.duration').reduce((sum, { count }) => sum + count, 0)).toBe(2);
  } finally {
    await own.close();
    await some.close();
  }
});
