// Cards that are kept for later payments at the simulated rail-b: sessions that set one up, and payments with it while
// nobody is there.
import { type Form, mapAt, textAt } from './form.ts';
import { type Intent, type Metadata, RailRefusal } from './objects.ts';

/** What the bank says to payments with a card while its holder is away. */
export type CardFate = 'ok' | 'insufficient_funds' | 'authentication_required' | 'expired_card';

export interface SetupSession {
  readonly id: string;
  readonly object: 'checkout.session';
  readonly mode: 'setup';
  readonly livemode: false;
  readonly created: number;
  readonly currency: string;
  readonly client_reference_id: string | null;
  readonly metadata: Metadata;
  readonly success_url: string;
  readonly cancel_url: string | null;
  readonly expires_at: number;
  readonly intent_metadata: Metadata;
  readonly payment_status: 'no_payment_required';
  url: string;
  customer: string | null;
  setup_intent: string | null;
  status: 'open' | 'complete' | 'expired';
}

export interface SetupIntent {
  readonly id: string;
  readonly object: 'setup_intent';
  readonly livemode: false;
  readonly customer: string;
  readonly metadata: Metadata;
  readonly payment_method: string;
  readonly status: 'succeeded';
}

export interface PaymentMethod {
  readonly id: string;
  readonly object: 'payment_method';
  readonly type: 'card';
  /** Null once it was detached. */
  customer: string | null;
  fate: CardFate;
}

export interface MandatesOf {
  readonly intents: Map<string, Intent>;
  id(prefix: string): string;
  seconds(): number;
  tell(type: string, object: object): void;
  capture(intent: Intent): void;
  pageOf(session_id: string): string;
}

const MESSAGES: Readonly<Record<Exclude<CardFate, 'ok'>, string>> = {
  insufficient_funds: 'Your card has insufficient funds.',
  authentication_required: 'Your card was declined. This transaction requires authentication.',
  expired_card: 'Your card has expired.',
};

function missing(what: string): RailRefusal {
  return new RailRefusal(404, `No such ${what}`, { code: 'resource_missing' });
}

export class Mandates {
  readonly sessions = new Map<string, SetupSession>();
  readonly setup_intents = new Map<string, SetupIntent>();
  readonly payment_methods = new Map<string, PaymentMethod>();
  private readonly of: MandatesOf;

  constructor(of: MandatesOf) {
    this.of = of;
  }

  createSession(form: Form): SetupSession {
    const success_url = textAt(form, 'success_url');
    const currency = textAt(form, 'currency');
    if (success_url === null || !URL.canParse(success_url)) {
      throw new RailRefusal(400, 'Not a valid URL', { code: 'url_invalid', param: 'success_url' });
    }
    if (currency === null || !/^[a-z]{3}$/.test(currency)) {
      throw new RailRefusal(400, 'Invalid currency.', { param: 'currency' });
    }
    if (textAt(form, 'customer_creation') !== 'always') {
      throw new RailRefusal(400, 'A card is kept for a customer.', { param: 'customer_creation' });
    }
    const id = this.of.id('cs_test');
    const session: SetupSession = {
      id,
      object: 'checkout.session',
      mode: 'setup',
      livemode: false,
      created: this.of.seconds(),
      currency,
      client_reference_id: textAt(form, 'client_reference_id'),
      metadata: mapAt(form, 'metadata'),
      success_url,
      cancel_url: textAt(form, 'cancel_url'),
      expires_at: Number(textAt(form, 'expires_at') ?? this.of.seconds() + 86_400),
      intent_metadata: mapAt(form, 'setup_intent_data', 'metadata'),
      payment_status: 'no_payment_required',
      url: this.of.pageOf(id),
      customer: null,
      setup_intent: null,
      status: 'open',
    };
    this.sessions.set(id, session);
    return session;
  }

  private open(session_id: string): SetupSession {
    const session = this.sessions.get(session_id);
    if (session === undefined) throw missing(`checkout.session: '${session_id}'`);
    if (session.status === 'open') return session;
    throw new RailRefusal(400, `Only Checkout Sessions with a status in ["open"] can be expired.`);
  }

  expire(session_id: string): SetupSession {
    const session = this.open(session_id);
    session.status = 'expired';
    this.of.tell('checkout.session.expired', session);
    return session;
  }

