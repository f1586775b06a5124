import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PriceVersion } from '../catalog/index.ts';
import { price } from './price.ts';
import { recompute } from './recompute.ts';
import type { Usage } from './types.ts';

const version = (rates: Readonly<Record<string, number>>): PriceVersion =>
  ({ id: 'pv_1', rates: { input: 1_250, output: 4_750, ...rates }, bands: [] }) as unknown as PriceVersion;

const usage = (change: Partial<Usage> = {}): Usage => ({
  ...{ input_tokens: 1_000, output_tokens: 300, cache_read_tokens: 20, cache_write_tokens: 30 },
  ...{ reasoning_tokens: 10, source: 'provider', ...change },
});

test('a cost of metered units alone is exact, and one micro-USD beside it differs', () => {
  const plain = version({ cache_read: 125, reasoning: 6_000 });
  const cost = price(usage(), plain).total_micro_usd;
  expect(recompute(usage(), plain, cost).verdict).toBe('exact');
  for (const wrong of [cost - 1, cost + 1, 0])
    expect(recompute(usage(), plain, wrong).verdict).toBe('differs');
});

test.each([
  ['search_units', { search_unit: 2_000_000 }, 3],
  ['audio_input_tokens', { audio_input: 40_000 }, 250],
  ['audio_output_tokens', { audio_output: 80_000 }, 300],
  ['image_input_tokens', { image_input: 300 }, 999],
  ['image_output_tokens', { image_output: 30_000 }, 17],
] as const)('%s, which the record has no column for, are found from the cost', (kind, rates, count) => {
  const billed = price(usage({ [kind]: count }), version(rates));
  const found = recompute(usage(), version(rates), billed.total_micro_usd);
  expect(found).toEqual({ verdict: 'inferred', cost: billed });
});

test('any count of any one kind is found, and a cost beyond every count differs', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 1, max: 5_000_000 }), (count, rate) => {
      const of = version({ search_unit: rate });
      const { total_micro_usd } = price(usage({ search_units: count }), of);
      expect(['exact', 'inferred']).toContain(recompute(usage(), of, total_micro_usd).verdict);
    }),
    { numRuns: 200 },
  );
  expect(recompute(usage(), version({ audio_output: 80_000 }), 10_000_000).verdict).toBe('differs');
  expect(
    recompute(usage(), version({ search_unit: 2_000_000 }), price(usage(), version({})).total_micro_usd + 999)
      .verdict,
  ).toBe('differs');
});

test('several kinds at once leave a range, which is told as one', () => {
  const both = version({ audio_input: 40_000, audio_output: 80_000 });
  const cost = price(usage({ audio_input_tokens: 100, audio_output_tokens: 50 }), both).total_micro_usd;
  expect(['within', 'inferred']).toContain(recompute(usage(), both, cost).verdict);
  expect(recompute(usage(), both, 1_000_000_000).verdict).toBe('differs');
});

test('a call that produced nothing and was charged nothing is insured', () => {
  expect(recompute(usage({ output_tokens: 0, reasoning_tokens: 0 }), version({}), 0).verdict).toBe(
    'uncharged',
  );
  expect(recompute(usage(), version({}), 0).verdict).toBe('differs');
});
