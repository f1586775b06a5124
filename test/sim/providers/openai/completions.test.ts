// The official client against the simulator's completions path: it must be able to read every answer.
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sim, startOpenAiSim } from '../index.ts';

let sim: Sim;
let client: OpenAI;

beforeAll(async () => {
  sim = await startOpenAiSim({ keys: ['sk-right'] });
  client = new OpenAI({ apiKey: 'sk-right', baseURL: `${sim.url}/v1`, maxRetries: 0 });
});
afterAll(() => sim.close());

test('every prompt has n choices, echo repeats it, and usage counts what best_of made', async () => {
  const prompt = ['one', 'two'];
  const reply = await client.completions.create({
    model: 'base',
    prompt,
    n: 2,
    best_of: 3,
    echo: true,
    max_tokens: 2,
  });
  expect(reply.choices.map(({ index, text, finish_reason }) => [index, text, finish_reason])).toEqual([
    [0, 'onelorem ipsum ', 'length'],
    [1, 'onelorem ipsum ', 'length'],
    [2, 'twolorem ipsum ', 'length'],
    [3, 'twolorem ipsum ', 'length'],
  ]);
  expect(reply.usage).toMatchObject({ prompt_tokens: 2, completion_tokens: 12, total_tokens: 14 });
});

test('a stream adds up to the answer, log probabilities by place in the text', async () => {
  const stream = await client.completions.create({
    ...{ model: 'base', prompt: [5, 6], echo: true, logprobs: 1, max_tokens: 2 },
    ...{ stream: true, stream_options: { include_usage: true } },
  });
  let text = '';
  let total = 0;
  for await (const chunk of stream) {
    for (const choice of chunk.choices) {
      if (choice.text !== '') expect(choice.logprobs?.text_offset).toEqual([text.length]);
      text += choice.text;
    }
    total = chunk.usage?.total_tokens ?? total;
  }
  expect([text, total]).toEqual(['<5><6>lorem ipsum ', 4]);
});

test.each([
  [{ prompt: [1, 'a'] }, 'prompt'],
  [{ prompt: [] }, 'prompt'],
  [{ prompt: 'a', svc: {} }, 'svc'],
  [{ prompt: 'a', n: 2, best_of: 1 }, 'best_of'],
  [{ prompt: 'a', best_of: 2, stream: true }, 'best_of'],
  [{ prompt: 'a', stream_options: { include_usage: true } }, 'stream_options'],
])('what the provider refuses is refused: %j', async (more, param) => {
  const asked = client.post('/completions', { body: { model: 'base', ...more } });
  await expect(asked).rejects.toMatchObject({ status: 400, param });
});
