// What the simulated rail-a knows, and what happens there: orders, payments on them, refunds.
import { randomBytes } from 'node:crypto';
import { Mandates } from './mandates.ts';
import {
  type Method,
  methods,
  type Notes,
  type Order,
  type Payment,
  type RailAEvent,
  RailARefusal,
  type Refund,
} from './objects.ts';

/** Fee in basis points, without its own tax of 18 %. */
const FEE_BPS: Readonly<Record<Method, number>> = { upi: 0, card: 200, netbanking: 200, emandate: 100 };
const FEE_TAX_BPS = 1_800;
const MIN_AMOUNT = 100;
const RECEIPT_MAX = 40;
const NOTES_MAX = 15;
const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ORDER_MEMBERS = new Set([
  'amount',
  'currency',
  'receipt',
  'notes',
  'payment_capture',
  'partial_payment',
  'customer_id',
  'method',
  'token',
  'notification',
]);

export type Body = Readonly<Record<string, unknown>>;

/** `pay_` and fourteen letters, as the rail's ids are. */
export function idOf(prefix: string): string {
  return `${prefix}_${[...randomBytes(14)].map((byte) => LETTERS[byte % 62]).join('')}`;
}

function missing(): RailARefusal {
  return new RailARefusal(400, 'The id provided does not exist');
}

function bad(field: string, description: string): RailARefusal {
  return new RailARefusal(400, description, { field });
}

function notesOf(value: unknown): Notes | readonly never[] {
  if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return [];
  if (typeof value !== 'object' || Array.isArray(value)) throw bad('notes', 'The notes must be an array.');
  const entries = Object.entries(value);
  if (entries.length > NOTES_MAX)
    throw bad('notes', 'Number of fields in notes should be less than or equal to 15');
  return Object.fromEntries(entries.map(([name, note]) => [name, String(note)]));
}

function checkOrder(body: Body): { amount: number; currency: string; receipt: string | null } {
  const unknown = Object.keys(body).find((name) => !ORDER_MEMBERS.has(name));
  if (unknown !== undefined) {
    const description = `${unknown} is/are not required and should not be sent`;
    throw new RailARefusal(400, description, { code: 'BAD_REQUEST_ERROR', reason: 'extra_field_sent' });
  }
  const { amount, currency, receipt = null } = body;
  if (!Number.isSafeInteger(amount)) throw bad('amount', 'The amount must be an integer.');
  const is_proof = body['method'] === 'emandate' && amount === 0;
  if ((amount as number) < MIN_AMOUNT && !is_proof) {
    const reason = 'amount_less_than_minimum_amount';
    throw new RailARefusal(400, 'Order amount less than minimum amount allowed', { reason, field: 'amount' });
  }
  if (currency === undefined) throw bad('currency', 'The currency field is required.');
  if (currency !== 'INR') throw bad('currency', 'Currency is not supported');
  if (receipt !== null && (typeof receipt !== 'string' || receipt.length > RECEIPT_MAX)) {
    throw bad('receipt', 'The receipt may not be greater than 40 characters.');
  }
  return { amount: amount as number, currency, receipt };
}

/** What an order says of the leave that its payment gives. */
function registrationOf(body: Body): Pick<Order, 'customer_id' | 'method' | 'token'> {
  const { customer_id, method, token } = body;
  if (token === undefined) return {};
  if (typeof customer_id !== 'string') throw bad('customer_id', 'The customer id field is required.');
  return { customer_id, method: String(method ?? 'upi'), token: token as NonNullable<Order['token']> };
}

function append<T>(all: Map<string, T[]>, name: string, one: T): void {
  const known = all.get(name);
  if (known === undefined) all.set(name, [one]);
  else known.push(one);
}

export interface Payer {
  readonly email?: string;
  readonly notes?: Notes;
  readonly description?: string;
  readonly contact?: string;
}

export class RailAStore {
  readonly orders = new Map<string, Order>();
  readonly payments = new Map<string, Payment>();
  readonly refunds = new Map<string, Refund>();
  /** Refunds by idempotency key, with the request that each answered. */
  readonly refund_keys = new Map<string, { readonly fingerprint: string; readonly refund_id: string }>();
  /** Added to the amount of the next payments, so that the payer pays another amount than was asked. */
  amount_delta = 0;
  /** Currency of the next payments; null: that of their order. */
  currency: string | null = null;
  /** What the next refunds are at first. */
  refund_fate: 'processed' | 'pending' = 'processed';
  /** Whether a payment is disputed, so that the rail takes no refund of it. */
  bars_refund: (payment_id: string) => boolean = () => false;
  /** How far the clock of this rail was moved: it knows nothing of the product's. */
  clock_shift_ms = 0;
  readonly mandates: Mandates;
  private readonly emit: (event: RailAEvent) => void;
  /** Payments by order and orders by receipt; made at the first look, because all may come from a file. */
  private by_order: Map<string, Payment[]> | null = null;
  private by_receipt: Map<string, Order[]> | null = null;

