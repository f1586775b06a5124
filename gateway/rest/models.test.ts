import Anthropic from '@anthropic-ai/sdk';
import { committedCatalog, loadCatalog, namedModel } from '@svc/core/catalog/index.ts';
import { builtIn } from '@svc/core/inference/index.ts';
import { operations } from '@svc/core/operations/index.ts';
import OpenAI from 'openai';
import { Compile } from 'typebox/compile';
import { beforeAll, expect, test } from 'vitest';
import { codeOf, startHarness } from '../../test/registry/harness.ts';

const harness = await startHarness();
const { a } = harness;
const catalog = await loadCatalog(harness.pool, [committedCatalog], { formats: builtIn.catalog });
const models = [...catalog.models.values()];
const some = models[0] as (typeof models)[number];
let base = '';
beforeAll(async () => {
  base = await harness.app.listen({ host: '127.0.0.1', port: 0 });
});

interface Listed {
  id: string;
  created: number;
  vendor: string;
  capabilities: Record<string, boolean>;
  pricing_from: { input: number; output: number };
  modalities: { in: string[]; out: string[] };
  status: string;
}
async function list(query = '', headers = {}): Promise<Listed[]> {
  const response = await harness.call('GET', `/v1/models${query}`, { key: a.key, headers });
  expect(response.statusCode).toBe(200);
  const operation = operations.find((item) => item.name === 'models.list');
  expect(Compile(operation?.output as never).Errors(response.json() as never)).toEqual([]);
  return response.json().data;
}

test("the list holds every model of the catalog once, by name, with the fields of both clients' lists", async () => {
  const all = await list();
  expect(all.map((model) => model.id).sort()).toEqual([...catalog.models.keys()].sort());
  const plain = (await harness.call('GET', '/v1/models', { key: a.key })).json();
  expect(plain.data[0]).toMatchObject({ object: 'model', owned_by: plain.data[0].vendor });
  expect(plain.has_more).toBeUndefined();
  for (const headers of [{ 'anthropic-version': '2023-06-01' }, { 'x-api-key': a.key }]) {
    const listed = (await harness.call('GET', '/v1/models?limit=1000', { key: a.key, headers })).json();
    expect(listed).toMatchObject({
      object: 'list',
      has_more: false,
      first_id: listed.data[0].id,
      last_id: listed.data.at(-1).id,
    });
    expect(listed.data[0]).toMatchObject({
      type: 'model',
      display_name: listed.data[0].name,
      object: 'model',
    });
  }
});

test('every model has a time: of its release, or of when this installation first had it', async () => {
  const known = new Map(models.map((model) => [model.id, model.released_at ?? model.known_since]));
  const now_seconds = Date.now() / 1_000;
  for (const { id, created } of await list()) {
    expect([id, created]).toEqual([id, Math.floor(Date.parse(known.get(id) as string) / 1_000)]);
    expect(created).toBeGreaterThan(1_500_000_000);
    expect(created).toBeLessThanOrEqual(now_seconds);
  }
});

test('every filter keeps what matches and nothing else', async () => {
  const all = await list();
  const filters: [string, (model: Listed) => boolean][] = [
    [`?vendor=${some.vendor}`, (m) => m.vendor === some.vendor],
    ['?modality=image', (m) => [...m.modalities.in, ...m.modalities.out].includes('image')],
    [
      '?capability=tools&capability=vision',
      (m) => m.capabilities['tools'] === true && m.capabilities['vision'] === true,
    ],
    ['?zdr=1', (m) => m.capabilities['zdr'] === true],
    ['?no_train=1', (m) => m.capabilities['no_train'] === true],
    ['?status=deprecated', (m) => m.status === 'deprecated'],
    [`?q=${some.id.toUpperCase()}`, (m) => m.id.includes(some.id)],
    ['?price_changed=1', () => false],
  ];
  for (const [query, keeps] of filters) {
    const found = (await list(query)).map((model) => model.id);
    expect([query, found]).toEqual([query, all.filter(keeps).map((model) => model.id)]);
  }
  const prices = (await list('?sort=price')).map((m) => m.pricing_from.input + m.pricing_from.output);
  expect(prices).toEqual([...prices].sort((x, y) => x - y));
  for (const [query, param] of [
    ['?capability=flying', 'capability[0]'],
    ['?modality=smell', 'modality'],
    ['?sort=luck', 'sort'],
  ]) {
    const refused = await harness.call('GET', `/v1/models${query}`, { key: a.key });
    expect([query, refused.statusCode, refused.json().error.param]).toEqual([query, 400, param]);
  }
});

