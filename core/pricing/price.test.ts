import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PriceVersion, RateKind, Rates } from '../catalog/index.ts';
import { nanoUsd } from '../kernel/index.ts';
import { chargedRates, fitUsage, price, type Usage } from './index.ts';

type Numbers = { [K in RateKind]?: number } & { input: number; output: number };

function rates(numbers: Numbers): Rates {
  return Object.fromEntries(Object.entries(numbers).map(([k, v]) => [k, nanoUsd(v)])) as unknown as Rates;
}
function version(numbers: Numbers, bands: [number, Numbers][] = []): PriceVersion {
  return {
    id: 'pv_0000000000000000000000000A',
    price_no: 1,
    endpoint_id: 'ep_0000000000000000000000000A',
    rates: rates(numbers),
    bands: bands.map(([from_prompt_tokens, n]) => ({ from_prompt_tokens, rates: rates(n) })),
  };
}
function usage(counts: Partial<Usage>): Usage {
  return {
    input_tokens: 0,
    output_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    source: 'provider',
    ...counts,
  };
}
const lines = (cost: {
  lines: { kind: string; units: number; unit_price_nano: number; micro_usd: number }[];
}) => cost.lines.map((l) => [l.kind, l.units, l.unit_price_nano, l.micro_usd]);

const sonnet = version({
  input: 3000,
  output: 15000,
  cache_read: 300,
  cache_write: 3750,
  cache_write_1h: 6000,
});

test('Anthropic cache writes are billed by their time to live, 5 minutes at the plain write rate', () => {
  const cost = price(
    usage({
      input_tokens: 21,
      output_tokens: 503,
      cache_read_tokens: 100_000,
      cache_write_tokens: 7_500,
      cache_write_5m_tokens: 5_000,
      cache_write_1h_tokens: 2_000,
    }),
    sonnet,
  );
  expect(lines(cost)).toEqual([
    ['input', 21, 3000, 63],
    ['output', 503, 15000, 7545],
    ['cache_read', 100_000, 300, 30_000],
    ['cache_write_5m', 5_000, 3750, 18_750],
    ['cache_write_1h', 2_000, 6000, 12_000],
    ['cache_write', 500, 3750, 1_875],
  ]);
  expect(cost.total_micro_usd).toBe(70_233);
});

test('a 1 hour cache write without a rate costs 1.6 times the plain one, and without that 1.6 times the input', () => {
  const written = usage({ cache_write_tokens: 1000, cache_write_1h_tokens: 1000 });
  expect(price(written, version({ input: 3000, output: 1, cache_write: 3750 })).lines[2]).toMatchObject({
    unit_price_nano: 6000,
  });
  expect(price(written, version({ input: 1001, output: 1 })).lines[2]).toMatchObject({
    unit_price_nano: 1602,
  });
});

test('cached tokens of OpenAI are billed at the cached rate, or at the input rate where there is none', () => {
  const call = usage({ input_tokens: 1_006 - 896, output_tokens: 300, cache_read_tokens: 896 });
  expect(lines(price(call, version({ input: 2500, output: 10000, cache_read: 1250 })))).toEqual([
    ['input', 110, 2500, 275],
    ['output', 300, 10000, 3000],
    ['cache_read', 896, 1250, 1120],
  ]);
  expect(price(call, version({ input: 2500, output: 10000 })).lines[2]?.unit_price_nano).toBe(2500);
});

test('the whole call is billed in the one band that input, cache reads and cache writes reach together', () => {
  const banded = version({ input: 2000, output: 6000 }, [[200_000, { input: 4000, output: 12000 }]]);
  const below = usage({ input_tokens: 199_000, cache_read_tokens: 999, output_tokens: 10 });
  expect(price(below, banded).lines.map((l) => l.unit_price_nano)).toEqual([2000, 6000, 2000]);
  const reached = { ...below, cache_read_tokens: 1000 };
  expect(price(reached, banded).lines.map((l) => l.unit_price_nano)).toEqual([4000, 12000, 4000]);
});

test('parts with a rate leave the input and output lines, parts without one stay in them', () => {
  const call = usage({
    input_tokens: 100,
    audio_input_tokens: 30,
    image_input_tokens: 20,
    output_tokens: 50,
    reasoning_tokens: 40,
    audio_output_tokens: 25,
    search_units: 3,
  });
  const row = { input: 1000, output: 2000, reasoning: 3000, audio_input: 9000, audio_output: 8000 };
  expect(lines(price(call, version({ ...row, search_unit: 10_000_000, request: 5_000_000 })))).toEqual([
    ['input', 70, 1000, 70],
    // Reasoning takes 40 of the 50, so at most 10 are left to be audio.
    ['output', 0, 2000, 0],
    ['reasoning', 40, 3000, 120],
    ['audio_input', 30, 9000, 270],
    ['audio_output', 10, 8000, 80],
    ['search_unit', 3, 10_000_000, 30_000],
    ['request', 1, 5_000_000, 5_000],
  ]);
});

