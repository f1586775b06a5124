// What a payment buys when that is not what its price said: another amount came in, or the rate of tax has changed since
// the price was made. Pure but for `atRateOfNow`.
import { readGstRate, type TaxTerms, taxOn } from '../../invoices/index.ts';
import { type Context, microUsd, mulDivFloor } from '../../kernel/index.ts';
import { isCurrency } from '../currency.ts';
import { creditsFor, rateFromText } from '../fx/rates.ts';
import { repriceTopup } from '../store.ts';
import type { Topup } from '../types.ts';

export interface Repriced {
  readonly amount_minor: number;
  readonly tax_minor: number;
  readonly total_minor: number;
  readonly credits_micro: number;
  readonly tax: TaxTerms;
}

/**
 * What `paid_minor`, tax included, buys under the terms of a top-up: its rate, its tax decision. Not every total is an
 * amount and its rounded tax; the smallest unit that is left over belongs to the amount. Null when it buys nothing. Pure.
 */
export function repriced(
  topup: Pick<Topup, 'tax' | 'currency' | 'fx_rate'>,
  paid_minor: number,
): Repriced | null {
  const { currency } = topup;
  if (!isCurrency(currency)) return null;
  const { decision } = topup.tax;
  const rate_bps = decision.split === 'none' ? 0 : decision.rate_bps;
  const taxOf = (amount: number) => {
    const { cgst_minor, sgst_minor, igst_minor } = taxOn(amount, decision);
    return cgst_minor + sgst_minor + igst_minor;
  };
  // Rounding moves the tax by one unit a part at most: a few steps down find the largest amount that fits.
  let net = mulDivFloor(paid_minor, 10_000, 10_000 + rate_bps) + 2;
  while (net + taxOf(net) > paid_minor) net--;
  const tax_minor = taxOf(net);
  const amount_minor = paid_minor - tax_minor;
  const credits_micro = creditsFor(amount_minor, currency, rateFromText(topup.fx_rate));
  if (credits_micro < 1) return null;
  const tax = { ...topup.tax, ...taxOn(net, decision) };
  return { amount_minor, tax_minor, total_minor: paid_minor, credits_micro, tax };
}

/** The tax terms with another rate; terms without tax stay as they are. Pure. */
function withRate(tax: TaxTerms, rate_bps: number): TaxTerms {
  return tax.decision.split === 'none' ? tax : { ...tax, decision: { ...tax.decision, rate_bps } };
}

/** The tax terms that a document issued now has: those of its price, at the rate of tax of this day. */
export async function termsOfNow(context: Context, tax: TaxTerms): Promise<TaxTerms> {
  return withRate(tax, await readGstRate(context.db, context.now()));
}

/**
 * A top-up that is about to be booked, at the rate of tax of this moment (section 14 of the CGST Act: payment and invoice
 * both come after the change). Where that is another than when its price was made, the same total buys more credits or
 * fewer; the row says so from then on. Call it with the top-up locked.
 */
export async function atRateOfNow(context: Context, topup: Topup): Promise<Topup> {
  const tax = await termsOfNow(context, topup.tax);
  if (tax.decision.rate_bps === topup.tax.decision.rate_bps) return topup;
  const price = repriced({ ...topup, tax }, topup.total_minor);
  if (price === null) throw new Error(`${topup.id} buys nothing at the rate of now`);
  const credits_micro = microUsd(price.credits_micro);
  await repriceTopup(context.db, { id: topup.id, ...price, credits_micro, at: context.now() });
  return { ...topup, ...price, credits_micro };
}
