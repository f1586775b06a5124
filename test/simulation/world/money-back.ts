// Money that goes back: customers ask for refunds of what they bought, and banks take payments back. What rails have of both is
// kept here; what they report is handed in as the facts that their callbacks are read to.
import type { Context, Id } from '@svc/core/kernel/index.ts';
import {
  adoptEarlyDisputes,
  requestRefund,
  settleLosses,
  takeDisputeFact,
  takeRefundFact,
} from '@svc/core/refunds/index.ts';
import { type Rail, RailError, type RefundFact } from '@svc/core/topups/index.ts';
import { disputeActivities } from '@svc/workflows/dispute/activities.ts';
import { refundActivities } from '@svc/workflows/refund/activities.ts';
import type { Loop } from '../engine/loop.ts';
import type { readBack } from './judge-back.ts';
import { insist, type PaymentParts, pause, TRIES, unlessRefused } from './payments.ts';
import type { Order } from './rails.ts';

type RefundRequest = Parameters<Rail['createRefund']>[0];
type DisputeFact = Awaited<ReturnType<Rail['readDispute']>>;

/** What a rail has of money that goes back. */
export class MoneyBack {
  /** By our id of them. */
  readonly refunds = new Map<string, RefundFact>();
  /** By the rail's. */
  readonly disputes = new Map<string, DisputeFact>();
  readonly #loop: Loop;

  constructor(loop: Loop) {
    this.#loop = loop;
  }

  /** As under an idempotency key: the same refund is made once. @throws RailError where the rail declines it. */
  create(
    { refund_id, payment_ref, total_minor }: RefundRequest,
    { payments, total_minor: paid, currency }: Order,
  ) {
    const known = this.refunds.get(refund_id);
    if (known !== undefined) return known;
    const { draw } = this.#loop;
    const gone = [...this.refunds.values()].filter(
      (one) => one.payment_ref === payment_ref && one.status !== 'failed',
    );
    const sum = gone.reduce((total, { amount_minor }) => total + amount_minor, 0);
    if (!payments.includes(payment_ref) || sum + total_minor > paid || draw.unit() < 0.1)
      throw new RailError('simulated: declined', { declined: true, code: 'declined' });
    const fact: RefundFact = {
      ...{ kind: 'refund', ref: `rfnd_${refund_id.slice(4)}`, payment_ref, refund_id, currency },
      ...{
        amount_minor: total_minor,
        status: draw.pick(['pending', 'refunded'] as const),
        failure_code: null,
      },
    };
    this.refunds.set(refund_id, fact);
    return fact;
  }

  find(refund_id: string): RefundFact | null {
    return this.refunds.get(refund_id) ?? null;
  }

  /** A refund by the rail's name; one under way has perhaps come to its end. */
  read(ref: string): RefundFact {
    const found = [...this.refunds.values()].find((one) => one.ref === ref);
    if (found === undefined) throw new RailError(`no refund ${ref}`, { declined: true });
    if (found.status !== 'pending') return found;
    const status = this.#loop.draw.pick(['pending', 'refunded', 'failed'] as const);
    const now = { ...found, status, failure_code: status === 'failed' ? 'bank' : null };
    this.refunds.set(found.refund_id as string, now);
    return now;
  }

  dispute(ref: string): DisputeFact {
    const found = this.disputes.get(ref);
    if (found === undefined) throw new RailError(`no dispute ${ref}`, { declined: true });
    return found;
  }
}

/** Who asks for money back, and what becomes of it. */
export class AfterSales {
  readonly #parts: PaymentParts;
  #asked = 0;

  constructor(parts: PaymentParts) {
    this.#parts = parts;
  }

  /** A payer that has paid `order` may want money back, or its bank. */
  async regret(order: Order, org_id: Id<'org'>): Promise<void> {
    const { draw } = this.#parts.loop;
    const wants = draw.weighted({ nothing: 25, refund: 40, dispute: 20, both: 15 });
    await pause(draw.unit() * 3_000);
    const refund = wants === 'refund' || wants === 'both' ? this.#refund(order, org_id) : null;
    if (wants === 'dispute' || wants === 'both') await this.#dispute(order);
    await refund;
  }

