import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RateKind, Rates, WireFacts } from '../catalog/index.ts';
import { builtIn } from '../inference/index.ts';
import { nanoUsd } from '../kernel/index.ts';
import {
  affordableTokens,
  type EndpointReserve,
  holdMicroUsd,
  isReserveOf,
  price,
  type Reserved,
  type ReserveInput,
  reserve,
  type Usage,
} from './index.ts';

type Numbers = { [K in RateKind]?: number } & { input: number; output: number };
const rates = (n: Numbers) =>
  Object.fromEntries(Object.entries(n).map(([k, v]) => [k, nanoUsd(v)])) as unknown as Rates;

function endpoint(numbers: Numbers, over: Partial<Reserved> = {}, bands: [number, Numbers][] = []): Reserved {
  return {
    id: 'ep_0000000000000000000000000A',
    wire: builtIn.catalog.families.get('openai_chat') as WireFacts,
    context_length: 128_000,
    max_output: 16_384,
    cancel_billing: 'unknown',
    hidden_reasoning: false,
    price: {
      id: 'pv_0000000000000000000000000A',
      price_no: 1,
      endpoint_id: 'ep_0000000000000000000000000A',
      rates: rates(numbers),
      bands: bands.map(([from_prompt_tokens, n]) => ({ from_prompt_tokens, rates: rates(n) })),
    },
    ...over,
  };
}
function call(over: Partial<ReserveInput> = {}): ReserveInput {
  return {
    input_tokens_bound: 1000,
    max_tokens: null,
    candidates: 1,
    upstream_stream: true,
    cache_hints: false,
    audio_output: false,
    image_output: false,
    search_units: 0,
    available_micro_usd: null,
    ...over,
  };
}

test('without a cap the answer is bounded by model, context and half of the credit, at least 2,048 while affordable', () => {
  const e = endpoint({ input: 1000, output: 10_000 });
  const capOf = (over: Partial<ReserveInput>) => {
    const r = reserve([e], call(over));
    return r.status === 'ok' ? [r.endpoints[0]?.output_cap, r.endpoints[0]?.capped_by_credit] : r;
  };
  expect(capOf({})).toEqual([16_384, false]);
  expect(capOf({ input_tokens_bound: 120_000 })).toEqual([8_000, false]);
  expect(capOf({ available_micro_usd: 1_000_000_000 })).toEqual([16_384, false]);
  // 1,001 for the prompt and its rounding: (50,000 - 1,001) / 10.
  expect(capOf({ available_micro_usd: 100_000 })).toEqual([4_899, true]);
  expect(capOf({ available_micro_usd: 30_000 })).toEqual([2_048, true]);
  expect(capOf({ available_micro_usd: 11_001 })).toEqual([1_000, true]);
  expect(capOf({ available_micro_usd: 1_151 })).toEqual({
    status: 'insufficient',
    affordable_max_tokens: 15,
  });
  expect(capOf({ max_tokens: 9, available_micro_usd: 0 })).toEqual([9, false]);
});

test('only a stream that stops billing when cancelled and shows its tokens is held in steps', () => {
  const held = (over: Partial<Reserved>, w: Partial<ReserveInput> = {}) => {
    const at = endpoint({ input: 1, output: 1 }, { max_output: 64_000, ...over });
    const r = reserve([at], call({ max_tokens: 64_000, ...w }));
    return r.status === 'ok' ? r.endpoints[0]?.output_held : r;
  };
  expect(held({ cancel_billing: 'stops' })).toBe(4_096);
  expect(held({ cancel_billing: 'stops' }, { candidates: 3 })).toBe(12_288);
  expect(held({ cancel_billing: 'stops', hidden_reasoning: true })).toBe(64_000);
  expect(held({ cancel_billing: 'stops' }, { upstream_stream: false })).toBe(64_000);
  expect(held({ cancel_billing: 'bills_full' })).toBe(64_000);
});

