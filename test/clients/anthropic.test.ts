// The official Anthropic client for Node, with the key as it sends it (x-api-key) and as a bearer token.
import Anthropic, { APIError } from '@anthropic-ai/sdk';
import { describe, expect, test } from 'vitest';
import { svcOf, useGateway } from './gateway.ts';

const gateway = useGateway();
const client = () =>
  new Anthropic({ baseURL: gateway().base_url, apiKey: gateway().sandbox_key, maxRetries: 0 });
const user = (content: string) => [{ role: 'user' as const, content }];

const tools = [
  {
    name: 'get_weather',
    description: 'Weather of a city',
    input_schema: {
      type: 'object' as const,
      properties: { city: { type: 'string' } },
      required: ['city'],
    },
  },
];

describe('whole answers', () => {
  test('a message has content, usage and the settled cost', async () => {
    const message = await client().messages.create({
      model: 'sandbox/echo',
      max_tokens: 100,
      messages: user('rain on the river'),
    });
    expect(message.type).toBe('message');
    const [block] = message.content;
    expect(block?.type === 'text' ? block.text : '').toContain('rain on the river');
    expect(message.stop_reason).toBe('end_turn');
    expect(message.usage.output_tokens).toBeGreaterThan(0);
    expect(svcOf(message).cost?.total_micro_usd).toBeGreaterThan(0);
    expect(message._request_id).toBe(svcOf(message).request_id);
  });

  test('a bearer token is as good as an x-api-key', async () => {
    const bearer = new Anthropic({
      baseURL: gateway().base_url,
      apiKey: null,
      authToken: gateway().sandbox_key,
      maxRetries: 0,
    });
    const message = await bearer.messages.create({
      model: 'sandbox/echo',
      max_tokens: 20,
      messages: user('hello'),
    });
    expect(message.role).toBe('assistant');
  });

  test('a tool is used with input that fits its schema, and the result is answered', async () => {
    const first = await client().messages.create({
      model: 'sandbox/tools',
      max_tokens: 200,
      messages: user('How is the weather?'),
      tools,
    });
    expect(first.stop_reason).toBe('tool_use');
    const use = first.content.find((block) => block.type === 'tool_use');
    if (use === undefined) throw new Error('no tool_use block');
    expect(use.input).toHaveProperty('city');
    const second = await client().messages.create({
      model: 'sandbox/tools',
      max_tokens: 200,
      messages: [
        ...user('How is the weather?'),
        { role: 'assistant', content: first.content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: 'it rains' }] },
      ],
      tools,
    });
    const text = second.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    expect(text).toContain('it rains');
  });
});

describe('streams', () => {
  test('the stream helper ends with the whole message and our part on it', async () => {
    const stream = client().messages.stream({
      model: 'sandbox/echo',
      max_tokens: 100,
      messages: user('a stream of rain'),
    });
    let text = '';
    stream.on('text', (piece) => {
      text += piece;
    });
    const message = await stream.finalMessage();
    expect(text).toContain('a stream of rain');
    expect(message.stop_reason).toBe('end_turn');
    expect(message.usage.output_tokens).toBeGreaterThan(0);
    expect(svcOf(message).request_id).toBe(message.id);
  });

  test('the raw events come in the order of the grammar, with the cost on message_delta', async () => {
    const stream = await client().messages.create({
      model: 'sandbox/echo',
      max_tokens: 100,
      messages: user('in order'),
      stream: true,
    });
    const types: string[] = [];
    let cost: number | null = null;
    for await (const event of stream) {
      if (types.at(-1) !== event.type) types.push(event.type);
      if (event.type === 'message_delta') cost = svcOf(event).cost?.total_micro_usd ?? null;
    }
    expect(types.filter((type) => (type as string) !== 'ping')).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(cost).toBeGreaterThan(0);
  });

  test('thinking streams before text and keeps its signature', async () => {
    const message = await client()
      .messages.stream({
        model: 'sandbox/reasoning',
        max_tokens: 4000,
        thinking: { type: 'enabled', budget_tokens: 1024 },
        messages: user('think first'),
      })
      .finalMessage();
    expect(message.content.map((block) => block.type)).toEqual(['thinking', 'text']);
    const [thinking] = message.content;
    expect(thinking?.type === 'thinking' ? thinking.signature : '').not.toBe('');
  });

  test('an error inside a stream is raised, not swallowed', async () => {
    const stream = client().messages.stream({
      model: 'sandbox/error-mid',
      max_tokens: 100,
      messages: user('break in the middle'),
    });
    await expect(stream.finalMessage()).rejects.toThrow(APIError);
  });
});

describe('errors and other routes', () => {
  test('an unknown model is a 404 with the type that the client knows', async () => {
    const call = client().messages.create({
      model: 'nobody/nothing',
      max_tokens: 10,
      messages: user('hello'),
    });
    await expect(call).rejects.toMatchObject({ status: 404, error: { error: { type: 'not_found_error' } } });
  });

  test('a missing max_tokens is a 400', async () => {
    const call = client().messages.create({ model: 'sandbox/echo', messages: user('hello') } as never);
    await expect(call).rejects.toMatchObject({ status: 400 });
  });

  test('tokens are counted before a message is asked for, and are those of its usage', async () => {
    const asked = { model: 'sandbox/echo', system: 'Be kind.', messages: user('rain on the river'), tools };
    const counted = await client().messages.countTokens(asked);
    const message = await client().messages.create({ ...asked, max_tokens: 20 });
    expect(counted.input_tokens).toBe(message.usage.input_tokens);
    const beta = await client().beta.messages.countTokens({ ...asked, betas: ['token-counting-2024-11-01'] });
    expect(beta.input_tokens).toBe(counted.input_tokens);
  });

  test('the models list can be walked', async () => {
    const ids: string[] = [];
    for await (const model of client().models.list({ limit: 1000 })) ids.push(model.id);
    expect(ids).toContain('sandbox/echo');
  });
});
