// Callers of other dialects on endpoints of the Responses API, through a gateway and over HTTP: kind `openai-responses`
// of a providers file, streamed and whole, with reasoning state and parallel tools over turns.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkChatStream } from '../../grammar/chat.ts';
import { checkMessagesStream } from '../../grammar/messages.ts';
import { checkResponsesStream } from '../../grammar/responses.ts';
import { type Sim, startProviderSim } from '../../sim/providers/index.ts';
import { createTestDatabase } from '../../support/database.ts';
import { freshDataDir, type GatewayProcess, startGatewayHere } from '../../support/gateway.ts';
import { type Provisioned, provision } from '../../support/provision.ts';
import { errorOf, eventsOf, type Json, open, type Reply, saidBy, svcOf } from '../caller.ts';

let sim: Sim;
let gateway: GatewayProcess;
let org: Provisioned;

/** Endpoints that fail in a test, each with a provider of its own: their circuits and throttled keys affect no other test. */
const BAD = 10;
const names = ['resp', ...Array.from({ length: BAD }, (_, n) => `bad-${n}`)];

const provider = (name: string, url: string) => `
  - id: ${name}
    name: ${name}
    kind: openai-responses
    base_url: ${url}/v1
    api_key_env: [KEY_${names.indexOf(name)}]
    regions: [local]
    data_policy: { trains: false, retention_days: 0, zdr: true }`;

const model = (name: string) => `
  - id: calls/${name}
    name: ${name}
    context_length: 128000
    max_output: 8192
    capabilities: { tools: true, json_schema: true, vision: true, cache: true, reasoning: true }
    reasoning: { controls: [effort, "off"] }
    endpoints:
      - provider: ${name}
        upstream_model: ${name}-up
        region: local
        cancel_billing: stops
        price: { input: "1.25", output: "4.75" }`;

const providers = (url: string) =>
  `version: 1\nproviders:${names.map((name) => provider(name, url)).join('')}\nmodels:${names.map(model).join('')}\n`;

let bad = 0;
/** A model that no other test uses. */
function badModel(): string {
  if (bad >= BAD) throw new Error('no model is left to fail');
  return `calls/bad-${bad++}`;
}

beforeAll(async () => {
  sim = await startProviderSim();
  const database_url = await createTestDatabase();
  gateway = await startGatewayHere({
    database_url,
    providers: providers(sim.url),
    env: Object.fromEntries(names.map((_, n) => [`KEY_${n}`, `sk-calls-${n}`])),
    data_dir: freshDataDir(),
  });
  org = await provision({ database_url, slug: 'resp', live_micro_usd: 5_000_000 });
});
afterAll(async () => {
  await gateway?.kill();
  await sim?.close();
});

const PATHS = { chat: '/v1/chat/completions', messages: '/v1/messages', responses: '/v1/responses' };

function call(dialect: keyof typeof PATHS, members: Json): Promise<Reply> {
  const body = JSON.stringify({ model: 'calls/resp', ...members });
  const headers = { authorization: `Bearer ${org.live_key}` };
  return open(gateway.base_url, { path: PATHS[dialect], body, headers }).reply;
}

/** The request that the provider got last. */
function sent(): Json {
  return sim.calls.at(-1)?.body as Json;
}

const user = (content: string) => [{ role: 'user', content }];

const tool = {
  name: 'get_weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
};
const chatTools = [
  { type: 'function', function: tool },
  { type: 'function', function: { ...tool, name: 'get_time' } },
];

