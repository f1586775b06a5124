// The official client against the simulator: whole and streamed answers in the shapes of the provider.
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type Sim, startOpenAiSim } from '../index.ts';

let sim: Sim;
let client: OpenAI;

beforeAll(async () => {
  sim = await startOpenAiSim({ keys: ['sk-right'] });
  client = new OpenAI({ apiKey: 'sk-right', baseURL: `${sim.url}/v1`, maxRetries: 0 });
});
afterEach(() => sim.reset());
afterAll(() => sim.close());

const user = (content: string) => [{ role: 'user' as const, content }];
const tool = (name: string) => ({
  type: 'function' as const,
  function: {
    name,
    parameters: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } },
  },
});

describe('whole answers', () => {
  test('a plain answer has text, finish and usage that fit each other', async () => {
    const reply = await client.chat.completions.create({ model: 'gpt-sim', messages: user('hello mark=w1') });
    expect(reply.object).toBe('chat.completion');
    expect(reply.choices[0]?.message.content).toMatch(/^lorem ipsum /);
    expect(reply.choices[0]?.finish_reason).toBe('stop');
    expect(reply.usage).toMatchObject({ prompt_tokens: 4, completion_tokens: 16, total_tokens: 20 });
    expect(sim.calls).toMatchObject([
      {
        n: 1,
        mark: 'w1',
        model: 'gpt-sim',
        stream: false,
        status: 200,
        finished: true,
        tokens_delivered: 16,
      },
    ]);
    expect(sim.calls[0]?.key_hint).toBe('ight');
  });

  test('the cap, stop sequences and n are obeyed; ignore_cap does not', async () => {
    const ask = (text: string, more: object) =>
      client.chat.completions.create({ model: 'm', messages: user(text), ...more });
    const capped = await ask('x', { max_completion_tokens: 3 });
    expect(capped.choices[0]).toMatchObject({
      finish_reason: 'length',
      message: { content: 'lorem ipsum dolor ' },
    });
    expect(capped.usage?.completion_tokens).toBe(3);
    const ignored = await ask('sim: ignore_cap=1', { max_tokens: 3 });
    expect(ignored.usage?.completion_tokens).toBe(16);
    const stopped = await ask('x', { stop: ['dolor', 'magna'] });
    expect(stopped.choices[0]?.message.content).toBe('lorem ipsum ');
    const several = await ask('x', { n: 3 });
    expect(several.choices).toHaveLength(3);
    expect(several.usage?.completion_tokens).toBe(48);
  });

  test('tools are called in parallel, results are answered, a format is kept', async () => {
    const tools = [tool('get_weather'), tool('get_time')];
    const called = await client.chat.completions.create({
      model: 'm',
      messages: user('sim: tools=2'),
      tools,
    });
    const calls = called.choices[0]?.message.tool_calls ?? [];
    expect(called.choices[0]?.finish_reason).toBe('tool_calls');
    expect(calls.map((call) => (call.type === 'function' ? call.function.name : ''))).toEqual([
      'get_weather',
      'get_time',
    ]);
    expect(
      calls.map((call) => (call.type === 'function' ? JSON.parse(call.function.arguments) : null)),
    ).toEqual([
      { city: 'Grüße 🌍', days: 7 },
      { city: 'Grüße 🌍', days: 7 },
    ]);
    const results = calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: '7 C' }));
    const messages = [...user('weather?'), called.choices[0]!.message, ...results];
    const answered = await client.chat.completions.create({ model: 'm', messages, tools });
    expect(answered.choices[0]?.message.content).toMatch(/^lorem/);
    const format = zodResponseFormat(z.object({ n: z.number() }), 'answer');
    const shaped = await client.chat.completions.parse({
      model: 'm',
      messages: user('x'),
      response_format: format,
    });
    expect(shaped.choices[0]?.message.parsed).toEqual({ n: 1.5 });
  });

  test('images are counted, and cached and reasoning tokens are reported', async () => {
    const content = [
      { type: 'text' as const, text: 'sim: cached=50 reasoning=9' },
      { type: 'image_url' as const, image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
    ];
    const reply = await client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content }] });
    expect(reply.usage?.prompt_tokens).toBe(Math.ceil(26 / 4) + 85);
    expect(reply.usage?.prompt_tokens_details?.cached_tokens).toBe(50);
    expect(reply.usage?.completion_tokens_details?.reasoning_tokens).toBe(9);
    expect(reply.usage?.completion_tokens).toBe(25);
    expect(reply.choices[0]?.message).toHaveProperty('reasoning_content');
  });
});

