// What the simulated rail-a pays out: captured payments and refunds, less its fees, and the report of every line.
import type { Payment, ReconItem, Refund, Settlement } from './objects.ts';
import { idOf, type RailAStore, seconds } from './store.ts';

/** How the next settlement differs from what was taken in. */
export interface SettlementFault {
  /** Payments that it leaves out, though they were captured. */
  readonly omit?: readonly string[];
  /** Added to the amount of every payment. */
  readonly amount_delta?: number;
}

export class Settlements {
  readonly settlements = new Map<string, Settlement>();
  readonly items = new Map<string, ReconItem>();
  fault: SettlementFault = {};
  private readonly store: RailAStore;

  constructor(store: RailAStore) {
    this.store = store;
  }

  /** Settles what is captured or refunded and not settled yet, at `at`; null when there is nothing. */
  settle(at = seconds()): Settlement | null {
    const { omit = [], amount_delta = 0 } = this.fault;
    const isNew = ({ id }: { id: string }) => !this.items.has(id) && !omit.includes(id);
    const payments = [...this.store.payments.values()].filter((one) => one.captured && isNew(one));
    const refunds = [...this.store.refunds.values()].filter(
      (one) => one.status === 'processed' && isNew(one),
    );
    if (payments.length + refunds.length === 0) return null;
    const id = idOf('setl');
    const utr = `${at}${id.slice(-6).toLowerCase()}`;
    const about = { settled_at: at, settlement_id: id, settlement_utr: utr };
    const items = [
      ...payments.map((payment) => this.paid(payment, amount_delta, about)),
      ...refunds.map((refund) => this.back(refund, about)),
    ];
    for (const item of items) this.items.set(item.entity_id, item);
    const sum = (of: (item: ReconItem) => number) => items.reduce((total, item) => total + of(item), 0);
    const settlement: Settlement = {
      id,
      entity: 'settlement',
      amount: sum((item) => item.credit - item.debit),
      fees: sum((item) => item.fee),
      tax: sum((item) => item.tax),
      utr,
      created_at: at,
      status: 'processed',
    };
    this.settlements.set(id, settlement);
    this.store.tell('settlement.processed', { settlement });
    return settlement;
  }

  private paid(
    payment: Payment,
    delta: number,
    about: Pick<ReconItem, 'settled_at' | 'settlement_id' | 'settlement_utr'>,
  ): ReconItem {
    const { fee, tax } = payment;
    const amount = payment.amount + delta;
    return {
      entity_id: payment.id,
      type: 'payment',
      debit: 0,
      credit: amount - (fee ?? 0),
      amount,
      currency: payment.currency,
      fee: fee ?? 0,
      tax: tax ?? 0,
      on_hold: false,
      settled: true,
      created_at: payment.created_at,
      ...about,
      payment_id: null,
      order_id: payment.order_id,
      order_receipt: this.store.orders.get(payment.order_id)?.receipt ?? null,
      method: payment.method,
    };
  }

  private back(
    refund: Refund,
    about: Pick<ReconItem, 'settled_at' | 'settlement_id' | 'settlement_utr'>,
  ): ReconItem {
    const payment = this.store.payments.get(refund.payment_id);
    return {
      entity_id: refund.id,
      type: 'refund',
      debit: refund.amount,
      credit: 0,
      amount: refund.amount,
      currency: refund.currency,
      fee: 0,
      tax: 0,
      on_hold: false,
      settled: true,
      created_at: refund.created_at,
      ...about,
      payment_id: refund.payment_id,
      order_id: payment?.order_id ?? null,
      order_receipt: null,
      method: payment?.method ?? null,
    };
  }

  /** The report of a month or a day, by UTC, oldest first. */
  report(query: URLSearchParams): ReconItem[] {
    const [year, month] = [query.get('year'), query.get('month')];
    const day = query.get('day');
    const prefix = [year, month?.padStart(2, '0'), ...(day === null ? [] : [day.padStart(2, '0')])].join('-');
    const count = Number(query.get('count') ?? 10);
    const skip = Number(query.get('skip') ?? 0);
    const items = [...this.items.values()].filter(({ settled_at }) => {
      return new Date(settled_at * 1_000).toISOString().startsWith(prefix);
    });
    return items.slice(skip, skip + count);
  }
}
