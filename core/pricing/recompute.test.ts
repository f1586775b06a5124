import { expect, test } from 'vitest';
import type { PriceVersion } from '../catalog/index.ts';
import { price } from './price.ts';
import { recompute } from './recompute.ts';
import type { Usage } from './types.ts';

const rates = { input: 1_250, output: 4_750, search_unit: 2_000_000, audio_input: 40_000, reasoning: 6_000 };
const version = { id: 'pv_1', rates, bands: [] } as unknown as PriceVersion;

const usage: Usage = {
  ...{ input_tokens: 1_000, output_tokens: 300, cache_read_tokens: 20, cache_write_tokens: 30 },
  ...{ reasoning_tokens: 10, search_units: 3, audio_input_tokens: 250, source: 'provider' },
};

test('a cost is that of its units, and one micro-USD beside it differs', () => {
  const cost = price(usage, version);
  const metered = { usage, insured: false };
  expect(recompute(metered, version, cost.total_micro_usd)).toEqual({ cost, exact: true });
  for (const wrong of [cost.total_micro_usd - 1, cost.total_micro_usd + 1, 0])
    expect(recompute(metered, version, wrong)).toEqual({ cost, exact: false });
});

test('a unit more or less is another cost', () => {
  const { total_micro_usd } = price(usage, version);
  for (const name of ['search_units', 'audio_input_tokens', 'output_tokens'] as const) {
    for (const by of [-1, 1]) {
      const other = { ...usage, [name]: (usage[name] as number) + by };
      expect(recompute({ usage: other, insured: false }, version, total_micro_usd).exact).toBe(false);
    }
  }
});

test('an insured answer costs nothing, whatever it used, and nothing else does', () => {
  const insured = recompute({ usage, insured: true }, version, 0);
  expect(insured).toMatchObject({ exact: true, cost: { total_micro_usd: 0, lines: [] } });
  expect(recompute({ usage, insured: true }, version, 1).exact).toBe(false);
  expect(recompute({ usage: { ...usage, output_tokens: 0 }, insured: false }, version, 0).exact).toBe(false);
});
