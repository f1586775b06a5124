// The rail's data: sessions, payments, charges, refunds. Every change emits the events that the real rail would.
import { randomBytes } from 'node:crypto';
import { Disputes } from './disputes.ts';
import { type Form, mapAt, textAt } from './form.ts';
import { Mandates } from './mandates.ts';
import {
  type BalanceTransaction,
  type Charge,
  type Dispute,
  type Intent,
  type RailEvent,
  RailRefusal,
  type Refund,
  type Session,
} from './objects.ts';
import { Payouts } from './payouts.ts';
import { Refunds } from './refunds.ts';

const FEE_BPS = 290;
const FEE_FIXED = 30;
const OPEN_MIN_SECONDS = 30 * 60;
const OPEN_MAX_SECONDS = 24 * 3_600;

export interface StoreOptions {
  /** Where the checkout pages are. */
  pageUrl(session_id: string): string;
  /** Called with every event, in the order in which things happened. */
  emit(event: RailEvent): void;
}

function id(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`;
}

function seconds(): number {
  return Math.floor(Date.now() / 1_000);
}

function missing(what: string): RailRefusal {
  return new RailRefusal(404, `No such ${what}`, { code: 'resource_missing' });
}

export class RailStore {
  readonly sessions = new Map<string, Session>();
  readonly intents = new Map<string, Intent>();
  readonly charges = new Map<string, Charge>();
  readonly balances = new Map<string, BalanceTransaction>();
  readonly refunding: Refunds;
  readonly disputing: Disputes;
  readonly mandates: Mandates;
  readonly paying: Payouts;
  /** Added to the amount of the next payments, so that the payer pays another amount than requested. */
  amount_delta = 0;
  private readonly options: StoreOptions;

  constructor(options: StoreOptions) {
    this.options = options;
    const { intents, charges } = this;
    const tell = (type: string, object: object) => this.tell(type, object);
    this.paying = new Payouts({ balances: this.balances, id, seconds });
    const move: Payouts['move'] = (moved) => this.paying.move(moved);
    this.disputing = new Disputes({ intents, charges, id, seconds, tell, move });
    const bars = (charge_id: string) => this.disputing.bars(charge_id);
    this.refunding = new Refunds({ intents, charges, id, seconds, tell, bars, move });
    const capture = (intent: Intent) => this.capture(intent);
    const pageOf = (session_id: string) => this.pageOf(session_id).replace('/c/pay/', '/c/setup/');
    this.mandates = new Mandates({ intents, id, seconds, tell, capture, pageOf });
  }

  get refunds(): Map<string, Refund> {
    return this.refunding.all;
  }

  get disputes(): Map<string, Dispute> {
    return this.disputing.all;
  }

  pageOf(session_id: string): string {
    return this.options.pageUrl(session_id);
  }

  private tell(type: string, object: object): void {
    const data = { object: structuredClone(object) };
    this.options.emit({
      id: id('evt'),
      object: 'event',
      api_version: '2026-10-28.endive',
      created: seconds(),
      livemode: false,
      type,
      data,
    });
  }

  createSession(form: Form): Session {
    const amount = textAt(form, 'line_items', '0', 'price_data', 'unit_amount');
    const currency = textAt(form, 'line_items', '0', 'price_data', 'currency');
    const success_url = textAt(form, 'success_url');
    const expires_at = Number(textAt(form, 'expires_at') ?? seconds() + OPEN_MAX_SECONDS);
    if (textAt(form, 'mode') !== 'payment')
      throw new RailRefusal(400, 'mode must be payment', { param: 'mode' });
    if (amount === null || !/^\d+$/.test(amount) || Number(amount) < 50) {
      throw new RailRefusal(400, 'The amount is too small.', {
        code: 'amount_too_small',
        param: 'line_items[0][price_data][unit_amount]',
      });
    }
    if (currency === null || !/^[a-z]{3}$/.test(currency)) {
      throw new RailRefusal(400, 'Invalid currency.', { param: 'line_items[0][price_data][currency]' });
    }
    if (success_url === null || !URL.canParse(success_url)) {
      throw new RailRefusal(400, 'Not a valid URL', { code: 'url_invalid', param: 'success_url' });
    }
    const open_seconds = expires_at - seconds();
    if (open_seconds < OPEN_MIN_SECONDS - 5 || open_seconds > OPEN_MAX_SECONDS + 5) {
      const message = 'The expires_at timestamp must be between 30 minutes and 24 hours from now.';
      throw new RailRefusal(400, message, { param: 'expires_at' });
    }
    const session_id = id('cs_test');
    const session: Session = {
      id: session_id,
      object: 'checkout.session',
      mode: 'payment',
      livemode: false,
      created: seconds(),
      currency,
      client_reference_id: textAt(form, 'client_reference_id'),
      customer_email: textAt(form, 'customer_email'),
      metadata: mapAt(form, 'metadata'),
      payment_method_types: ['card'],
      success_url,
      cancel_url: textAt(form, 'cancel_url'),
      url: this.pageOf(session_id),
      expires_at,
      description: textAt(form, 'line_items', '0', 'price_data', 'product_data', 'name') ?? '',
      intent_metadata: mapAt(form, 'payment_intent_data', 'metadata'),
      amount_total: Number(amount) * Number(textAt(form, 'line_items', '0', 'quantity') ?? 1),
      payment_intent: null,
      payment_status: 'unpaid',
      status: 'open',
    };
    this.sessions.set(session.id, session);
    return session;
  }

  session(session_id: string): Session {
    const session = this.sessions.get(session_id);
    if (session === undefined) throw missing(`checkout.session: '${session_id}'`);
    if (session.status === 'open' && session.expires_at < seconds()) this.lapse(session);
    return session;
  }

  private lapse(session: Session): void {
    session.status = 'expired';
    this.tell('checkout.session.expired', session);
  }

  expire(session_id: string): Session {
    const session = this.session(session_id);
    if (session.status !== 'open') {
      throw new RailRefusal(400, `Only Checkout Sessions with a status in ["open"] can be expired.`);
    }
    this.lapse(session);
    return session;
  }

  private intentFor(session: Session, status: Intent['status']): Intent {
    const intent: Intent = {
      id: id('pi'),
      object: 'payment_intent',
      livemode: false,
      created: seconds(),
      currency: session.currency,
      customer: null,
      metadata: { ...session.intent_metadata },
      payment_method_types: ['card'],
      amount: session.amount_total + this.amount_delta,
      amount_received: 0,
      status,
      latest_charge: null,
      last_payment_error: null,
    };
    this.intents.set(intent.id, intent);
    return intent;
  }

  private capture(intent: Intent): void {
    const { amount, currency } = intent;
    const charge_id = id('ch');
    const fee = Math.round((amount * FEE_BPS) / 10_000) + FEE_FIXED;
    const balance = this.paying.move({ type: 'charge', amount, fee, currency, source: charge_id });
    const charge: Charge = {
      id: charge_id,
      object: 'charge',
      livemode: false,
      created: seconds(),
      amount,
      currency,
      payment_intent: intent.id,
      metadata: { ...intent.metadata },
      payment_method_details: { type: 'card' },
      balance_transaction: balance.id,
      amount_refunded: 0,
      refunded: false,
    };
    this.charges.set(charge.id, charge);
    intent.amount_received = amount;
    intent.status = 'succeeded';
    intent.latest_charge = charge.id;
    this.tell('payment_intent.succeeded', intent);
    this.tell('charge.succeeded', charge);
  }

  private open(session_id: string): Session {
    const session = this.session(session_id);
    if (session.status !== 'open') throw new RailRefusal(400, `The session is ${session.status}.`);
    return session;
  }

  /** The payer pays by card: captured at once. */
  pay(session_id: string): Session {
    const session = this.open(session_id);
    const intent = this.intentFor(session, 'processing');
    session.amount_total = intent.amount;
    session.payment_intent = intent.id;
    session.payment_status = 'paid';
    session.status = 'complete';
    this.capture(intent);
    this.tell('checkout.session.completed', session);
    return session;
  }

  /** The card is declined; the session stays open. */
  decline(session_id: string): Session {
    const session = this.open(session_id);
    const intent = this.intentFor(session, 'requires_payment_method');
    intent.last_payment_error = {
      code: 'card_declined',
      decline_code: 'insufficient_funds',
      message: 'Your card has insufficient funds.',
    };
    this.tell('payment_intent.payment_failed', intent);
    return session;
  }

  /** The payer chose a method whose money arrives later. */
  payLater(session_id: string): Session {
    const session = this.open(session_id);
    const intent = this.intentFor(session, 'processing');
    session.amount_total = intent.amount;
    session.payment_intent = intent.id;
    session.status = 'complete';
    this.tell('checkout.session.completed', session);
    return session;
  }

  private underWay(session_id: string): { session: Session; intent: Intent } {
    const session = this.session(session_id);
    const intent = this.intents.get(session.payment_intent ?? '');
    if (intent?.status !== 'processing') throw new RailRefusal(400, 'No payment is under way.');
    return { session, intent };
  }

  /** The money of a later payment arrives. */
  arrive(session_id: string): Session {
    const { session, intent } = this.underWay(session_id);
    session.payment_status = 'paid';
    this.capture(intent);
    this.tell('checkout.session.async_payment_succeeded', session);
    return session;
  }

  /** The money of a later payment does not arrive. */
  bounce(session_id: string): Session {
    const { session, intent } = this.underWay(session_id);
    intent.status = 'requires_payment_method';
    const message = 'The bank transfer was returned.';
    intent.last_payment_error = { code: 'payment_failed', decline_code: null, message };
    this.tell('payment_intent.payment_failed', intent);
    this.tell('checkout.session.async_payment_failed', session);
    return session;
  }

  /** A second payment for a session that was paid or has ended, as a fault or a race at the rail can cause it. */
  payAgain(session_id: string): Session {
    const session = this.session(session_id);
    const intent = this.intentFor(session, 'processing');
    this.capture(intent);
    const reported = { ...session, payment_intent: intent.id, payment_status: 'paid', status: 'complete' };
    this.tell('checkout.session.completed', { ...reported, amount_total: intent.amount });
    if (session.payment_status === 'unpaid') {
      Object.assign(session, { ...reported, amount_total: intent.amount });
    }
    return session;
  }

  /** An object by its id, whatever it is. */
  object(object_id: string): object {
    const { sessions, setup_intents, payment_methods } = this.mandates;
    const kept = [sessions, setup_intents, payment_methods, this.paying.all];
    const maps = [
      this.sessions,
      this.intents,
      this.charges,
      this.balances,
      this.refunds,
      this.disputes,
      ...kept,
    ];
    for (const map of maps) {
      const found = map.get(object_id);
      if (found !== undefined) return found;
    }
    throw missing(`object: '${object_id}'`);
  }
}
