// The official client against the simulator: whole and streamed answers in the shapes of the provider.
import { type Content, type GenerateContentConfig, GoogleGenAI } from '@google/genai';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Sim, startGeminiSim } from '../index.ts';

let sim: Sim;
let client: GoogleGenAI;

beforeAll(async () => {
  sim = await startGeminiSim({ keys: ['AIza-sim'] });
  client = clientOf('AIza-sim');
});
afterEach(() => sim.reset());
afterAll(() => sim.close());

function clientOf(apiKey: string): GoogleGenAI {
  return new GoogleGenAI({ apiKey, httpOptions: { baseUrl: sim.url } });
}

const ask = (contents: string | Content[], config: GenerateContentConfig = {}) =>
  client.models.generateContent({ model: 'gemini-3-sim', contents, config });

async function streamed(contents: string | Content[], config: GenerateContentConfig = {}) {
  const stream = await client.models.generateContentStream({ model: 'gemini-3-sim', contents, config });
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

const tools = [
  {
    functionDeclarations: [
      { name: 'look', parametersJsonSchema: { properties: { city: { type: 'string' } } } },
    ],
  },
];

describe('answers', () => {
  test('tokens are counted without an answer', async () => {
    // The client knows the whole request for its enterprise variant only; of this one it sends the contents.
    const counted = await client.models.countTokens({ model: 'gemini-3-sim', contents: 'x'.repeat(400) });
    expect(counted.totalTokens).toBe(100);
    expect(sim.calls).toHaveLength(0);
  });

  test('a plain answer has text, a finish and usage', async () => {
    const reply = await ask('hello mark=g1');
    expect(reply.text).toMatch(/^lorem ipsum /);
    expect(reply.candidates?.[0]?.finishReason).toBe('STOP');
    expect(reply.usageMetadata).toMatchObject({ promptTokenCount: 4, candidatesTokenCount: 16 });
    expect(sim.calls).toMatchObject([
      { mark: 'g1', model: 'gemini-3-sim', finished: true, tokens_delivered: 16, family: 'gemini' },
    ]);
  });

  test('a stream says what a whole answer says, with counts on every chunk', async () => {
    const asked: [string, GenerateContentConfig][] = [
      ['plain', {}],
      ['short', { maxOutputTokens: 3 }],
      ['think', { thinkingConfig: { includeThoughts: true } }],
      [
        'json',
        {
          responseMimeType: 'application/json',
          responseJsonSchema: { properties: { n: { type: 'integer' } } },
        },
      ],
      ['stop', { stopSequences: ['dolor'] }],
      ['sim: split=3', {}],
    ];
    for (const [text, config] of asked) {
      const whole = await ask(text, config);
      const chunks = await streamed(text, config);
      const said = chunks.map((chunk) => chunk.text ?? '').join('');
      expect(said).toBe(whole.text ?? '');
      expect(chunks.at(-1)?.usageMetadata).toEqual(whole.usageMetadata);
      expect(chunks.at(-1)?.candidates?.[0]?.finishReason).toBe(whole.candidates?.[0]?.finishReason);
      expect(chunks.every((chunk) => chunk.usageMetadata !== undefined)).toBe(true);
    }
  });

  test('a call must come back signed, as it was', async () => {
    const [chunk] = await streamed('weather', { tools });
    const part = chunk?.candidates?.[0]?.content?.parts?.[0];
    expect(part).toMatchObject({ functionCall: { name: 'look' }, thoughtSignature: expect.any(String) });
    const turn = (call: object): Content[] => [
      { role: 'user', parts: [{ text: 'weather' }] },
      { role: 'model', parts: [call] },
      { role: 'user', parts: [{ functionResponse: { name: 'look', response: { output: 'rain' } } }] },
    ];
    expect((await ask(turn(part as object), { tools })).text).toMatch(/^lorem/);
    const { thoughtSignature: _, ...bare } = part as { thoughtSignature: string };
    await expect(ask(turn(bare), { tools })).rejects.toThrow('missing a thought_signature');
    await expect(ask(turn({ ...bare, thoughtSignature: 'AAAA' }), { tools })).rejects.toThrow('not valid');
  });

  test('a blocked prompt has feedback and no candidate', async () => {
    expect((await ask('sim: finish=BLOCK_SAFETY')).promptFeedback?.blockReason).toBe('SAFETY');
    expect(await streamed('sim: finish=BLOCK_SAFETY')).toHaveLength(1);
  });
});

describe('refusals', () => {
  test('have the status and the words of the provider', async () => {
    await expect(ask('sim: status=429')).rejects.toMatchObject({
      status: 429,
      message: expect.stringContaining('RESOURCE_EXHAUSTED'),
    });
    const wrong = clientOf('no').models.generateContent({ model: 'm', contents: 'x' });
    await expect(wrong).rejects.toMatchObject({ status: 401 });
    const missing = client.models.generateContent({ model: 'missing', contents: 'x' });
    await expect(missing).rejects.toMatchObject({ status: 404 });
    await expect(streamed('sim: error_after=2')).rejects.toThrow('overloaded');
  });

  test('names that the provider does not know are refused, turns out of order too', async () => {
    const post = (body: object) =>
      fetch(`${sim.url}/v1beta/models/m:generateContent`, {
        method: 'POST',
        headers: { 'x-goog-api-key': 'AIza-sim' },
        body: JSON.stringify(body),
      });
    const contents = [{ role: 'user', parts: [{ text: 'x' }] }];
    expect(await (await post({ contents, max_tokens: 1 })).text()).toContain('Unknown name \\"max_tokens\\"');
    expect((await post({ contents: [] })).status).toBe(400);
    const orphan = [{ role: 'user', parts: [{ functionResponse: { name: 'a', response: {} } }] }];
    expect((await post({ contents: orphan })).status).toBe(400);
  });
});
