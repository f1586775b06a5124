import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { DEFAULT_ENCODING, modelToEncodingMap } from 'gpt-tokenizer/mapping';
import { describe, expect, test } from 'vitest';
import { builtIn } from '../../inference/index.ts';
import type { FilePrice } from '../file-schema.ts';
import { committedCatalog, readFiles } from '../index.ts';
import { generateCatalog, priceOf } from './generate.ts';
import { rows } from './table.ts';

const formats = builtIn.catalog;

const committed = readFileSync(committedCatalog, 'utf8');
const date = /as of (\d{4}-\d{2}-\d{2})\./.exec(committed)?.[1] as string;

test('the committed catalog is what the generator makes of the price package and the table', () => {
  expect(committed).toBe(generateCatalog(date));
});

test('the committed catalog has forty models of eight vendors, and popular open ones on several hosts', async () => {
  const { models, notices } = await readFiles([committedCatalog], { formats });
  expect(models.size).toBeGreaterThanOrEqual(40);
  expect(new Set([...models.keys()].map((id) => id.split('/')[0])).size).toBeGreaterThanOrEqual(8);
  expect(models.get('openai/gpt-oss-120b')?.endpoints.length).toBeGreaterThanOrEqual(3);
  expect(notices).toEqual([]);
});

test('OpenAI is called by either of its APIs for every model of its own that answers', async () => {
  const { models } = await readFiles([committedCatalog], { formats });
  for (const { id, endpoints, modalities } of models.values()) {
    if (!id.startsWith('openai/') || modalities?.out.includes('embedding')) continue;
    if (endpoints.some(({ provider }) => provider !== 'openai')) continue;
    expect([id, endpoints.map(({ family }) => family)]).toEqual([id, [undefined, 'openai_responses']]);
  }
  expect(models.get('openai/gpt-4o')?.endpoints[1]?.price).toMatchObject({
    input: '2.5',
    search_unit: '10000',
  });
});

test('bands begin where the vendor says: at 272,000 prompt tokens of GPT-5.4, above 200,000 of Gemini 2.5 Pro', () => {
  const band = (id: string) => {
    const host = rows.find((row) => row.id === id)?.hosts[0];
    return host && priceOf(host, date).bands;
  };
  expect(band('openai/gpt-5.4')).toEqual([
    { from_prompt_tokens: 272_000, price: { input: '5', output: '22.5', cache_read: '0.5' } },
  ]);
  expect(band('google/gemini-2.5-pro')).toEqual([
    { from_prompt_tokens: 200_001, price: { input: '2.5', output: '15', cache_read: '0.25' } },
  ]);
});

test('a price that changes by the hour or on a coming day is refused, because a file cannot say it', () => {
  const host = (provider: string, model: string) => ({
    provider,
    upstream_model: model,
    priced_as: [provider, model] as const,
  });
  expect(() => priceOf(host('deepseek', 'deepseek-v4-pro'), date)).toThrow('time of day');
  expect(() => priceOf(host('google', 'gemini-3.6-flash'), date)).toThrow('changes its price on 2027-01-01');
  expect(() => priceOf(host('openai', 'gpt-nothing'), date)).toThrow('no price of openai gpt-nothing');
});

test('models of embeddings have the price of their text, and none is listed whose price the package does not know', async () => {
  const { models } = await readFiles([committedCatalog], { formats });
  const vectors = [...models.values()].filter(({ modalities }) => modalities?.out.includes('embedding'));
  expect(vectors.length).toBeGreaterThanOrEqual(10);
  for (const { capabilities, context_length, endpoints } of vectors) {
    expect(capabilities?.parameters).toEqual(['dimensions']);
    expect(context_length).toBeGreaterThanOrEqual(2_048);
    expect(Number(endpoints[0]?.price.input)).toBeGreaterThan(0);
    expect(endpoints[0]?.price.output).toBe('0');
  }
  expect(models.get('openai/text-embedding-3-small')?.endpoints[0]?.price).toEqual({
    input: '0.02',
    output: '0',
  });
  expect([...models.values()].some(({ modalities }) => modalities?.out.includes('ranking'))).toBe(false);
});

