// What the simulated rail-b pays out: every balance transaction that is in no payout yet.
import type { BalanceTransaction, Payout } from './objects.ts';

export interface PayoutFault {
  /** Sources of lines that the next payouts leave out. */
  readonly omit?: readonly string[];
  /** Added to the amount of the next payouts, though not to their lines. */
  readonly amount_delta?: number;
  /** Taken from every payment in the next payouts beyond the fee that was said. */
  readonly extra_fee?: number;
  /** A person asks for the next payouts, so that the rail does not say what is in them. */
  readonly manual?: boolean;
  /** A line that is nothing of ours. */
  readonly stray?: number;
}

export interface PayoutsOf {
  readonly balances: Map<string, BalanceTransaction>;
  id(prefix: string): string;
  seconds(): number;
}

/** What a transaction moves, before it is in a payout. */
type Moved = Pick<BalanceTransaction, 'type' | 'amount' | 'fee' | 'currency' | 'source'>;

export class Payouts {
  readonly all = new Map<string, Payout>();
  fault: PayoutFault = {};
  private readonly of: PayoutsOf;

  constructor(of: PayoutsOf) {
    this.of = of;
  }

  /** A movement of the account. */
  move(moved: Moved): BalanceTransaction {
    const row: BalanceTransaction = {
      id: this.of.id('txn'),
      object: 'balance_transaction',
      created: this.of.seconds(),
      ...moved,
      net: moved.amount - moved.fee,
      payout: null,
    };
    this.of.balances.set(row.id, row);
    return row;
  }

  private withFault(row: BalanceTransaction): BalanceTransaction {
    const { extra_fee = 0 } = this.fault;
    if (row.type !== 'charge' || extra_fee === 0) return row;
    const fee = row.fee + extra_fee;
    const changed = { ...row, fee, net: row.amount - fee };
    this.of.balances.set(row.id, changed);
    return changed;
  }

  /** Pays out what is there in a currency; null where there is nothing. */
  settle(currency = 'usd'): Payout | null {
    const { omit = [], amount_delta = 0, manual = false, stray } = this.fault;
    if (stray !== undefined) this.move({ type: 'transfer', amount: stray, fee: 0, currency, source: null });
    const rows = [...this.of.balances.values()]
      .filter((row) => row.currency === currency && row.payout === null && row.type !== 'payout')
      .filter(({ source }) => source === null || !omit.includes(source))
      .map((row) => this.withFault(row));
    if (rows.length === 0) return null;
    const created = this.of.seconds();
    const id = this.of.id('po');
    const payout: Payout = {
      ...{ id, object: 'payout', created, arrival_date: created, currency, automatic: !manual },
      amount: rows.reduce((sum, { net }) => sum + net, 0) + amount_delta,
      trace_id: { status: 'supported', value: `TRACE${id.slice(-8)}` },
      reconciliation_status: manual ? 'not_applicable' : 'completed',
      status: 'paid',
    };
    for (const row of rows) row.payout = id;
    const out = this.move({ type: 'payout', amount: -payout.amount, fee: 0, currency, source: id });
    out.payout = id;
    this.all.set(id, payout);
    return payout;
  }
}
