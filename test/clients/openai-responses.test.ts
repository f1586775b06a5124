// The official OpenAI client for Node on the Responses API: sandbox models, and endpoints of other families behind it.
import OpenAI, { APIError } from 'openai';
import type { ResponseInput, ResponseInputItem } from 'openai/resources/responses/responses';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWorld, type World } from '../calls/world.ts';
import { checkResponsesStream } from '../grammar/responses.ts';
import { svcOf, useGateway } from './gateway.ts';

const gateway = useGateway();
const client = () =>
  new OpenAI({ baseURL: `${gateway().base_url}/v1`, apiKey: gateway().sandbox_key, maxRetries: 0 });

const get_weather = {
  type: 'function' as const,
  name: 'get_weather',
  description: 'Weather of a city',
  strict: true,
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
};
const river = {
  type: 'json_schema' as const,
  name: 'river',
  strict: true,
  schema: {
    type: 'object',
    properties: { name: { type: 'string' }, length_km: { type: 'integer' } },
    required: ['name', 'length_km'],
    additionalProperties: false,
  },
};

describe('whole answers', () => {
  test('tokens are counted before an answer is asked for, and are those of its usage', async () => {
    const asked = { model: 'sandbox/echo', instructions: 'Be kind.', input: 'rain', tools: [get_weather] };
    const { data, response } = await client().responses.inputTokens.count(asked).withResponse();
    expect(data.object).toBe('response.input_tokens');
    expect(response.headers.get('x-svc-count-source')).toBe('exact');
    const reply = await client().responses.create(asked);
    expect(data.input_tokens).toBe(reply.usage?.input_tokens);
  });

  test('an answer has text, usage, the settled cost and what it repeats of its request', async () => {
    const reply = await client().responses.create({
      model: 'sandbox/echo',
      instructions: 'Answer in one line.',
      input: 'rain on the river',
      temperature: 0.5,
      metadata: { team: 'a' },
    });
    expect(reply.output_text).toContain('rain on the river');
    expect(reply).toMatchObject({
      ...{ object: 'response', status: 'completed', store: false, error: null, incomplete_details: null },
      ...{ instructions: 'Answer in one line.', temperature: 0.5, metadata: { team: 'a' }, tools: [] },
    });
    expect(reply.usage?.output_tokens).toBeGreaterThan(0);
    const svc = svcOf(reply);
    expect([reply.id, reply._request_id]).toEqual([svc.request_id, svc.request_id]);
    expect(svc.cost?.total_micro_usd).toBeGreaterThan(0);
  });

  test('a cut answer is incomplete', async () => {
    const reply = await client().responses.create({
      model: 'sandbox/lorem',
      input: 'sandbox: words=200',
      max_output_tokens: 16,
    });
    expect(reply.status).toBe('incomplete');
    expect(reply.incomplete_details?.reason).toBe('max_output_tokens');
  });

  test('a structured answer is parsed', async () => {
    const reply = await client().responses.parse({
      model: 'sandbox/json',
      input: 'Describe the river.',
      text: { format: river },
    });
    expect(reply.output_parsed).toMatchObject({ name: expect.any(String), length_km: expect.any(Number) });
  });

  test('a tool call is answered with its result, the output items sent back as they came', async () => {
    const input: ResponseInput = [{ role: 'user', content: 'How is the weather?' }];
    const first = await client().responses.create({ model: 'sandbox/tools', input, tools: [get_weather] });
    const call = first.output.find((item) => item.type === 'function_call');
    if (call === undefined) throw new Error('no call');
    expect(JSON.parse(call.arguments)).toHaveProperty('city');
    const second = await client().responses.create({
      model: 'sandbox/tools',
      tools: [get_weather],
      input: [
        ...input,
        ...(first.output as ResponseInputItem[]),
        { type: 'function_call_output', call_id: call.call_id, output: 'it rains' },
      ],
    });
    expect(second.output_text).toContain('it rains');
  });

  test('a custom tool is called with free text', async () => {
    const reply = await client().responses.create({
      model: 'sandbox/tools',
      input: 'run this',
      tools: [{ type: 'custom', name: 'run' }],
    });
    expect(reply.output[0]).toMatchObject({ type: 'custom_tool_call', name: 'run', input: 'run this' });
  });

  test('reasoning comes back with its state in the next turn, unchanged', async () => {
    const ask: ResponseInput = [{ role: 'user', content: 'think about it' }];
    const include = ['reasoning.encrypted_content' as const];
    const reasoning = { effort: 'low' as const, summary: 'auto' as const };
    const first = await client().responses.create({
      model: 'sandbox/reasoning',
      input: ask,
      include,
      reasoning,
    });
    const thought = first.output[0];
    expect(thought).toMatchObject({ type: 'reasoning', encrypted_content: expect.stringMatching(/^svc1\./) });
    const next = (output: unknown[]) =>
      client().responses.create({
        ...{ model: 'sandbox/reasoning', include, reasoning },
        input: [...ask, ...(output as ResponseInputItem[]), { role: 'user', content: 'go on' }],
      });
    expect((await next(first.output)).status).toBe('completed');
    // The sandbox checks what it signed, as providers do.
    const changed = structuredClone(first.output) as unknown as { summary: { text: string }[] }[];
    if (changed[0]?.summary[0] !== undefined) changed[0].summary[0].text += ' changed';
    await expect(next(changed)).rejects.toMatchObject({ status: 400 });
  });
});

