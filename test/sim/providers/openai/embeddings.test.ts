// The official clients of OpenAI, Cohere and Google against the simulators of embeddings and rankings.

import { GoogleGenAI } from '@google/genai';
import { CohereClientV2, CohereError } from 'cohere-ai';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Sim, startCohereSim } from '../index.ts';

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

  test('the client sends images beside texts and reads what was billed for each', async () => {
    const url = 'data:image/png;base64,iVBORw0KGgo=';
    const embed = (address: string) =>
      cohere.embed({
        ...{ model: 'embed-v4.0', inputType: 'search_document', embeddingTypes: ['float'] },
        inputs: [
          {
            content: [
              { type: 'text', text: 'a sea' },
              { type: 'image_url', imageUrl: { url: address } },
            ],
          },
          { content: [{ type: 'image_url', imageUrl: { url: address } }] },
        ],
      });
    const reply = await embed(url);
    expect(reply.embeddings.float).toHaveLength(2);
    expect(reply.meta?.billedUnits).toMatchObject({ images: 2, imageTokens: 240, inputTokens: 2 });
    await expect(embed('https://a.example/b.png')).rejects.toMatchObject({ statusCode: 400 });
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

test('the client of Google gets a vector for each content, whose parts may be images', async () => {
  const google = new GoogleGenAI({
    apiKey: 'right',
    httpOptions: { baseUrl: sim.url, apiVersion: 'v1beta' },
  });
  const image = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } };
  const embed = (parts: object[]) =>
    google.models.embedContent({
      model: 'gemini-embedding-2',
      contents: [{ parts: [{ text: 'a sea' }] }, { parts }],
      config: { outputDimensionality: 4 },
    });
  const { embeddings } = await embed([{ text: 'a sea' }, image]);
  expect(embeddings?.map(({ values }) => values?.length)).toEqual([4, 4]);
  expect(embeddings?.[0]?.values).not.toEqual(embeddings?.[1]?.values);
  await expect(embed([])).rejects.toMatchObject({ status: 400 });
});
