import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { builtIn } from '../inference/index.ts';
import { readFile } from './file.ts';
import { providers } from './generate/providers.ts';
import { committedCatalog } from './index.ts';
import { mergeFiles } from './merge.ts';
import { presetNames } from './presets/names.ts';
import { presets } from './presets/presets.ts';

const formats = builtIn.catalog;

const page = readFileSync(new URL('../../docs/providers.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => match[1] as string);
const committed = readFile(readFileSync(committedCatalog, 'utf8'), 'catalog.yaml', formats);

test('every example of docs/providers.md loads over the committed catalog without a notice', () => {
  expect(examples.length).toBeGreaterThanOrEqual(4);
  for (const text of examples)
    expect(mergeFiles([committed, readFile(text, 'example', formats)], { formats }).notices).toEqual([]);
});

test('the examples add what the page says they add', () => {
  const { models } = mergeFiles([committed, ...examples.map((text) => readFile(text, 'example', formats))], {
    formats,
  });
  expect(models.get('acme/house-llm')?.endpoints).toMatchObject([{ upstream_model: 'Qwen/Qwen3-32B' }]);
  const hosts = (id: string) => models.get(id)?.endpoints.map((endpoint) => endpoint.provider);
  expect(hosts('meta/llama-3.3-70b-instruct')).toEqual(['groq', 'together', 'openrouter', 'ollama']);
  expect(hosts('anthropic/claude-sonnet-4-5')).toEqual(['anthropic', 'claude-proxy', 'bedrock']);
});

test('the page lists every shipped provider with its variable, and marks those without an endpoint', () => {
  const used = new Set(
    committed.content.models?.flatMap((model) => (model.endpoints ?? []).map((e) => e.provider)),
  );
  for (const { id, api_key_env } of providers) {
    const mark = used.has(id) ? '' : ' ¹';
    expect(page).toContain(`| \`${id}\`${mark} | \`${api_key_env}\` |`);
  }
});

test('the page lists every preset with its address, variable, billing, parameters, flags and hidden members', () => {
  const words = (list: readonly string[]) => list.map((word) => `\`${word}\``).join(', ') || '–';
  for (const name of presetNames) {
    const { base_url, api_key_env, cancel_billing, parameters, flags, hide = [] } = presets[name];
    const variable = api_key_env === undefined ? '–' : `\`${api_key_env}\``;
    const cells = [
      `\`${name}\``,
      `\`${base_url}\``,
      variable,
      cancel_billing,
      words(parameters),
      words(flags),
      words(hide),
    ];
    expect(page).toContain(`| ${cells.join(' | ')} |`);
  }
});