describe('streams', () => {
  test('the helper ends with the whole response and our cost on it', async () => {
    const runner = client().responses.stream({ model: 'sandbox/echo', input: 'a stream of rain' });
    let text = '';
    const types = new Set<string>();
    for await (const event of runner) {
      types.add(event.type);
      if (event.type === 'response.output_text.delta') text += event.delta;
    }
    const response = await runner.finalResponse();
    expect(text).toContain('a stream of rain');
    expect(response.output_text).toBe(text);
    expect(svcOf(response).cost?.total_micro_usd).toBeGreaterThan(0);
    expect([...types][0]).toBe('response.created');
    expect([...types].at(-1)).toBe('response.completed');
  });

  test('two tool calls stream as two items with parsed arguments', async () => {
    const response = await client()
      .responses.stream({ model: 'sandbox/tools', input: 'sandbox: parallel=2', tools: [get_weather] })
      .finalResponse();
    const calls = response.output.filter((item) => item.type === 'function_call');
    expect(new Set(calls.map(({ call_id }) => call_id)).size).toBe(2);
    for (const call of calls) expect(call.parsed_arguments).toHaveProperty('city');
  });

  test('reasoning, a custom call and a structured answer stream whole', async () => {
    const thought = await client()
      .responses.stream({
        model: 'sandbox/reasoning',
        input: 'sandbox: encrypted=1',
        include: ['reasoning.encrypted_content'],
      })
      .finalResponse();
    expect(thought.output.map(({ type }) => type)).toEqual(['reasoning', 'message']);
    expect(thought.output[0]).toMatchObject({ summary: [{ type: 'summary_text' }] });
    const custom = await client()
      .responses.stream({ model: 'sandbox/tools', input: 'run', tools: [{ type: 'custom', name: 'run' }] })
      .finalResponse();
    expect(custom.output[0]).toMatchObject({ type: 'custom_tool_call', input: 'run' });
    const parsed = await client()
      .responses.stream({ model: 'sandbox/json', input: 'The river.', text: { format: river } })
      .finalResponse();
    expect(parsed.output_parsed).toHaveProperty('length_km');
  });

  test('a fault in the middle is a failed response, whose code and partial text are there', async () => {
    const response = await client()
      .responses.stream({ model: 'sandbox/error-mid', input: 'break' })
      .finalResponse();
    expect(response).toMatchObject({ status: 'failed', error: { code: 'server_error' } });
    expect(response.output_text).not.toBe('');
    expect(svcOf(response)).toMatchObject({
      error: { code: 'upstream_error' },
      cost: { total_micro_usd: 0 },
    });
  });
});