describe('chat callers', () => {
  test('are answered whole, stateless, with the price of what the provider counted', async () => {
    const reply = await call('chat', {
      messages: [{ role: 'system', content: 'Be brief.' }, ...user('hi')],
      user: 'u',
    });
    expect(reply.status).toBe(200);
    expect(saidBy(reply)).toMatch(/^lorem ipsum /);
    const { choices, usage } = JSON.parse(reply.text) as Json;
    expect(choices[0].finish_reason).toBe('stop');
    expect(usage).toMatchObject({ completion_tokens: 16 });
    expect(svcOf(reply)).toMatchObject({ provider: 'resp', warnings: [] });
    expect(svcOf(reply)?.['cost'].total_micro_usd).toBeGreaterThan(0);
    expect(sent()).toMatchObject({
      model: 'resp-up',
      instructions: 'Be brief.',
      input: [{ type: 'message', role: 'user', content: 'hi' }],
      store: false,
      include: ['reasoning.encrypted_content'],
      stream: true,
    });
    expect(sent()['safety_identifier']).toMatch(/^[0-9a-f]{64}$/);
  });

  test('are streamed by the grammar, however the bytes are cut', async () => {
    for (const knobs of ['sim: reasoning=5', 'sim: split=7', 'sim: refusal=1', 'sim: missing_index=1']) {
      const reply = await call('chat', {
        messages: user(`${knobs} tokens=20`),
        stream: true,
        reasoning_effort: 'low',
      });
      expect(checkChatStream(reply.text, { include_usage: false }), knobs).toEqual([]);
      expect(reply.complete).toBe(true);
      expect(errorOf(reply)).toBeNull();
    }
  });

  test('go on with reasoning state and parallel tools over turns', async () => {
    const asked = { tools: chatTools, reasoning_effort: 'low' };
    const first = await call('chat', { messages: user('sim: tools=2'), ...asked });
    const { message } = (JSON.parse(first.text) as Json)['choices'][0];
    expect(message.tool_calls).toHaveLength(2);
    const sealed = message.reasoning_details.find(({ type }: Json) => type === 'reasoning.encrypted');
    expect(sealed).toMatchObject({ format: 'openai-responses-v1' });
    const results = message.tool_calls.map(({ id }: Json) => ({
      role: 'tool',
      tool_call_id: id,
      content: '7 C',
    }));
    // The simulator refuses reasoning that was changed, and calls without results.
    const second = await call('chat', { messages: [...user('weather?'), message, ...results], ...asked });
    expect(second.status, second.text).toBe(200);
    const input = sent()['input'] as Json[];
    expect(input.map(({ type }) => type)).toEqual([
      ...['message', 'reasoning', 'function_call', 'function_call'],
      ...['function_call_output', 'function_call_output'],
    ]);
    expect(input[1]).toMatchObject({ encrypted_content: sealed.data });
    expect(sent()['tools'][0]).toMatchObject({ type: 'function', name: 'get_weather', strict: false });
  });

  test('get a warning for each loss, and a refusal where the answer would change', async () => {
    const lossy = await call('chat', { messages: user('hi'), seed: 7, presence_penalty: 1 });
    expect(
      svcOf(lossy)
        ?.['warnings'].map(({ code, param }: Json) => `${code} ${param}`)
        .sort(),
    ).toEqual(['sampling_dropped presence_penalty', 'sampling_dropped seed']);
    for (const more of [{ stop: ['x'] }, { n: 2 }, { max_tokens: 5 }]) {
      const refused = await call('chat', { messages: user('hi'), ...more });
      expect(refused.status, JSON.stringify(more)).toBe(400);
    }
  });

  test.each([
    ['sim: status=429', 429, 'upstream_rate_limited'],
    ['sim: status=500', 502, 'upstream_error'],
    ['sim: code=context_length_exceeded', 400, 'context_length_exceeded'],
    ['sim: error_after=0', 502, 'upstream_error'],
    ['sim: cut_after=0', 502, 'upstream_incomplete'],
  ])('are told what went wrong before the first word: %s', async (text, status, code) => {
    const reply = await call('chat', { model: badModel(), messages: user(text), stream: true });
    expect([reply.status, errorOf(reply)?.['code']]).toEqual([status, code]);
  });

  test.each([
    ['sim: error_after=3', 'upstream_error'],
    ['sim: cut_after=3', 'upstream_incomplete'],
    ['sim: garbage_after=3', 'upstream_invalid_response'],
  ])('get no clean end from a broken stream: %s', async (text, code) => {
    const reply = await call('chat', { model: badModel(), messages: user(text), stream: true });
    expect([reply.status, errorOf(reply)?.['code']]).toEqual([200, code]);
    expect(reply.text).not.toContain('"finish_reason":"stop"');
  });
});

