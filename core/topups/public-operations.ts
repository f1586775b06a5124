// What everybody may know of prices before an account: the sheet of what a top-up costs, and the day's exchange rates.
import { Type } from 'typebox';
import { readSetting } from '../db/index.ts';
import { sellerOf } from '../identity/index.ts';
import {
  readGstRate,
  readResellerSupplier,
  readSupplier,
  type Supplier,
  stateName,
} from '../invoices/index.ts';
import { type Context, named, nullable, oneOf, operation, Time } from '../kernel/index.ts';
import { PlanOfferView, planExample, readPlans } from '../orgs/index.ts';
import { currencies } from './currency.ts';
import { type Rates, rateText } from './fx/rates.ts';
import { readRates } from './fx/source.ts';
import { moneyIn } from './money-in.ts';
import { readTerms } from './terms.ts';
import { railNames } from './types.ts';

const audience = { kind: 'public' } as const;
const fxKinds = ['static', 'ecb', 'json'] as const;

/** Nothing here is a caller's, and a minute's age does no harm. */
const cached = { scope: 'public' } as const;

const ratesNow = (context: Context): Promise<Rates> =>
  readRates(context.db, moneyIn(context).fx, context.now());

const Day = nullable(Type.String({ format: 'date' }));

const FxDisplay = named(
  'FxDisplay',
  Type.Object({
    object: Type.Literal('fx_display'),
    base: Type.Literal('USD'),
    available: Type.Boolean({ description: 'whether rates of the source have come yet' }),
    day: Day,
    source: oneOf(fxKinds, 'FxSource'),
    stale: Type.Boolean({ description: 'the newest day is more than four days old' }),
    currencies: Type.Array(Type.String()),
    rates: Type.Record(Type.String(), Type.String({ description: 'decimal with 8 places per US dollar' })),
  }),
);

export const fxDisplayOperation = operation({
  name: 'pricing.fx',
  method: 'GET',
  path: '/v1/fx/display',
  summary: 'Mid rates of the day, by which balances are shown; credits are sold with a spread on top',
  audience,
  input: Type.Object({}),
  output: FxDisplay,
  errors: [],
  cached,
  example: {
    object: 'fx_display',
    base: 'USD',
    available: true,
    day: '2026-11-20',
    source: 'static',
    stale: false,
    currencies: ['INR', 'USD'],
    rates: { INR: '88.70000000', USD: '1.00000000' },
  },
  async run(context) {
    const rates = await ratesNow(context);
    const available = rates.fx_day !== null;
    const text = (currency: (typeof currencies)[number]) => rateText(rates.shownRate(currency).rate_e8);
    return {
      object: 'fx_display' as const,
      base: 'USD' as const,
      available,
      day: rates.fx_day,
      source: rates.source,
      stale: rates.stale,
      currencies: available ? [...currencies] : [],
      rates: available ? Object.fromEntries(currencies.map((name) => [name, text(name)])) : {},
    };
  },
});

const PricingView = named(
  'PricingSheet',
  Type.Object({
    currencies: Type.Array(Type.String()),
    rails: Type.Array(
      Type.Object({
        rail: oneOf(railNames, 'Rail'),
        items: Type.Array(
          Type.Object({
            method: Type.String(),
            bps: Type.Integer(),
            fixed_minor: Type.Integer(),
            note: Type.String(),
          }),
          { description: 'fees of the rail, borne by the service' },
        ),
      }),
    ),
    gst: Type.Object({
      rate_bps: Type.Integer(),
      supplier_state: nullable(Type.String({ description: 'null where the supplier is not named' })),
      rule: Type.String(),
    }),
    fx: Type.Object({ day: Day, usd_inr: Type.String(), spread_bps: Type.Integer() }),
    plans: Type.Array(PlanOfferView, { description: 'null is by agreement' }),
    minimums_minor: Type.Record(Type.String(), Type.Integer()),
    markup: nullable(
      Type.Object(
        {
          frontier_bps: Type.Integer(),
          open_weight_min_bps: Type.Integer(),
          open_weight_max_bps: Type.Integer(),
          note: Type.String(),
        },
        { description: 'null at the storefront of a reseller, whose prices have their own' },
      ),
    ),
    supplier: nullable(
      Type.Object(
        { legal_name: Type.String(), state: Type.String(), gstin: Type.Boolean() },
        {
          description:
            'at the storefront of a reseller: the reseller where it sells in its own name, else null, and documents name who sells',
        },
      ),
    ),
    generated_at: Time,
  }),
);

