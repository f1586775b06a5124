// The official OpenAI client's older method, with nothing changed but base URL and key.
import OpenAI, { APIError } from 'openai';
import { expect, test } from 'vitest';
import { svcOf, useGateway } from './gateway.ts';

const gateway = useGateway();
const client = () =>
  new OpenAI({ baseURL: `${gateway().base_url}/v1`, apiKey: gateway().sandbox_key, maxRetries: 0 });

test('an answer has text, usage and the settled cost', async () => {
  const reply = await client().completions.create({
    model: 'sandbox/echo',
    prompt: 'rain on the river',
    max_tokens: 20,
  });
  expect(reply.object).toBe('text_completion');
  expect(reply.choices[0]).toMatchObject({ index: 0, text: 'rain on the river', finish_reason: 'stop' });
  expect(reply.usage?.completion_tokens).toBeGreaterThan(0);
  expect(svcOf(reply).cost?.total_micro_usd).toBeGreaterThan(0);
  expect(reply._request_id).toBe(reply.id);
});

test('several answers, a cap and a stop keep their meaning', async () => {
  const reply = await client().completions.create({
    model: 'sandbox/lorem',
    prompt: 'x',
    n: 2,
    max_tokens: 3,
  });
  expect(reply.choices.map(({ index, finish_reason }) => [index, finish_reason])).toEqual([
    [0, 'length'],
    [1, 'length'],
  ]);
  const stopped = await client().completions.create({ model: 'sandbox/lorem', prompt: 'x', stop: ['dolor'] });
  expect(stopped.choices[0]).toMatchObject({
    text: expect.not.stringContaining('dolor'),
    finish_reason: 'stop',
  });
});

test('the chunks of a stream add up to the answer, with usage where it is asked for', async () => {
  const stream = await client().completions.create({
    model: 'sandbox/echo',
    prompt: 'a stream of rain',
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = '';
  let finish: string | null = null;
  const usages: number[] = [];
  let cost = 0;
  for await (const chunk of stream) {
    expect(chunk.object).toBe('text_completion');
    text += chunk.choices[0]?.text ?? '';
    finish = chunk.choices[0]?.finish_reason ?? finish;
    if (chunk.usage) usages.push(chunk.usage.total_tokens);
    if ('svc' in chunk) cost = svcOf(chunk).cost?.total_micro_usd ?? 0;
  }
  expect([text, finish, usages.length]).toEqual(['a stream of rain', 'stop', 1]);
  expect(cost).toBeGreaterThan(0);
});

test('an error in mid-stream is raised, not swallowed', async () => {
  const stream = await client().completions.create({ model: 'sandbox/error-mid', prompt: 'x', stream: true });
  const read = async () => {
    for await (const chunk of stream) expect(chunk.choices).toBeDefined();
  };
  await expect(read()).rejects.toBeInstanceOf(APIError);
});

test('what no model that answers messages can do is refused by name', async () => {
  const asked = client().completions.create({ model: 'sandbox/echo', prompt: 'x', echo: true });
  await expect(asked).rejects.toMatchObject({ status: 400, code: 'unsupported_parameter', param: 'echo' });
});