  /** Its holder saves a card, to which the bank will say `fate` later. */
  save(session_id: string, fate: CardFate = 'ok'): SetupSession {
    const session = this.open(session_id);
    const customer = this.of.id('cus');
    const payment_method = this.of.id('pm');
    this.payment_methods.set(payment_method, {
      id: payment_method,
      object: 'payment_method',
      type: 'card',
      customer,
      fate,
    });
    const intent: SetupIntent = {
      id: this.of.id('seti'),
      object: 'setup_intent',
      livemode: false,
      customer,
      metadata: session.intent_metadata,
      payment_method,
      status: 'succeeded',
    };
    this.setup_intents.set(intent.id, intent);
    Object.assign(session, { customer, setup_intent: intent.id, status: 'complete' });
    this.of.tell('setup_intent.succeeded', intent);
    this.of.tell('checkout.session.completed', session);
    return session;
  }

  private method(payment_method: string): PaymentMethod {
    const method = this.payment_methods.get(payment_method);
    if (method === undefined) throw missing(`PaymentMethod: '${payment_method}'`);
    return method;
  }

  /** What the bank says from now on to the card of a session. */
  turn(session_id: string, fate: CardFate): PaymentMethod {
    const intent = this.setup_intents.get(this.sessions.get(session_id)?.setup_intent ?? '');
    const method = this.method(intent?.payment_method ?? '');
    method.fate = fate;
    return method;
  }

  /** Takes a card away from its customer, by our call or by a person in the dashboard. */
  detach(payment_method: string): PaymentMethod {
    const method = this.method(payment_method);
    if (method.customer === null) {
      throw new RailRefusal(400, 'The payment method you provided is not attached to a customer.');
    }
    method.customer = null;
    this.of.tell('payment_method.detached', method);
    return method;
  }

  /** A payment with a kept card while its holder is away. @throws RailRefusal 402 with the payment in it. */
  charge(form: Form): Intent {
    if (textAt(form, 'off_session') !== 'true' || textAt(form, 'confirm') !== 'true') {
      throw new RailRefusal(400, 'Only payments off session are simulated.', { param: 'off_session' });
    }
    const method = this.method(textAt(form, 'payment_method') ?? '');
    if (method.customer === null || method.customer !== textAt(form, 'customer')) {
      throw new RailRefusal(400, 'The PaymentMethod does not belong to the Customer you supplied.');
    }
    const amount = Number(textAt(form, 'amount'));
    if (!Number.isSafeInteger(amount) || amount < 50) {
      throw new RailRefusal(400, 'The amount is too small.', { code: 'amount_too_small', param: 'amount' });
    }
    const intent: Intent = {
      id: this.of.id('pi'),
      object: 'payment_intent',
      livemode: false,
      created: this.of.seconds(),
      currency: textAt(form, 'currency') ?? 'usd',
      customer: method.customer,
      metadata: mapAt(form, 'metadata'),
      payment_method_types: ['card'],
      amount,
      amount_received: 0,
      status: 'processing',
      latest_charge: null,
      last_payment_error: null,
    };
    this.of.intents.set(intent.id, intent);
    if (method.fate === 'ok') this.of.capture(intent);
    else this.decline(intent, method.fate);
    return intent;
  }

  private decline(intent: Intent, fate: Exclude<CardFate, 'ok'>): never {
    const message = MESSAGES[fate];
    const code = fate === 'insufficient_funds' ? 'card_declined' : fate;
    intent.status = 'requires_payment_method';
    intent.last_payment_error = { code, decline_code: fate, message };
    this.of.tell('payment_intent.payment_failed', intent);
    throw new RailRefusal(402, message, {
      type: 'card_error',
      code,
      decline_code: fate,
      payment_intent: intent,
    });
  }

  cancel(intent_id: string): Intent {
    const intent = this.of.intents.get(intent_id);
    if (intent === undefined) throw missing(`payment_intent: '${intent_id}'`);
    if (intent.status === 'succeeded') {
      throw new RailRefusal(
        400,
        'You cannot cancel this PaymentIntent because it has a status of succeeded.',
        {
          code: 'payment_intent_unexpected_state',
        },
      );
    }
    intent.status = 'canceled';
    return intent;
  }
}
