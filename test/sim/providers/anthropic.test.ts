// The official client against the simulator: whole and streamed answers in the shapes of the provider.
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Sim, startAnthropicSim } from './index.ts';

let sim: Sim;
let client: Anthropic;

beforeAll(async () => {
  sim = await startAnthropicSim({ keys: ['sk-ant'] });
  client = new Anthropic({ apiKey: 'sk-ant', baseURL: sim.url, maxRetries: 0 });
});
afterEach(() => sim.reset());
afterAll(() => sim.close());

const body = (text: string, more: object = {}) => ({
  model: 'claude-sim',
  max_tokens: 2_000,
  messages: [{ role: 'user' as const, content: text }],
  ...more,
});
const tool = (name: string) => ({
  name,
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
});

describe('answers', () => {
  test('a plain answer has text, stop reason and usage', async () => {
    const reply = await client.messages.create(body('hello mark=a1'));
    expect(reply).toMatchObject({
      type: 'message',
      role: 'assistant',
      stop_reason: 'end_turn',
      stop_sequence: null,
    });
    expect(reply.content[0]).toMatchObject({ type: 'text', text: expect.stringMatching(/^lorem ipsum /) });
    expect(reply.usage).toMatchObject({ input_tokens: 4, output_tokens: 16, cache_read_input_tokens: 0 });
    expect(sim.calls).toMatchObject([
      { mark: 'a1', finished: true, tokens_delivered: 16, family: 'anthropic' },
    ]);
    expect(sim.calls[0]?.headers['anthropic-version']).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  });

  test('the stream class puts together what a whole answer says', async () => {
    const asked = [
      body('plain'),
      body('sim: tools=2', { tools: [tool('a'), tool('b')] }),
      body('think', { thinking: { type: 'enabled', budget_tokens: 1_024 } }),
      body('short', { max_tokens: 3 }),
      body('stop', { stop_sequences: ['dolor'] }),
      body('sim: cached=1 written=1 over_report=100'),
      body('sim: refusal=1'),
    ];
    for (const each of asked) {
      const whole = await client.messages.create(each);
      const streamed = await client.messages.stream(each).finalMessage();
      // Ids hold the number of the call.
      const named = whole.content.map((block) =>
        'id' in block ? { ...block, id: expect.any(String) } : block,
      );
      expect(streamed.content).toMatchObject(named);
      expect(streamed.stop_reason).toBe(whole.stop_reason);
      expect(streamed.stop_sequence).toBe(whole.stop_sequence);
      expect(streamed.usage).toMatchObject({ ...whole.usage });
    }
  });

  test('a thought carries a signature: sent back whole it is taken, changed it is refused', async () => {
    const thinking = { thinking: { type: 'enabled', budget_tokens: 1_024 } };
    const { content } = await client.messages.stream(body('think', thinking)).finalMessage();
    const [thought] = content;
    if (thought?.type !== 'thinking') throw new Error('no thought');
    const again = (block: typeof thought) =>
      client.messages.create({
        ...body('x'),
        messages: [
          { role: 'user', content: 'think' },
          { role: 'assistant', content: [block, { type: 'text', text: 'so' }] },
          { role: 'user', content: 'and?' },
        ],
      });
    expect((await again(thought)).stop_reason).toBe('end_turn');
    await expect(again({ ...thought, thinking: `${thought.thinking}!` })).rejects.toMatchObject({
      status: 400,
    });
    await expect(again({ ...thought, signature: '' })).rejects.toMatchObject({ status: 400 });
  });

  test('events come in the order of the provider', async () => {
    const types: string[] = [];
    const stream = await client.messages.create({ ...body('sim: tokens=2'), stream: true });
    for await (const event of stream) types.push(event.type);
    expect(types).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    const raw = await fetch(`${sim.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'sk-ant', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ ...body('x'), stream: true }),
    });
    expect(await raw.text()).toContain('event: ping\ndata: {"type":"ping"}\n\n');
  });

  test('tokens are counted free of a record', async () => {
    const { input_tokens } = await client.messages.countTokens({
      model: 'm',
      messages: [{ role: 'user', content: 'x'.repeat(400) }],
    });
    expect(input_tokens).toBeGreaterThanOrEqual(100);
    expect(sim.calls).toHaveLength(0);
  });
});

describe('refusals', () => {
  test('a wrong key, a missing version and a bad body are reported as the provider would', async () => {
    const wrong = new Anthropic({ apiKey: 'no', baseURL: sim.url, maxRetries: 0 });
    await expect(wrong.messages.create(body('x'))).rejects.toMatchObject({
      status: 401,
      type: 'authentication_error',
    });
    const headers = { authorization: 'Bearer sk-ant' };
    const bare = await fetch(`${sim.url}/v1/messages`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body('x')),
    });
    expect(bare.status).toBe(400);
    expect(await bare.text()).toContain('anthropic-version');
    await expect(
      client.messages.create({ ...body('x'), max_tokens: undefined } as never),
    ).rejects.toMatchObject({ status: 400 });
    const orphan = [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a b', content: 'x' }] }];
    await expect(client.messages.create(body('x', { messages: orphan }))).rejects.toMatchObject({
      status: 400,
    });
  });

  test('statuses and in-stream errors have the provider’s types', async () => {
    await expect(client.messages.create(body('sim: status=529'))).rejects.toMatchObject({
      status: 529,
      type: 'overloaded_error',
    });
    await expect(client.messages.stream(body('sim: error_after=2')).finalMessage()).rejects.toMatchObject({
      type: 'overloaded_error',
    });
  });
});
