// LangChain over both dialects.
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI } from '@langchain/openai';
import { describe, expect, test } from 'vitest';
import { useGateway } from './gateway.ts';

const gateway = useGateway();
const openai = (model: string) =>
  new ChatOpenAI({
    model,
    apiKey: gateway().sandbox_key,
    maxRetries: 0,
    maxTokens: 200,
    configuration: { baseURL: `${gateway().base_url}/v1` },
  });
const anthropic = (model: string) =>
  new ChatAnthropic({
    model,
    apiKey: gateway().sandbox_key,
    maxRetries: 0,
    maxTokens: 200,
    anthropicApiUrl: gateway().base_url,
  });

const tools = [
  {
    type: 'function' as const,
    function: {
      name: 'get_weather',
      description: 'Weather of a city',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
];

describe.each([
  ['chat completions', openai],
  ['messages', anthropic],
] as const)('over %s', (_, model) => {
  test('an answer has content and usage', async () => {
    const reply = await model('sandbox/echo').invoke('rain on the river');
    expect(reply.text).toContain('rain on the river');
    expect((reply.usage_metadata as { output_tokens: number } | undefined)?.output_tokens).toBeGreaterThan(0);
  });

  test('a stream adds up to the answer', async () => {
    let text = '';
    for await (const chunk of await model('sandbox/echo').stream('a stream of rain')) text += chunk.text;
    expect(text).toContain('a stream of rain');
  });

  test('a bound tool is called with arguments that fit', async () => {
    const reply = await model('sandbox/tools').bindTools(tools).invoke('How is the weather?');
    expect(reply.tool_calls?.[0]?.name).toBe('get_weather');
    expect(reply.tool_calls?.[0]?.args).toHaveProperty('city');
  });
});
