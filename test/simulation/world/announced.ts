// UPI that rail-a debits: an order, the notice that it lets the payer's bank give, and the debit once its time has come. Between the
// product's own calls (`railAMandates`) and these books are the answers of the rail's client, as its documentation words them.
import type { JsonObject } from '@svc/core/kernel/index.ts';
import { type Rail, RailError } from '@svc/core/topups/index.ts';
import { stateOf } from '@svc/core/topups/rails/rail-a.ts';
import { askRailA, type RailAClient } from '@svc/core/topups/rails/rail-a-client.ts';
import { railAMandates } from '@svc/core/topups/rails/rail-a-mandate.ts';
import type { Loop } from '../engine/loop.ts';
import type { Order } from './rails.ts';

type Callback = Parameters<Rail['readCallback']>[0];
type Ask = <T>(what: string, work: () => T) => Promise<T>;
type Body = Readonly<Record<string, unknown>>;

const DAY_MS = 86_400_000;
const TOKEN = 'token_simulated';
const CUSTOMER = 'cust_simulated';
const UNDER_WAY_MS = 3_000;
const DEBITS = { ok: 70, under_way: 14, no_money: 16 };
/** Of a notice: the bank says so soon, after more than a day, or after more than the three that it is waited for. */
const NOTICES = { soon: 70, next_day: 8, too_late: 4, failed: 10, never: 8 };
const NOTICE_MS = { soon: 3_000, next_day: 30 * 3_600_000, too_late: 80 * 3_600_000, failed: 3_000 };

/** An answer of the rail that refuses, as its client throws it. */
class Refusal extends Error {
  readonly statusCode = 400;
  readonly error: { readonly reason: string; readonly description: string };

  constructor(reason: string) {
    super(reason);
    this.error = { reason, description: `simulated: ${reason}` };
  }
}

/** The client has lost the rail, or the rail the answer. */
function unanswered(error: unknown): unknown {
  if (!(error instanceof RailError)) return error;
  return { statusCode: 0, error: { code: 'NO_ANSWER', description: error.message } };
}

interface Notice {
  /** The earliest time of the debit, in seconds. */
  readonly payment_after: number;
  delivered_ms: number | null;
}

export interface AnnouncedParts {
  readonly loop: Loop;
  readonly orders: Map<string, Order>;
  readonly ask: Ask;
  /** What the rail says of a captured payment. */
  readonly wordsOf: (order: Order, payment: string) => readonly Callback[];
}

/** The mandate of one payer, and the debits that it allows. */
export class AnnouncedDebits {
  readonly mandates: NonNullable<Rail['mandates']>;
  /** What the product must never have asked for. */
  readonly broken: string[] = [];
  /** Called for each event, with the order that it says was paid. */
  onEvent: (callback: Callback, order: Order | null) => void = () => {};
  readonly #parts: AnnouncedParts;
  readonly #notices = new Map<string, Notice>();
  /** By order, as the rail shows them. */
  readonly #payments = new Map<string, JsonObject>();
  #is_paused = false;

  constructor(parts: AnnouncedParts) {
    this.#parts = parts;
    const client = this.#client();
    this.mandates = railAMandates((call) => askRailA(Promise.resolve(client), call), stateOf);
  }