test('one model and its endpoints are found by either form of the id; a near miss is answered with suggestions', async () => {
  for (const path of [some.id, some.id.replace('/', '%2F')]) {
    const model = await harness.call('GET', `/v1/models/${path}`, { key: a.key });
    expect([path, model.statusCode, model.json().id]).toEqual([path, 200, some.id]);
    const endpoints = (await harness.call('GET', `/v1/models/${path}/endpoints`, { key: a.key })).json();
    const operation = operations.find((item) => item.name === 'models.endpoints');
    expect(Compile(operation?.output as never).Errors(endpoints as never)).toEqual([]);
    expect(endpoints.data.map((e: { id: string }) => e.id)).toEqual(some.endpoints.map((e) => e.id));
  }
  const near = await harness.call('GET', `/v1/models/${some.id}x`, { key: a.key });
  expect([near.statusCode, codeOf(near)]).toEqual([404, 'model_not_found']);
  expect(near.json().error.details.suggestions).toContain(some.id);
  expect(near.json().error.details.suggestions.length).toBeLessThanOrEqual(3);
});

test('a test key sees the same models, answered by the sandbox', async () => {
  const listed = (await harness.call('GET', '/v1/models', { key: a.test_key })).json().data as Listed[];
  expect(listed.map((model) => model.id).sort()).toEqual([...catalog.sandbox.keys()].sort());
  const endpoints = (
    await harness.call('GET', `/v1/models/${some.id}/endpoints`, { key: a.test_key })
  ).json();
  for (const endpoint of endpoints.data) expect(endpoint.provider).toBe('sandbox');
});

test('the official clients list and retrieve models', async () => {
  const openai = new OpenAI({ apiKey: a.key, baseURL: `${base}/v1`, maxRetries: 0 });
  const ids: string[] = [];
  for await (const model of openai.models.list()) ids.push(model.id);
  expect(ids).toContain(some.id);
  expect((await openai.models.retrieve(some.id)).id).toBe(some.id);
  await expect(openai.models.retrieve('no/such')).rejects.toMatchObject({
    status: 404,
    code: 'model_not_found',
  });
  const anthropic = new Anthropic({ apiKey: a.key, baseURL: base, maxRetries: 0 });
  const names: string[] = [];
  for await (const model of anthropic.models.list({ limit: 1000 })) names.push(model.display_name);
  expect(names).toContain(some.name);
  expect((await anthropic.models.retrieve(some.id)).id).toBe(some.id);
});

test('a model is found by every name that a call may use, with its own id in the answer', async () => {
  const openai = new OpenAI({ apiKey: a.key, baseURL: `${base}/v1`, maxRetries: 0 });
  for (const [name, id] of [
    ['gpt-4o-mini', 'openai/gpt-4o-mini'],
    ['gpt-4o-2024-08-06', 'openai/gpt-4o'],
    ['openai/gpt-4o-2024-08-06', 'openai/gpt-4o'],
    ['mistral-large-latest', 'mistral/mistral-large-2512'],
  ] as const) {
    expect([name, (await openai.models.retrieve(name)).id]).toEqual([name, id]);
  }
  const anthropic = new Anthropic({ apiKey: a.key, baseURL: base, maxRetries: 0 });
  for (const name of ['claude-sonnet-4-5', 'claude-sonnet-4-5-20250929', 'claude-sonnet-4-5@20250929']) {
    const { id, type } = await anthropic.models.retrieve(name);
    expect([name, id, type]).toEqual([name, 'anthropic/claude-sonnet-4-5', 'model']);
  }
  for (const id of catalog.models.keys()) {
    const name = id.slice(id.indexOf('/') + 1);
    const answer = await harness.call('GET', `/v1/models/${name}`, { key: a.key });
    const named = namedModel(catalog, name, 'live');
    const expected = 'id' in named ? [200, named.id] : [404, 'model_not_found'];
    expect([name, answer.statusCode, answer.json().id ?? codeOf(answer)]).toEqual([name, ...expected]);
  }
});

test('a name that no model has is answered with the names that were probably meant', async () => {
  for (const [path, meant] of [
    ['gpt-4o-minni', 'openai/gpt-4o-mini'],
    ['openai/gpt-4o-minni', 'openai/gpt-4o-mini'],
    ['nothing-like-it', null],
  ] as const) {
    const answer = await harness.call('GET', `/v1/models/${path}`, { key: a.key });
    expect([answer.statusCode, codeOf(answer)]).toEqual([404, 'model_not_found']);
    const { details } = answer.json().error;
    expect([path, details.suggestions[0] ?? null]).toEqual([path, meant]);
  }
});

test('no caller met a defect', () => {
  expect(harness.defects).toEqual([]);
});