test('images are lines of their own where they have a rate, after everything that is text or sound', () => {
  const call = usage({
    input_tokens: 100,
    audio_input_tokens: 30,
    image_input_tokens: 90,
    output_tokens: 50,
    image_output_tokens: 20,
  });
  const row = { input: 1000, output: 2000, audio_input: 9000, image_input: 4000, image_output: 30_000 };
  expect(lines(price(call, version(row)))).toEqual([
    ['input', 0, 1000, 0],
    ['output', 30, 2000, 60],
    ['audio_input', 30, 9000, 270],
    ['image_input', 70, 4000, 280],
    ['image_output', 20, 30_000, 600],
  ]);
});

test('what was not used has no line, but for input and output', () => {
  const everything = version({
    ...{ input: 1, output: 2, cache_read: 3, cache_write: 4, cache_write_5m: 5, cache_write_1h: 6 },
    ...{ reasoning: 7, audio_input: 8, audio_output: 9, image_input: 10, image_output: 11 },
    ...{ search_unit: 12, request: 13 },
  });
  const kinds = (counts: Partial<Usage>) => price(usage(counts), everything).lines.map(({ kind }) => kind);
  expect(kinds({ search_units: 0, requests: 0 })).toEqual(['input', 'output']);
  expect(kinds({})).toEqual(['input', 'output', 'request']);
  expect(lines(price(usage({ requests: 3 }), everything)).at(-1)).toEqual(['request', 3, 13, 0]);
});

test('a cache write of no known time to live is billed at the write rate, without one at the input rate', () => {
  const written = usage({ cache_write_tokens: 1000 });
  expect(price(written, version({ input: 3000, output: 1, cache_write: 3750 })).lines[2]).toMatchObject({
    kind: 'cache_write',
    unit_price_nano: 3750,
  });
  expect(price(written, version({ input: 3000, output: 1 })).lines[2]?.unit_price_nano).toBe(3000);
});

test('cache writes reach a band as all input does', () => {
  const banded = version({ input: 2000, output: 6000 }, [[1_000, { input: 4000, output: 12000 }]]);
  const at = (cache_write_tokens: number) =>
    price(usage({ input_tokens: 500, cache_write_tokens }), banded).lines[0]?.unit_price_nano;
  expect([at(499), at(500)]).toEqual([2000, 4000]);
});

test('only what was estimated is said to be', () => {
  expect('estimated' in price(usage({}), sonnet)).toBe(false);
  expect(price(usage({ source: 'estimate' }), sonnet).estimated).toBe(true);
});

test('half a micro-USD rounds up, a hair less rounds down', () => {
  const p = version({ input: 500, output: 499 });
  expect(price(usage({ input_tokens: 1, output_tokens: 1 }), p).lines.map((l) => l.micro_usd)).toEqual([
    1, 0,
  ]);
});

test('a call on the own key costs the fee on the list cost, which has no markup', () => {
  const marked: PriceVersion = {
    ...version({ input: 3300, output: 16500 }),
    list: { rates: rates({ input: 3000, output: 15000 }), bands: [] },
    fee_bps: 500,
  };
  const cost = price(usage({ input_tokens: 1000, output_tokens: 1000 }), marked);
  expect(lines(cost)).toEqual([['byok_fee', 18_000, 50, 900]]);
  expect(() => price(usage({}), { ...marked, fee_bps: 505 })).toThrow('multiple of 10');
});

test('markup and tier are applied to the exact list price and rounded once', () => {
  const list = { input: '2.50', output: '10.00', cache_read: '0.0375', request: '0' };
  expect(chargedRates(list, 0)).toEqual({ input: 2500, output: 10000, cache_read: 38, request: 0 });
  // List 2500 nano, tier 1250 bps → 2813.
  expect(chargedRates(list, 0, 1250).input).toBe(2813);
  expect(chargedRates(list, 1000, 1250).input).toBe(3094);
  expect(chargedRates({ input: '0.0001', output: '0.000001' }, 0)).toEqual({ input: 1, output: 1 });
  expect(() => chargedRates({ input: '1.0000001', output: '1' }, 0)).toThrow(RangeError);
});

const count = fc.integer({ min: 0, max: 2_000_000 });
const nano = fc.integer({ min: 0, max: 900_000 });
const anyRates: fc.Arbitrary<Numbers> = fc.record(
  {
    input: nano,
    output: nano,
    cache_read: nano,
    cache_write: nano,
    cache_write_5m: nano,
    cache_write_1h: nano,
    reasoning: nano,
    audio_input: nano,
    audio_output: nano,
    image_input: nano,
    image_output: nano,
    search_unit: nano,
    request: nano,
  },
  { requiredKeys: ['input', 'output'] },
);
const anyVersion = fc
  .tuple(anyRates, fc.array(fc.tuple(fc.integer({ min: 1, max: 3_000_000 }), anyRates), { maxLength: 2 }))
  .map(([base, bands]) =>
    version(
      base,
      bands.sort((a, b) => a[0] - b[0]),
    ),
  );