describe('messages callers', () => {
  test('are answered whole and streamed, thinking with its state included', async () => {
    const asked = { max_tokens: 4_096, thinking: { type: 'enabled', budget_tokens: 1_024 } };
    const whole = await call('messages', { messages: user('sim: tokens=20'), ...asked });
    const { content, stop_reason } = JSON.parse(whole.text) as Json;
    expect(content.map(({ type }: Json) => type)).toEqual(['thinking', 'text']);
    expect(content[0].signature).toMatch(/^svc1\./);
    expect(stop_reason).toBe('end_turn');
    const streamed = await call('messages', { messages: user('sim: tokens=20'), ...asked, stream: true });
    expect(checkMessagesStream(streamed.text, 'canonical')).toEqual([]);
    const history = [...user('a'), { role: 'assistant', content }, ...user('b')];
    const next = await call('messages', { messages: history, ...asked });
    expect(next.status, next.text).toBe(200);
    expect((sent()['input'] as Json[]).map(({ type }) => type)).toEqual([
      ...['message', 'reasoning', 'message', 'message'],
    ]);
  });

  test('call tools in parallel and give results with images', async () => {
    const tools = [
      { name: 'f', input_schema: tool.parameters },
      { name: 'g', input_schema: tool.parameters },
    ];
    for (const text of ['sim: tools=2', 'sim: tools=2 interleaved_tools=1']) {
      const reply = await call('messages', { messages: user(text), tools, max_tokens: 64, stream: true });
      expect(checkMessagesStream(reply.text, 'canonical'), text).toEqual([]);
      const calls = eventsOf(reply.text).filter(({ content_block }) => content_block?.type === 'tool_use');
      expect(calls, text).toHaveLength(2);
    }
    const image = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
    };
    const history = [
      ...user('x'),
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'toolu_1',
            is_error: true,
            content: [{ type: 'text', text: 'no' }, image],
          },
        ],
      },
    ];
    const reply = await call('messages', { messages: history, tools, max_tokens: 64 });
    expect(reply.status, reply.text).toBe(200);
    expect((sent()['input'] as Json[]).at(-1)).toMatchObject({
      type: 'function_call_output',
      call_id: 'toolu_1',
      output: [
        { type: 'input_text', text: 'Error: no' },
        { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
      ],
    });
  });
});

describe('callers of the same dialect', () => {
  test('are passed through, streamed and whole, with tags and cost', async () => {
    const asked = { input: 'sim: tokens=20', metadata: { a: 'b' }, zzz: undefined, max_output_tokens: 64 };
    const whole = await call('responses', asked);
    expect(whole.status, whole.text).toBe(200);
    const body = JSON.parse(whole.text) as Json;
    expect(body).toMatchObject({
      status: 'completed',
      model: 'calls/resp',
      metadata: { a: 'b' },
      store: false,
    });
    expect(body['svc'].cost.total_micro_usd).toBeGreaterThan(0);
    expect(sent()).not.toHaveProperty('metadata');
    expect(sent()['stream'] ?? false).toBe(false);
    const streamed = await call('responses', { ...asked, stream: true });
    expect(checkResponsesStream(streamed.text)).toEqual([]);
    expect(eventsOf(streamed.text).at(-1)?.['response']).toMatchObject({
      status: 'completed',
      metadata: { a: 'b' },
      svc: { provider: 'resp' },
    });
  });

  test('may send back what they were given without its state', async () => {
    const reasoning = { effort: 'low', summary: 'auto' };
    const first = JSON.parse((await call('responses', { input: 'one', reasoning })).text) as Json;
    expect(JSON.stringify(first)).not.toContain('encrypted_content');
    const input = [...user('one'), ...first['output'], ...user('two')];
    const second = await call('responses', { input, reasoning });
    expect(second.status, second.text).toBe(200);
    expect(svcOf(second)?.['warnings']).toMatchObject([{ code: 'reasoning_signature_dropped' }]);
    const include = ['reasoning.encrypted_content'];
    const sealed = JSON.parse((await call('responses', { input: 'one', reasoning, include })).text) as Json;
    const third = await call('responses', {
      input: [...user('one'), ...sealed['output']],
      reasoning,
      include,
    });
    expect(third.status, third.text).toBe(200);
    expect((sent()['input'] as Json[])[1]).toMatchObject({ type: 'reasoning' });
  });

  test.each([
    ['sim: error_after=3', 'upstream_error'],
    ['sim: cut_after=3', 'upstream_incomplete'],
  ])('get a failed response from a broken stream: %s', async (input, code) => {
    const reply = await call('responses', { model: badModel(), input, stream: true });
    expect(checkResponsesStream(reply.text)).toEqual([]);
    const last = eventsOf(reply.text).at(-1);
    expect(last).toMatchObject({ type: 'response.failed', response: { svc: { error: { code } } } });
  });
});
