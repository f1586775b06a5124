import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RateKind, Rates, WireFacts } from '../catalog/index.ts';
import { builtIn } from '../inference/index.ts';
import { nanoUsd } from '../kernel/index.ts';
import {
  affordableTokens,
  holdMicroUsd,
  inputTokensBound,
  price,
  type Reserved,
  type ReserveInput,
  reserve,
  type Usage,
} from './index.ts';
import { addText, countText, emptyPrompt, textTokens } from './size.ts';

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

test('text is a third of its bytes, dense or non-Latin text two thirds, and each message 16 more', () => {
  expect(countText('the quick brown fox')).toBe(7);
  expect(countText('A'.repeat(30))).toBe(20);
  expect(countText('日本語 のテキスト です')).toBe(22);
  // Curly quotes and accents are Latin text.
  expect(countText('“C’est déjà l’été”, dit-elle — enfin.')).toBe(
    Math.ceil(Buffer.byteLength('“C’est déjà l’été”, dit-elle — enfin.') / 3),
  );
  const size = emptyPrompt();
  addText(size, 'hello wide world');
  size.messages = 2;
  expect(inputTokensBound(size)).toBe(6 + 32);
});

test('media are bounded by the rules of the price function', () => {
  const size = emptyPrompt();
  size.images = [{}, { detail: 'low' }, { detail: 'high' }];
  size.audio_seconds = 2.5;
  size.audio_bytes = 401;
  size.pdf_pages = 2;
  size.pdf_bytes = 101;
  expect(inputTokensBound(size)).toBe(1600 + 100 + 1600 + 100 + 2 + 6000 + 2);
});

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

test('counting is additive over texts and independent of how they are cut', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' })), (texts) => {
      const apart = emptyPrompt();
      for (const text of texts) addText(apart, text);
      const whole = emptyPrompt();
      addText(whole, texts.join(''));
      expect(apart).toEqual(whole);
      expect(apart.text_bytes).toBe(Buffer.byteLength(texts.join('')));
      expect(textTokens(apart) * 3).toBeGreaterThanOrEqual(apart.text_bytes);
    }),
  );
});