test('the hold is that of the most expensive endpoint of the plan, in the most expensive band it can reach', () => {
  const cheap = endpoint({ input: 1000, output: 1000 });
  const expensive = endpoint({ input: 2000, output: 3000 }, {}, [[900, { input: 4000, output: 6000 }]]);
  const r = reserve([cheap, expensive], call({ max_tokens: 100, input_tokens_bound: 1000 }));
  // Two lines (input, cache read) may each round up: 1 micro-USD beyond the ceiling.
  expect(r).toMatchObject({ status: 'ok', amount_micro_usd: 4000 + 1 + 600 });
});

describe('of what a call can turn out to be, the dearest is held:', () => {
  // Nano-USD for 1,000 tokens are micro-USD, and the room for rounding is half a micro-USD a line.
  const held = (numbers: Partial<Numbers>, w: Partial<ReserveInput> = {}, over: Partial<Reserved> = {}) => {
    const e = endpoint({ input: 1_000, output: 2_000, ...numbers }, over);
    const r = reserve([e], call({ max_tokens: 1_000, upstream_stream: false, ...w }));
    return r.status === 'ok' ? r.amount_micro_usd : r;
  };
  const wire = (writes_cache_unasked: boolean) => ({
    wire: { ...(builtIn.catalog.families.get('openai_chat') as WireFacts), writes_cache_unasked },
  });

  test('input that may be read from a cache, or be sound or images', () => {
    expect(held({})).toBe(1_000 + 1 + 2_000);
    expect(held({ cache_read: 5_000 })).toBe(5_000 + 1 + 2_000);
    expect(held({ audio_input: 6_000 })).toBe(6_000 + 1 + 2_000);
    expect(held({ image_input: 7_000 })).toBe(7_000 + 1 + 2_000);
    expect(held({ audio_input: 500, image_input: 500 })).toBe(1_000 + 2 + 2_000);
  });

  test('input that is written to a cache, where the caller asks for it or the provider does it unasked at a rate', () => {
    expect(held({ cache_write: 5_000 }, {}, wire(false))).toBe(1_000 + 1 + 2_000);
    expect(held({ cache_write: 5_000 }, {}, wire(true))).toBe(5_000 + 1 + 2_000);
    expect(held({}, {}, wire(true))).toBe(1_000 + 1 + 2_000);
    // Written for an hour it costs 1.6 times as much; input, read, and three ways of writing are five lines.
    expect(held({ cache_write: 5_000 }, { cache_hints: true }, wire(false))).toBe(8_000 + 2 + 2_000);
    expect(held({}, { cache_hints: true }, wire(false))).toBe(1_600 + 2 + 2_000);
    expect(held({ cache_write_5m: 9_000 }, { cache_hints: true }, wire(true))).toBe(9_000 + 2 + 2_000);
    expect(held({ cache_write_1h: 9_000 }, {}, wire(true))).toBe(1_000 + 1 + 2_000);
  });

  test('output that may be reasoning, and sound or images where the call may be answered with them', () => {
    expect(held({ reasoning: 3_000 })).toBe(1_001 + 3_000 + 1);
    expect(held({ audio_output: 4_000 })).toBe(1_001 + 2_000);
    expect(held({ audio_output: 4_000 }, { audio_output: true })).toBe(1_001 + 4_000 + 1);
    expect(held({ image_output: 5_000 })).toBe(1_001 + 2_000);
    expect(held({ image_output: 5_000 }, { image_output: true })).toBe(1_001 + 5_000 + 1);
  });

  test('searches and the request, in whatever band they cost most', () => {
    const prices = { search_unit: 3_000, request: 7_000 };
    expect(held(prices, { search_units: 2 })).toBe(3_001 + 6 + 7);
    const banded = (band: Partial<Numbers>) =>
      holdMicroUsd(
        endpoint({ input: 0, output: 0, ...prices }, {}, [[9_000, { input: 0, output: 0, ...band }]]),
        call({ search_units: 2 }),
        1_000,
      );
    expect(banded({})).toBe(6 + 7);
    expect(banded({ search_unit: 4_000 })).toBe(8 + 7);
    expect(banded({ request: 8_000 })).toBe(6 + 8);
  });

  test('a band that the prompt’s bound reaches, and none beyond it', () => {
    const banded = endpoint({ input: 1_000, output: 2_000 }, {}, [[1_001, { input: 5_000, output: 5_000 }]]);
    const at = (input_tokens_bound: number) => holdMicroUsd(banded, call({ input_tokens_bound }), 0);
    expect([at(1_000), at(1_001)]).toEqual([1_000 + 1, 5_005 + 1]);
  });

  test('nothing at a price of nothing', () => {
    expect(held({ input: 0, output: 0 })).toBe(0);
  });

  test('with the caller’s own key the fee on the list price, and without a fee never the list price', () => {
    const e = endpoint({ input: 10_000, output: 10_000 });
    const list = { list: { rates: rates({ input: 1_000, output: 2_000 }), bands: [] } };
    const own = { ...e, price: { ...e.price, ...list, fee_bps: 500 } };
    // 3,001 × 5 %, rounded up.
    expect(holdMicroUsd(own, call(), 1_000)).toBe(151);
    expect(holdMicroUsd({ ...e, price: { ...e.price, fee_bps: 500 } }, call(), 1_000)).toBe(1_001);
    expect(holdMicroUsd({ ...e, price: { ...e.price, ...list } }, call(), 1_000)).toBe(20_001);
  });
});