describe('what needs a stored conversation is refused', () => {
  test.each([
    ['previous_response_id', { previous_response_id: 'resp_1' }],
    ['conversation', { conversation: 'conv_1' }],
    ['background', { background: true }],
    ['prompt', { prompt: { id: 'pmpt_1' } }],
  ])('%s', async (param, more) => {
    const call = client().responses.create({ model: 'sandbox/echo', input: 'x', ...more });
    await expect(call).rejects.toMatchObject({
      ...{ status: 400, code: 'unsupported_parameter', param },
      error: { details: { reason: 'stateless' } },
    });
  });

  test.each<[string, (c: OpenAI) => Promise<unknown>]>([
    ['retrieve', (c) => c.responses.retrieve('resp_1')],
    ['delete', (c) => c.responses.delete('resp_1')],
    ['cancel', (c) => c.responses.cancel('resp_1')],
    ['input items', async (c) => c.responses.inputItems.list('resp_1')],
    ['compact', (c) => c.responses.compact({ model: 'sandbox/echo', input: 'x' })],
  ])('the route of %s', async (_name, call) => {
    await expect(call(client())).rejects.toMatchObject({
      ...{ status: 404, code: 'route_not_found' },
      error: { details: { reason: 'stateless' } },
    });
  });
});

describe('on endpoints of other families', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ models: { chat: 4, messages: 4 } });
  });
  afterAll(() => world.close());

  const ways = (['chat', 'messages'] as const).map((kind) => [kind] as const);

  async function setUp(kind: 'chat' | 'messages') {
    const org = await world.org();
    const { id: model } = world.model(kind);
    const baseURL = `${world.gateway.base_url}/v1`;
    return { org, model, client: new OpenAI({ baseURL, apiKey: org.live_key, maxRetries: 0 }) };
  }

  test.each(ways)('%s: streamed and whole answers, tools, the grammar and the books', async (kind) => {
    const { client, model, org } = await setUp(kind);
    const asked = { model, input: 'sim: tools=2 reasoning=5', tools: [get_weather], max_output_tokens: 64 };
    const whole = await client.responses.create(asked);
    const streamed = await client.responses.stream(asked).finalResponse();
    for (const response of [whole, streamed]) {
      expect(response.status).toBe('completed');
      const types = response.output.map(({ type }) => type);
      expect(types.filter((type) => type === 'function_call')).toHaveLength(2);
      expect(types[0]).toBe('reasoning');
      const ended = await world.ended(org, svcOf(response).request_id);
      expect(ended.row).toMatchObject({ status: 'ok', dialect_in: 'responses' });
      expect(svcOf(response).cost?.total_micro_usd).toBe(ended.charged);
    }
    const raw = await fetch(`${world.gateway.base_url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${org.live_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...asked, stream: true }),
    });
    expect(checkResponsesStream(await raw.text())).toEqual([]);
  });

  test.each(ways)('%s: a stream that the provider cuts is failed and costs nothing', async (kind) => {
    const { client, model, org } = await setUp(kind);
    const response = await client.responses
      .stream({ model, input: 'sim: tokens=20 chunks=10 cut_after=4', max_output_tokens: 64 })
      .finalResponse();
    expect(response).toMatchObject({ status: 'failed', error: { code: 'server_error' } });
    const ended = await world.ended(org, svcOf(response).request_id);
    expect(ended).toMatchObject({ charged: 0, row: { error_code: 'upstream_incomplete' } });
  });

  test.each(ways)('%s: a provider that is down is an HTTP error', async (kind) => {
    const { client, model } = await setUp(kind);
    const call = client.responses.create({ model, input: 'sim: status=500', stream: true });
    await expect(call).rejects.toMatchObject({ status: 502, code: 'upstream_error' });
    await expect(call).rejects.toThrow(APIError);
  });

  test('a responses body sent to chat completions is answered in chat', async () => {
    const { model, org } = await setUp('chat');
    const post = async (stream: boolean) => {
      const reply = await fetch(`${world.gateway.base_url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${org.live_key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model,
          stream,
          input: [{ role: 'user', content: 'hello' }],
          instructions: 'S',
        }),
      });
      return reply.text();
    };
    expect(JSON.parse(await post(false))).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { role: 'assistant' }, finish_reason: 'stop' }],
    });
    expect(await post(true)).toMatch(/^data: .*"object":"chat\.completion\.chunk"[\s\S]*data: \[DONE\]\n\n$/);
  });
});
