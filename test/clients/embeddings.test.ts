// Clients of embeddings against the sandbox: OpenAI's own and LangChain's.
import { OpenAIEmbeddings } from '@langchain/openai';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { svcOf, useGateway } from './gateway.ts';

const gateway = useGateway();
const model = 'sandbox/embed';
const dot = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);

describe('the OpenAI client', () => {
  const client = () =>
    new OpenAI({ apiKey: gateway().sandbox_key, baseURL: `${gateway().base_url}/v1`, maxRetries: 0 });

  test('gets unit vectors, near to each other where texts share words', async () => {
    const input = ['the green apple', 'the green apple', 'a green apple', 'rust on a bridge'];
    const reply = await client().embeddings.create({ model, input, dimensions: 512 });
    const [one, same, near, far] = reply.data.map(({ embedding }) => embedding) as [
      number[],
      number[],
      number[],
      number[],
    ];
    expect(one).toHaveLength(512);
    expect(dot(one, same)).toBeCloseTo(1, 5);
    expect(dot(one, near)).toBeGreaterThan(dot(one, far) + 0.3);
    expect(reply.usage.prompt_tokens).toBe(5 + 5 + 5 + 6);
    expect(svcOf(reply).cost?.total_micro_usd).toBeGreaterThan(0);
  });

  test('hears of dimensions that the model does not have, by name', async () => {
    const refused = client().embeddings.create({ model, input: 'x', dimensions: 7 });
    await expect(refused).rejects.toMatchObject({ status: 400, param: 'dimensions' });
  });

  test('a provider that fails once is made good by the other endpoint', async () => {
    const body = { model, input: 'x', svc: { provider_options: { sandbox: { fail: 1 } } } };
    const reply = await client()
      .embeddings.create(body as never)
      .withResponse();
    expect(reply.response.headers.get('x-svc-attempts')).toBe('2');
  });
});

describe('LangChain', () => {
  const embeddings = (batchSize: number) =>
    new OpenAIEmbeddings({
      model,
      batchSize,
      apiKey: gateway().sandbox_key,
      maxRetries: 0,
      configuration: { baseURL: `${gateway().base_url}/v1` },
    });

  test('documents in batches and a query lie where their words put them', async () => {
    const vectors = await embeddings(2).embedDocuments(['green apple', 'red car', 'green grass']);
    const query = await embeddings(2).embedQuery('green apple');
    expect(vectors).toHaveLength(3);
    const scores = vectors.map((vector) => dot(vector, query));
    expect(scores[0]).toBeCloseTo(1, 5);
    expect(scores.indexOf(Math.max(...scores))).toBe(0);
  });
});

describe('a ranking of the sandbox', () => {
  test('is by shared words and paid by search units', async () => {
    const response = await fetch(`${gateway().base_url}/v1/svc/rerank`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway().sandbox_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'sandbox/rerank',
        query: 'green apple',
        documents: ['a red car', 'an apple', 'green apple'],
      }),
    });
    const reply = (await response.json()) as {
      results: { index: number }[];
      cost: { lines: { kind: string }[] };
    };
    expect(reply.results.map(({ index }) => index)).toEqual([2, 1, 0]);
    expect(reply.cost.lines.map(({ kind }) => kind)).toEqual(['input', 'search_unit']);
  });
});
