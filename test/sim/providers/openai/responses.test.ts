// The official client against the simulator of the Responses API: whole and streamed, in the shapes of the provider.
import OpenAI from 'openai';
import type { ResponseCreateParamsNonStreaming } from 'openai/resources/responses/responses';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Sim, startOpenAiSim } from '../index.ts';

let sim: Sim;
let client: OpenAI;

beforeAll(async () => {
  sim = await startOpenAiSim({ keys: ['sk-right'] });
  client = new OpenAI({ apiKey: 'sk-right', baseURL: `${sim.url}/v1`, maxRetries: 0 });
});
afterEach(() => sim.reset());
afterAll(() => sim.close());

const tool = (name: string) => ({
  type: 'function' as const,
  name,
  strict: false,
  parameters: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } },
});
const sealed = {
  store: false,
  include: ['reasoning.encrypted_content' as const],
  reasoning: { effort: 'low' as const, summary: 'auto' as const },
};

describe('whole answers', () => {
  test('tokens are counted without an answer', async () => {
    const counted = await client.responses.inputTokens.count({ model: 'gpt-sim', input: 'x'.repeat(400) });
    expect(counted).toMatchObject({ object: 'response.input_tokens', input_tokens: 100 });
    expect(sim.calls).toHaveLength(0);
  });

  test('a plain answer has text, status and usage that fit each other', async () => {
    const reply = await client.responses.create({ model: 'gpt-sim', input: 'hello mark=w1' });
    expect(reply.output_text).toMatch(/^lorem ipsum /);
    expect(reply).toMatchObject({ status: 'completed', object: 'response', model: 'gpt-sim', store: true });
    expect(reply.usage).toMatchObject({ input_tokens: 4, output_tokens: 16, total_tokens: 20 });
    expect(sim.calls).toMatchObject([
      { family: 'responses', mark: 'w1', finished: true, tokens_delivered: 16 },
    ]);
  });

  test('the cap ends an answer as incomplete', async () => {
    const reply = await client.responses.create({
      model: 'm',
      input: 'sim: tokens=40',
      max_output_tokens: 16,
    });
    expect(reply).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      usage: { output_tokens: 16 },
    });
  });

  test('calls, their results and sealed reasoning go on over turns; changed reasoning is refused', async () => {
    const tools = [tool('get_weather'), tool('get_time')];
    const first = await client.responses.create({ model: 'm', input: 'sim: tools=2', tools, ...sealed });
    expect(first.output.map(({ type }) => type)).toEqual(['reasoning', 'function_call', 'function_call']);
    const results = first.output.flatMap((item) =>
      item.type === 'function_call'
        ? [{ type: 'function_call_output' as const, call_id: item.call_id, output: '7 C' }]
        : [],
    );
    const input = [{ role: 'user' as const, content: 'sim: tools=2' }, ...first.output, ...results];
    const second = await client.responses.create({
      model: 'm',
      input: [...input, { role: 'user', content: 'and?' }] as never,
      ...sealed,
    });
    expect(second.output_text).toMatch(/^lorem/);
    const broken = input.map((item) =>
      'encrypted_content' in item ? { ...item, encrypted_content: 'gAAAAAx' } : item,
    );
    await expect(client.responses.create({ model: 'm', input: broken as never, ...sealed })).rejects.toThrow(
      'could not be verified',
    );
    const bare = input.map((item) =>
      'encrypted_content' in item ? { ...item, encrypted_content: null } : item,
    );
    await expect(client.responses.create({ model: 'm', input: bare as never, ...sealed })).rejects.toThrow(
      'not found',
    );
  });

  test.each<[string, object]>([
    ["Unknown parameter: 'stop'.", { stop: ['x'] }],
    ['below minimum', { max_output_tokens: 5 }],
    ["Invalid value: 'text'", { input: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }] }],
    ["Invalid value: 'all'", { include: ['all'] }],
    ['No tool call found', { input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }] }],
    [
      'No tool output found',
      { input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }] },
    ],
  ])('refuses as the provider does: %s', async (message, change) => {
    const body = { model: 'm', input: 'x', ...change } as ResponseCreateParamsNonStreaming;
    await expect(client.responses.create(body)).rejects.toThrow(message);
  });
});

describe('streams', () => {
  test.each([
    'plain',
    'sim: reasoning=5',
    'sim: tools=2',
    'sim: chunks=3 tokens=50',
    'sim: refusal=1',
    'sim: tools=1 text=hm',
  ])('the stream class puts together what a whole answer says: %s', async (input) => {
    const tools = input.includes('tools') ? [tool('a'), tool('b')] : [];
    const whole = await client.responses.create({ model: 'm', input, tools, ...sealed });
    const stream = client.responses.stream({ model: 'm', input, tools, ...sealed });
    const numbers: number[] = [];
    for await (const event of stream) numbers.push(event.sequence_number);
    const streamed = await stream.finalResponse();
    expect(numbers).toEqual(numbers.map((_, i) => i));
    const said = ({ output }: { output: OpenAI.Responses.ResponseOutputItem[] }) =>
      output.map((item) => [
        item.type,
        'arguments' in item ? item.arguments : JSON.stringify(item).length > 0,
      ]);
    expect(said(streamed)).toEqual(said(whole));
    expect(streamed.output_text).toBe(whole.output_text);
    expect(streamed.usage).toEqual(whole.usage);
  });

  test('an error in the middle is an error of the client, a cut is no answer', async () => {
    const failing = client.responses.stream({ model: 'm', input: 'sim: error_after=3' });
    await expect(failing.finalResponse()).rejects.toThrow();
    const cut = client.responses.stream({ model: 'm', input: 'sim: cut_after=3' });
    const reply = await cut.finalResponse().catch(() => null);
    expect(reply?.status ?? 'none').not.toBe('completed');
  });
});
