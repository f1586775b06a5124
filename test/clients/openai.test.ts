// The official OpenAI client for Node, with nothing changed but base URL and key.
import OpenAI, { APIError } from 'openai';
import { describe, expect, test } from 'vitest';
import { untilBook } from '../support/books.ts';
import { svcOf, useGateway } from './gateway.ts';

const gateway = useGateway();
const client = (options: { apiKey?: string; maxRetries?: number; fetch?: typeof fetch } = {}) =>
  new OpenAI({
    baseURL: `${gateway().base_url}/v1`,
    apiKey: gateway().sandbox_key,
    maxRetries: 0,
    ...options,
  });
const user = (content: string) => [{ role: 'user' as const, content }];

const tools = [
  {
    type: 'function' as const,
    function: {
      name: 'get_weather',
      description: 'Weather of a city',
      parameters: {
        type: 'object',
        properties: { city: { type: 'string' } },
        required: ['city'],
        additionalProperties: false,
      },
    },
  },
];

describe('whole answers', () => {
  test('an answer has content, usage and the settled cost', async () => {
    const reply = await client().chat.completions.create({
      model: 'sandbox/echo',
      messages: user('rain on the river'),
    });
    expect(reply.object).toBe('chat.completion');
    expect(reply.choices[0]?.message.content).toContain('rain on the river');
    expect(reply.choices[0]?.finish_reason).toBe('stop');
    expect(reply.usage?.completion_tokens).toBeGreaterThan(0);
    const svc = svcOf(reply);
    expect(reply.id).toBe(svc.request_id);
    expect(svc.cost?.total_micro_usd).toBeGreaterThan(0);
  });

  test.each(['gpt-4o', 'gpt-4o-2024-08-06', 'openai/gpt-4o'])(
    '%s is answered under the name that was asked',
    async (model) => {
      const { data, response } = await client()
        .chat.completions.create({ model, messages: user('hi') })
        .withResponse();
      expect([data.model, response.headers.get('x-svc-model')]).toEqual([model, 'openai/gpt-4o']);
    },
  );

  test('the cost that the client sees is what leaves the balance', async () => {
    const reply = await client().chat.completions.create({
      model: 'sandbox/echo',
      messages: user('count me'),
    });
    const svc = svcOf(reply);
    const book = await untilBook(gateway().database_url, gateway().sandbox_book_id, (b) =>
      b.charges.some((charge) => charge.request_id === svc.request_id),
    );
    const charge = book.charges.find(({ request_id }) => request_id === svc.request_id);
    expect(charge?.amount).toBe(-(svc.cost?.total_micro_usd ?? 0));
  });

  test('the client finds our request id where it looks for one', async () => {
    const reply = await client().chat.completions.create({ model: 'sandbox/echo', messages: user('id') });
    expect(reply._request_id).toBe(svcOf(reply).request_id);
  });

  test('a tool call comes with arguments that fit the schema, and its result is answered', async () => {
    const first = await client().chat.completions.create({
      model: 'sandbox/tools',
      messages: user('How is the weather?'),
      tools,
    });
    expect(first.choices[0]?.finish_reason).toBe('tool_calls');
    const call = first.choices[0]?.message.tool_calls?.[0];
    if (call?.type !== 'function') throw new Error('no function call');
    expect(call.function.name).toBe('get_weather');
    expect(JSON.parse(call.function.arguments)).toHaveProperty('city');
    const second = await client().chat.completions.create({
      model: 'sandbox/tools',
      messages: [
        ...user('How is the weather?'),
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: call.id, content: 'it rains' },
      ],
      tools,
    });
    expect(second.choices[0]?.message.content).toContain('it rains');
  });

  test('an answer keeps to a JSON schema', async () => {
    const reply = await client().chat.completions.create({
      model: 'sandbox/json',
      messages: user('Describe the river.'),
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'river',
          strict: true,
          schema: {
            type: 'object',
            properties: { name: { type: 'string' }, length_km: { type: 'integer' } },
            required: ['name', 'length_km'],
            additionalProperties: false,
          },
        },
      },
    });
    const value = JSON.parse(reply.choices[0]?.message.content ?? '') as Record<string, unknown>;
    expect(typeof value['name']).toBe('string');
    expect(Number.isInteger(value['length_km'])).toBe(true);
  });
});