  /** The calls of the rail's client that the product makes about mandates. */
  #client(): RailAClient {
    const ask = <T>(what: string, work: () => T) =>
      this.#parts.ask(what, work).catch((error: unknown) => {
        throw unanswered(error);
      });
    const sdk = {
      customers: {
        create: () => ask('customers.create', () => ({ id: CUSTOMER })),
        fetchToken: () => ask('customers.fetchToken', () => this.#token()),
        deleteToken: () => ask('customers.deleteToken', () => ({ deleted: true })),
      },
      orders: {
        all: ({ receipt }: Body) => ask('orders.all', () => ({ items: this.#receipts(receipt) })),
        create: (body: Body) => ask('orders.create', () => this.#create(body)),
        fetchPayments: (ref: string) => ask('orders.fetchPayments', () => ({ items: this.#paymentsOf(ref) })),
      },
      payments: { createRecurringPayment: (body: Body) => ask('debit', () => this.#debit(body)) },
    };
    return { sdk, post: () => Promise.reject(new Refusal('not_a_mandate')) } as never;
  }

  #token(): JsonObject {
    const status = this.#is_paused ? 'paused' : 'confirmed';
    return { id: TOKEN, customer_id: CUSTOMER, recurring_details: { status } };
  }

  /** The payer pauses the mandate at his bank, or resumes it. */
  turn(): void {
    this.#is_paused = !this.#is_paused;
    const event = this.#is_paused ? 'token.paused' : 'token.resumed';
    this.#parts.loop.note(`rail notes ${event}`);
    this.#tell(event, { token: { entity: this.#token() } }, null);
  }

  #receipts(receipt: unknown): object[] {
    return [...this.#parts.orders.values()]
      .filter(({ topup_id }) => topup_id === receipt)
      .map(({ ref, topup_id }) => ({ id: ref, receipt: topup_id }));
  }

  /** The order of a registration, or of a debit with its notice; the rail makes another however often it is asked. */
  #create({ receipt, amount, currency, notification }: Body): object {
    const { orders, loop } = this.#parts;
    const same = this.#receipts(receipt).length;
    const ref = `order_${String(receipt).slice(4)}${same === 0 ? '' : `_${same}`}`;
    if (notification === undefined) return { id: ref };
    const order: Order = {
      ...{ rail: 'rail-a', ref, topup_id: receipt as Order['topup_id'], is_debit: true, failure: null },
      ...{ total_minor: amount as number, currency: currency as string, closed: false },
      ...{ payments: [], refunded: new Set(), reported: new Set() },
    };
    orders.set(ref, order);
    const { payment_after } = notification as { payment_after: number };
    this.#notices.set(ref, { payment_after, delivered_ms: null });
    const fate = loop.draw.weighted(NOTICES);
    if (fate !== 'never')
      loop.later(
        'rail ends a notice',
        loop.draw.unit() * NOTICE_MS[fate],
        () => this.#endNotice(order, fate !== 'failed'),
        loop.world,
      );
    return { id: ref };
  }

  #endNotice(order: Order, delivered: boolean): void {
    const { ref, topup_id } = order;
    const notice = this.#notices.get(ref) as Notice;
    if (delivered) notice.delivered_ms = this.#parts.loop.now_ms;
    const entities = {
      order: { entity: { id: ref, entity: 'order', notes: { topup_id } } },
      notification: { entity: { entity: 'notification', order_id: ref, token_id: TOKEN } },
    };
    this.#tell(`order.notification.${delivered ? 'delivered' : 'failed'}`, entities, order);
  }

  /** Of a registration the payment that made the token, which took nothing; of a debit what was asked for. */
  #paymentsOf(ref: string): JsonObject[] {
    const debit = this.#payments.get(ref);
    if (debit !== undefined) return [debit];
    if (this.#parts.orders.has(ref)) return [];
    return [
      {
        ...{ id: 'pay_simulated', order_id: ref, amount: 0, captured: true },
        ...{ token_id: TOKEN, customer_id: CUSTOMER },
      },
    ];
  }

  /** What became of a debit, as its order says when it is asked. */
  stateOf(ref: string): ReturnType<typeof stateOf> {
    return stateOf(ref, this.#paymentsOf(ref));
  }

  #refuse(reason: string, order: Order): never {
    if (reason.startsWith('pre_debit')) this.broken.push(`${order.ref} was to be debited before its time`);
    throw new Refusal(reason);
  }

  #debit({ order_id, token }: Body): object {
    const { orders, loop } = this.#parts;
    const order = orders.get(String(order_id));
    if (order === undefined || token !== TOKEN) throw new Refusal('not_found');
    if (order.payments.length > 0) this.#refuse('order_already_paid', order);
    const before = this.#payments.get(order.ref);
    if (before?.['status'] === 'created') this.#refuse('previous_debit_pending', order);
    const notice = this.#notices.get(order.ref);
    if (notice?.delivered_ms == null) return this.#refuse('pre_debit_notification_not_sent', order);
    const { delivered_ms, payment_after } = notice;
    if (loop.now_ms < Math.max(delivered_ms + DAY_MS, payment_after * 1_000))
      this.#refuse('pre_debit_notification_too_young', order);
    if (this.#is_paused) this.#refuse('mandate_paused', order);
    this.#show(order, { status: 'created', captured: false });
    const fate = loop.draw.weighted(DEBITS);
    if (fate === 'ok') this.#capture(order);
    if (fate === 'no_money')
      this.#show(order, { status: 'failed', captured: false, error_reason: 'insufficient_funds' });
    if (fate === 'under_way')
      loop.later(
        'rail takes a debit',
        loop.draw.unit() * UNDER_WAY_MS,
        () => this.#capture(order),
        loop.world,
      );
    return { razorpay_payment_id: `pay_${order.ref}` };
  }

  #show(order: Order, what: Body): void {
    const { ref, total_minor, currency, topup_id } = order;
    const created_at = Math.floor(this.#parts.loop.now_ms / 1_000);
    this.#payments.set(ref, {
      ...{ id: `pay_${ref}`, order_id: ref, amount: total_minor, currency, method: 'upi', created_at },
      ...{ notes: { topup_id }, ...what },
    });
  }

  #capture(order: Order): void {
    this.#show(order, { status: 'captured', captured: true });
    const payment = `pay_${order.ref}`;
    order.payments.push(payment);
    for (const callback of this.#parts.wordsOf(order, payment)) this.#hand(callback, order);
  }

  #tell(event: string, payload: object, order: Order | null): void {
    const raw = Buffer.from(JSON.stringify({ entity: 'event', event, payload }));
    const about = order === null ? this.#parts.loop.now_ms : order.ref;
    this.#hand({ raw, signature: null, event_id: `${event} ${about}` }, null);
  }

  #hand(callback: Callback, paid: Order | null): void {
    const { loop } = this.#parts;
    loop.as(loop.world, () => this.onEvent(callback, paid));
  }
}