  async #refund({ topup_id, total_minor }: Order, org_id: Id<'org'>): Promise<void> {
    const { loop, inGateway, books } = this.#parts;
    const { draw } = loop;
    const amount_minor = draw.pick([null, draw.int(100, total_minor)]);
    const request = {
      org_id,
      topup_id,
      amount_minor,
      reason: 'simulated',
      idempotency_key: `ask-${++this.#asked}`,
    };
    const asked = await insist(inGateway, (context) => unlessRefused(requestRefund(context, request)), TRIES);
    const refund = asked?.done?.refund ?? null;
    loop.note(`payer asks for ${amount_minor} of ${topup_id}: ${refund === null ? 'no' : refund.id}`);
    if (refund === null) return;
    await this.#follow(refund.id, 2);
    const fact = books.back.find(refund.id);
    if (fact === null || draw.unit() < 0.5) return;
    const { gateway } = refund;
    const take = (context: Context) =>
      context.transaction((context) => takeRefundFact(context, gateway, fact));
    for (let copies = draw.int(1, 2); copies > 0; copies--) await insist(inGateway, take, TRIES);
  }

  /** Sends a refund, and asks after it `polls` times or until it has ended. */
  async #follow(refund_id: Id<'refund'>, polls: number): Promise<void> {
    const { loop, inWorker } = this.#parts;
    const step = (what: 'sendRefund' | 'pollRefund', tries: number) =>
      insist(inWorker, (context) => refundActivities(() => context)[what]({ refund_id }), tries);
    let report = await step('sendRefund', polls > 9 ? 60 : TRIES);
    for (; polls > 0 && (report === null || report.status === 'pending'); polls--) {
      await pause(loop.draw.unit() * 1_000);
      report = await step('pollRefund', TRIES);
    }
  }

  async #dispute(order: Order): Promise<void> {
    const { loop, books, inGateway } = this.#parts;
    const { draw } = loop;
    const payment_ref = order.payments[0] as string;
    const fact: DisputeFact = {
      ...{ kind: 'dispute', ref: `disp_${order.topup_id.slice(4)}`, payment_ref, currency: order.currency },
      ...{ amount_minor: draw.pick([order.total_minor, draw.int(100, order.total_minor)]), status: 'open' },
      ...{ phase: 'chargeback', reason: 'fraudulent', respond_by: null },
    };
    books.back.disputes.set(fact.ref, fact);
    loop.note(`bank disputes ${fact.amount_minor} of ${order.topup_id}`);
    const tell = () => insist(inGateway, this.#takes(order, fact.ref), TRIES);
    if (draw.unit() < 0.8) await tell();
    await pause(draw.unit() * 4_000);
    const status = draw.pick(['won', 'lost', 'lost'] as const);
    books.back.disputes.set(fact.ref, { ...fact, status });
    for (let copies = draw.int(0, 2); copies > 0; copies--) await tell();
  }

  #takes({ rail }: Order, ref: string) {
    const { back } = this.#parts.books;
    return (context: Context) =>
      context.transaction((context) => takeDisputeFact(context, rail, back.dispute(ref)));
  }

  /** What is under way comes to its end: refunds are asked after, disputes are reported until they are heard of. */
  async end({ refunds, disputes }: Awaited<ReturnType<typeof readBack>>): Promise<void> {
    const { books, inGateway, inWorker } = this.#parts;
    for (const { ref, payment_ref } of books.back.disputes.values()) {
      const order = [...books.orders.values()].find(({ payments }) => payments.includes(payment_ref));
      if (order !== undefined) await insist(inGateway, this.#takes(order, ref), 60);
    }
    for (const { id } of refunds) await this.#follow(id as Id<'refund'>, 40);
    for (const dispute_id of disputes.map(({ id }) => id as Id<'dispute'>))
      await insist(inWorker, (context) => disputeActivities(() => context).pollDispute({ dispute_id }), 60);
    const jobs = async (context: Context) => ({
      done: (await adoptEarlyDisputes(context)) + (await settleLosses(context)),
    });
    if (books.back.disputes.size === 0) return;
    for (let n = 0; n < 2; n++) await insist(inWorker, jobs, 20);
  }
}
