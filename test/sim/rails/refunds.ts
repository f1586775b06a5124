// Refunds of the simulated rail: at once or late, asked for by the service or made in the rail's own dashboard, and some
// fail after they had gone back.
import { type Form, mapAt, textAt } from './form.ts';
import { type Charge, type Intent, RailRefusal, type Refund } from './objects.ts';
import type { Payouts } from './payouts.ts';

export interface RefundsOf {
  readonly intents: ReadonlyMap<string, Intent>;
  readonly charges: ReadonlyMap<string, Charge>;
  id(prefix: string): string;
  seconds(): number;
  tell(type: string, object: object): void;
  readonly move: Payouts['move'];
  /** Whether a charge is disputed, so that the rail takes no refund of it. */
  bars(charge_id: string): boolean;
}

export class Refunds {
  readonly all = new Map<string, Refund>();
  /** What the next ones are at first. */
  fate: 'succeeded' | 'pending' = 'succeeded';
  private readonly of: RefundsOf;

  constructor(of: RefundsOf) {
    this.of = of;
  }

  private chargeOf(intent_id: string): { intent: Intent; charge: Charge } {
    const intent = this.of.intents.get(intent_id);
    if (intent === undefined) {
      throw new RailRefusal(404, `No such payment_intent: '${intent_id}'`, { code: 'resource_missing' });
    }
    const charge = this.of.charges.get(intent.latest_charge ?? '');
    if (charge === undefined) throw new RailRefusal(400, 'This PaymentIntent has no charge to refund.');
    return { intent, charge };
  }

  /** Gives a payment back, whole or in part. The same call is a person in the dashboard, without our metadata. */
  create(form: Form): Refund {
    const { intent, charge } = this.chargeOf(textAt(form, 'payment_intent') ?? '');
    if (this.of.bars(charge.id)) {
      throw new RailRefusal(400, `Charge ${charge.id} has been charged back; cannot issue a refund.`, {
        code: 'charge_disputed',
      });
    }
    const left = charge.amount - charge.amount_refunded;
    if (left === 0) {
      throw new RailRefusal(400, `Charge ${charge.id} has already been refunded.`, {
        code: 'charge_already_refunded',
      });
    }
    const amount = Number(textAt(form, 'amount') ?? left);
    if (!Number.isSafeInteger(amount) || amount < 1 || amount > left) {
      throw new RailRefusal(400, 'The amount is greater than what is left on the charge.', {
        param: 'amount',
      });
    }
    charge.amount_refunded += amount;
    charge.refunded = charge.amount_refunded === charge.amount;
    const refund: Refund = {
      id: this.of.id('re'),
      object: 'refund',
      created: this.of.seconds(),
      amount,
      currency: charge.currency,
      payment_intent: intent.id,
      charge: charge.id,
      status: this.fate,
      failure_reason: null,
      metadata: mapAt(form, 'metadata'),
    };
    this.all.set(refund.id, refund);
    this.move(refund, 'refund');
    this.of.tell('charge.refunded', charge);
    this.of.tell('refund.updated', refund);
    return refund;
  }

  private move({ id: source, amount, currency }: Refund, type: 'refund' | 'refund_failure'): void {
    this.of.move({ type, amount: type === 'refund' ? -amount : amount, fee: 0, currency, source });
  }

  /** The end of a refund; one that fails gives the payment its money back, also after it had succeeded. */
  finish(refund_id: string, status: 'succeeded' | 'failed'): Refund {
    const refund = this.all.get(refund_id);
    if (refund === undefined) throw new RailRefusal(404, `No such refund: '${refund_id}'`);
    if (refund.status === 'failed') throw new RailRefusal(400, 'The refund has failed.');
    refund.status = status;
    if (status === 'failed') {
      const { charge } = this.chargeOf(refund.payment_intent);
      refund.failure_reason = 'lost_or_stolen_card';
      charge.amount_refunded -= refund.amount;
      charge.refunded = false;
      this.move(refund, 'refund_failure');
    }
    this.of.tell(status === 'failed' ? 'refund.failed' : 'refund.updated', refund);
    return refund;
  }

  /** What is still at the rail of all payments, after what went back; fees aside. */
  kept(): number {
    return [...this.of.charges.values()].reduce(
      (sum, charge) => sum + charge.amount - charge.amount_refunded,
      0,
    );
  }
}