describe('streams', () => {
  test('the chunks of a stream add up to the answer, and the last one carries cost and no usage unasked', async () => {
    const stream = await client().chat.completions.create({
      model: 'sandbox/echo',
      messages: user('a stream of rain'),
      stream: true,
    });
    let text = '';
    let finish: string | null = null;
    let cost: number | null = null;
    for await (const chunk of stream) {
      expect(chunk.object).toBe('chat.completion.chunk');
      expect(chunk.usage ?? null).toBeNull();
      text += chunk.choices[0]?.delta.content ?? '';
      finish = chunk.choices[0]?.finish_reason ?? finish;
      if ('svc' in chunk) cost = svcOf(chunk).cost?.total_micro_usd ?? null;
    }
    expect(text).toContain('a stream of rain');
    expect(finish).toBe('stop');
    expect(cost).toBeGreaterThan(0);
  });

  test('usage comes in a chunk of its own when asked for', async () => {
    const stream = await client().chat.completions.create({
      model: 'sandbox/echo',
      messages: user('how many tokens'),
      stream: true,
      stream_options: { include_usage: true },
    });
    const usages: number[] = [];
    for await (const chunk of stream) {
      if (chunk.usage) usages.push(chunk.usage.total_tokens);
    }
    expect(usages).toHaveLength(1);
    expect(usages[0]).toBeGreaterThan(0);
  });

  test('the stream helper ends with the whole completion and our cost on it', async () => {
    const runner = client().chat.completions.stream({
      model: 'sandbox/echo',
      messages: user('to the end'),
      stream_options: { include_usage: true },
    });
    const completion = await runner.finalChatCompletion();
    expect(completion.choices[0]?.message.content).toContain('to the end');
    expect(svcOf(completion).cost?.total_micro_usd).toBeGreaterThan(0);
  });

  test('two tool calls stream as two calls', async () => {
    const runner = client().chat.completions.stream({
      model: 'sandbox/tools',
      messages: user('sandbox: parallel=2'),
      tools,
      parallel_tool_calls: true,
    });
    const completion = await runner.finalChatCompletion();
    const calls = completion.choices[0]?.message.tool_calls ?? [];
    expect(calls).toHaveLength(2);
    expect(new Set(calls.map((call) => call.id)).size).toBe(2);
    for (const call of calls) {
      if (call.type === 'function') expect(JSON.parse(call.function.arguments)).toHaveProperty('city');
    }
  });

  test('an error inside a stream is raised, not swallowed', async () => {
    const read = async () => {
      const stream = await client().chat.completions.create({
        model: 'sandbox/error-mid',
        messages: user('break in the middle'),
        stream: true,
      });
      for await (const _ of stream);
    };
    await expect(read()).rejects.toThrow(APIError);
  });
});

describe('errors', () => {
  test('an unknown model is a 404 with a code', async () => {
    const call = client().chat.completions.create({ model: 'nobody/nothing', messages: user('hello') });
    await expect(call).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
  });

  test('a wrong key is a 401', async () => {
    const call = client({ apiKey: 'svc-test-wrong' }).models.list();
    await expect(call).rejects.toMatchObject({ status: 401 });
  });

  test('an error that a retry cannot help is not retried', async () => {
    let asked = 0;
    const counting: typeof fetch = (...args) => {
      asked++;
      return fetch(...args);
    };
    const call = client({ maxRetries: 3, fetch: counting }).chat.completions.create({
      model: 'nobody/nothing',
      messages: user('x'),
    });
    await expect(call).rejects.toMatchObject({ status: 404 });
    expect(asked).toBe(1);
  });

  test('a provider that is down is a 5xx that costs nothing', async () => {
    const before = (await untilBook(gateway().database_url, gateway().sandbox_book_id, (b) => b.held === 0))
      .charges;
    const call = client().chat.completions.create({ model: 'sandbox/error-500', messages: user('x') });
    await expect(call).rejects.toMatchObject({ status: 502 });
    const after = await untilBook(gateway().database_url, gateway().sandbox_book_id, (b) => b.held === 0);
    expect(after.charges).toHaveLength(before.length);
  });
});

describe('other routes', () => {
  test('the models list names the sandbox models', async () => {
    const ids: string[] = [];
    for await (const model of client().models.list()) ids.push(model.id);
    expect(ids).toContain('sandbox/echo');
  });

  test('one model can be asked for by its id', async () => {
    const model = await client().models.retrieve('sandbox/echo');
    expect(model.id).toBe('sandbox/echo');
  });
});
