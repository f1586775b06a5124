// The newest official clients with all that they do by themselves (stream helpers, parsers, tool runners), and the
// frameworks over them, before every family of provider: what answers is nothing that they could notice.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI } from '@langchain/openai';
import { embedMany, generateObject, generateText, Output, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { zodFunction, zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { families, type Served, useFamilies } from './families.ts';
import { svcOf } from './gateway.ts';

const gateway = useFamilies();
// It warns of each model that it does not know by name.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

const City = z.object({ city: z.string() });
const River = z.object({ name: z.string(), length_km: z.number().int() });
const WEATHER = 'Weather of a city';
const ask = (content: string) => [{ role: 'user' as const, content }];

const openai = (at: Served) => new OpenAI({ baseURL: `${at.base_url}/v1`, apiKey: at.key, maxRetries: 0 });
const anthropic = (at: Served, by: typeof fetch = fetch) =>
  new Anthropic({ baseURL: at.base_url, apiKey: at.key, maxRetries: 0, fetch: by });
const ai = {
  chat: (at: Served, model: string) =>
    createOpenAI({ baseURL: `${at.base_url}/v1`, apiKey: at.key }).chat(model),
  responses: (at: Served, model: string) =>
    createOpenAI({ baseURL: `${at.base_url}/v1`, apiKey: at.key }).responses(model),
  messages: (at: Served, model: string) =>
    createAnthropic({ baseURL: `${at.base_url}/v1`, apiKey: at.key })(model),
  compatible: (at: Served, model: string) =>
    createOpenAICompatible({
      name: 'svc',
      baseURL: `${at.base_url}/v1`,
      apiKey: at.key,
      includeUsage: true,
      supportsStructuredOutputs: true,
    })(model),
};

const tools = {
  get_weather: tool({
    description: WEATHER,
    inputSchema: City,
    execute: async ({ city }) => `rain in ${city}`,
  }),
};

describe.each(families)('before %s', (family) => {
  const at = () => gateway().served(family);

  describe('openai', () => {
    test('the stream helper of chat ends with text, usage and cost', async () => {
      const stream = openai(at()).chat.completions.stream({
        model: at().text,
        messages: ask('Say something.'),
        stream_options: { include_usage: true },
      });
      let text = '';
      stream.on('content', (piece) => {
        text += piece;
      });
      const completion = await stream.finalChatCompletion();
      expect(text).toMatch(/lorem/);
      expect(completion.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: text } });
      expect((await stream.totalUsage()).completion_tokens).toBeGreaterThan(0);
      expect(svcOf(completion).cost?.total_micro_usd).toBeGreaterThan(0);
    });

    test.each([false, true])(
      'the tool runner runs until the model has said its word (stream %s)',
      async (stream) => {
        const asked: string[] = [];
        const tools = [
          zodFunction({
            name: 'get_weather',
            description: WEATHER,
            parameters: City,
            function: ({ city }) => {
              asked.push(city);
              return `rain in ${city}`;
            },
          }),
        ];
        const body = { model: at().tools, messages: ask('How is the weather?'), tools };
        const runner = stream
          ? openai(at()).chat.completions.runTools({ ...body, stream: true })
          : openai(at()).chat.completions.runTools(body);
        expect(await runner.finalContent()).toMatch(/\w/);
        expect(asked).toHaveLength(1);
        expect(runner.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
      },
    );

    test('a parsed answer, whole and streamed', async () => {
      const body = {
        model: at().json,
        messages: ask('Describe a river.'),
        response_format: zodResponseFormat(River, 'river'),
      };
      const whole = await openai(at()).chat.completions.parse(body);
      expect(River.parse(whole.choices[0]?.message.parsed)).toBeDefined();
      const streamed = await openai(at()).chat.completions.stream(body).finalChatCompletion();
      expect(River.parse(streamed.choices[0]?.message.parsed)).toBeDefined();
    });

    test('the stream helper of responses: text, then a call that is answered', async () => {
      const { responses } = openai(at());
      const said = await responses.stream({ model: at().text, input: 'Say something.' }).finalResponse();
      expect(said).toMatchObject({ status: 'completed', output_text: expect.stringMatching(/lorem/) });
      const tools = [
        {
          ...{ type: 'function' as const, name: 'get_weather', description: WEATHER, strict: true },
          parameters: z.toJSONSchema(City) as Record<string, unknown>,
        },
      ];
      const input = ask('How is the weather?');
      const first = await responses.stream({ model: at().tools, input, tools }).finalResponse();
      const call = first.output.find((item) => item.type === 'function_call');
      expect(City.parse(call?.parsed_arguments)).toBeDefined();
      const output = { type: 'function_call_output' as const, call_id: call?.call_id ?? '', output: 'rain' };
      const second = await responses
        .stream({ model: at().tools, tools, input: [...input, ...(first.output as never[]), output] })
        .finalResponse();
      expect(second.output_text).toMatch(/\w/);
    });

    test('input tokens are counted', async () => {
      const { inputTokens } = openai(at()).responses;
      const counted = await inputTokens.count({ model: at().text, input: 'How many are these?' });
      expect(counted).toMatchObject({ object: 'response.input_tokens' });
      expect(counted.input_tokens).toBeGreaterThan(0);
    });

    test('a parsed response', async () => {
      const body = {
        model: at().json,
        input: 'Describe a river.',
        text: { format: zodTextFormat(River, 'r') },
      };
      expect(River.parse((await openai(at()).responses.parse(body)).output_parsed)).toBeDefined();
    });
  });

  describe('anthropic', () => {
    test('the stream helper ends with text, usage and our part', async () => {
      const stream = anthropic(at()).messages.stream({
        model: at().text,
        max_tokens: 400,
        messages: ask('Say something.'),
      });
      let text = '';
      stream.on('text', (piece) => {
        text += piece;
      });
      const message = await stream.finalMessage();
      expect(text).toMatch(/lorem/);
      expect(message.content).toMatchObject([{ type: 'text', text }]);
      expect(message.usage.output_tokens).toBeGreaterThan(0);
      expect(svcOf(message).request_id).toBe(message.id);
    });

    test('tokens are counted, beta or not', async () => {
      const { messages, beta } = anthropic(at());
      const body = { model: at().text, messages: ask('How many are these?') };
      const counted = await messages.countTokens(body);
      expect(counted.input_tokens).toBeGreaterThan(0);
      expect((await beta.messages.countTokens(body)).input_tokens).toBe(counted.input_tokens);
    });

    test('a parsed message', async () => {
      const message = await anthropic(at()).messages.parse({
        model: at().json,
        max_tokens: 400,
        messages: ask('Describe a river.'),
        output_config: { format: zodOutputFormat(River) },
      });
      expect(River.parse(message.parsed_output)).toBeDefined();
    });

    test.each([
      { stream: false, threads: 'as it comes' },
      { stream: true, threads: 'as it comes' },
      { stream: false, threads: 'off' },
    ])('the tool runner runs to the end (stream $stream, threads $threads)', async ({ stream, threads }) => {
      const asked: string[] = [];
      const get_weather = betaZodTool({
        name: 'get_weather',
        description: WEATHER,
        inputSchema: City,
        run: ({ city }) => {
          asked.push(city);
          return `rain in ${city}`;
        },
      });
      const body = {
        model: at().tools,
        max_tokens: 400,
        messages: ask('How is the weather?'),
        tools: [get_weather],
        ...(threads === 'off' ? { thread: false as const } : {}),
      };
      // What went over the wire: [whether it named a thread, the status that it got].
      const sent: [boolean, number][] = [];
      const { messages } = anthropic(at(), async (url, init) => {
        const reply = await fetch(url, init);
        sent.push(['thread' in JSON.parse(String(init?.body)), reply.status]);
        return reply;
      }).beta;
      const runner = stream
        ? messages.toolRunner({ ...body, stream: true })
        : messages.toolRunner({ ...body, stream: false });
      const message = await runner.runUntilDone();
      expect(asked).toHaveLength(1);
      // Threads are refused so that the client goes on without by itself, once and for all.
      const refused: [boolean, number][] = threads === 'off' ? [] : [[true, 400]];
      expect(sent).toEqual([...refused, [false, 200], [false, 200]]);
      expect(message.stop_reason).toBe('end_turn');
      expect(message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')).toMatch(
        /\w/,
      );
    });
  });

  describe.each(Object.entries(ai))('AI SDK, %s', (_, provider) => {
    test('several steps with tools, whole and streamed', async () => {
      const options = {
        ...{ model: provider(at(), at().tools), prompt: 'How is the weather?', maxOutputTokens: 400 },
        ...{ tools, stopWhen: stepCountIs(3), maxRetries: 0 },
      };
      const whole = await generateText(options);
      expect(whole.steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
      expect(whole.text).toMatch(/\w/);
      const streamed = streamText({ ...options, onError: () => {} });
      let text = '';
      for await (const piece of streamed.textStream) text += piece;
      expect((await streamed.steps).map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
      expect(text).toMatch(/\w/);
      expect((await streamed.totalUsage).outputTokens).toBeGreaterThan(0);
    });

    test('an object, in both ways of asking for one', async () => {
      const options = {
        ...{ model: provider(at(), at().json), prompt: 'Describe a river.' },
        ...{ maxOutputTokens: 400, maxRetries: 0 },
      };
      const { object } = await generateObject({ ...options, schema: River });
      expect(River.parse(object)).toBeDefined();
      const { output } = await generateText({ ...options, output: Output.object({ schema: River }) });
      expect(River.parse(output)).toBeDefined();
    });
  });

  describe.each([
    [
      'chat',
      (model: string) =>
        new ChatOpenAI({
          ...{ model, apiKey: at().key, maxRetries: 0, maxTokens: 400 },
          configuration: { baseURL: `${at().base_url}/v1` },
        }),
    ],
    [
      'responses',
      (model: string) =>
        new ChatOpenAI({
          ...{ model, apiKey: at().key, maxRetries: 0, maxTokens: 400, useResponsesApi: true },
          configuration: { baseURL: `${at().base_url}/v1` },
        }),
    ],
    [
      'messages',
      (model: string) =>
        new ChatAnthropic({
          ...{ model, apiKey: at().key, maxRetries: 0, maxTokens: 400, anthropicApiUrl: at().base_url },
        }),
    ],
  ] as const)('LangChain, %s', (_, chat) => {
    const get_weather = {
      type: 'function' as const,
      function: { name: 'get_weather', description: WEATHER, parameters: z.toJSONSchema(City) },
    };

    test('a call, its result, a stream of the last word', async () => {
      const model = chat(at().tools).bindTools([get_weather]);
      const first = await model.invoke([['user', 'How is the weather?']]);
      const [call] = first.tool_calls ?? [];
      expect(City.parse(call?.args)).toBeDefined();
      let text = '';
      const turns = [
        ['user', 'How is the weather?'] as [string, string],
        first,
        { role: 'tool', content: 'rain', tool_call_id: call?.id ?? '' },
      ];
      for await (const chunk of await model.stream(turns)) text += chunk.text;
      expect(text).toMatch(/\w/);
    });

    test('a structured answer', async () => {
      const model = chat(at().json).withStructuredOutput(River, { method: 'jsonSchema' });
      expect(River.parse(await model.invoke('Describe a river.'))).toBeDefined();
    });
  });
});

// Not over the SDK's chats of OpenAI, which have no place for it, nor of the sandbox, whose models that call tools do not
// reason, nor of an upstream of responses, which tells it when asked.
const reasoning = families.filter((family) => family !== 'sandbox' && family !== 'responses');
describe.each(reasoning)('reasoning of %s', (family) => {
  test.each(['responses', 'messages', 'compatible'] as const)(
    'is shown beside a call by %s',
    async (name) => {
      const at = gateway().served(family);
      const streamed = streamText({
        ...{ model: ai[name](at, at.tools), prompt: 'How is the weather? sim: reasoning=4' },
        ...{ maxOutputTokens: 400, maxRetries: 0, tools, stopWhen: stepCountIs(3), onError: () => {} },
      });
      const steps = await streamed.steps;
      expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'stop']);
      expect(steps[0]?.reasoningText).toMatch(/\w/);
    },
  );
});

test('a provider with two APIs is called by the one that the client speaks', async () => {
  const client = openai(gateway().served('openai'));
  const model = 'fam/wires';
  const content = 'Hi mark=two-apis';
  for (let i = 0; i < 3; i++) {
    await client.chat.completions.create({ model, messages: ask(content), max_tokens: 20 });
    await client.responses.create({ model, input: content, max_output_tokens: 20 });
  }
  const calls = gateway().sim.calls.filter(({ mark }) => mark === 'two-apis');
  const wires = ['openai', 'responses'];
  expect(calls.map(({ family }) => family)).toEqual([...wires, ...wires, ...wires]);
});

test('vectors by the AI SDK and by the official client', async () => {
  const at = gateway().served('openai');
  const provider = createOpenAI({ baseURL: `${at.base_url}/v1`, apiKey: at.key });
  const { embeddings, usage } = await embedMany({
    model: provider.embedding('fam/openai-embed'),
    values: ['green apple', 'red car'],
  });
  expect(embeddings).toHaveLength(2);
  expect(usage.tokens).toBeGreaterThan(0);
  const reply = await openai(at).embeddings.create({ model: 'fam/openai-embed', input: 'green apple' });
  expect(reply.data[0]?.embedding).toHaveLength(embeddings[0]?.length ?? 0);
  expect(reply.data[0]?.embedding[0]).toBeCloseTo(embeddings[0]?.[0] ?? Number.NaN, 5);
});
