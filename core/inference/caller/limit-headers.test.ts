import { expect, test } from 'vitest';
import { addLimits as addAnthropicLimits } from '../formats/anthropic-messages/caller/limits.ts';
import { addLimits, goDuration } from './limit-headers.ts';

test('durations read as Go writes them', () => {
  const written = [0, 120, 1_000, 1_500, 60_000, 61_250, 360_000, 3_600_000].map(goDuration);
  expect(written).toEqual(['0ms', '120ms', '1s', '1.5s', '1m0s', '1m1.25s', '6m0s', '1h0m0s']);
});

test('each dialect has its own headers, and a bucket without a limit has none', () => {
  const requests = { limit: 60, remaining: 59, reset_ms: 1_000 };
  const chat: string[] = [];
  addLimits(chat, { requests, tokens: null });
  expect(chat).toEqual([
    ...['x-ratelimit-limit-requests', '60', 'x-ratelimit-remaining-requests', '59'],
    ...['x-ratelimit-reset-requests', '1s'],
  ]);
  const messages: string[] = [];
  addAnthropicLimits(messages, { requests: null, tokens: { limit: 9, remaining: 0, reset_ms: 0 } });
  expect(messages.filter((_, i) => i % 2 === 0)).toEqual(
    ['tokens', 'input-tokens', 'output-tokens'].flatMap((of) =>
      ['limit', 'remaining', 'reset'].map((part) => `anthropic-ratelimit-${of}-${part}`),
    ),
  );
  const none: string[] = [];
  addLimits(none, { requests: null, tokens: null });
  addAnthropicLimits(none, { requests: null, tokens: null });
  expect(none).toEqual([]);
});
