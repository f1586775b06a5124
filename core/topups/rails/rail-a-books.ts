// The books of rail-a: its lists of payments, refunds and disputes, and the report of what it settled.
import { isObject, type JsonObject } from '../../kernel/index.ts';
import type { DisputeFact } from '../disputes/types.ts';
import type { Payout, RailBooks, RailPayment, SettledLine, Time } from './books.ts';
import type { RailAClient } from './rail-a-client.ts';
import { disputeOfRailA } from './rail-a-dispute.ts';
import { capturedPayment } from './rail-a-event.ts';
import { refundOfRailA } from './rail-a-refund.ts';
import type { RefundFact } from './refund-types.ts';
import { RailError } from './types.ts';

type Ask = <T>(call: (client: RailAClient) => Promise<T>) => Promise<T>;
type Paging = { readonly count: number; readonly skip: number };

const PAGE = 100;
const REPORT_PAGE = 1_000;
const ROWS_MAX = 500_000;
/** Days of its report are those of India. */
const INDIA_MS = 5.5 * 3_600_000;
const DAY_MS = 86_400_000;

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function countOf(value: unknown): number {
  return Number.isSafeInteger(value) ? (value as number) : 0;
}

function timeOf(value: unknown): Date {
  return new Date(countOf(value) * 1_000);
}

const isIn = (at: Date, { from, to }: Time) => at >= from && at < to;

/** All pages of a list; `isLast` ends it before its end. What is no object is passed over, and counts as read. */
async function readPages(
  read: (paging: Paging) => Promise<{ readonly items: unknown }>,
  count: number,
  isLast: (items: readonly JsonObject[]) => boolean = () => false,
): Promise<JsonObject[]> {
  const all: JsonObject[] = [];
  for (let skip = 0; skip < ROWS_MAX; ) {
    const { items } = await read({ count, skip });
    if (!Array.isArray(items))
      throw new RailError('The payment rail returned a list without items.', { declined: false });
    const page = items.filter(isObject);
    all.push(...page);
    if (items.length < count || isLast(page)) return all;
    skip += items.length;
  }
  throw new RailError('The payment rail returned a list without an end.', { declined: false });
}

/** A payment as the rail lists it; null for one that was not captured. A payer can write its notes: the order counts. */
function paymentOf(row: JsonObject): RailPayment | null {
  const payment = row['captured'] === true ? capturedPayment(row) : null;
  if (payment === null) return null;
  const fee_minor = Number.isSafeInteger(row['fee']) ? (row['fee'] as number) : null;
  const about = { order_ref: textOf(row['order_id']), topup_id: null };
  return { payment, ...about, fee_minor, returned: row['refund_status'] === 'full' };
}

const kinds: Readonly<Record<string, SettledLine['kind']>> = { payment: 'payment', refund: 'refund' };

function kindOf(row: JsonObject, is_taken: boolean): SettledLine['kind'] {
  const kind = kinds[textOf(row['type']) ?? ''];
  if (kind !== undefined) return kind;
  if (textOf(row['dispute_id']) === null) return 'other';
  return is_taken ? 'dispute' : 'dispute_back';
}

/** A row of the report; its fee is what lies between what was paid and what came. */
function lineOf(row: JsonObject): SettledLine {
  const [ref, payout_ref] = [textOf(row['entity_id']), textOf(row['settlement_id'])];
  const currency = textOf(row['currency'])?.toUpperCase();
  if (ref === null || payout_ref === null || currency === undefined)
    throw new RailError('The payment rail returned a settlement that says too little.', { declined: false });
  const size = countOf(row['amount']);
  const net = countOf(row['credit']) - countOf(row['debit']);
  const is_taken = countOf(row['debit']) > 0;
  const kind = kindOf(row, is_taken);
  const is_payment = kind === 'payment';
  // A payment came in, also where the fee was more than it: then the account is debited.
  const amount_minor = is_taken && !is_payment ? -size : size;
  const payment_ref = is_payment ? ref : textOf(row['payment_id']);
  const fee_minor = amount_minor - net;
  const method = textOf(row['method']);
  const paid: RailPayment | null = is_payment
    ? {
        payment: { kind: 'captured', payment_ref: ref, amount_minor: size, currency, method },
        ...{ order_ref: textOf(row['order_id']), topup_id: null, fee_minor, returned: false },
      }
    : null;
  const back: RefundFact | null =
    kind === 'refund' && payment_ref !== null
      ? {
          ...{ kind: 'refund', ref, payment_ref, refund_id: null, amount_minor: size, currency },
          ...{ status: 'refunded', failure_code: null },
        }
      : null;
  const source_ref = kind === 'refund' ? ref : textOf(row['dispute_id']);
  const about = { kind, ref, source_ref, payment_ref, amount_minor, fee_minor, currency, payout_ref };
  return { ...about, at: timeOf(row['settled_at']), paid, back };
}

