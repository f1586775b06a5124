import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { textInputBound, type Usage, withinBound } from './index.ts';

const usage: Usage = {
  ...{ input_tokens: 100, output_tokens: 50, cache_read_tokens: 30, cache_write_tokens: 20 },
  ...{ reasoning_tokens: 0, source: 'provider' },
};
const bound = { input_tokens: 150, output_tokens: 50, search_units: 0 };

describe('usage within what a call can have used', () => {
  test('is charged as it was reported', () => {
    expect(withinBound(usage, bound)).toBe(usage);
  });

  test('is cut to it: output, searches, and of the input first what was read anew', () => {
    const reported = { ...usage, input_tokens: 1_000, output_tokens: 1_000_000_000, search_units: 9 };
    expect(withinBound(reported, { ...bound, search_units: 2 })).toEqual({
      ...{ ...usage, input_tokens: 100, output_tokens: 50, search_units: 2 },
    });
    expect(withinBound({ ...usage, cache_write_tokens: 500 }, bound)).toMatchObject({
      ...{ input_tokens: 0, cache_write_tokens: 120, cache_read_tokens: 30 },
    });
    expect(withinBound({ ...usage, cache_read_tokens: 500 }, bound)).toMatchObject({
      ...{ input_tokens: 0, cache_write_tokens: 0, cache_read_tokens: 150 },
    });
  });

  test('is cut of searches alone where only these are above it, and keeps those that are not', () => {
    const searched = { ...usage, search_units: 3 };
    expect(withinBound(searched, { ...bound, search_units: 2 })).toEqual({ ...usage, search_units: 2 });
    expect(withinBound(searched, { ...bound, search_units: 3 })).toBe(searched);
    const longer = { ...searched, output_tokens: 60 };
    expect(withinBound(longer, { ...bound, search_units: 9 })).toEqual(searched);
    expect(withinBound({ ...usage, output_tokens: 60 }, bound)).toEqual(usage);
  });

  test('never rises by the cut, and never stays above the bound, whatever is reported', () => {
    const count = fc.nat(2_000_000_000);
    fc.assert(
      fc.property(count, count, count, count, fc.nat(10_000), fc.nat(10_000), (a, b, c, d, input, output) => {
        const reported = {
          ...{ ...usage, input_tokens: a, output_tokens: b },
          ...{ cache_read_tokens: c, cache_write_tokens: d },
        };
        const cut = withinBound(reported, { input_tokens: input, output_tokens: output, search_units: 0 });
        const sum = cut.input_tokens + cut.cache_read_tokens + cut.cache_write_tokens;
        expect(sum).toBe(Math.min(input, a + c + d));
        expect(cut.output_tokens).toBe(Math.min(output, b));
        for (const kind of ['input_tokens', 'cache_read_tokens', 'cache_write_tokens'] as const) {
          expect(cut[kind]).toBeGreaterThanOrEqual(0);
          expect(cut[kind]).toBeLessThanOrEqual(reported[kind]);
        }
      }),
    );
  });

  test('has room for what a provider adds to a short prompt', () => {
    expect(textInputBound({ text_bytes: 3, messages: 1 })).toBeGreaterThan(1_000);
    expect(textInputBound({ text_bytes: 60_000, messages: 2 })).toBe(60_000 + 32 + 1_024);
  });
});