  constructor(emit: (event: RailAEvent) => void) {
    this.emit = emit;
    const { orders, payments } = this;
    this.mandates = new Mandates({
      ...{ orders, payments, idOf, seconds: () => this.seconds() },
      tell: (type, entities) => this.tell(type, entities),
      attempt: (order_id, method, payer) => this.attempt(order_id, method, payer),
      capture: (payment_id) => this.capture(payment_id),
      fail: (payment_id, error) => this.fail(payment_id, error),
    });
  }

  seconds(): number {
    return Math.floor((Date.now() + this.clock_shift_ms) / 1_000);
  }

  tell(type: string, entities: Readonly<Record<string, object>>): void {
    const payload = Object.fromEntries(
      Object.entries(entities).map(([name, entity]) => [name, { entity: structuredClone(entity) }]),
    );
    const contains = Object.keys(entities);
    const about = {
      account_id: 'acc_SimulatedRail',
      event: type,
      contains,
      payload,
      created_at: this.seconds(),
    };
    this.emit({ id: idOf('evt'), type, body: { entity: 'event', ...about } });
  }

  createOrder(body: Body): Order {
    const { amount, currency, receipt } = checkOrder(body);
    const order: Order = {
      id: idOf('order'),
      entity: 'order',
      amount,
      currency,
      receipt,
      notes: notesOf(body['notes']),
      created_at: this.seconds(),
      ...registrationOf(body),
      amount_paid: 0,
      amount_due: amount,
      status: 'created',
      attempts: 0,
    };
    this.orders.set(order.id, order);
    if (this.by_receipt !== null) append(this.by_receipt, String(receipt), order);
    if (body['notification'] !== undefined) this.mandates.announce(order, body['notification']);
    return order;
  }

  order(order_id: string): Order {
    const order = this.orders.get(order_id);
    if (order === undefined) throw missing();
    return order;
  }

  payment(payment_id: string): Payment {
    const payment = this.payments.get(payment_id);
    if (payment === undefined) throw missing();
    return payment;
  }

  /** Payments of an order, newest first, as the rail lists them. */
  paymentsOf(order_id: string): Payment[] {
    this.by_order ??= Map.groupBy(this.payments.values(), (payment) => payment.order_id);
    const known = this.by_order.get(order_id) ?? [];
    return known.filter(({ id }) => this.payments.has(id)).reverse();
  }

  /** Orders of a receipt, newest first. */
  ordersOf(receipt: string): Order[] {
    this.by_receipt ??= Map.groupBy(this.orders.values(), (order) => String(order.receipt));
    return (this.by_receipt.get(receipt) ?? []).toReversed();
  }

  /** An attempt to pay, whose end is open. */
  attempt(order_id: string, method: string, payer: Payer = {}): Payment {
    const order = this.order(order_id);
    if (!(methods as readonly string[]).includes(method)) throw bad('method', 'The method is invalid.');
    const payment: Payment = {
      id: idOf('pay'),
      entity: 'payment',
      amount: order.amount + this.amount_delta,
      currency: this.currency ?? order.currency,
      order_id,
      method: method as Method,
      email: payer.email ?? 'void@razorpay.com',
      contact: payer.contact ?? '+919999999999',
      description: payer.description ?? null,
      notes: payer.notes ?? [],
      created_at: this.seconds(),
      status: 'created',
      captured: false,
      late_authorized: false,
      amount_refunded: 0,
      refund_status: null,
      fee: null,
      tax: null,
      error_code: null,
      error_description: null,
      error_source: null,
      error_step: null,
      error_reason: null,
    };
    this.payments.set(payment.id, payment);
    if (this.by_order !== null) append(this.by_order, order_id, payment);
    order.attempts++;
    if (order.status === 'created') order.status = 'attempted';
    return payment;
  }

  /** The bank says yes, and the rail captures by itself. */
  capture(payment_id: string): Payment {
    const payment = this.payment(payment_id);
    const order = this.order(payment.order_id);
    if (payment.captured) throw new RailARefusal(400, 'This payment has already been captured');
    if (payment.status === 'failed') payment.late_authorized = true;
    const none = { error_code: null, error_description: null, error_source: null, error_step: null };
    Object.assign(payment, { ...none, error_reason: null, status: 'authorized' });
    this.tell('payment.authorized', { payment });
    const bare = Math.round((payment.amount * FEE_BPS[payment.method]) / 10_000);
    payment.tax = Math.round((bare * FEE_TAX_BPS) / 10_000);
    payment.fee = bare + payment.tax;
    payment.status = 'captured';
    payment.captured = true;
    this.tell('payment.captured', { payment });
    if (order.status === 'paid') return payment;
    order.status = 'paid';
    order.amount_paid = payment.amount;
    order.amount_due = Math.max(0, order.amount - payment.amount);
    this.tell('order.paid', { payment, order });
    return payment;
  }

