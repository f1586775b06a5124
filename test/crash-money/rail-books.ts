// What the rails' own books say: what each payer has paid, got back and disputed, what the rails took for it, and what they
// debited while nobody was there.
import type { World } from './world.ts';

export interface Kept {
  /** Of all payments of a top-up: captured, not given back and not lost in a dispute, in the smallest unit. */
  minor: number;
  payments: number;
  /** Refunds, by the id of ours that they name; '' for those of the rail's dashboard. */
  readonly refunds: { readonly id: string; readonly amount: number }[];
}

export interface RailDispute {
  readonly rail: string;
  readonly ref: string;
  readonly amount: number;
  readonly status: 'open' | 'won' | 'lost';
}

export interface RailBooks {
  /** By the id of the top-up that the payments name. */
  readonly kept: ReadonlyMap<string, Kept>;
  /** What the rail took for a payment, by its name there. */
  readonly fees: ReadonlyMap<string, number>;
  readonly disputes: readonly RailDispute[];
  /** Rules of debits that were broken, and debits without a notice that had arrived. */
  readonly faults: readonly string[];
}

const ENDS: Readonly<Record<string, RailDispute['status']>> = { won: 'won', closed: 'won', lost: 'lost' };

class Books {
  readonly kept = new Map<string, Kept>();
  readonly fees = new Map<string, number>();
  readonly disputes: RailDispute[] = [];
  readonly faults: string[] = [];

  private of(topup_id: string): Kept {
    const found = this.kept.get(topup_id) ?? { minor: 0, payments: 0, refunds: [] };
    this.kept.set(topup_id, found);
    return found;
  }

  private pay(topup_id: string, minor: number): void {
    const kept = this.of(topup_id);
    kept.minor += minor;
    kept.payments++;
  }

  readA({ sim_a: { store, disputes } }: World): void {
    const nameOf = (payment_id: string) => store.order(store.payment(payment_id).order_id).receipt ?? '';
    for (const { id, captured, amount, amount_refunded, fee } of store.payments.values()) {
      if (!captured) continue;
      this.pay(nameOf(id), amount - amount_refunded);
      this.fees.set(id, fee ?? 0);
    }
    for (const { payment_id, amount, notes } of store.refunds.values()) {
      const id = (notes as Record<string, string>)['refund_id'] ?? '';
      this.of(nameOf(payment_id)).refunds.push({ id, amount });
    }
    for (const { id: ref, payment_id, amount, amount_deducted, status } of disputes.all.values()) {
      this.of(nameOf(payment_id)).minor -= amount_deducted;
      this.disputes.push({ rail: 'rail-a', ref, amount, status: ENDS[status] ?? 'open' });
    }
    const { notices, refused } = store.mandates;
    for (const reason of refused) this.faults.push(`rail-a refused a debit: ${reason}`);
    for (const { id, order_id, method, is_debit } of store.payments.values()) {
      if (is_debit === true && method !== 'emandate' && notices.get(order_id)?.status !== 'delivered')
        this.faults.push(`${id} was debited without a delivered notice`);
    }
  }

  readB({ sim_b: { store } }: World): void {
    const nameOf = (intent_id: string) => store.intents.get(intent_id)?.metadata['topup_id'] ?? '';
    for (const { amount, amount_refunded, payment_intent, balance_transaction } of store.charges.values()) {
      this.pay(nameOf(payment_intent), amount - amount_refunded);
      this.fees.set(payment_intent, store.balances.get(balance_transaction)?.fee ?? 0);
    }
    for (const { payment_intent, amount, metadata } of store.refunds.values()) {
      this.of(nameOf(payment_intent)).refunds.push({ id: metadata['refund_id'] ?? '', amount });
    }
    for (const { id: ref, payment_intent, amount, status } of store.disputes.values()) {
      const became = ENDS[status] ?? 'open';
      if (became === 'lost') this.of(nameOf(payment_intent)).minor -= amount;
      this.disputes.push({ rail: 'rail-b', ref, amount, status: became });
    }
  }
}

export function readRailBooks(world: World): RailBooks {
  const books = new Books();
  books.readA(world);
  books.readB(world);
  return books;
}
