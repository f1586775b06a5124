// Both payment rails as the product sees them. What a rail says is signed and worded as the real one does, and read by the
// product's own code; only the way to the rail is a part of the simulation, and how its orders are kept.
import { createHmac } from 'node:crypto';
import { type Id, readConfig } from '@svc/core/kernel/index.ts';
import { openRails, type Rail, RailError } from '@svc/core/topups/index.ts';
import type { Loop } from '../engine/loop.ts';
import { AnnouncedDebits } from './announced.ts';
import { Debits, factsOf } from './debits.ts';
import { MoneyBack } from './money-back.ts';

type RailName = Rail['name'];
type Checkout = Parameters<Rail['createCheckout']>[0];
type TopupFact = Awaited<ReturnType<Rail['readCheckout']>>['facts'][number];
type Callback = Parameters<Rail['readCallback']>[0];

const SECRET_A = 'rail-a-simulated';
const SECRET_B = 'whsec_simulated';
const FEE_MINOR = 59;

const real = openRails(
  readConfig({
    SVC_RAIL_A_BASE_URL: 'https://rail-a.sim',
    SVC_RAIL_A_KEY_ID: 'rzp_test_sim',
    SVC_RAIL_A_KEY_SECRET: 'secret-of-rail-a',
    SVC_RAIL_A_WEBHOOK_SECRET: SECRET_A,
    SVC_RAIL_B_BASE_URL: 'https://rail-b.sim',
    SVC_RAIL_B_KEY_SECRET: 'sk_test_sim',
    SVC_RAIL_B_WEBHOOK_SECRET: SECRET_B,
  }),
);

/** An order in the books of a rail. */
export interface Order {
  readonly rail: RailName;
  readonly ref: string;
  readonly topup_id: Id<'topup'>;
  readonly total_minor: number;
  readonly currency: string;
  readonly payments: string[];
  readonly refunded: Set<string>;
  /** Payments that the product has heard of by an event. */
  readonly reported: Set<string>;
  /** Made while the payer was away. */
  readonly is_debit: boolean;
  /** Why nothing was paid, where nothing will be. */
  readonly failure: Extract<TopupFact, { kind: 'failed' }> | null;
  closed: boolean;
}

/** The books of both rails. */
export class RailBooks {
  readonly orders = new Map<string, Order>();
  readonly rails: Readonly<Record<RailName, Rail>>;
  readonly back: MoneyBack;
  readonly debits: Debits;
  readonly announced: AnnouncedDebits;
  readonly #loop: Loop;
  /** How often, of 1, a rail does not answer; it may have done what it was asked for. */
  away = 0;

  constructor(loop: Loop) {
    this.#loop = loop;
    this.back = new MoneyBack(loop);
    this.debits = new Debits(loop, this.orders);
    this.announced = new AnnouncedDebits({
      ...{ loop, orders: this.orders, ask: (what, work) => this.#ask(what, work) },
      wordsOf: (order, payment) => this.#wordsOfA(order, payment),
    });
    this.rails = { 'rail-a': this.#open('rail-a'), 'rail-b': this.#open('rail-b') };
  }

  #open(name: RailName): Rail {
    const own = real[name] as Rail;
    return {
      ...{ name, live: own.live, opening: own.opening, books: own.books },
      mandates:
        name === 'rail-a'
          ? this.announced.mandates
          : this.debits.mandates((what, work) => this.#ask(what, work)),
      createCheckout: (request) => this.#ask('createCheckout', () => this.#create(name, request)),
      readCheckout: (ref) => this.#ask('readCheckout', () => this.#read(ref)),
      closeCheckout: (ref) =>
        this.#ask('closeCheckout', () => {
          const order = this.#order(ref);
          if (order.payments.length === 0) order.closed = true;
        }),
      refundPayment: (payment_ref) => this.#ask('refundPayment', () => this.#refund(payment_ref)),
      createRefund: (request) =>
        this.#ask('createRefund', () => this.back.create(request, this.#paid(request.payment_ref))),
      findRefund: ({ refund_id }) => this.#ask('findRefund', () => this.back.find(refund_id)),
      readRefund: (ref) => this.#ask('readRefund', () => this.back.read(ref)),
      readDispute: (ref) => this.#ask('readDispute', () => this.back.dispute(ref)),
      readCallback: (callback, machine_ms) => own.readCallback(callback, machine_ms),
    };
  }

