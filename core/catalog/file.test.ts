import { expect, test } from 'vitest';
import { builtIn } from '../inference/index.ts';
import { CatalogError, readFile } from './file.ts';
import { endpointId, mergeFiles } from './merge.ts';

const formats = builtIn.catalog;

const good = `version: 1
providers:
  - id: acme
    name: Acme
    kind: openai
    base_url: http://127.0.0.1:9001/v1
    api_key_env: ACME_API_KEY
models:
  - id: acme/fast-1
    name: Acme Fast 1
    context_length: 128000
    endpoints:
      - provider: acme
        upstream_model: fast-1
        region: eu-west
        price: { input: "2.50", output: "10.00" }
`;

function faultsOf(run: () => unknown): string[] {
  try {
    run();
  } catch (error) {
    if (error instanceof CatalogError) return error.faults.map((f) => `${f.line} ${f.path}: ${f.reason}`);
    throw error;
  }
  return [];
}
const faults = (...texts: string[]) =>
  faultsOf(() =>
    mergeFiles(
      texts.map((text, i) => readFile(text, `${i}.yaml`, formats)),
      { formats },
    ),
  );

test('each error is reported with path, line and reason, all errors of a file at once', () => {
  const broken = good
    .replace('kind: openai', 'kind: openapi')
    .replace('"2.50"', '2.5')
    .replace('    context_length: 128000\n', '    context_lenght: 128000\n')
    .replace('upstream_model: fast-1', 'upstream_model: ""');
  expect(faults(broken).sort()).toEqual([
    '11 models[0].context_lenght: unknown key',
    '14 models[0].endpoints[0].upstream_model: expected text of 1 to 256 characters',
    '16 models[0].endpoints[0].price.input: expected a decimal in quotes, such as "2.50"',
    '5 providers[0].kind: expected one of openai, openai-responses, anthropic, gemini, bedrock, cohere, jina, voyage',
  ]);
});

test('a price with a seventh place, without output or with an unknown kind is refused', () => {
  expect(faults(good.replace('"2.50"', '"2.5000001"'))).toEqual([
    '16 models[0].endpoints[0].price.input: expected USD per million as a decimal with at most six places',
  ]);
  expect(faults(good.replace('output: "10.00"', 'cache_raed: "1"')).sort()).toEqual([
    '16 models[0].endpoints[0].price.cache_raed: unknown key',
    '16 models[0].endpoints[0].price.output: is required',
  ]);
});

test('YAML that cannot be read is reported with its line, and aliases and duplicate keys are refused', () => {
  expect(faults(good.replace('name: Acme\n', 'name: Acme\n    name: Again\n'))[0]).toMatch(/^5 \$: YAML: /);
  expect(faults('version: 1\nproviders: [\n')[0]).toMatch(/^\d \$: YAML: /);
  expect(faults('version: 1\nproviders: &a []\nmodels: *a\n')).toEqual(['1 $: YAML aliases are not allowed']);
  expect(faults('')).toHaveLength(1);
});

test('keys travel only over https, or to this machine', () => {
  const at = (url: string) => faults(good.replace('http://127.0.0.1:9001/v1', url));
  for (const fine of ['https://api.example.com/v1', 'http://localhost:1', 'http://[::1]:80/v1']) {
    expect(at(fine)).toEqual([]);
  }
  const insecure =
    '6 providers[0].base_url: expected https:// (http:// only to this machine, or with SVC_INSECURE_UPSTREAMS=1)';
  for (const plain of ['http://10.0.0.5/v1', 'http://127.0.0.1.example.com', 'http://api.example.com']) {
    expect(at(plain)).toEqual([insecure]);
  }
  expect(at('https://user:pw@api.example.com')[0]).toContain('carries credentials');
  expect(at('ftp://api.example.com')[0]).toContain('expected https://');
  expect(at('api.example.com')[0]).toContain('expected an address');
  const file = readFile(good.replace('127.0.0.1:9001', '10.0.0.5'), 'a', formats);
  expect(mergeFiles([file], { formats, insecure_upstreams: true }).providers.size).toBe(1);
});

