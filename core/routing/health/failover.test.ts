import { describe, expect, test } from 'vitest';
import { mayFollow } from '../index.ts';
import { endpoint } from '../test-kit.ts';

const a = endpoint('a');
const b = endpoint('b');
const wide = endpoint('wide', { context_length: 200_000 });

describe('after a fault another endpoint', () => {
  const standard = [
    ...['auth', 'quota', 'model_missing', 'server', 'rate_limit', 'overloaded', 'network', 'timeout'],
    ...['protocol', 'stream', 'truncated', 'idle'],
  ];
  test.each(standard)('may follow %s, unless the policy takes it out', (fault) => {
    expect(mayFollow(a, b, fault)).toBe(true);
    expect(mayFollow(a, b, fault, ['content_filtered', 'context_length'])).toBe(true);
    expect(mayFollow(a, b, fault, [`-${fault}`])).toBe(false);
  });

  test('never follows a filter, unless the policy adds it', () => {
    expect(mayFollow(a, b, 'content_filter')).toBe(false);
    expect(mayFollow(a, b, 'content_filter', ['context_length'])).toBe(false);
    expect(mayFollow(a, b, 'content_filter', ['content_filtered'])).toBe(true);
  });

  test('follows a prompt that was too long with a larger context alone, unless the policy adds any', () => {
    expect(mayFollow(a, b, 'context_length')).toBe(false);
    expect(mayFollow(a, wide, 'context_length')).toBe(true);
    expect(mayFollow(wide, a, 'context_length')).toBe(false);
    expect(mayFollow(wide, a, 'context_length', ['context_length'])).toBe(true);
  });

  test('follows a body that was too large at another provider alone', () => {
    expect(mayFollow(a, endpoint('a'), 'too_large')).toBe(false);
    expect(mayFollow(a, b, 'too_large')).toBe(true);
    expect(mayFollow(a, b, 'too_large', ['-too_large'])).toBe(false);
  });
});
