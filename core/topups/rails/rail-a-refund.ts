// Refunds at rail-a. Its client has no way to send the header that makes a refund happen once, so the call is made on
// the connection of the client.
import { isObject, type JsonObject } from '../../kernel/index.ts';
import type { RailAClient } from './rail-a-client.ts';
import { amountOf, listIn, nameOf } from './read.ts';
import type { RefundFact } from './refund-types.ts';
import { type Rail, RailError } from './types.ts';

type Ask = <T>(call: (client: RailAClient) => Promise<T>) => Promise<T>;

const STATUSES: Readonly<Record<string, RefundFact['status']>> = {
  pending: 'pending',
  processed: 'refunded',
  failed: 'failed',
};

/** A refund as the rail shows it; null when it lacks what a booking needs. */
export function refundOfRailA(refund: JsonObject): RefundFact | null {
  const [ref, payment_ref, currency] = ['id', 'payment_id', 'currency'].map((name) => nameOf(refund[name]));
  const amount_minor = amountOf(refund['amount']);
  const status = STATUSES[nameOf(refund['status']) ?? ''];
  if (ref == null || payment_ref == null || currency == null || status === undefined) return null;
  if (amount_minor === null) return null;
  const notes = isObject(refund['notes']) ? refund['notes'] : {};
  return {
    kind: 'refund',
    ref,
    payment_ref,
    refund_id: nameOf(notes['refund_id']),
    amount_minor,
    currency: currency.toUpperCase(),
    status,
    failure_code: status === 'failed' ? 'failed_at_rail' : null,
  };
}

/** @throws RailError when the rail's own object lacks what a booking needs. */
function factOf(refund: unknown): RefundFact {
  const fact = isObject(refund) ? refundOfRailA(refund) : null;
  if (fact === null)
    throw new RailError('The payment rail returned a refund that says too little.', { declined: false });
  return fact;
}

/** The calls about refunds. */
export function railARefunds(ask: Ask): Pick<Rail, 'createRefund' | 'findRefund' | 'readRefund'> {
  return {
    async createRefund({ refund_id, topup_id, org_id, payment_ref, total_minor }) {
      const path = `/v1/payments/${encodeURIComponent(payment_ref)}/refund`;
      const notes = { refund_id, topup_id, org_id };
      const body = { amount: total_minor, speed: 'normal', receipt: refund_id, notes };
      return factOf(await ask((client) => client.post(path, body, { 'X-Refund-Idempotency': refund_id })));
    },
    async findRefund({ refund_id, payment_ref }) {
      const made = await ask(({ sdk }) => sdk.payments.fetchMultipleRefund(payment_ref, { count: 100 }));
      const found = listIn(made).find(({ notes }) => isObject(notes) && notes['refund_id'] === refund_id);
      return found === undefined ? null : factOf(found);
    },
    readRefund: async (ref) => factOf(await ask(({ sdk }) => sdk.refunds.fetch(ref))),
  };
}
