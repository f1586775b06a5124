// Disputes of the simulated rail: a payer tells the bank not to accept a payment, the rail takes the money away at once,
// and gives it back when the bank decides for the merchant.
import { type Charge, type Dispute, type Intent, RailRefusal } from './objects.ts';
import type { Payouts } from './payouts.ts';

const RESPOND_SECONDS = 9 * 86_400;
/** Kept by the rail however a dispute ends. */
const FEE = 1_500;

export interface DisputesOf {
  readonly intents: ReadonlyMap<string, Intent>;
  readonly charges: ReadonlyMap<string, Charge>;
  id(prefix: string): string;
  seconds(): number;
  tell(type: string, object: object): void;
  readonly move: Payouts['move'];
}

export class Disputes {
  readonly all = new Map<string, Dispute>();
  private readonly of: DisputesOf;

  constructor(of: DisputesOf) {
    this.of = of;
  }

  private has(charge_id: string, statuses: readonly Dispute['status'][]): boolean {
    return [...this.all.values()].some(
      ({ charge, status }) => charge === charge_id && statuses.includes(status),
    );
  }

  /** Whether the rail takes no refund of a charge. */
  bars(charge_id: string): boolean {
    return this.has(charge_id, ['needs_response', 'under_review', 'lost']);
  }

  /** The payer disputes a payment: all that is left of it, or a part. */
  open(
    intent_id: string,
    more: { readonly amount?: number; readonly reason?: string; readonly respond_seconds?: number } = {},
  ): Dispute {
    const charge = this.of.charges.get(this.of.intents.get(intent_id)?.latest_charge ?? '');
    if (charge === undefined) throw new RailRefusal(404, `No such payment_intent: '${intent_id}'`);
    if (this.bars(charge.id)) throw new RailRefusal(400, 'The charge is disputed already.');
    const amount = more.amount ?? charge.amount - charge.amount_refunded;
    if (amount < 1) throw new RailRefusal(400, 'Nothing is left of the charge.');
    const created = this.of.seconds();
    const dispute: Dispute = {
      id: this.of.id('dp'),
      object: 'dispute',
      livemode: false,
      created,
      amount,
      currency: charge.currency,
      charge: charge.id,
      payment_intent: intent_id,
      reason: more.reason ?? 'fraudulent',
      evidence_details: { due_by: created + (more.respond_seconds ?? RESPOND_SECONDS) },
      status: 'needs_response',
    };
    this.all.set(dispute.id, dispute);
    const { id: source, currency } = dispute;
    this.of.move({ type: 'adjustment', amount: -amount, fee: FEE, currency, source });
    this.of.tell('charge.dispute.created', dispute);
    this.of.tell('charge.dispute.funds_withdrawn', dispute);
    return dispute;
  }

  /** The bank's decision, or that it looks at our evidence. */
  move(dispute_id: string, status: 'under_review' | 'won' | 'lost'): Dispute {
    const dispute = this.all.get(dispute_id);
    if (dispute === undefined) throw new RailRefusal(404, `No such dispute: '${dispute_id}'`);
    if (dispute.status === 'won' || dispute.status === 'lost')
      throw new RailRefusal(400, `The dispute is ${dispute.status}.`);
    dispute.status = status;
    this.of.tell(status === 'under_review' ? 'charge.dispute.updated' : 'charge.dispute.closed', dispute);
    if (status === 'won') {
      const { id: source, amount, currency } = dispute;
      this.of.move({ type: 'adjustment', amount, fee: 0, currency, source });
      this.of.tell('charge.dispute.funds_reinstated', dispute);
    }
    return dispute;
  }

  /** Money that disputes have taken from what the rail keeps for us. */
  withdrawn(): number {
    return [...this.all.values()].reduce(
      (sum, { status, amount }) => (status === 'won' ? sum : sum + amount),
      0,
    );
  }
}