describe('what is affordable', () => {
  test('is the model’s maximum where output is free, once the prompt is paid for', () => {
    const e = endpoint({ input: 1_000, output: 0 });
    expect(affordableTokens(e, call(), 1_001)).toBe(16_384);
    expect(affordableTokens(e, call(), 1_000)).toBe(0);
  });

  test('is shared by all candidates', () => {
    const e = endpoint({ input: 0, output: 1_000 });
    expect(affordableTokens(e, call({ candidates: 4 }), 4_003)).toBe(1_000);
  });

  test('with the caller’s own key is what the fee allows, and without a fee everything that is not owed', () => {
    const e = endpoint({ input: 1_000, output: 1_000 });
    const at = (fee_bps: number, budget: number) =>
      affordableTokens({ ...e, price: { ...e.price, fee_bps } }, call(), budget);
    // 101 micro-USD pay the fee of 5 % on 2,020, of which the prompt takes 1,001.
    expect(at(500, 101)).toBe(1_019);
    expect([at(0, 0), at(0, -1)]).toEqual([16_384, 0]);
    expect(at(500, -1)).toBe(0);
  });
});

test('an endpoint on which credit leaves fewer than 16 tokens is not tried, unless there is no other', () => {
  const named = (id: Reserved['id'], output: number) => ({ ...endpoint({ input: 0, output }), id });
  const plan = [named('ep_a', 1_000), named('ep_b', 1_001), named('ep_c', 100_000)];
  const r = reserve(plan, call({ available_micro_usd: 16 }));
  expect(r.status === 'ok' && r.endpoints.map((e) => [e.endpoint_id, e.output_cap])).toEqual([['ep_a', 16]]);
  expect(reserve(plan.slice(1), call({ available_micro_usd: 16 }))).toEqual({
    status: 'insufficient',
    affordable_max_tokens: 15,
  });
});

test('a plan without endpoints is a defect', () => {
  expect(() => reserve([], call())).toThrow(new RangeError('reserve of an empty plan'));
});

test('what is reserved is that of an endpoint called with one key', () => {
  const pool = endpoint({ input: 1, output: 1 });
  const own = { ...pool, own_key: { id: 'byok_1' } as Reserved['own_key'] & object };
  const other = { ...pool, own_key: { id: 'byok_2' } as Reserved['own_key'] & object };
  const reserved = (e: Reserved) => {
    const r = reserve([e], call({ max_tokens: 1 }));
    if (r.status !== 'ok') throw new Error(r.status);
    return r.endpoints[0] as EndpointReserve;
  };
  const all = [pool, own, other, { ...pool, id: 'ep_0000000000000000000000000B' as Reserved['id'] }];
  for (const e of all) expect(all.filter((one) => isReserveOf(reserved(e), one))).toEqual([e]);
  expect(all.map((e) => reserved(e).own_key_id)).toEqual([null, 'byok_1', 'byok_2', null]);
});