test('what does not fit together is refused: unknown provider, doubled names, falling bands, missing kinds', () => {
  expect(faults(good.replace('provider: acme', 'provider: acne'))).toEqual([
    '13 models[0].endpoints[0].provider: unknown provider acne',
  ]);
  expect(faults(`${good}  - id: acme/fast-1\n    endpoints: []\n`)).toEqual([
    '17 models[1].id: acme/fast-1 stands twice in this file',
  ]);
  const banded = (bands: string) => `${good}        bands: ${bands}\n`;
  expect(faults(banded('[{ from_prompt_tokens: 9, price: { input: "1", output: "1" } }]'))).toEqual([]);
  expect(
    faults(
      banded(
        '[{ from_prompt_tokens: 9, price: { input: "1", output: "1" } }, { from_prompt_tokens: 9, price: { input: "1", output: "1", cache_read: "1" } }]',
      ),
    ),
  ).toEqual([
    '17 models[0].endpoints[0].bands[1].from_prompt_tokens: expected to rise from band to band',
    '17 models[0].endpoints[0].bands[1].price: expected the kinds of the price: input, output',
  ]);
  expect(faults(good.replace('id: acme\n', 'id: sandbox\n'))[0]).toBe(
    '3 providers[0].id: sandbox is built in',
  );
  expect(faults('version: 1\nmodels:\n  - id: a/b\n')).toEqual([
    '3 models[0].name: is required for a new model',
    '3 models[0].context_length: is required for a new model',
    '3 models[0].endpoints: expected at least one for a new model',
  ]);
});

test('a later file adds endpoints to a known model, replaces what it names again, and leaves the rest', () => {
  const later = `version: 1
providers:
  - { id: other, name: Other, kind: anthropic, base_url: "https://other.example/v1" }
models:
  - id: acme/fast-1
    markup_bps: 500
    endpoints:
      - { provider: other, upstream_model: f1, price: { input: "1", output: "2" } }
      - { provider: acme, upstream_model: fast-1, region: eu-west, price: { input: "9", output: "9" } }
`;
  const merged = mergeFiles([readFile(good, 'a', formats), readFile(later, 'b', formats)], { formats });
  expect(merged.models.get('acme/fast-1')).toMatchObject({
    name: 'Acme Fast 1',
    context_length: 128_000,
    markup_bps: 500,
    endpoints: [
      { provider: 'acme', price: { input: '9' } },
      { provider: 'other', upstream_model: 'f1' },
    ],
  });
});

test('an Anthropic cache price without its one hour rate is noticed, not refused', () => {
  const anthropic = good
    .replace('kind: openai', 'kind: anthropic')
    .replace('"10.00"', '"10.00", cache_write: "3"');
  expect(mergeFiles([readFile(anthropic, 'a', formats)], { formats }).notices).toMatchObject([{ line: 16 }]);
});

test('an endpoint has the same id wherever the same file is read', () => {
  const region = 'eu-west';
  expect(endpointId('acme/fast-1', 'acme', 'fast-1', { region })).toBe('ep_ZDEEZT6QXQZEB01Y2KHS6K0VQM');
  const other = endpointId('acme/fast-1', 'acme', 'fast-1', { region, family: 'openai_responses' });
  expect(other).toBe('ep_B1EFZ0AWCG583Z1908EDMGVDBG');
});

test('a model of embeddings or rankings stands alone, and only where its provider has such models', () => {
  const out = (...modalities: string[]) =>
    good.replace(
      '    endpoints:\n',
      `    modalities: { in: [text], out: [${modalities.join(', ')}] }\n    endpoints:\n`,
    );
  expect(faults(out('embedding'))).toEqual([]);
  expect(faults(out('ranking'))).toEqual([]);
  expect(faults(out('text', 'embedding'))).toEqual([
    '14 models[0].endpoints[0].provider: embedding and ranking stand alone in modalities.out',
  ]);
  expect(faults(out('embedding').replace('kind: openai', 'kind: anthropic'))).toEqual([
    '14 models[0].endpoints[0].provider: a provider of kind anthropic has no models for modalities.out embedding',
  ]);
  expect(faults(good.replace('kind: openai', 'kind: cohere'))).toEqual([
    '13 models[0].endpoints[0].provider: a provider of kind cohere has models for modalities.out [embedding] or [ranking] only',
  ]);
  expect(
    faults(
      good.replace('kind: openai', 'kind: cohere').replace('region:', 'family: openai_chat\n        region:'),
    ),
  ).toEqual([]);
  expect(faults(good.replace('region:', 'family: embed_rerank\n        region:'))).toEqual([
    '15 models[0].endpoints[0].family: embed_rerank needs a model with modalities.out [embedding] or [ranking]',
  ]);
});

test('a web search that is listed without a price is reported when the file is loaded', () => {
  const listing = (words: string, price = '') =>
    mergeFiles(
      [
        readFile(
          good.replace(
            'output: "10.00" }',
            `output: "10.00"${price} }\n        capabilities: { server_tools: [${words}] }`,
          ),
          'a.yaml',
          formats,
        ),
      ],
      { formats },
    ).notices.map(({ path, reason }) => `${path}: ${reason}`);
  for (const words of ['web_search', 'google_search', 'web_search_preview', '"*"']) {
    expect(listing(`code_execution, ${words}`)).toEqual([
      `models[0].endpoints[0].price: no search_unit: '${words.replaceAll('"', '')}' is not offered without a price`,
    ]);
    expect(listing(words, ', search_unit: "10000"')).toEqual([]);
  }
  expect(listing('code_execution')).toEqual([]);
});