describe('streams', () => {
  test('the stream class puts together what a whole answer says', async () => {
    for (const text of [
      'plain',
      'sim: reasoning=5',
      'sim: tools=2',
      'sim: chunks=3 tokens=50',
      'sim: refusal=1',
    ]) {
      const body = {
        model: 'm',
        messages: user(text),
        tools: text.includes('tools') ? [tool('a'), tool('b')] : [],
      };
      const options = { stream_options: { include_usage: true } };
      const whole = await client.chat.completions.create(body);
      const streamed = await client.chat.completions.stream({ ...body, ...options }).finalChatCompletion();
      const [left, right] = [whole.choices[0]!, streamed.choices[0]!];
      expect(right.finish_reason).toBe(left.finish_reason);
      expect(right.message.content ?? '').toBe(left.message.content ?? '');
      expect(right.message.refusal ?? null).toBe(left.message.refusal ?? null);
      const callsOf = (choice: typeof left) =>
        (choice.message.tool_calls ?? []).map((call) =>
          call.type === 'function' ? call.function.arguments : '',
        );
      expect(callsOf(right)).toEqual(callsOf(left));
      expect(streamed.usage).toEqual(whole.usage);
    }
  });

  test('order: role, content, finish, usage without choices; usage only when asked for', async () => {
    const chunks = [];
    const body = { model: 'm', messages: user('sim: tokens=3'), stream: true as const };
    for await (const chunk of await client.chat.completions.create({
      ...body,
      stream_options: { include_usage: true },
    })) {
      chunks.push(chunk);
    }
    expect(chunks.map(({ choices }) => choices[0]?.delta)).toEqual([
      { role: 'assistant', content: '', refusal: null },
      { content: 'lorem ' },
      { content: 'ipsum ' },
      { content: 'dolor ' },
      {},
      undefined,
    ]);
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
    expect(chunks.at(-1)?.usage?.completion_tokens).toBe(3);
    for await (const chunk of await client.chat.completions.create(body))
      expect(chunk).not.toHaveProperty('usage');
    expect(sim.calls).toMatchObject([
      { tokens_delivered: 3, finished: true },
      { tokens_delivered: 3, finished: true },
    ]);
  });

  test('a caller that leaves is recorded with what it was given', async () => {
    const text = 'sim: tokens=200 chunk_ms=5 mark=left';
    const stream = await client.chat.completions.create({ model: 'm', messages: user(text), stream: true });
    let seen = 0;
    for await (const _ of stream) if (++seen === 5) break;
    await expect.poll(() => sim.calls[0]?.ended_ms).toBeTypeOf('number');
    expect(sim.calls[0]).toMatchObject({ client_gone: true, finished: false, mark: 'left' });
    expect(sim.calls[0]?.tokens_delivered).toBeGreaterThanOrEqual(4);
    expect(sim.calls[0]?.tokens_delivered).toBeLessThan(200);
    expect(sim.stats().open_streams).toBe(0);
  });
});

describe('refusals', () => {
  test('a wrong or missing key is 401', async () => {
    const wrong = new OpenAI({ apiKey: 'sk-wrong', baseURL: `${sim.url}/v1`, maxRetries: 0 });
    await expect(wrong.chat.completions.create({ model: 'm', messages: user('x') })).rejects.toMatchObject({
      status: 401,
      code: 'invalid_api_key',
    });
    expect((await fetch(`${sim.url}/v1/chat/completions`, { method: 'POST', body: '{}' })).status).toBe(401);
    expect(sim.calls).toHaveLength(0);
  });

  test('a bad request, an unknown model and a misspelt knob are reported as the provider would', async () => {
    const ask = (body: object) =>
      client.chat.completions.create({ model: 'm', messages: user('x'), ...body } as never);
    await expect(ask({ messages: [] })).rejects.toMatchObject({ status: 400, param: 'messages' });
    await expect(ask({ model: 'missing-1' })).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
    await expect(ask({ messages: user('sim: statsu=500') })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("unknown knob 'statsu'"),
    });
  });
});
