// How each fact is posted: two sides of the same amount. Pure. Amounts are millionths of their currency, so that credit
// in micro-USD and payments in cents stand on one scale.
import type { DocumentTotal } from '../invoices/index.ts';
import type { EntryKind, KindTotal } from '../ledger/index.ts';
import type { FeeTotal } from '../settlements/index.ts';
import { exponentOf, isCurrency, type LossTotal, type PaymentTotal } from '../topups/index.ts';
import type { Account } from './accounts.ts';

/** `amount` from the account `credit` to the account `debit`; one below zero is posted the other way round. */
export interface Posting {
  readonly currency: string;
  readonly debit: Account;
  readonly credit: Account;
  readonly amount: bigint;
}

/** What stands against the customers' credit when an entry of a kind moves it. */
const AGAINST: Readonly<Record<EntryKind, Account>> = {
  settle: 'usage_revenue',
  topup: 'exchange',
  refund: 'exchange',
  refund_reversal: 'exchange',
  chargeback: 'exchange',
  grant: 'promotions',
  redeem: 'promotions',
  checkin: 'promotions',
  plan_credit: 'promotions',
  plan_fee: 'plan_revenue',
  gift: 'gifts_outstanding',
  gift_cancel: 'gifts_outstanding',
  gift_redeem: 'gifts_outstanding',
  allocation_out: 'transfers',
  allocation_in: 'transfers',
  allocation_reclaim: 'transfers',
  dispute_hold: 'disputed_credit',
  dispute_release: 'disputed_credit',
  expire: 'breakage',
  accrual: 'reseller_commissions',
  adjustment: 'adjustments',
};

/** The postings of ledger entries. */
export function postEntries({ kind, granted, amount, written_off }: KindTotal): Posting[] {
  const against = kind === 'expire' && granted ? 'promotions' : AGAINST[kind];
  return [
    { currency: 'USD', debit: against, credit: 'customer_credit', amount },
    { currency: 'USD', debit: 'write_offs', credit: against, amount: written_off },
  ];
}

/** An amount in the smallest unit of a currency as millionths. */
export function millionths(amount_minor: bigint, currency: string): bigint {
  if (!isCurrency(currency)) throw new RangeError(`nothing is paid in ${currency}`);
  return amount_minor * 10n ** BigInt(6 - exponentOf(currency));
}

/** Whose the tax of a sale is. */
export const taxAccount = (of_reseller: boolean): Account => (of_reseller ? 'reseller_tax' : 'tax_payable');

/** The postings of payments. */
export function postPayments({ currency, for_reseller, amount, tax, fee }: PaymentTotal): Posting[] {
  const of = (debit: Account, credit: Account, minor: bigint): Posting => ({
    ...{ currency, debit, credit },
    amount: millionths(minor, currency),
  });
  return [
    of('rail_receivable', 'exchange', amount),
    of('rail_receivable', taxAccount(for_reseller), tax),
    of('rail_fees', 'rail_receivable', fee),
  ];
}

/** The postings of fees that rails took beyond those of payments; none in a currency in which nothing is sold. */
export function postFees({ currency, fee }: FeeTotal): Posting[] {
  if (!isCurrency(currency)) return [];
  return [{ currency, debit: 'rail_fees', credit: 'rail_receivable', amount: millionths(fee, currency) }];
}

/** The postings of lost disputes: the rail keeps nothing of them, and no document lowers their tax. */
export function postLosses({ currency, price, rest }: LossTotal): Posting[] {
  const of = (debit: Account, minor: bigint): Posting => ({
    ...{ currency, debit, credit: 'rail_receivable' },
    amount: millionths(minor, currency),
  });
  return [of('exchange', price), of('write_offs', rest)];
}

/** The postings of credit notes: the money that went back. Other documents say again what payments said. */
export function postDocuments(total: DocumentTotal): Posting[] {
  const { currency, credit_notes, of_resellers, taxable, tax } = total;
  if (!credit_notes) return [];
  const of = (debit: Account, minor: bigint): Posting => ({
    ...{ currency, debit, credit: 'rail_receivable' },
    amount: millionths(minor, currency),
  });
  return [of('exchange', taxable), of(taxAccount(of_resellers), tax)];
}
