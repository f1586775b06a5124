// Wire shapes of prices that staff propose.
import { type Static, Type } from 'typebox';
import { chargedNano, type PlannedPrice, type RatePair } from '../../catalog/index.ts';
import { idOf, lineOf, named, nullable, Time } from '../../kernel/index.ts';
import type { PriceEffect } from './effect.ts';

const Day = Type.String({ format: 'date' });

export const PriceChange = Type.Object({
  tier: Type.Optional(Type.String({ maxLength: 32, description: 'service tier; absent: the usual price' })),
  from_prompt_tokens: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100_000_000, description: 'of the band that begins there' }),
  ),
  kind: Type.String({ maxLength: 32, description: '`input`, `output`, `cache_read`, …' }),
  usd_per_million: Type.String({
    pattern: '^\\d{1,9}(\\.\\d{1,6})?$',
    maxLength: 16,
    description: 'before the markup of the model, as files write it: `2.50`',
  }),
});

/** What is looked at, and what is proposed. */
export const priceInput = {
  endpoint_id: idOf('endpoint'),
  from: Type.String({ ...Day, maxLength: 10, description: 'charged from 00:00 UTC of this day on' }),
};
const CHANGES_MAX = 300;
/** Amounts that are to be others, at least `min`. */
export const Changes = (min: 0 | 1) => Type.Array(PriceChange, { minItems: min, maxItems: CHANGES_MAX });
export const Reason = lineOf(500);

const PricePairView = Type.Object({
  tier: nullable(Type.String()),
  from_prompt_tokens: nullable(Type.Integer()),
  kind: Type.String(),
  before: Type.String({ description: 'USD per million, before the markup of the model' }),
  after: Type.String(),
  charged_before: Type.Number({ description: 'USD per million that callers pay' }),
  charged_after: Type.Number(),
  change_bps: nullable(
    Type.Integer({ description: 'of what callers pay, in hundredths of a per cent; null: it was free' }),
  ),
});

const EffectView = Type.Object({
  from: Time,
  until: Time,
  complete: Type.Boolean({ description: 'false: more calls than are counted; `from` says since when' }),
  calls: Type.Integer(),
  cost_micro_usd: Type.Integer({ description: 'what they cost' }),
  before_micro_usd: Type.Integer({ description: 'what they would have cost at the prices of before' }),
  after_micro_usd: Type.Integer({ description: 'what they would have cost at the proposed prices' }),
});

export const PricePlanView = named(
  'PricePlan',
  Type.Object({
    endpoint_id: idOf('endpoint'),
    model: Type.String(),
    provider: Type.String(),
    region: Type.String(),
    markup_bps: Type.Integer(),
    from: Day,
    earliest: Type.String({ ...Day, description: 'the first day from which these amounts can be charged' }),
    until: nullable(
      Type.String({ ...Day, description: 'when a price of the files follows; null: none does' }),
    ),
    replaces: Type.String({ description: 'names the prices of before; a proposal is made of these' }),
    rates: Type.Array(PricePairView),
    effect: EffectView,
  }),
);
export type PricePlanView = Static<typeof PricePlanView>;

function viewPair(markup_bps: number, { before, after, ...rest }: RatePair): Static<typeof PricePairView> {
  const [was, is] = [chargedNano(before, markup_bps), chargedNano(after, markup_bps)];
  return {
    ...{ ...rest, before, after, charged_before: was / 1_000, charged_after: is / 1_000 },
    change_bps: was === 0 ? null : Math.round(((is - was) * 10_000) / was),
  };
}

/** What prices come to, on the wire. */
export function viewPlan(planned: PlannedPrice, from: string, effect: PriceEffect): PricePlanView {
  const { endpoint, filed, earliest, until, replaces, pairs } = planned;
  return {
    ...{
      endpoint_id: endpoint.id,
      model: filed.model_id,
      provider: endpoint.provider,
      region: endpoint.region,
    },
    ...{ markup_bps: filed.markup_bps, from, earliest, until, replaces },
    rates: pairs.map((pair) => viewPair(filed.markup_bps, pair)),
    effect: { ...effect, from: effect.from.toISOString(), until: effect.until.toISOString() },
  };
}

export const planExample: PricePlanView = {
  endpoint_id: 'ep_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  ...{ model: 'openai/gpt-4o-mini', provider: 'openai', region: 'global', markup_bps: 0 },
  ...{ from: '2026-12-01', earliest: '2026-11-29', until: null, replaces: '9f'.repeat(32) },
  rates: [
    {
      ...{ tier: null, from_prompt_tokens: null, kind: 'input', before: '0.15', after: '0.12' },
      ...{ charged_before: 0.15, charged_after: 0.12, change_bps: -2_000 },
    },
  ],
  effect: {
    ...{ from: '2026-10-22T10:00:00.000Z', until: '2026-11-21T10:00:00.000Z', complete: true, calls: 8_214 },
    ...{ cost_micro_usd: 9_120_400, before_micro_usd: 9_120_400, after_micro_usd: 8_300_100 },
  },
};
