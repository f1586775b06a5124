import { expect, test } from 'vitest';
import { firstOf } from './first-model.ts';

test('a snippet of a live key names a model that writes text and is no simulation', () => {
  const models = [
    { id: 'sandbox/echo', modalities: { out: ['text'] } },
    { id: 'openai/text-embedding-3-small', modalities: { out: ['embedding'] } },
    { id: 'openai/gpt-4o', modalities: { out: ['text'] } },
  ];
  expect(firstOf(models)).toBe('openai/gpt-4o');
  expect(firstOf(models.slice(0, 2))).toBeNull();
  expect(firstOf([{ id: 'local/llama' }])).toBe('local/llama');
});