  /** The bank says no, or nothing for ten minutes. */
  fail(payment_id: string, error: { reason: string; description: string }): Payment {
    const payment = this.payment(payment_id);
    if (payment.status !== 'created') throw new RailARefusal(400, `The payment is ${payment.status}.`);
    payment.status = 'failed';
    payment.error_code = error.reason === 'payment_timed_out' ? 'GATEWAY_ERROR' : 'BAD_REQUEST_ERROR';
    payment.error_description = error.description;
    payment.error_source = 'customer';
    payment.error_step = 'payment_authorization';
    payment.error_reason = error.reason;
    this.tell('payment.failed', { payment });
    return payment;
  }

  /** Gives money back; under a key that was seen, the refund of then. */
  refund(payment_id: string, body: Body, key: string | null): Refund {
    const fingerprint = `${payment_id} ${JSON.stringify(body)}`;
    const seen = key === null ? undefined : this.refund_keys.get(key);
    if (seen !== undefined && seen.fingerprint !== fingerprint) {
      const description = 'Different request with the same idempotency key has already been processed.';
      throw new RailARefusal(400, description, { reason: 'NA' });
    }
    if (seen !== undefined) return this.refunds.get(seen.refund_id) as Refund;
    if (key !== null && !/^[\w-]{10,}$/.test(key))
      throw bad('', 'Idempotency key should be atleast 10 characters.');
    const refund = this.newRefund(this.payment(payment_id), body);
    if (key !== null) this.refund_keys.set(key, { fingerprint, refund_id: refund.id });
    return refund;
  }

  private newRefund(payment: Payment, body: Body): Refund {
    if (payment.refund_status === 'full') {
      throw new RailARefusal(400, 'The payment has been fully refunded already');
    }
    if (!payment.captured)
      throw new RailARefusal(400, 'The payment status should be captured for action to be taken');
    if (this.bars_refund(payment.id))
      throw new RailARefusal(400, 'The payment is disputed and cannot be refunded');
    const left = payment.amount - payment.amount_refunded;
    const amount = body['amount'] ?? left;
    if (!Number.isSafeInteger(amount) || (amount as number) < MIN_AMOUNT) {
      throw bad('amount', 'The amount must be atleast INR 1.00');
    }
    if ((amount as number) > left) {
      throw bad('amount', 'The refund amount provided is greater than amount captured');
    }
    const refund: Refund = {
      id: idOf('rfnd'),
      entity: 'refund',
      amount: amount as number,
      currency: payment.currency,
      payment_id: payment.id,
      notes: notesOf(body['notes']),
      receipt: typeof body['receipt'] === 'string' ? body['receipt'] : null,
      created_at: this.seconds(),
      speed_requested: body['speed'] === 'optimum' ? 'optimum' : 'normal',
      speed_processed: body['speed'] === 'optimum' ? 'instant' : 'normal',
      status: this.refund_fate,
    };
    this.refunds.set(refund.id, refund);
    payment.amount_refunded += refund.amount;
    payment.refund_status = payment.amount_refunded === payment.amount ? 'full' : 'partial';
    if (payment.refund_status === 'full') payment.status = 'refunded';
    this.tell('refund.created', { refund, payment });
    if (refund.status === 'processed') this.tell('refund.processed', { refund, payment });
    return refund;
  }

  /** The end of a refund, days later; one that fails gives the payment its money back, also after it had been processed. */
  finishRefund(refund_id: string, status: 'processed' | 'failed'): Refund {
    const refund = this.refundOf(refund_id);
    if (refund.status === 'failed' || refund.status === status)
      throw new RailARefusal(400, `The refund is ${refund.status}.`);
    const payment = this.payment(refund.payment_id);
    refund.status = status;
    if (status === 'failed') {
      payment.amount_refunded -= refund.amount;
      payment.refund_status = payment.amount_refunded === 0 ? null : 'partial';
      payment.status = 'captured';
    }
    this.tell(`refund.${status}`, { refund, payment });
    return refund;
  }

  /** What was to go at once goes the slow way. */
  slowRefund(refund_id: string): Refund {
    const refund = this.refundOf(refund_id);
    refund.speed_processed = 'normal';
    this.tell('refund.speed_changed', { refund, payment: this.payment(refund.payment_id) });
    return refund;
  }

  refundOf(refund_id: string): Refund {
    const refund = this.refunds.get(refund_id);
    if (refund === undefined) throw missing();
    return refund;
  }
}
