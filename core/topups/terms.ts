// Business values of top-ups: defaults of the release under what staff have set (docs/money/topups.md#what-credits-cost).
import { readSetting } from '../db/index.ts';
import { readGstRate, readSupplierOf, type Supplier } from '../invoices/index.ts';
import type { Context, Db, Id } from '../kernel/index.ts';
import type { Billing } from '../orgs/index.ts';
import { type Currency, MINIMUMS_MINOR } from './currency.ts';
import type { Rates } from './fx/rates.ts';
import { type FxSource, readRates } from './fx/source.ts';
import type { RailName } from './types.ts';

export interface FeeItem {
  readonly method: string;
  readonly bps: number;
  readonly fixed_minor?: number;
}

/** Business values of setting `topups`, over their defaults. */
export interface TopupTerms {
  /** Days until the credit of a top-up ends; 0: never. */
  readonly paid_credit_days: number;
  readonly spread_bps: number;
  /** Most credits that one top-up buys. */
  readonly max_credits_micro: number;
  readonly minimums_minor: Readonly<Record<Currency, number>>;
  readonly fees: Readonly<Record<RailName, readonly FeeItem[]>>;
}

/** Everything that a price depends on beside the amount. */
export interface PriceFacts {
  readonly billing: Billing;
  readonly terms: TopupTerms;
  readonly supplier: Supplier;
  readonly gst_rate_bps: number;
  readonly fx: Rates;
  /** A rate that an earlier quote promised; null: the rate of the day. */
  readonly promised: { readonly fx_day: string; readonly rate_e8: number } | null;
}

const DEFAULTS: TopupTerms = {
  paid_credit_days: 0,
  spread_bps: 150,
  max_credits_micro: 10_000_000_000,
  minimums_minor: MINIMUMS_MINOR,
  // Disclosed, not charged: the service bears them. Numbers of the rails' price lists, to be set from the contracts.
  fees: {
    'rail-a': [
      { method: 'upi', bps: 0 },
      { method: 'card', bps: 200 },
      { method: 'netbanking', bps: 200 },
      { method: 'emandate', bps: 100 },
    ],
    'rail-b': [{ method: 'card', bps: 290, fixed_minor: 30 }],
  },
};

/** The business values in force. */
export async function readTerms(db: Db): Promise<TopupTerms> {
  const set = await readSetting<Partial<TopupTerms>>(db, 'topups');
  if (set === null) return DEFAULTS;
  return {
    ...DEFAULTS,
    ...set,
    minimums_minor: { ...DEFAULTS.minimums_minor, ...set.minimums_minor },
    fees: { ...DEFAULTS.fees, ...set.fees },
  };
}

/** Reads what prices of an organization depend on. `is_demo`: no supplier is set, so nothing real may be sold. */
export async function readPriceFacts(
  context: Context,
  source: FxSource,
  org_id: Id<'org'>,
): Promise<Pick<PriceFacts, 'terms' | 'supplier' | 'gst_rate_bps' | 'fx'> & { is_demo: boolean }> {
  const { db } = context;
  const now = context.now();
  const { supplier, is_demo } = await readSupplierOf(context, org_id);
  const fx = await readRates(db, source, now);
  return { terms: await readTerms(db), supplier, is_demo, gst_rate_bps: await readGstRate(db, now), fx };
}
