// The official client against the simulator: its signature is accepted, its parser reads our events.
import {
  BedrockRuntimeClient,
  ConverseCommand,
  type ConverseCommandInput,
  ConverseStreamCommand,
  type ConverseStreamOutput,
  CountTokensCommand,
} from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Sim, startBedrockSim } from '../index.ts';

const account = { access_key_id: 'AKIASIMULATED', secret: 'sim/secret+one', session_token: 'session==' };
const REGION = 'eu-central-1';
let sim: Sim;

beforeAll(async () => {
  sim = await startBedrockSim({ accounts: [account], api_keys: ['bedrock-api-key-one'], region: REGION });
});
afterEach(() => sim.reset());
afterAll(() => sim.close());

function clientOf(secret = account.secret, region = REGION): BedrockRuntimeClient {
  return new BedrockRuntimeClient({
    endpoint: sim.url,
    region,
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler(),
    credentials: {
      accessKeyId: account.access_key_id,
      secretAccessKey: secret,
      sessionToken: account.session_token,
    },
  });
}

const ask = (text: string, more: Partial<ConverseCommandInput> = {}): ConverseCommandInput => ({
  modelId: 'eu.anthropic.claude-sim-v1:0',
  messages: [{ role: 'user', content: [{ text }] }],
  ...more,
});

async function streamed(input: ConverseCommandInput): Promise<ConverseStreamOutput[]> {
  const { stream } = await clientOf().send(new ConverseStreamCommand(input));
  const events: ConverseStreamOutput[] = [];
  for await (const event of stream ?? []) events.push(event);
  return events;
}

const toolConfig = {
  tools: [
    {
      toolSpec: {
        name: 'find',
        inputSchema: { json: { type: 'object', properties: { city: { type: 'string' } } } },
      },
    },
  ],
};

describe('the official client', () => {
  test('tokens are counted without an answer, of models that have a count', async () => {
    const { modelId, messages } = ask('x'.repeat(400));
    const input = { converse: { messages } };
    const counted = await clientOf().send(new CountTokensCommand({ modelId, input }));
    expect(counted.inputTokens).toBe(100);
    const other = new CountTokensCommand({ modelId: 'amazon.nova-sim', input });
    await expect(clientOf().send(other)).rejects.toMatchObject({ name: 'ValidationException' });
    expect(sim.calls).toHaveLength(0);
  });

  test('reads a whole answer', async () => {
    const reply = await clientOf().send(
      new ConverseCommand(ask('hello sim: tokens=3 cached=1 written=2 mark=w')),
    );
    expect(reply.output?.message).toEqual({ role: 'assistant', content: [{ text: 'lorem ipsum dolor ' }] });
    expect(reply).toMatchObject({
      stopReason: 'end_turn',
      usage: { outputTokens: 3, cacheReadInputTokens: 1 },
    });
    expect(reply.usage?.cacheDetails).toEqual([{ ttl: '5m', inputTokens: 2 }]);
    expect(sim.calls).toMatchObject([{ mark: 'w', finished: true, model: 'eu.anthropic.claude-sim-v1:0' }]);
  });

  test('reads a stream, also in pieces of seven bytes', async () => {
    for (const split of [0, 7]) {
      const events = await streamed(ask(`hello sim: tokens=3 reasoning=2 split=${split}`));
      const deltas = events
        .map((event) => event.contentBlockDelta?.delta)
        .filter((delta) => delta !== undefined);
      expect(deltas.map((delta) => delta.text ?? '').join('')).toBe('lorem ipsum dolor ');
      expect(deltas[0]?.reasoningContent?.text).toBe('lorem ');
      expect(deltas[2]?.reasoningContent?.signature).toEqual(expect.any(String));
      expect(events[0]).toMatchObject({ messageStart: { role: 'assistant' } });
      expect(events.at(-2)).toMatchObject({ messageStop: { stopReason: 'end_turn' } });
      expect(events.at(-1)).toMatchObject({ metadata: { usage: { outputTokens: 5 } } });
    }
  });

  test('reads tool calls in both forms, and their results are taken back', async () => {
    const reply = await clientOf().send(new ConverseCommand(ask('call', { toolConfig })));
    const use = reply.output?.message?.content?.[0]?.toolUse;
    expect(use).toMatchObject({ name: 'find', input: { city: 'Grüße 🌍' } });
    expect(reply.stopReason).toBe('tool_use');
    const events = await streamed(ask('call', { toolConfig }));
    const input = events.map((event) => event.contentBlockDelta?.delta?.toolUse?.input ?? '').join('');
    expect(JSON.parse(input)).toEqual({ city: 'Grüße 🌍' });
    const again = await clientOf().send(
      new ConverseCommand({
        ...ask('call', { toolConfig }),
        messages: [
          { role: 'user', content: [{ text: 'call' }] },
          { role: 'assistant', content: [{ toolUse: use }] },
          {
            role: 'user',
            content: [{ toolResult: { toolUseId: use?.toolUseId, content: [{ text: 'ok' }] } }],
          },
        ] as NonNullable<ConverseCommandInput['messages']>,
      }),
    );
    expect(again.stopReason).toBe('end_turn');
  });

  test('reads an exception in the middle of a stream as its own error class', async () => {
    await expect(streamed(ask('sim: error_after=2'))).rejects.toMatchObject({
      name: 'ModelStreamErrorException',
    });
    await expect(streamed(ask('sim: error_after=2 code=throttlingException'))).rejects.toMatchObject({
      name: 'ThrottlingException',
    });
  });

  test('finds a damaged event by its checksum', async () => {
    await expect(streamed(ask('sim: garbage_after=2'))).rejects.toThrow(/checksum/i);
  });

  test('reads refusals as their own error classes', async () => {
    const refused = (words: string) => clientOf().send(new ConverseCommand(ask(`sim: ${words}`)));
    await expect(refused('status=429')).rejects.toMatchObject({ name: 'ThrottlingException' });
    await expect(refused('status=503')).rejects.toMatchObject({ name: 'ServiceUnavailableException' });
    await expect(refused('code=context_length_exceeded')).rejects.toMatchObject({
      name: 'ValidationException',
      message: 'Input is too long for requested model.',
    });
  });

  test('is refused with another secret, another region, or without a token', async () => {
    const send = (client: BedrockRuntimeClient) => client.send(new ConverseCommand(ask('hello')));
    await expect(send(clientOf('other'))).rejects.toMatchObject({ name: 'InvalidSignatureException' });
    await expect(send(clientOf(account.secret, 'us-east-1'))).rejects.toMatchObject({
      name: 'InvalidSignatureException',
    });
    expect(sim.calls).toEqual([]);
  });

  test('may use an API key instead', async () => {
    const client = new BedrockRuntimeClient({
      ...{ endpoint: sim.url, region: REGION, maxAttempts: 1, requestHandler: new NodeHttpHandler() },
      token: { token: 'bedrock-api-key-one' },
      authSchemePreference: ['httpBearerAuth'],
    });
    const reply = await client.send(new ConverseCommand(ask('hello')));
    expect(reply.stopReason).toBe('end_turn');
    expect(sim.calls[0]?.key_hint).toBe('-one');
  });
});
