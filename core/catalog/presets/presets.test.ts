import { expect, test } from 'vitest';
import { builtIn } from '../../inference/index.ts';
import { buildDraft } from '../build.ts';
import { readFile } from '../file.ts';
import { mergeFiles } from '../merge.ts';

const formats = builtIn.catalog;

const model = (endpoint: string) => `
models:
  - id: acme/one
    name: One
    context_length: 1000
    capabilities: { parameters: [seed_words] }
    endpoints:
      - { provider: host, upstream_model: m, price: { input: "1", output: "1" }${endpoint} }`;

function built(provider: string, endpoint = '') {
  const text = `version: 1\nproviders:\n  - { id: host, ${provider} }${model(endpoint)}\n`;
  const merged = mergeFiles([readFile(text, 'f.yaml', formats)], { formats });
  const draft = buildDraft(merged, { formats, missing: () => null, today: '2026-01-01' });
  const one = draft.models.find(({ id }) => id === 'acme/one')?.endpoints[0];
  return { provider: draft.providers.find(({ id }) => id === 'host'), endpoint: one };
}

test('a preset fills in name, kind, address, key, billing, flags and parameters', () => {
  const { provider, endpoint } = built('preset: fireworks');
  expect(provider).toMatchObject({
    name: 'Fireworks AI',
    kind: 'openai',
    base_url: 'https://api.fireworks.ai/inference/v1',
    api_key_env: ['FIREWORKS_API_KEY'],
  });
  expect(endpoint).toMatchObject({
    family: 'openai_chat',
    cancel_billing: 'stops',
    flags: ['no_developer_role', 'user_field', 'no_cache_key', 'max_tokens_only', 'completions_path'],
    capabilities: { parameters: ['seed_words', 'top_k', 'min_p', 'repetition_penalty'] },
  });
});

test('the file overrides the preset, at the provider and at the endpoint', () => {
  const said =
    'preset: groq, name: Mine, base_url: "https://g.example/v1", api_key_env: MY_KEY, cancel_billing: stops';
  const own = built(
    `${said}, flags: [user_field]`,
    ', flags: [tool_id_9], capabilities: { parameters: [top_k] }',
  );
  expect(own.provider).toMatchObject({
    name: 'Mine',
    base_url: 'https://g.example/v1',
    api_key_env: ['MY_KEY'],
  });
  expect(own.endpoint).toMatchObject({
    cancel_billing: 'stops',
    flags: ['user_field', 'tool_id_9'],
    capabilities: { parameters: ['top_k'] },
  });
  const less = built('preset: groq', ', flags: ["-user_field"], cancel_billing: unknown');
  expect(less.endpoint).toMatchObject({
    cancel_billing: 'unknown',
    flags: ['no_developer_role', 'no_cache_key', 'no_reasoning_in'],
  });
});

test('members of answers that a preset hides can be shown, and others hidden', () => {
  expect(built('preset: llamacpp').endpoint?.hide).toEqual(['timings']);
  expect(built('preset: llamacpp', ', hide: [system_info]').endpoint?.hide).toEqual([
    'timings',
    'system_info',
  ]);
  expect(built('preset: llamacpp', ', hide: ["-timings"]').endpoint).not.toHaveProperty('hide');
  expect(built('preset: llamacpp, hide: [a]').endpoint?.hide).toEqual(['a']);
});

test('keys in a file replace the variable of the preset', () => {
  expect(built('preset: groq, api_key_file: /run/key').provider).toMatchObject({
    api_key_env: [],
    api_key_file: ['/run/key'],
  });
});

test('without a preset name, kind and address are required, and the error for an unknown preset lists the known ones', () => {
  expect(() => built('name: X')).toThrow(/3: providers\[0\]\.kind: is required, or a preset/);
  expect(() => built('name: X')).toThrow(/providers\[0\]\.base_url: is required, or a preset/);
  expect(() => built('preset: grok')).toThrow(/providers\[0\]\.preset: expected one of vllm, ollama/);
});
