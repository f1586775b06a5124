// The books of rail-b: its lists of payments, refunds and disputes, and the balance transactions of its payouts.
import type Stripe from 'stripe';
import { isObject, type JsonObject } from '../../kernel/index.ts';
import type { Captured } from '../types.ts';
import type { Payout, RailBooks, RailPayment, SettledLine, Time } from './books.ts';
import { disputeOf } from './rail-b-dispute.ts';
import { capturedIntent } from './rail-b-event.ts';
import { feeOfIntent } from './rail-b-mandate.ts';
import { refundOf } from './rail-b-refund.ts';
import { RailError } from './types.ts';

type Ask = <T>(call: (client: Stripe) => Promise<T>) => Promise<T>;

const PAGE = 100;
const ROWS_MAX = 500_000;
const KINDS: Readonly<Record<string, SettledLine['kind']>> = {
  charge: 'payment',
  payment: 'payment',
  refund: 'refund',
  payment_refund: 'refund',
  refund_failure: 'refund_back',
  payment_failure_refund: 'refund_back',
  stripe_fee: 'fee',
  stripe_fx_fee: 'fee',
  tax_fee: 'fee',
};
const STATES: Readonly<Record<string, Payout['state']>> = {
  paid: 'paid',
  failed: 'failed',
  canceled: 'failed',
};

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** An id, given as such or inside the expanded object. */
function idOf(value: unknown): string | null {
  return isObject(value) ? textOf(value['id']) : textOf(value);
}

function topupOf(object: JsonObject): string | null {
  return isObject(object['metadata']) ? textOf(object['metadata']['topup_id']) : null;
}

/** A whole list. */
async function readAll<T>(list: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const row of list) {
    if (all.length >= ROWS_MAX)
      throw new RailError('The payment rail returned a list without an end.', { declined: false });
    all.push(row);
  }
  return all;
}

function paymentOf(intent: Stripe.PaymentIntent): RailPayment | null {
  const object = intent as unknown as JsonObject;
  const payment = intent.status === 'succeeded' ? capturedIntent(object) : null;
  if (payment === null) return null;
  const charge = isObject(object['latest_charge']) ? object['latest_charge'] : {};
  const returned = charge['refunded'] === true;
  return { payment, order_ref: null, topup_id: topupOf(object), fee_minor: feeOfIntent(intent), returned };
}

/** What a line of a payment settled. The charge has the metadata of its payment. */
function paidBy(charge: JsonObject, line: Stripe.BalanceTransaction): RailPayment | null {
  const [payment_ref, currency] = [idOf(charge['payment_intent']), textOf(charge['currency'])];
  const { amount } = charge;
  if (payment_ref === null || currency === null || !Number.isSafeInteger(amount)) return null;
  const details = isObject(charge['payment_method_details']) ? charge['payment_method_details'] : {};
  const payment: Captured = {
    ...{ kind: 'captured', payment_ref, amount_minor: amount as number, currency: currency.toUpperCase() },
    method: textOf(details['type']),
  };
  const fee_minor = line.currency === currency ? line.fee : null;
  const returned = charge['refunded'] === true;
  return { payment, order_ref: null, topup_id: topupOf(charge), fee_minor, returned };
}

function kindOf(line: Stripe.BalanceTransaction, source: JsonObject): SettledLine['kind'] {
  const kind = KINDS[line.type];
  if (kind !== undefined) return kind;
  if (line.type !== 'adjustment' || source['object'] !== 'dispute') return 'other';
  return line.amount < 0 ? 'dispute' : 'dispute_back';
}

function lineOf(line: Stripe.BalanceTransaction, payout: Payout): SettledLine {
  const object: unknown = line.source;
  const source = isObject(object) ? object : {};
  const kind = kindOf(line, source);
  const payment_ref = idOf(source['payment_intent']);
  const is_fee = kind === 'fee';
  return {
    ...{ kind, ref: line.id, payment_ref, payout_ref: payout.ref, at: payout.at },
    source_ref: kind === 'payment' || is_fee ? null : idOf(line.source),
    amount_minor: is_fee ? 0 : line.amount,
    fee_minor: is_fee ? line.fee - line.amount : line.fee,
    currency: line.currency.toUpperCase(),
    paid: kind === 'payment' ? paidBy(source, line) : null,
    back: kind === 'refund' ? refundOf(source) : null,
  };
}

function payoutOf(payout: Stripe.Payout): Payout {
  const { id: ref, amount: amount_minor, currency, status, created, reconciliation_status } = payout;
  const trace: unknown = payout.trace_id;
  return {
    ...{ ref, amount_minor, currency: currency.toUpperCase(), state: STATES[status] ?? 'under_way' },
    bank_ref: isObject(trace) ? textOf(trace['value']) : null,
    itemized: reconciliation_status === 'completed',
    at: new Date(created * 1_000),
  };
}

/** The books of rail-b. */
export function railBBooks(ask: Ask): RailBooks {
  const created = ({ from, to }: Time) => ({
    gte: Math.floor(from.getTime() / 1_000),
    lt: Math.ceil(to.getTime() / 1_000),
  });
  return {
    async readDay(time) {
      const range = { created: created(time), limit: PAGE };
      const expand = ['data.latest_charge.balance_transaction'];
      const intents = await ask((client) => readAll(client.paymentIntents.list({ ...range, expand })));
      const refunds = await ask((client) => readAll(client.refunds.list(range)));
      const disputes = await ask((client) => readAll(client.disputes.list(range)));
      const objects = (rows: readonly object[]) => rows as readonly JsonObject[];
      return {
        // Without our name on it, it was not made for us.
        payments: intents
          .map(paymentOf)
          .filter((payment) => payment !== null)
          .filter(({ topup_id }) => topup_id !== null),
        refunds: objects(refunds)
          .map(refundOf)
          .filter((fact) => fact !== null),
        disputes: objects(disputes)
          .map(disputeOf)
          .filter((fact) => fact !== null),
      };
    },
    async readSettled(time) {
      const rows = await ask((client) =>
        readAll(client.payouts.list({ created: created(time), limit: PAGE })),
      );
      const payouts = rows.map(payoutOf);
      const lines: SettledLine[] = [];
      for (const payout of payouts.filter(({ itemized }) => itemized)) {
        const params = { payout: payout.ref, limit: PAGE, expand: ['data.source'] };
        const found = await ask((client) => readAll(client.balanceTransactions.list(params)));
        lines.push(...found.filter(({ type }) => type !== 'payout').map((line) => lineOf(line, payout)));
      }
      return { payouts, lines };
    },
    // Its orders carry our names to every object that follows from them.
    readOrder: async () => ({ topup_id: null, mandate_id: null }),
  };
}