test('Gemini is called by its own wire, with a budget before its third generation and a level from then on', async () => {
  const { models, providers } = await readFiles([committedCatalog], { formats });
  expect(providers.get('google')).toMatchObject({
    kind: 'gemini',
    base_url: 'https://generativelanguage.googleapis.com/v1beta',
  });
  const of = (id: string) => models.get(`google/${id}`);
  expect(of('gemini-2.5-pro')?.reasoning?.controls).toEqual(['budget']);
  expect(of('gemini-2.5-flash')?.reasoning?.controls).toEqual(['budget', 'off']);
  expect(of('gemini-2.5-flash')?.endpoints[0]?.flags).toEqual(['json_without_tools']);
  expect(of('gemini-3.5-flash')?.reasoning).toEqual({
    ...{ controls: ['effort'], hidden: true, format: 'google-gemini-v1' },
  });
});

/** The package has a module for each model that it knows, and says only of some that they are not the newest's. */
function encodingOf(model: string): string | undefined {
  try {
    createRequire(import.meta.url).resolve(`gpt-tokenizer/model/${model}`);
  } catch {
    return undefined;
  }
  return (modelToEncodingMap as Readonly<Record<string, string>>)[model] ?? DEFAULT_ENCODING;
}

describe('the tokenizer of a model', () => {
  test('is the one that the tokenizer package knows it by, and no model that it knows goes without', async () => {
    const { models } = await readFiles([committedCatalog], { formats });
    const bundled = ['o200k_base', 'cl100k_base'];
    for (const [id, { tokenizer }] of models) {
      const encoding = id.startsWith('openai/') ? encodingOf(id.slice('openai/'.length)) : undefined;
      const expected = encoding !== undefined && bundled.includes(encoding) ? encoding : undefined;
      expect([id, tokenizer]).toEqual([id, expected]);
    }
    const named = [...models.values()].filter(({ tokenizer }) => tokenizer !== undefined);
    expect(named.length).toBeGreaterThanOrEqual(20);
    expect(models.get('openai/gpt-4o')?.tokenizer).toBe('o200k_base');
    expect(models.get('openai/text-embedding-3-large')?.tokenizer).toBe('cl100k_base');
  });
});

test('thoughts are hidden where their vendor bills more than its chat wire shows, and nowhere else', async () => {
  const { models } = await readFiles([committedCatalog], { formats });
  // OpenAI, xAI: none or a summary; Anthropic from its fourth generation on, Google: a summary. Open weights show all.
  const hidden = /^(openai\/(o\d|gpt-\d)|anthropic\/claude-|google\/gemini-|xai\/grok-)/;
  const seen = { hidden: 0, shown: 0 };
  for (const { id, capabilities, reasoning } of models.values()) {
    const hides = reasoning?.hidden === true;
    if (capabilities?.reasoning !== true) {
      expect([id, hides]).toEqual([id, false]);
      continue;
    }
    expect([id, hides]).toEqual([id, hidden.test(id)]);
    seen[hides ? 'hidden' : 'shown']++;
  }
  expect(seen.hidden).toBeGreaterThanOrEqual(30);
  expect(seen.shown).toBeGreaterThanOrEqual(8);
});

test('a search of the web is offered where the package prices it, by the million, in every band', async () => {
  const { models } = await readFiles([committedCatalog], { formats });
  for (const { id, endpoints } of models.values()) {
    for (const { bands, capabilities, family, price, provider } of endpoints) {
      const sells = capabilities?.server_tools?.includes('web_search') === true;
      const priced = family === 'openai_responses' && id !== 'openai/gpt-4.1-nano';
      expect([id, sells]).toEqual([id, provider === 'anthropic' || priced]);
      for (const rates of [price, ...(bands ?? []).map((band) => band.price)] as FilePrice[]) {
        expect([id, rates.search_unit]).toEqual([id, sells ? '10000' : undefined]);
      }
    }
  }
});

test('images are embedded where the vendor takes them, and cost what the package says', async () => {
  const { models } = await readFiles([committedCatalog], { formats });
  const seeing = [...models.values()].filter(
    ({ modalities }) => modalities?.out.includes('embedding') && modalities.in.includes('image'),
  );
  expect(seeing.map(({ id }) => id)).toEqual(['google/gemini-embedding-2', 'cohere/embed-v4.0']);
  expect(seeing.map(({ endpoints }) => (endpoints[0]?.price as FilePrice | undefined)?.image_input)).toEqual([
    '0.45',
    undefined,
  ]);
});