const GST_RULE =
  'Organizations in India pay GST: in the state of the supplier CGST and SGST, elsewhere IGST; exports and special ' +
  'economic zones pay none under a letter of undertaking.';
const MARKUP = {
  frontier_bps: 0,
  open_weight_min_bps: 0,
  open_weight_max_bps: 0,
  note: 'A guide: what is charged is the markup_bps of each model.',
};

/**
 * Who sells to whoever asks: at a reseller's storefront the reseller or, where it sells in our name, somebody whom this sheet
 * does not name. Their documents do.
 */
async function readSeller(
  context: Context,
): Promise<{ supplier: Supplier; is_named: boolean; is_ours: boolean }> {
  const seller = await sellerOf(context);
  const reseller = seller === null ? null : await readResellerSupplier(context, seller.org_id);
  const supplier = reseller ?? (await readSupplier(context.db)).supplier;
  return { supplier, is_named: seller === null || reseller !== null, is_ours: seller === null };
}

export const pricingOperation = operation({
  name: 'pricing.get',
  method: 'GET',
  path: '/v1/pricing',
  summary: 'What credits cost: currencies, least amounts, fees, tax, exchange rate and plans',
  audience,
  input: Type.Object({}),
  output: PricingView,
  errors: [],
  cached,
  example: {
    currencies: ['INR', 'USD'],
    rails: [{ rail: 'rail-b', items: [{ method: 'card', bps: 290, fixed_minor: 30, note: '' }] }],
    gst: { rate_bps: 1_800, supplier_state: 'Karnataka', rule: GST_RULE },
    fx: { day: '2026-11-20', usd_inr: '88.70000000', spread_bps: 150 },
    plans: [planExample],
    minimums_minor: { INR: 50_000, USD: 500 },
    markup: MARKUP,
    supplier: { legal_name: 'Demo Supplier Private Limited', state: 'Karnataka', gstin: true },
    generated_at: '2026-11-21T10:00:00.000Z',
  },
  async run(context) {
    const { db } = context;
    const terms = await readTerms(db);
    const { supplier, is_named, is_ours } = await readSeller(context);
    const rates = await ratesNow(context);
    const state = stateName(supplier.state_code) ?? supplier.state_code;
    return {
      currencies: [...currencies],
      rails: railNames.map((rail) => ({
        rail,
        items: terms.fees[rail].map((fee) => ({ fixed_minor: 0, note: '', ...fee })),
      })),
      gst: {
        rate_bps: supplier.gstin === null ? 0 : await readGstRate(db, context.now()),
        supplier_state: is_named ? state : null,
        rule: GST_RULE,
      },
      fx: {
        day: rates.fx_day,
        usd_inr: rateText(rates.shownRate('INR').rate_e8),
        spread_bps: terms.spread_bps,
      },
      plans: await readPlans(db, context.now()),
      minimums_minor: { ...terms.minimums_minor },
      markup: is_ours ? { ...MARKUP, ...(await readSetting<Partial<typeof MARKUP>>(db, 'markup')) } : null,
      supplier: is_named ? { legal_name: supplier.legal_name, state, gstin: supplier.gstin !== null } : null,
      generated_at: context.now().toISOString(),
    };
  },
});

export const publicOperations = [fxDisplayOperation, pricingOperation] as const;
