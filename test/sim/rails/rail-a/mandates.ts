// Leave to debit at the simulated rail-a: customers, tokens, notices before debits and the debits themselves, with the
// rules that the rail and the banks hold a merchant to.
import { type Notes, type Order, type Payment, RailARefusal } from './objects.ts';
import type { Body } from './store.ts';

const DAY_S = 86_400;
/** How long after the delivery of its notice a debit is possible: cards have a longer time than other methods. */
const NOTICE_S: Readonly<Record<string, number>> = { card: 36 * 3_600 + 300 };
/** India's time, in which a bank counts days. */
const IST_S = 19_800;

export type Bank = 'ok' | 'insufficient_funds' | 'pending';
export type NoticeFate = 'deliver' | 'fail' | 'hold';

export interface Customer {
  readonly id: string;
  readonly entity: 'customer';
  readonly name: string;
  readonly email: string | null;
  readonly notes: Notes | readonly never[];
  readonly created_at: number;
}

export interface RailToken {
  readonly id: string;
  readonly entity: 'token';
  readonly customer_id: string;
  readonly method: string;
  readonly recurring: true;
  readonly max_amount: number;
  readonly created_at: number;
  readonly expired_at: number;
  recurring_details: {
    status: 'confirmed' | 'rejected' | 'cancelled' | 'paused';
    failure_reason: string | null;
  };
  /** What the bank says to debits. */
  bank: Bank;
}

export interface Notice {
  readonly id: string;
  readonly entity: 'notification';
  readonly order_id: string;
  readonly token_id: string;
  readonly payment_after: number;
  status: 'created' | 'delivered' | 'failed';
  delivered_at: number | null;
}

export interface MandatesOf {
  readonly orders: ReadonlyMap<string, Order>;
  readonly payments: Map<string, Payment>;
  idOf(prefix: string): string;
  seconds(): number;
  tell(type: string, entities: Readonly<Record<string, object>>): void;
  attempt(order_id: string, method: string, payer?: { readonly contact?: string }): Payment;
  capture(payment_id: string): Payment;
  fail(payment_id: string, error: { reason: string; description: string }): Payment;
}

/**
 * A rule that was broken, in the rail's form and under its own names where it publishes them.
 * @see https://razorpay.com/docs/api/payments/recurring-payments/upi/create-subsequent-payments
 * @see https://razorpay.com/docs/api/payments/recurring-payments/cards/create-subsequent-payments
 */
function against(reason: string, description: string): RailARefusal {
  return new RailARefusal(400, description, { reason });
}

const INACTIVE: Readonly<Record<string, RailARefusal>> = {
  paused: against('mandate_paused', 'UPI mandate is not active, it is paused by user.'),
  cancelled: against('mandate_cancelled', 'UPI mandate created for payment has been cancelled by user.'),
  rejected: against('mandate_not_active', 'UPI mandate is not active.'),
};

const missing = () => new RailARefusal(400, 'The id provided does not exist');
const textAt = (body: Body, name: string) => (typeof body[name] === 'string' ? (body[name] as string) : '');

export class Mandates {
  readonly customers = new Map<string, Customer>();
  readonly tokens = new Map<string, RailToken>();
  readonly notices = new Map<string, Notice>();
  /** Reasons of debits that were refused because the merchant broke a rule. */
  readonly refused: string[] = [];
  /** What becomes of the next notices; of each order by itself where it is a function. */
  notice_fate: NoticeFate | ((order: Order) => NoticeFate) = 'deliver';
  private readonly of: MandatesOf;
  /** Debits by token; made from all payments at the first look, because those may come from a file. */
  private debits: Map<string, Payment[]> | null = null;

  constructor(of: MandatesOf) {
    this.of = of;
  }

  createCustomer(body: Body): Customer {
    const email = textAt(body, 'email') || null;
    const known = [...this.customers.values()].find((customer) => email !== null && customer.email === email);
    if (known !== undefined) {
      // The rail's pages say a text, its client sends a number.
      if (String(body['fail_existing']) === '0') return known;
      throw new RailARefusal(400, 'Customer already exists for the merchant');
    }
    const notes = (body['notes'] ?? []) as Notes;
    const id = this.of.idOf('cust');
    const about = { entity: 'customer', name: textAt(body, 'name'), email, notes } as const;
    this.customers.set(id, { id, ...about, created_at: this.of.seconds() });
    return this.customers.get(id) as Customer;
  }

  token(customer_id: string, token_id: string): RailToken {
    const token = this.tokens.get(token_id);
    if (token === undefined || token.customer_id !== customer_id) throw missing();
    return token;
  }

  /** Its payer gives the leave that an order asks for, and pays what proves the method. */
  register(order: Order, bank: Bank = 'ok', notes: Notes | readonly never[] = order.notes): RailToken {
    const { customer_id = '', token: asked, method = 'upi' } = order;
    if (asked === undefined) throw new RailARefusal(400, 'This order registers nothing.');
    const created_at = this.of.seconds();
    const token: RailToken = {
      id: this.of.idOf('token'),
      ...{ entity: 'token', customer_id, method, recurring: true, created_at, bank },
      max_amount: asked.max_amount,
      expired_at: asked.expire_at,
      recurring_details: { status: 'confirmed', failure_reason: null },
    };
    this.tokens.set(token.id, token);
    const payment = this.of.attempt(order.id, method, { contact: '+919812345678' });
    Object.assign(payment, { token_id: token.id, customer_id, notes });
    this.of.capture(payment.id);
    this.of.tell('token.confirmed', { token });
    return token;
  }

