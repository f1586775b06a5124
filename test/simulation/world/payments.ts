// Payers, and what becomes of their payments: top-ups are made and callbacks taken by gateways, polls and expiry are the
// activities of the workflow `topUp`, repeated as Temporal repeats them.
import type { Pool } from '@svc/core/db/index.ts';
import {
  type Context,
  type Id,
  type Log,
  newRequestId,
  type RootKeyRing,
  ServiceError,
} from '@svc/core/kernel/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { takeRailCallback } from '@svc/core/refunds/index.ts';
import { createTopup, openFx, runRailTasks } from '@svc/core/topups/index.ts';
import { topUpActivities } from '@svc/workflows/top-up/activities.ts';
import { DATABASE_URL } from '../engine/database.ts';
import type { Loop } from '../engine/loop.ts';
import { readBack } from './judge-back.ts';
import { AfterSales } from './money-back.ts';
import type { Order, RailBooks } from './rails.ts';
import { withClient } from './verdict.ts';

/** Runs `work` in a gateway that is up, or in the worker; null: nobody was there, or it died meanwhile. */
export type Within = <T>(work: (context: Context) => Promise<T>) => Promise<T | null>;

export interface PaymentParts {
  readonly loop: Loop;
  readonly books: RailBooks;
  readonly inGateway: Within;
  readonly inWorker: Within;
  /** Organizations that pay. */
  readonly payers: readonly Id<'org'>[];
}

type Callback = ReturnType<RailBooks['pay']>[number];

const PAYERS_MAX = 3;
export const TRIES = 6;
const RETRY_MS = 1_000;
/** After so long the order of a top-up has lapsed. */
const OPEN_MS = 23 * 3_600_000;
const HOUR_MS = 3_600_000;
export const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** The context of a process that takes part in payments. */
export function paymentContext(parts: {
  readonly pool: Pool;
  readonly root_key: RootKeyRing;
  readonly books: RailBooks;
  readonly log: Log;
}): Context {
  const { pool, root_key, books, log } = parts;
  const urls = { console_url: 'http://console.sim', base_url: 'http://gateway.sim' };
  const money_in = { rails: books.rails, fx: openFx('static'), ...urls, refund_wait_ms: 0 };
  return createContext({
    ...{ request_id: newRequestId(), caller: { kind: 'public' }, pool, log },
    services: { money_in, root_key } as never,
  });
}

/** Does `work` until somebody has done it, `tries` times at most. */
export async function insist<T>(
  within: Within,
  work: (context: Context) => Promise<T>,
  tries: number,
): Promise<T | null> {
  for (let n = 0; n < tries; n++) {
    const done = await within(work).catch(() => null);
    if (done !== null) return done;
    await pause(RETRY_MS);
  }
  return null;
}

/** What `work` resolves to, or null where it is refused for good: nobody asks again then. */
export async function unlessRefused<T>(work: Promise<T>): Promise<{ readonly done: T | null }> {
  try {
    return { done: await work };
  } catch (error) {
    if (error instanceof ServiceError && !error.retry) return { done: null };
    throw error;
  }
}

export class Payments {
  readonly #parts: PaymentParts;
  readonly #after: AfterSales;
  /** What buyers were told that they buy. */
  readonly bought = new Map<string, number>();

  constructor(parts: PaymentParts) {
    this.#parts = parts;
    this.#after = new AfterSales(parts);
  }

  /** All payers of a run. Resolves when nobody pays any more and no event is under way. */
  async all(): Promise<void> {
    const { draw } = this.#parts.loop;
    const count = draw.int(0, PAYERS_MAX);
    await Promise.all(Array.from({ length: count }, () => this.#payer(draw.unit() * 1_500)));
  }

  async #payer(after_ms: number): Promise<void> {
    const { loop, inGateway, payers, books } = this.#parts;
    const { draw } = loop;
    await pause(after_ms);
    const org_id = draw.pick(payers);
    const amount_minor = draw.int(2_500, 9_000) * 10;
    const made = await insist(inGateway, (context) => createTopup(context, { org_id, amount_minor }), 3);
    const ref = made?.topup.gateway_ref;
    if (made === null || ref == null) return;
    this.bought.set(made.topup.id, made.quote.credits_micro);
    const follow = this.#follow(made.topup.id);
    for (let payments = draw.pick([0, 1, 1, 1, 1, 2]); payments > 0; payments--) {
      await pause(draw.unit() * 800);
      loop.note(`payer pays ${ref}`);
      const order = books.orders.get(ref) as Order;
      const callbacks = books.pay(ref);
      const payment = order.payments.at(-1) ?? '';
      await Promise.all(callbacks.map((callback) => this.report(order, payment, callback)));
    }
    await follow;
    const order = books.orders.get(ref) as Order;
    if (order.payments.length > 0) await this.#after.regret(order, org_id);
  }

  /** A rail reports a payment. */
  async report(order: Order, payment: string, callback: Callback): Promise<void> {
    if (await this.deliver(order.rail, callback)) order.reported.add(payment);
  }

  /** An event comes: not at all, late, more than once, again after a failure. Resolves to whether it was taken. */
  async deliver(name: Order['rail'], callback: Callback): Promise<boolean> {
    const { loop, books, inGateway } = this.#parts;
    const { draw } = loop;
    const copies = draw.pick([0, 1, 1, 2, 3]);
    const once = async (after_ms: number) => {
      await pause(after_ms);
      const take = (context: Context) =>
        takeRailCallback(context, books.rails[name], books.sign(name, callback));
      return (await insist(inGateway, take, TRIES)) !== null;
    };
    const delays = Array.from({ length: copies }, () => draw.unit() * draw.pick([1, 50, 3_000]));
    return (await Promise.all(delays.map(once))).includes(true);
  }

  /** Some polls come while the payer pays. */
  async #follow(topup_id: Id<'topup'>): Promise<void> {
    const { loop, inWorker } = this.#parts;
    for (let polls = loop.draw.int(0, 2); polls > 0; polls--) {
      await pause(loop.draw.unit() * 2_000);
      await insist(inWorker, (context) => topUpActivities(() => context).pollTopup({ topup_id }), TRIES);
    }
  }

