// What people read of a change of prices.
import { expect, test } from 'vitest';
import { summaryOf } from './note.ts';

type Changes = Parameters<typeof summaryOf>[0];
type Content = Changes[number]['before'];
const price = (input: number, output: number, other: Partial<Content> = {}) =>
  ({ rates: { input, output }, bands: [], ...other }) as unknown as Content;
const change = (use: string, before: Content, after: Content) => ({ use, before, after });
const band = (from_prompt_tokens: number, input: number) => ({
  bands: [{ from_prompt_tokens, rates: { input, output: input } }] as unknown as Content['bands'],
});

test.for<[string, Changes, string | null]>([
  [
    'each rate that differs is named with the old and the new',
    [change('standard', price(2_500, 10_000), price(3_000, 10_001))],
    'USD per million units: input 2.5 → 3, output 10 → 10.001.',
  ],
  [
    'a rate that is new or gone',
    [
      change(
        'standard',
        price(1, 2, { rates: { input: 1, output: 2, cache_read: 1 } as never }),
        price(1, 2, { rates: { input: 1, output: 2, request: 5_000_000 } as never }),
      ),
    ],
    'USD per million units: cache_read 0.001 → none, request none → 5000.',
  ],
  [
    'bands for long prompts',
    [change('standard', price(1, 2, band(200_000, 3)), price(1, 2, band(100_000, 3)))],
    'USD per million units: other prices for prompts of 100000 tokens and more.',
  ],
  [
    'service tiers by name, and the price of own keys where it does not follow the other',
    [
      change('standard', price(1_000, 2_000), price(2_000, 2_000)),
      change('flex', price(500, 1_000), price(500, 900)),
      change('byok:standard', price(1_000, 2_000, { fee_bps: 500 }), price(2_000, 2_000, { fee_bps: 500 })),
      change('byok:flex', price(500, 1_000, { fee_bps: 500 }), price(500, 1_000, { fee_bps: 550 })),
    ],
    'USD per million units: input 1 → 2; tier flex: output 1 → 0.9; tier flex with your own key: fee 5 % → 5.5 %.',
  ],
  [
    'a markup that only moves the list price below it changes nothing for callers',
    [
      change(
        'standard',
        price(1_000, 2_000, { list: { rates: { input: 900, output: 1_800 } as never, bands: [] } }),
        price(1_000, 2_000, { list: { rates: { input: 800, output: 1_600 } as never, bands: [] } }),
      ),
    ],
    null,
  ],
  ['prices of sandbox keys are nobody’s', [change('test', price(1, 2), price(3, 4))], null],
])('%s', ([, changes, summary]) => {
  expect(summaryOf(changes)).toBe(summary);
});

test('a summary is bounded', () => {
  const tiers = Array.from({ length: 60 }, (_, n) => change(`tier-${n}`, price(1, n), price(2, n + 1)));
  expect(summaryOf(tiers)?.length).toBe(500);
});
