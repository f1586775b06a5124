// The Vercel AI SDK over each dialect that it speaks.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, jsonSchema, streamText, type Tool, tool } from 'ai';
import { describe, expect, test } from 'vitest';
import { useGateway } from './gateway.ts';

const gateway = useGateway();
const options = () => ({ baseURL: `${gateway().base_url}/v1`, apiKey: gateway().sandbox_key });
const providers = {
  'chat completions': (model: string) => createOpenAI(options()).chat(model),
  messages: (model: string) => createAnthropic(options())(model),
  responses: (model: string) => createOpenAI(options()).responses(model),
};

const get_weather: Tool<{ city: string }> = tool({
  description: 'Weather of a city',
  inputSchema: jsonSchema<{ city: string }>({
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  }),
});

describe.each(Object.entries(providers))('over %s', (_, model) => {
  test('a text is generated with usage', async () => {
    const { text, usage, finishReason } = await generateText({
      model: model('sandbox/echo'),
      prompt: 'rain on the river',
      maxOutputTokens: 100,
    });
    expect(text).toContain('rain on the river');
    expect(finishReason).toBe('stop');
    expect(usage.outputTokens).toBeGreaterThan(0);
  });

  test('a stream adds up to the text and ends with usage', async () => {
    const result = streamText({
      model: model('sandbox/echo'),
      prompt: 'a stream of rain',
      maxOutputTokens: 100,
    });
    let text = '';
    for await (const piece of result.textStream) text += piece;
    expect(text).toContain('a stream of rain');
    expect(await result.finishReason).toBe('stop');
    expect((await result.usage).outputTokens).toBeGreaterThan(0);
  });

  test('a tool is called with input that fits', async () => {
    const { toolCalls, finishReason } = await generateText({
      model: model('sandbox/tools'),
      prompt: 'How is the weather?',
      maxOutputTokens: 200,
      tools: { get_weather },
    });
    expect(finishReason).toBe('tool-calls');
    expect(toolCalls[0]?.toolName).toBe('get_weather');
    expect(toolCalls[0]?.input).toHaveProperty('city');
  });

  test('an error inside a stream reaches the caller', async () => {
    const faults: unknown[] = [];
    const result = streamText({
      model: model('sandbox/error-mid'),
      prompt: 'break in the middle',
      maxOutputTokens: 100,
      maxRetries: 0,
      onError: ({ error }) => {
        faults.push(error);
      },
    });
    await result.consumeStream();
    expect(faults).toHaveLength(1);
  });
});
