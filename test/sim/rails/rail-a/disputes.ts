// Disputes of the simulated rail-a. The money is taken when one is lost.
import { type Dispute, RailARefusal } from './objects.ts';
import { idOf, type RailAStore } from './store.ts';

const RESPOND_SECONDS = 7 * 86_400;

export class Disputes {
  readonly all = new Map<string, Dispute>();
  private readonly store: RailAStore;

  constructor(store: RailAStore) {
    this.store = store;
    store.bars_refund = (payment_id) =>
      [...this.all.values()].some(
        (dispute) =>
          dispute.payment_id === payment_id && ['open', 'under_review', 'lost'].includes(dispute.status),
      );
  }

  dispute(dispute_id: string): Dispute {
    const dispute = this.all.get(dispute_id);
    if (dispute === undefined) throw new RailARefusal(400, 'The id provided does not exist');
    return dispute;
  }

  private tell(type: string, dispute: Dispute): void {
    const payment = this.store.payment(dispute.payment_id);
    this.store.tell(`payment.dispute.${type}`, { payment, dispute });
  }

  /** The payer disputes a payment: all that is left of it, or a part. */
  open(
    payment_id: string,
    more: { readonly amount?: number; readonly phase?: string; readonly reason?: string } = {},
  ): Dispute {
    const payment = this.store.payment(payment_id);
    const amount = more.amount ?? payment.amount - payment.amount_refunded;
    if (!payment.captured || amount < 1) throw new RailARefusal(400, 'Nothing is left of the payment.');
    const dispute: Dispute = {
      id: idOf('disp'),
      entity: 'dispute',
      payment_id,
      amount,
      currency: payment.currency,
      reason_code: more.reason ?? 'goods_or_services_not_provided',
      phase: more.phase ?? 'chargeback',
      respond_by: this.store.seconds() + RESPOND_SECONDS,
      created_at: this.store.seconds(),
      amount_deducted: 0,
      status: 'open',
    };
    this.all.set(dispute.id, dispute);
    this.tell('created', dispute);
    return dispute;
  }

  /** The bank's decision, or that it looks at our answer; `closed` ends one that costs nothing. */
  move(dispute_id: string, status: 'under_review' | 'won' | 'lost' | 'closed'): Dispute {
    const dispute = this.dispute(dispute_id);
    if (!['open', 'under_review'].includes(dispute.status))
      throw new RailARefusal(400, `The dispute is ${dispute.status}.`);
    dispute.status = status;
    if (status === 'lost') dispute.amount_deducted = dispute.amount;
    this.tell(status, dispute);
    return dispute;
  }

  /** Money that disputes have taken from what the rail keeps for us. */
  withdrawn(): number {
    return [...this.all.values()].reduce((sum, { amount_deducted }) => sum + amount_deducted, 0);
  }
}
