// The trial balance: what stands on each account at the beginning and the end of a time, and what moved between. Beside
// it, sums that come from elsewhere and must be the same.
import { type DocumentTotal, sumDocuments } from '../invoices/index.ts';
import type { Db, Shards } from '../kernel/index.ts';
import { type KindTotal, sumEntries } from '../ledger/index.ts';
import { type FeeTotal, sumFees } from '../settlements/index.ts';
import { type LossTotal, type PaymentTotal, sumLosses, sumPayments } from '../topups/index.ts';
import { type Account, accountNames } from './accounts.ts';
import {
  millionths,
  type Posting,
  postDocuments,
  postEntries,
  postFees,
  postLosses,
  postPayments,
  taxAccount,
} from './postings.ts';

/** One account in one currency, in millionths of it; debits are positive. */
interface Line {
  readonly account: Account;
  readonly currency: string;
  readonly opening: bigint;
  readonly debit: bigint;
  readonly credit: bigint;
  readonly closing: bigint;
}

/** Two figures from different sources that must agree. */
interface Control {
  readonly name: string;
  readonly currency: string;
  readonly expected: bigint;
  readonly found: bigint;
}

export interface TrialBalance {
  /** Null: from the beginning. */
  readonly from: Date | null;
  readonly to: Date;
  readonly lines: readonly Line[];
  readonly controls: readonly Control[];
  /** Debits are credits in each currency, and every control holds. */
  readonly ok: boolean;
}

interface Facts {
  readonly entries: readonly KindTotal[];
  readonly payments: readonly PaymentTotal[];
  readonly documents: readonly DocumentTotal[];
  readonly losses: readonly LossTotal[];
  readonly fees: readonly FeeTotal[];
  /** Of the live books, as they say now. */
  readonly balance: bigint;
}

async function readFacts(pool: Db & { shards: Shards }, of: { from: Date | null; to: Date }): Promise<Facts> {
  const [ledgers, payments, documents, losses, fees] = await Promise.all([
    Promise.all(pool.shards.names.map((name) => sumEntries(pool.shards.at(name), of))),
    sumPayments(pool, of),
    sumDocuments(pool, of),
    sumLosses(pool, of),
    sumFees(pool, of),
  ]);
  return {
    entries: ledgers.flatMap(({ kinds }) => kinds),
    ...{ payments, documents, losses, fees },
    balance: ledgers.reduce((sum, { balance }) => sum + balance, 0n),
  };
}

function postingsOf({ entries, payments, documents, losses, fees }: Facts): Posting[] {
  return [
    ...entries.flatMap(postEntries),
    ...payments.flatMap(postPayments),
    ...documents.flatMap(postDocuments),
    ...losses.flatMap(postLosses),
    ...fees.flatMap(postFees),
  ];
}

interface Sides {
  debit: bigint;
  credit: bigint;
}

/** Debits and credits by account and currency. */
function sumUp(postings: readonly Posting[]): Map<string, Sides> {
  const sums = new Map<string, Sides>();
  const add = (account: Account, currency: string, side: keyof Sides, amount: bigint) => {
    const name = `${currency} ${account}`;
    const sum = sums.get(name) ?? { debit: 0n, credit: 0n };
    sum[side] += amount;
    sums.set(name, sum);
  };
  for (const { currency, debit, credit, amount } of postings) {
    const forward = amount >= 0n;
    const size = forward ? amount : -amount;
    add(debit, currency, forward ? 'debit' : 'credit', size);
    add(credit, currency, forward ? 'credit' : 'debit', size);
  }
  return sums;
}

const net = (sides: Sides | undefined) => (sides === undefined ? 0n : sides.debit - sides.credit);

function linesOf(before: Map<string, Sides>, during: Map<string, Sides>): Line[] {
  const currencies = [
    ...new Set([...before.keys(), ...during.keys()].map((name) => name.slice(0, 3))),
  ].sort();
  return currencies.flatMap((currency) =>
    accountNames.flatMap((account) => {
      const name = `${currency} ${account}`;
      if (!before.has(name) && !during.has(name)) return [];
      const { debit, credit } = during.get(name) ?? { debit: 0n, credit: 0n };
      const opening = net(before.get(name));
      return [{ account, currency, opening, debit, credit, closing: opening + debit - credit }];
    }),
  );
}

/** What must agree: sums of the accounts with sums that were never posted. */
function controlsOf(lines: readonly Line[], all: Facts, current: boolean): Control[] {
  const closing = (account: Account, currency: string) =>
    lines.find((line) => line.account === account && line.currency === currency)?.closing ?? 0n;
  const sold = all.entries.reduce((sum, { kind, amount }) => (kind === 'topup' ? sum + amount : sum), 0n);
  const has_resellers =
    all.payments.some(({ for_reseller }) => for_reseller) ||
    all.documents.some(({ of_resellers }) => of_resellers);
  const currencies = [...new Set([...all.payments, ...all.documents].map(({ currency }) => currency))].sort();
  return [
    ...[...new Set(lines.map(({ currency }) => currency))].map((currency) => ({
      ...{ name: 'debits less credits', currency, expected: 0n },
      found: lines.reduce((sum, line) => (line.currency === currency ? sum + line.closing : sum), 0n),
    })),
    // Balances are known as they are now, not as they were.
    ...(current
      ? [
          {
            name: 'balances of the books',
            currency: 'USD',
            expected: -closing('customer_credit', 'USD'),
            found: all.balance,
          },
        ]
      : []),
    {
      ...{ name: 'credit of paid top-ups', currency: 'USD', expected: sold },
      found: all.payments.reduce((sum, { credits_micro }) => sum + credits_micro, 0n),
    },
    ...(has_resellers ? [false, true] : [false]).flatMap((of_resellers) =>
      currencies.map((currency) => ({
        name: of_resellers ? 'tax on documents of resellers' : 'tax on documents',
        ...{ currency, expected: -closing(taxAccount(of_resellers), currency) },
        found: all.documents
          .filter((one) => one.currency === currency && one.of_resellers === of_resellers)
          .reduce((sum, one) => sum + millionths(one.credit_notes ? -one.tax : one.tax, currency), 0n),
      })),
    ),
  ];
}

/**
 * The trial balance from `from` (null: the beginning) to `to`; `current` where `to` is now. Payments whose credit is
 * ordered and not yet booked show as a control that does not hold, for as long.
 */
export async function trialBalance(
  pool: Db & { readonly shards: Shards },
  of: { readonly from: Date | null; readonly to: Date; readonly current: boolean },
): Promise<TrialBalance> {
  const { from, to, current } = of;
  const all = await readFacts(pool, { from: null, to });
  const during = from === null ? all : await readFacts(pool, { from, to });
  const before = from === null ? [] : postingsOf(await readFacts(pool, { from: null, to: from }));
  const lines = linesOf(sumUp(before), sumUp(postingsOf(during)));
  const controls = controlsOf(lines, all, current);
  return { from, to, lines, controls, ok: controls.every(({ expected, found }) => expected === found) };
}