const anyUsage = fc
  .record(
    {
      input_tokens: count,
      output_tokens: count,
      cache_read_tokens: count,
      cache_write_tokens: count,
      reasoning_tokens: count,
      cache_write_5m_tokens: count,
      cache_write_1h_tokens: count,
      audio_input_tokens: count,
      audio_output_tokens: count,
      image_input_tokens: count,
      image_output_tokens: count,
      search_units: count,
    },
    { requiredKeys: ['input_tokens', 'output_tokens'] },
  )
  .map((counts) => usage(counts));

test('lines sum to the total, and each recomputes from the reply alone (BigInt model)', () => {
  fc.assert(
    fc.property(anyUsage, anyVersion, (u, p) => {
      const cost = price(u, p);
      expect(cost.total_micro_usd).toBe(cost.lines.reduce((total, l) => total + l.micro_usd, 0));
      for (const l of cost.lines) {
        expect(BigInt(l.micro_usd)).toBe((BigInt(l.units) * BigInt(l.unit_price_nano) + 500n) / 1000n);
      }
    }),
  );
});

test('every token is on exactly one line: input and output sides keep their sums', () => {
  fc.assert(
    fc.property(anyUsage, anyVersion, (u, p) => {
      const units = (...kinds: string[]) =>
        price(u, p)
          .lines.filter((l) => kinds.includes(l.kind))
          .reduce((total, l) => total + l.units, 0);
      expect(units('input', 'audio_input', 'image_input')).toBe(u.input_tokens);
      expect(units('output', 'reasoning', 'audio_output', 'image_output')).toBe(u.output_tokens);
      expect(units('cache_write', 'cache_write_5m', 'cache_write_1h')).toBe(u.cache_write_tokens);
      expect(units('cache_read')).toBe(u.cache_read_tokens);
    }),
  );
});

test('more output, input or cache reads never cost less', () => {
  fc.assert(
    fc.property(anyUsage, anyRates, count, (u, r, more) => {
      const part = Math.floor(u.output_tokens / 3);
      const base = { ...u, reasoning_tokens: part, audio_output_tokens: part, image_output_tokens: part };
      base.audio_input_tokens = 0;
      base.image_input_tokens = 0;
      const p = version(r);
      const before = price(base, p).total_micro_usd;
      for (const kind of ['output_tokens', 'input_tokens', 'cache_read_tokens'] as const) {
        const grown = { ...base, [kind]: base[kind] + more };
        expect(price(grown, p).total_micro_usd).toBeGreaterThanOrEqual(before);
      }
    }),
  );
});

test('estimated usage is fitted under the hold, and what is charged still recomputes', () => {
  fc.assert(
    fc.property(anyUsage, anyRates, fc.integer({ min: 0, max: 2_000_000 }), (u, r, ceiling) => {
      const p = version(r);
      const fitted = fitUsage({ ...u, source: 'estimate' }, p, ceiling);
      const cost = price(fitted, p);
      expect(cost.total_micro_usd).toBeLessThanOrEqual(ceiling);
      expect(cost.estimated).toBe(true);
      if (price(u, p).total_micro_usd <= ceiling) expect(fitted.output_tokens).toBe(u.output_tokens);
    }),
  );
});

test('what is fitted is the most that fits: output goes first, and input only when there is none left', () => {
  const small = fc.integer({ min: 0, max: 30 });
  const rate = fc.integer({ min: 0, max: 3_000 });
  fc.assert(
    fc.property(
      small,
      small,
      rate,
      rate,
      fc.integer({ min: 0, max: 120 }),
      (input, output, a, b, ceiling) => {
        const p = version({ input: a, output: b, request: 20_000 });
        const asked = usage({ input_tokens: input, output_tokens: output, source: 'estimate' });
        const cost = (i: number, o: number) =>
          price({ ...asked, input_tokens: i, output_tokens: o }, p).total_micro_usd;
        const downTo0 = (from: number) => Array.from({ length: from + 1 }, (_, i) => from - i);
        const fitted =
          downTo0(output)
            .map((o): [number, number] => [input, o])
            .concat(downTo0(input).map((i): [number, number] => [i, 0]))
            .find(([i, o]) => cost(i, o) <= ceiling) ?? null;
        const { input_tokens, output_tokens, requests } = fitUsage(asked, p, ceiling);
        expect(requests === 0 ? null : [input_tokens, output_tokens]).toEqual(fitted);
      },
    ),
    // None of the output fits: 0, and not -0.
    { examples: [[0, 2, 0, 500, 20]] },
  );
});