const nano = fc.integer({ min: 0, max: 200_000 });
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
const anyEndpoint = fc
  .tuple(
    anyRates,
    fc.array(fc.tuple(fc.integer({ min: 1, max: 60_000 }), anyRates), { maxLength: 2 }),
    fc.record({ fee: fc.option(fc.integer({ min: 0, max: 1_000 })), list: fc.option(anyRates) }),
  )
  .map(([base, bands, own]) => {
    const made = endpoint(
      base,
      {},
      bands.sort((a, b) => a[0] - b[0]),
    );
    if (own.fee === null) return made;
    // Of a call with the caller's own key, whose fee is on the list price.
    const list = own.list === null ? {} : { list: { rates: rates(own.list), bands: [] } };
    return { ...made, price: { ...made.price, ...list, fee_bps: own.fee * 10 } };
  });
const share = fc.double({ min: 0, max: 1, noNaN: true });

test('a settled call within its bounds never costs more than was held for it', () => {
  fc.assert(
    fc.property(
      anyEndpoint,
      fc.integer({ min: 0, max: 50_000 }),
      fc.integer({ min: 0, max: 5_000 }),
      fc.array(share, { minLength: 9, maxLength: 9 }),
      fc.record({ hints: fc.boolean(), searches: fc.integer({ min: 0, max: 5 }) }),
      (e, bound, output, s, { hints, searches }) => {
        const part = (i: number, of: number) => Math.floor((s[i] as number) * of);
        const prompt = part(0, bound);
        const writes = hints ? part(1, prompt) : 0;
        const reads = part(2, prompt - writes);
        const five = part(3, writes);
        const used: Usage = {
          input_tokens: prompt - writes - reads,
          cache_read_tokens: reads,
          cache_write_tokens: writes,
          cache_write_5m_tokens: five,
          cache_write_1h_tokens: part(4, writes - five),
          audio_input_tokens: part(5, prompt),
          image_input_tokens: part(6, prompt),
          output_tokens: output,
          reasoning_tokens: part(7, output),
          audio_output_tokens: part(8, output),
          search_units: searches,
          source: 'provider',
        };
        const w = call({
          input_tokens_bound: bound,
          max_tokens: output,
          upstream_stream: false,
          cache_hints: hints,
          audio_output: true,
          image_output: true,
          search_units: searches,
        });
        const r = reserve([e], w);
        expect(r.status).toBe('ok');
        if (r.status === 'ok') {
          expect(price(used, e.price).total_micro_usd).toBeLessThanOrEqual(r.amount_micro_usd);
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('each line of the answer beyond the first may round up, and that is left to it', () => {
  const affords = (numbers: Numbers) =>
    [1_101, 1_102, 1_103].map((budget) => affordableTokens(endpoint(numbers), call(), budget));
  // A micro-USD for each token, 1,000 for the prompt.
  expect(affords({ input: 1000, output: 1000 })).toEqual([100, 101, 102]);
  // The prompt has a second line, the answer has one too.
  expect(affords({ input: 1000, output: 1000, cache_read: 500, reasoning: 1000 })).toEqual([99, 100, 101]);
});

test('what is affordable fits the budget, and one token more does not', () => {
  fc.assert(
    fc.property(
      anyEndpoint,
      fc.integer({ min: 0, max: 3_000_000_000 }),
      fc.integer({ min: 1, max: 4 }),
      (e, budget, n) => {
        const w = call({ candidates: n });
        const tokens = affordableTokens(e, w, budget);
        if (tokens > 0) expect(holdMicroUsd(e, w, tokens * n)).toBeLessThanOrEqual(budget);
        if (tokens < e.max_output) expect(holdMicroUsd(e, w, (tokens + 1) * n)).toBeGreaterThan(budget);
      },
    ),
  );
});