  /** Its payer or a bank ends, pauses or resumes it. */
  move(token_id: string, status: 'cancelled' | 'paused' | 'confirmed'): RailToken {
    const token = this.tokens.get(token_id);
    if (token === undefined) throw missing();
    token.recurring_details.status = status;
    const event = status === 'confirmed' ? 'token.resumed' : `token.${status}`;
    this.of.tell(event, { token });
    return token;
  }

  remove(customer_id: string, token_id: string): object {
    const token = this.token(customer_id, token_id);
    if (token.recurring_details.status !== 'cancelled') this.move(token.id, 'cancelled');
    return { deleted: true };
  }

  /** Makes the notice that an order asks for; the bank is told at once, and reports what became of it. */
  announce(order: Order, asked: unknown): void {
    const { token_id, payment_after } = (asked ?? {}) as { token_id?: unknown; payment_after?: unknown };
    const token = this.tokens.get(String(token_id));
    if (token === undefined) throw missing();
    if (!Number.isSafeInteger(payment_after)) {
      throw new RailARefusal(400, 'The payment after must be an integer.', { field: 'notification' });
    }
    const notice: Notice = {
      id: this.of.idOf('notif'),
      ...{
        entity: 'notification',
        order_id: order.id,
        token_id: token.id,
        status: 'created',
        delivered_at: null,
      },
      payment_after: payment_after as number,
    };
    this.notices.set(order.id, notice);
    const fate = typeof this.notice_fate === 'function' ? this.notice_fate(order) : this.notice_fate;
    if (fate !== 'hold') this.report(order.id, fate === 'deliver');
  }

  /** What became of a notice. */
  report(order_id: string, delivered: boolean): void {
    const notice = this.notices.get(order_id);
    if (notice === undefined) throw missing();
    notice.status = delivered ? 'delivered' : 'failed';
    notice.delivered_at = delivered ? this.of.seconds() : null;
    const order = this.of.orders.get(order_id) as Order;
    this.of.tell(`order.notification.${notice.status}`, { notification: notice, order });
  }

  private debitsOf(token: RailToken): Payment[] {
    if (this.debits === null) {
      const all = [...this.of.payments.values()].filter(({ is_debit }) => is_debit === true);
      this.debits = Map.groupBy(all, ({ token_id }) => token_id as string);
    }
    const known = this.debits.get(token.id) ?? [];
    this.debits.set(token.id, known);
    return known;
  }

  private checkNotice(token: RailToken, order: Order): void {
    if (token.method === 'emandate') return;
    const notice = this.notices.get(order.id);
    if (notice === undefined || notice.delivered_at === null || notice.token_id !== token.id)
      throw against('pre_debit_notification_not_sent', 'The notice before the debit was not delivered.');
    // The rail publishes this name for cards; which one UPI has is not published.
    if (this.of.seconds() < notice.delivered_at + (NOTICE_S[token.method] ?? DAY_S)) {
      const name = 'BAD_REQUEST_MANDATE_PROMISED_DEBIT_DATE_NOT_HONOURED';
      throw against(name, 'The time between the notice and the debit is not over.');
    }
  }

  private checkRules(token: RailToken, order: Order): void {
    const now = this.of.seconds();
    const dayOf = (at: number) => Math.floor((at + IST_S) / DAY_S);
    const inactive = INACTIVE[token.recurring_details.status];
    if (inactive !== undefined) throw inactive;
    if (order.amount > token.max_amount)
      throw against('mandate_debit_beyond_psp_amount_cap', 'The amount is more than the mandate allows.');
    if (token.expired_at - now < DAY_S) throw against('mandate_expired', 'UPI Mandate is expired.');
    const before = this.debitsOf(token);
    // The rail asks merchants to wait for the end of the debit before; how it would refuse is not published.
    if (before.some(({ status }) => status === 'created'))
      throw against('previous_debit_pending', 'An earlier debit has no end yet.');
    if (before.some(({ captured, created_at }) => captured && dayOf(created_at) === dayOf(now)))
      throw against('mandate_current_cycle_allowed_debit_exceeds', 'Mandate is already honoured.');
    this.checkNotice(token, order);
  }

  /** A debit while its payer is away. @throws RailARefusal where a rule is broken. */
  debit(body: Body): object {
    const order = this.of.orders.get(textAt(body, 'order_id'));
    const token = this.token(textAt(body, 'customer_id'), textAt(body, 'token'));
    if (order === undefined || body['amount'] !== order.amount) throw missing();
    if (order.status === 'paid') throw new RailARefusal(400, 'This order is already paid.');
    try {
      this.checkRules(token, order);
    } catch (error) {
      if (error instanceof RailARefusal) this.refused.push(error.body.error.reason);
      throw error;
    }
    const payment = this.of.attempt(order.id, token.method, { contact: textAt(body, 'contact') });
    const { customer_id } = token;
    Object.assign(payment, { token_id: token.id, customer_id, is_debit: true, notes: body['notes'] ?? [] });
    this.debitsOf(token).push(payment);
    if (token.bank === 'ok') this.of.capture(payment.id);
    if (token.bank === 'insufficient_funds') {
      const description = 'The account has insufficient funds.';
      this.of.fail(payment.id, { reason: 'insufficient_funds', description });
    }
    return { razorpay_payment_id: payment.id, razorpay_order_id: order.id, razorpay_signature: '' };
  }
}
