// Every way in which a vendor's own client writes a model's name.
import { expect, test } from 'vitest';
import { suggestions } from './named-model.ts';
import { idsNamed, isNameOf } from './names.ts';

const ids = [
  ...['openai/gpt-4o', 'openai/gpt-4o-mini', 'anthropic/claude-haiku-4-5', 'mistral/mistral-large-2512'],
  ...['mistral/mistral-large-2411', 'acme/shared', 'other/shared', 'openai/o3-2025-04-16', 'openai/o3'],
];
const catalog = { models: new Map(ids.map((id) => [id, {} as never])) };

test.each([
  ['openai/gpt-4o', ['openai/gpt-4o']],
  ['gpt-4o', ['openai/gpt-4o']],
  ['gpt-4o-2024-08-06', ['openai/gpt-4o']],
  ['openai/gpt-4o-2024-08-06', ['openai/gpt-4o']],
  ['claude-haiku-4-5-20251001', ['anthropic/claude-haiku-4-5']],
  ['claude-haiku-4-5@20251001', ['anthropic/claude-haiku-4-5']],
  ['claude-haiku-4-5-latest', ['anthropic/claude-haiku-4-5']],
  ['mistral-large-latest', ['mistral/mistral-large-2512']],
  ['mistral-large-2411', ['mistral/mistral-large-2411']],
  ['o3-2025-04-16', ['openai/o3-2025-04-16']],
  ['shared', ['acme/shared', 'other/shared']],
  ['acme/shared', ['acme/shared']],
  ['gpt-4', []],
  ['openai/claude-haiku-4-5', []],
  ['', []],
  ['-latest', []],
  [`${'a'.repeat(100_000)}-latest`, []],
])('%s', (name, expected) => {
  expect(idsNamed(catalog, name)).toEqual(expected);
});

test('a name is one of its own model and of no other', () => {
  expect(isNameOf('gpt-4o', 'openai/gpt-4o')).toBe(true);
  expect(isNameOf('gpt-4o', 'openai/gpt-4o-mini')).toBe(false);
});

test('what may have been meant: a forgotten vendor, another separator, a typing error', () => {
  const known = ['openai/gpt-4o', 'openai/gpt-4o-mini', 'meta/llama-3.3-70b', 'x/y'];
  expect(suggestions(known, 'gpt-4o')[0]).toBe('openai/gpt-4o');
  expect(suggestions(known, 'openai/gpt4o')[0]).toBe('openai/gpt-4o');
  expect(suggestions(known, 'meta-llama/Llama-3.3-70B')).toEqual(['meta/llama-3.3-70b']);
  expect(suggestions(known, 'claude')).toEqual([]);
});