  /** A question to a rail: it may be lost on its way there, or its answer on the way back. */
  #ask<T>(what: string, work: () => T): Promise<T> {
    const { draw, actor } = this.#loop;
    const lost = draw.unit() < this.away ? draw.pick(['there', 'back'] as const) : null;
    return new Promise((resolve, reject) => {
      const answer = () => {
        try {
          if (lost === 'there') throw new RailError('simulated: the rail is away', { declined: false });
          const result = work();
          if (lost === 'back') throw new RailError('simulated: the answer is lost', { declined: false });
          resolve(result);
        } catch (error) {
          reject(error);
        }
      };
      this.#loop.later(`rail is asked ${what}`, 1 + draw.unit() * 40, answer, actor);
    });
  }

  #order(ref: string): Order {
    const order = this.orders.get(ref);
    if (order === undefined) throw new RailError(`no order ${ref}`, { declined: true });
    return order;
  }

  /** As under an idempotency key: the same top-up has one order. */
  #create(rail: RailName, { topup_id, total_minor, currency }: Checkout) {
    const ref = `${rail === 'rail-a' ? 'order' : 'cs_test'}_${topup_id.slice(4)}`;
    if (!this.orders.has(ref)) {
      const books = {
        ...{ payments: [], refunded: new Set<string>(), reported: new Set<string>(), closed: false },
        ...{ is_debit: false, failure: null },
      };
      this.orders.set(ref, { rail, ref, topup_id, total_minor, currency, ...books });
    }
    return { gateway_ref: ref, checkout_url: `https://${rail}.sim/${ref}` };
  }

  #read(ref: string): Awaited<ReturnType<Rail['readCheckout']>> {
    const order = this.#order(ref);
    if (order.rail === 'rail-a' && order.is_debit) return this.announced.stateOf(ref);
    const fees = Object.fromEntries(order.payments.map((payment) => [payment, FEE_MINOR]));
    return { facts: factsOf(order), fees };
  }

  #paid(payment_ref: string): Order {
    const order = [...this.orders.values()].find(({ payments }) => payments.includes(payment_ref));
    if (order === undefined) throw new RailError(`no payment ${payment_ref}`, { declined: true });
    return order;
  }

  #refund(payment_ref: string): void {
    this.#paid(payment_ref).refunded.add(payment_ref);
  }

  /** The payer pays; the events that the rail reports it by, none where the order was closed. */
  pay(ref: string): readonly Callback[] {
    const order = this.#order(ref);
    if (order.closed) return [];
    const prefix = order.rail === 'rail-a' ? 'pay' : 'pi';
    const payment = `${prefix}_${order.topup_id.slice(4)}${order.payments.length}`;
    order.payments.push(payment);
    return order.rail === 'rail-a' ? this.#wordsOfA(order, payment) : this.#wordsOfB(order, payment);
  }

  /** What the rail says of a debit. */
  wordsOfDebit({ topup_id, total_minor, currency }: Order, payment: string): Callback {
    const body = {
      ...{ id: `evt_${payment}`, object: 'event', livemode: false, type: 'payment_intent.succeeded' },
      data: {
        object: {
          ...{ id: payment, object: 'payment_intent', status: 'succeeded', amount: total_minor },
          ...{ amount_received: total_minor, currency: currency.toLowerCase(), metadata: { topup_id } },
          payment_method_types: ['card'],
        },
      },
    };
    return { raw: Buffer.from(JSON.stringify(body)), signature: null };
  }

  #wordsOfB({ ref, topup_id, total_minor, currency }: Order, payment: string): Callback[] {
    const body = {
      ...{ id: `evt_${payment}`, object: 'event', livemode: false, type: 'checkout.session.completed' },
      data: {
        object: {
          ...{ id: ref, object: 'checkout.session', mode: 'payment', client_reference_id: topup_id },
          ...{ metadata: { topup_id }, payment_intent: payment, payment_status: 'paid' },
          ...{ amount_total: total_minor, currency: currency.toLowerCase(), payment_method_types: ['card'] },
        },
      },
    };
    return [{ raw: Buffer.from(JSON.stringify(body)), signature: null }];
  }

  #wordsOfA({ ref, topup_id, total_minor, currency }: Order, payment: string): Callback[] {
    const entity = {
      ...{
        id: payment,
        entity: 'payment',
        amount: total_minor,
        currency,
        status: 'captured',
        captured: true,
      },
      ...{
        order_id: ref,
        method: 'upi',
        notes: [],
        error_code: null,
        error_reason: null,
        error_description: null,
      },
    };
    const order = {
      ...{ id: ref, entity: 'order', amount: total_minor, receipt: topup_id, status: 'paid' },
      notes: { topup_id },
    };
    const event = (type: string, payload: object): Callback => {
      const about = { entity: 'event', account_id: 'acc_1', event: type, contains: Object.keys(payload) };
      const raw = Buffer.from(JSON.stringify({ ...about, payload, created_at: 1_763_719_200 }));
      return { raw, signature: null, event_id: `${type} ${payment}` };
    };
    return [
      event('payment.captured', { payment: { entity } }),
      event('order.paid', { payment: { entity }, order: { entity: order } }),
    ];
  }

  /** `callback` as the rail sends it now. */
  sign(rail: RailName, callback: Callback): Callback {
    const raw = Buffer.from(callback.raw);
    const hmac = (secret: string, data: string) => createHmac('sha256', secret).update(data).digest('hex');
    if (rail === 'rail-a') return { ...callback, signature: hmac(SECRET_A, raw.toString()) };
    const at = Math.floor(this.#loop.now_ms / 1_000);
    return { ...callback, signature: `t=${at},v1=${hmac(SECRET_B, `${at}.${raw}`)}` };
  }
}
