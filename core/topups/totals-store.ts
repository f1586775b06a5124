// Sums over payments and over what disputes took of them, for accounts.
import type { Db } from '../kernel/index.ts';
import type { Currency } from './currency.ts';

/** Payments that were booked in a time, in the smallest unit of their currency. */
export interface PaymentTotal {
  readonly currency: Currency;
  /** Sold in the name of a reseller, whose the tax is. */
  readonly for_reseller: boolean;
  readonly amount: bigint;
  readonly tax: bigint;
  /** What the rails took, as far as they have said so. */
  readonly fee: bigint;
  readonly credits_micro: bigint;
}

/** Payments booked from `from` on and before `to`, by currency; those of resellers apart. */
export async function sumPayments(db: Db, of: { from: Date | null; to: Date }): Promise<PaymentTotal[]> {
  const { rows } = await db.query<
    Record<'amount' | 'tax' | 'fee' | 'credits', string> & { currency: Currency; for_reseller: boolean }
  >({
    name: 'topups.sum_payments',
    text: `
      select currency, coalesce(tax #>> '{supplier,supplier_id}', 'platform') <> 'platform' as for_reseller,
             sum(amount_minor)::text as amount, sum(tax_minor)::text as tax, coalesce(sum(fee_minor), 0)::text as fee, sum(credits_micro)::text as credits
        from topup
       where paid_at >= coalesce($1, '-infinity'::timestamptz) and paid_at < $2 group by 1, 2`,
    values: [of.from, of.to],
  });
  return rows.map(({ currency, for_reseller, amount, tax, fee, credits }) => ({
    ...{ currency, for_reseller },
    amount: BigInt(amount),
    tax: BigInt(tax),
    fee: BigInt(fee),
    credits_micro: BigInt(credits),
  }));
}

/** Payments that were lost in disputes in a time, in the smallest unit of their currency. */
export interface LossTotal {
  readonly currency: Currency;
  readonly price: bigint;
  /** Tax of these payments, which stays owed, and what rails took beyond the payment. */
  readonly rest: bigint;
}

/** What disputes took that were lost from `from` on and before `to`, by currency. */
export async function sumLosses(db: Db, of: { from: Date | null; to: Date }): Promise<LossTotal[]> {
  const { rows } = await db.query<Record<'price' | 'rest', string> & { currency: Currency }>({
    name: 'topups.sum_losses',
    text: `
      select currency, sum(price_minor)::text as price, sum(amount_minor - price_minor)::text as rest
        from dispute
       where status = 'lost' and closed_at >= coalesce($1, '-infinity'::timestamptz) and closed_at < $2
       group by currency`,
    values: [of.from, of.to],
  });
  return rows.map(({ currency, price, rest }) => ({ currency, price: BigInt(price), rest: BigInt(rest) }));
}