  /** The last poll before an order lapses, its end, and the poll for late money; then what is owed at the rails. */
  async end(): Promise<void> {
    const { loop, inWorker, books } = this.#parts;
    if (books.orders.size === 0) return;
    const orders = [...books.orders.values()].filter(({ is_debit }) => !is_debit);
    const ids = orders.map(({ topup_id }) => topup_id);
    const each = async (step: 'pollTopup' | 'expireTopup' | 'mailReceipt') => {
      for (const topup_id of ids)
        await insist(
          inWorker,
          (context) => topUpActivities(() => context)[step]({ topup_id }) as Promise<object>,
          60,
        );
    };
    await each('pollTopup');
    loop.note('time passes until orders lapse');
    loop.now_ms += OPEN_MS;
    await each('expireTopup');
    await each('pollTopup');
    await each('mailReceipt');
    await this.#after.end(await readBack());
    // What a rail did not answer is asked again within an hour.
    for (let hours = 3; hours > 0; hours--) {
      await insist(inWorker, async (context) => ({ done: await runRailTasks(context) }), 20);
      loop.now_ms += HOUR_MS;
    }
  }
}

/** A row of `topup`, and what was made of it. */
export interface Paid {
  readonly id: string;
  readonly status: string;
  readonly payment_ref: string | null;
  readonly book_id: number;
  readonly credits_micro: number;
  readonly documents: number;
}

export const PAID_SQL = `
  select t.id, t.status, t.payment_ref, t.book_id, t.credits_micro,
         (select count(*)::int from invoice i where i.topup_id = t.id and i.kind <> 'credit_note') as documents
    from topup t`;

/** Of each series of a year: numbers without a gap, and each document in the year that it was made in (April to March, in Kolkata). */
const SERIES_SQL = `
  select c.series || '/' || c.fy as series, c.last_no, count(i.id)::int as documents,
         count(*) filter (where i.fy <> to_char(y.begins, 'YY') || '-' || to_char(y.begins + interval '1 year', 'YY'))::int
           as misplaced
    from invoice_counter c left join invoice i on i.number like c.series || '/' || c.fy || '/%'
    left join lateral (select i.issued_at at time zone 'Asia/Kolkata' - interval '3 months' as begins) y on true
   group by c.supplier, c.series, c.fy, c.last_no`;

/** Looks at the numbers of documents. */
export async function judgeSeries(): Promise<string[]> {
  const { rows } = await withClient(DATABASE_URL, (client) =>
    client.query<{ series: string; last_no: number; documents: number; misplaced: number }>(SERIES_SQL),
  );
  return rows.flatMap(({ series, last_no, documents, misplaced }) => [
    ...(last_no === documents ? [] : [`series ${series} is at ${last_no} and has ${documents} documents`]),
    ...(misplaced === 0 ? [] : [`series ${series} has ${misplaced} documents of another year`]),
  ]);
}

/** Compares the books of the rails with the top-ups; a sentence for each that is wrong. */
export function judgePayments(
  books: RailBooks,
  rows: readonly Paid[],
  bought: ReadonlyMap<string, number>,
): string[] {
  const faults: string[] = [];
  const byId = new Map(rows.map((row) => [row.id, row]));
  // Rail-a makes an order for each of two workers that ask at once.
  const orders = [...books.orders.values()];
  const paid = new Set(orders.filter(({ payments }) => payments.length > 0).map(({ topup_id }) => topup_id));
  for (const { topup_id, payments, refunded, reported } of orders) {
    const row = byId.get(topup_id);
    if (row === undefined) {
      faults.push(`top-up ${topup_id} has an order and no row`);
      continue;
    }
    const is_paid = row.status === 'paid';
    if (is_paid !== paid.has(topup_id))
      faults.push(`top-up ${topup_id} is ${row.status}, and was paid ${payments.length} times`);
    if (row.documents !== (is_paid ? 1 : 0)) faults.push(`top-up ${topup_id} has ${row.documents} documents`);
    const credits = bought.get(topup_id);
    if (credits !== undefined && credits !== row.credits_micro)
      faults.push(`top-up ${topup_id} was sold as ${credits} and is ${row.credits_micro}`);
    // A second payment that no event has reported is found by the comparison with the rail's books (core/settlements).
    for (const payment of reported) {
      if (payment !== row.payment_ref && !refunded.has(payment))
        faults.push(`payment ${payment} is one too many for ${topup_id}, and did not go back`);
    }
    if (row.payment_ref !== null && refunded.has(row.payment_ref))
      faults.push(`payment ${row.payment_ref} of ${topup_id} bought credit, and went back`);
  }
  return faults;
}