function payoutOf(row: JsonObject): Payout {
  const ref = textOf(row['id']);
  if (ref === null)
    throw new RailError('The payment rail returned a settlement without id.', { declined: false });
  const status = textOf(row['status']);
  const states = { processed: 'paid', failed: 'failed' } as const;
  return {
    ref,
    amount_minor: countOf(row['amount']),
    currency: 'INR',
    state: status === 'processed' || status === 'failed' ? states[status] : 'under_way',
    bank_ref: textOf(row['utr']),
    itemized: true,
    at: timeOf(row['created_at']),
  };
}

/** The days of the report that have a part of a time. */
function reportDays({ from, to }: Time): { year: number; month: number; day: number }[] {
  const first = Math.floor((from.getTime() + INDIA_MS) / DAY_MS);
  const last = Math.floor((to.getTime() - 1 + INDIA_MS) / DAY_MS);
  return Array.from({ length: last - first + 1 }, (_, i) => {
    const date = new Date((first + i) * DAY_MS);
    return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
  });
}

async function listDisputes(ask: Ask, time: Time): Promise<DisputeFact[]> {
  // The list takes no time and has the newest first.
  const rows = await readPages(
    (paging) => ask(({ sdk }) => sdk.disputes.all(paging)),
    PAGE,
    (page) => page.some((row) => timeOf(row['created_at']) < time.from),
  );
  return rows
    .filter((row) => isIn(timeOf(row['created_at']), time))
    .map(disputeOfRailA)
    .filter((fact) => fact !== null);
}

/** The books of rail-a. */
export function railABooks(ask: Ask): RailBooks {
  const seconds = ({ from, to }: Time) => ({
    from: Math.floor(from.getTime() / 1_000),
    // Included.
    to: Math.ceil(to.getTime() / 1_000) - 1,
  });
  return {
    async readDay(time) {
      const range = seconds(time);
      const payments = await readPages(
        (paging) => ask(({ sdk }) => sdk.payments.all({ ...range, ...paging })),
        PAGE,
      );
      const refunds = await readPages(
        (paging) => ask(({ sdk }) => sdk.refunds.all({ ...range, ...paging })),
        PAGE,
      );
      return {
        payments: payments.map(paymentOf).filter((payment) => payment !== null),
        refunds: refunds.map(refundOfRailA).filter((fact) => fact !== null),
        disputes: await listDisputes(ask, time),
      };
    },
    async readSettled(time) {
      const range = seconds(time);
      const payouts = await readPages(
        (paging) => ask(({ sdk }) => sdk.settlements.all({ ...range, ...paging })),
        PAGE,
      );
      const lines: SettledLine[] = [];
      for (const day of reportDays(time)) {
        const rows = await readPages(
          (paging) =>
            ask(
              ({ sdk }) =>
                sdk.settlements.reports({ ...day, ...paging }) as unknown as Promise<{ items: unknown }>,
            ),
          REPORT_PAGE,
        );
        lines.push(...rows.map(lineOf).filter(({ at }) => isIn(at, time)));
      }
      return { payouts: payouts.map(payoutOf), lines };
    },
    async readOrder(order_ref) {
      const { notes } = await ask(({ sdk }) => sdk.orders.fetch(order_ref));
      const note = (name: string) => (isObject(notes) ? textOf(notes[name]) : null);
      return { topup_id: note('topup_id'), mandate_id: note('mandate_id') };
    },
  };
}
