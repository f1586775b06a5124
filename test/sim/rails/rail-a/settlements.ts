// What the simulated rail-a pays out: captured payments and refunds, less its fees, and the report of every line.
import type { Disputes } from './disputes.ts';
import type { Dispute, Payment, ReconItem, Refund, Settlement } from './objects.ts';
import { idOf, type RailAStore } from './store.ts';

/** The days of the report are those of India. */
const INDIA_SECONDS = 19_800;

/** How the next settlement differs from what was taken in. */
export interface SettlementFault {
  /** Payments that it leaves out, though they were captured. */
  readonly omit?: readonly string[];
  /** Added to the amount of every payment. */
  readonly amount_delta?: number;
  /** Taken from every payment beyond the fee that was said. */
  readonly extra_fee?: number;
  /** Added to what is paid out, though not to its lines. */
  readonly payout_delta?: number;
  /** A line that is nothing of ours. */
  readonly stray?: number;
}

export class Settlements {
  readonly settlements = new Map<string, Settlement>();
  readonly items = new Map<string, ReconItem>();
  fault: SettlementFault = {};
  private readonly store: RailAStore;
  private readonly disputes: Disputes;

  constructor(store: RailAStore, disputes: Disputes) {
    this.store = store;
    this.disputes = disputes;
  }

  /** Settles what is captured or refunded and not settled yet, at `at`; null when there is nothing. */
  settle(at = this.store.seconds()): Settlement | null {
    const { omit = [], payout_delta = 0, stray } = this.fault;
    const isNew = ({ id }: { id: string }) => !this.items.has(id) && !omit.includes(id);
    const payments = [...this.store.payments.values()].filter((one) => one.captured && isNew(one));
    const refunds = [...this.store.refunds.values()].filter(
      (one) => one.status === 'processed' && isNew(one),
    );
    const lost = [...this.disputes.all.values()].filter((one) => one.amount_deducted > 0 && isNew(one));
    if (payments.length + refunds.length + lost.length === 0) return null;
    const id = idOf('setl');
    const utr = `${at}${id.slice(-6).toLowerCase()}`;
    const about = { settled_at: at, settlement_id: id, settlement_utr: utr };
    const items = [
      ...payments.map((payment) => this.paid(payment, about)),
      ...refunds.map((refund) => this.back(refund, about)),
      ...lost.map((dispute) => this.taken(dispute, about)),
      ...(stray === undefined ? [] : [this.stray(stray, about)]),
    ];
    for (const item of items) this.items.set(item.entity_id, item);
    const sum = (of: (item: ReconItem) => number) => items.reduce((total, item) => total + of(item), 0);
    const settlement: Settlement = {
      id,
      entity: 'settlement',
      amount: sum((item) => item.credit - item.debit) + payout_delta,
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
    about: Pick<ReconItem, 'settled_at' | 'settlement_id' | 'settlement_utr'>,
  ): ReconItem {
    const { amount_delta = 0, extra_fee = 0 } = this.fault;
    const { tax } = payment;
    const fee = (payment.fee ?? 0) + extra_fee;
    const amount = payment.amount + amount_delta;
    return {
      entity_id: payment.id,
      type: 'payment',
      debit: 0,
      credit: amount - fee,
      amount,
      currency: payment.currency,
      fee,
      tax: tax ?? 0,
      on_hold: false,
      settled: true,
      created_at: payment.created_at,
      ...about,
      payment_id: null,
      order_id: payment.order_id,
      order_receipt: this.store.orders.get(payment.order_id)?.receipt ?? null,
      method: payment.method,
      dispute_id: null,
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
      dispute_id: null,
    };
  }

  private adjustment(
    amount: number,
    about: Pick<ReconItem, 'entity_id' | 'settled_at' | 'settlement_id' | 'settlement_utr'>,
  ): ReconItem {
    const size = Math.abs(amount);
    return {
      ...{ type: 'adjustment', debit: amount < 0 ? size : 0, credit: amount < 0 ? 0 : size, amount: size },
      ...{ currency: 'INR', fee: 0, tax: 0, on_hold: false, settled: true, created_at: about.settled_at },
      ...about,
      ...{ payment_id: null, order_id: null, order_receipt: null, method: null, dispute_id: null },
    };
  }

  /** What a lost dispute took. */
  private taken(
    { id, payment_id, amount_deducted }: Dispute,
    about: Pick<ReconItem, 'settled_at' | 'settlement_id' | 'settlement_utr'>,
  ): ReconItem {
    return { ...this.adjustment(-amount_deducted, { entity_id: id, ...about }), payment_id, dispute_id: id };
  }

  private stray(
    amount: number,
    about: Pick<ReconItem, 'settled_at' | 'settlement_id' | 'settlement_utr'>,
  ): ReconItem {
    return this.adjustment(amount, { entity_id: idOf('adj'), ...about });
  }

  /** The report of a month or a day of India, oldest first. */
  report(query: URLSearchParams): ReconItem[] {
    const [year, month] = [query.get('year'), query.get('month')];
    const day = query.get('day');
    const prefix = [year, month?.padStart(2, '0'), ...(day === null ? [] : [day.padStart(2, '0')])].join('-');
    const count = Number(query.get('count') ?? 10);
    const skip = Number(query.get('skip') ?? 0);
    const items = [...this.items.values()].filter(({ settled_at }) => {
      return new Date((settled_at + INDIA_SECONDS) * 1_000).toISOString().startsWith(prefix);
    });
    return items.slice(skip, skip + count);
  }
}
