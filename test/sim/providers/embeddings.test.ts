// The official clients of OpenAI and Cohere against the simulators of embeddings and rankings.
import { CohereClientV2, CohereError } from 'cohere-ai';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Sim, startCohereSim } from './index.ts';

let sim: Sim;
let openai: OpenAI;
let cohere: CohereClientV2;

beforeAll(async () => {
  sim = await startCohereSim({ keys: ['right'] });
  openai = new OpenAI({ apiKey: 'right', baseURL: `${sim.url}/v1`, maxRetries: 0 });
  cohere = new CohereClientV2({ token: 'right', environment: sim.url });
});
afterEach(() => sim.reset());
afterAll(() => sim.close());

describe('OpenAI embeddings', () => {
  test('the client, which asks base64 by itself, decodes the vectors that it gets as numbers', async () => {
    const input = ['one text', 'another'];
    const packed = await openai.embeddings.create({ model: 'm', input });
    const plain = await openai.embeddings.create({ model: 'm', input, encoding_format: 'float' });
    expect(sim.calls.map(({ body }) => (body as { encoding_format: string }).encoding_format)).toEqual([
      'base64',
      'float',
    ]);
    for (const [i, item] of packed.data.entries()) {
      expect(item.embedding).toHaveLength(8);
      expect(item.embedding).toEqual(plain.data[i]?.embedding.map(Math.fround));
    }
    expect(plain.usage).toEqual({ prompt_tokens: 4, total_tokens: 4 });
  });

  test("dimensions, token ids and refusals are the provider's", async () => {
    const reply = await openai.embeddings.create({ model: 'm', input: [[1, 2, 3]], dimensions: 3 });
    expect(reply.data[0]?.embedding).toHaveLength(3);
    await expect(openai.embeddings.create({ model: 'm', input: '' })).rejects.toMatchObject({ status: 400 });
    const status = openai.embeddings.create({ model: 'm', input: 'sim: status=503' });
    await expect(status).rejects.toMatchObject({ status: 503 });
  });
});

describe('Cohere', () => {
  test('the client reads vectors, their texts and what was billed', async () => {
    const reply = await cohere.embed({
      model: 'embed-v4.0',
      inputType: 'search_query',
      embeddingTypes: ['float'],
      texts: ['one text', 'another'],
      outputDimension: 4,
    });
    expect(reply.embeddings.float).toHaveLength(2);
    expect(reply.embeddings.float?.[0]).toHaveLength(4);
    expect(reply.meta?.billedUnits?.inputTokens).toBe(4);
  });

  test('the client reads a ranking and its search units', async () => {
    const reply = await cohere.rerank({
      model: 'rerank-v3.5',
      query: 'green apple',
      documents: ['a red car', 'a green apple', 'green grass'],
      topN: 2,
    });
    expect(reply.results.map(({ index }) => index).sort()).toEqual([1, 2]);
    expect(reply.meta?.billedUnits?.searchUnits).toBe(1);
  });

  test("a refusal is the client's own error with the provider's sentence", async () => {
    const refused = cohere.embed({ model: 'm', inputType: 'search_query', texts: [] });
    await expect(refused).rejects.toBeInstanceOf(CohereError);
    await expect(refused).rejects.toMatchObject({
      statusCode: 400,
      body: { message: /texts must be given/ },
    });
  });
});
