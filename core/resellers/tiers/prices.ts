// What models cost customers at a markup, before a tier is saved with it: nothing is stored for that.
import { type Static, Type } from 'typebox';
import { type Endpoint, type Model, type RateKind, ratesAtTier } from '../../catalog/index.ts';
import { lineOf, named, operation } from '../../kernel/index.ts';
import { holders } from '../audience.ts';
import { MarkupIn } from './operations.ts';

/** Models of one answer; a part of an id narrows them. */
const MODELS_MAX = 20;

const Rate = Type.Object({
  kind: Type.String(),
  catalog_nano: Type.Integer({ description: 'nano-USD per unit at catalog prices' }),
  customer_nano: Type.Integer({ description: 'what a customer pays' }),
  earned_nano: Type.Integer({ description: 'the difference' }),
});

const TierPriceView = named(
  'ResellerTierPrice',
  Type.Object({
    model: Type.String(),
    name: Type.String(),
    providers: Type.Array(Type.String(), { description: 'who serves it at this price' }),
    rates: Type.Array(Rate),
    has_bands: Type.Boolean({ description: 'long prompts cost more' }),
  }),
);
type TierPriceView = Static<typeof TierPriceView>;

export const TierPriceList = named(
  'ResellerTierPriceList',
  Type.Object({
    object: Type.Literal('list'),
    markup_bps: Type.Integer(),
    models: Type.Integer({ description: `how many models there are; at most ${MODELS_MAX} are listed` }),
    data: Type.Array(TierPriceView),
  }),
);

function ratesOf(endpoint: Endpoint, markup_bps: number): TierPriceView['rates'] {
  const at_tier = ratesAtTier(endpoint, markup_bps);
  return (Object.entries(endpoint.price.rates) as [RateKind, number][]).map(([kind, catalog_nano]) => {
    const customer_nano = at_tier[kind] ?? catalog_nano;
    return { kind, catalog_nano, customer_nano, earned_nano: customer_nano - catalog_nano };
  });
}

/** A row for each price that a model has; providers that ask the same are one. Pure. */
function pricesOf(model: Model, markup_bps: number): TierPriceView[] {
  const rows = new Map<string, TierPriceView>();
  for (const endpoint of model.endpoints) {
    if (endpoint.status !== 'active') continue;
    const rates = ratesOf(endpoint, markup_bps);
    const has_bands = endpoint.price.bands.length > 0;
    const row = { model: model.id, name: model.name, providers: [], rates, has_bands };
    const key = JSON.stringify([rates, has_bands]);
    const known = rows.get(key) ?? row;
    const providers = [...new Set([...known.providers, endpoint.provider_name])];
    rows.set(key, { ...known, providers });
  }
  return [...rows.values()];
}

const example: TierPriceView = {
  ...{ model: 'acme/fast-1', name: 'Fast 1', providers: ['acme'], has_bands: false },
  rates: [{ kind: 'input', catalog_nano: 2_500, customer_nano: 2_813, earned_nano: 313 }],
};

export const tierPricesOperation = operation({
  name: 'reseller.tiers.prices',
  method: 'GET',
  path: '/v1/reseller/tiers/prices',
  summary: 'Read what models would cost customers at a markup, and what of it the reseller earns',
  audience: holders('reseller.read'),
  input: Type.Object({
    markup_bps: MarkupIn,
    q: Type.Optional(lineOf(120)),
  }),
  output: TierPriceList,
  errors: ['grant_required'],
  example: { object: 'list', markup_bps: 1_250, models: 1, data: [example] },
  async run({ services }, { markup_bps, q = '' }) {
    const wanted = q.toLowerCase();
    const models = [...services.catalog().models.values()]
      .filter(({ id }) => id.toLowerCase().includes(wanted))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    const data = models.slice(0, MODELS_MAX).flatMap((model) => pricesOf(model, markup_bps));
    return { object: 'list' as const, markup_bps, models: models.length, data };
  },
});
