// Refunds at rail-b.
import type Stripe from 'stripe';
import { isObject, type JsonObject } from '../../kernel/index.ts';
import { amountOf } from './read.ts';
import type { RefundFact } from './refund-types.ts';
import { type Rail, RailError } from './types.ts';

type Ask = <T>(call: (client: Stripe) => Promise<T>) => Promise<T>;

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** An id, given as such or inside the expanded object. */
function idOf(value: unknown): string | null {
  return isObject(value) ? textOf(value['id']) : textOf(value);
}

/** The rail's word for the state of a refund; one that waits for the payer or the bank is pending. */
function refundStatusOf(status: unknown): RefundFact['status'] {
  if (status === 'succeeded') return 'refunded';
  return status === 'failed' || status === 'canceled' ? 'failed' : 'pending';
}

/** A refund as the rail shows it; null when it lacks what a booking needs. */
export function refundOf(refund: JsonObject): RefundFact | null {
  const ref = textOf(refund['id']);
  const payment_ref = idOf(refund['payment_intent']);
  const currency = textOf(refund['currency']);
  const amount_minor = amountOf(refund['amount']);
  if (ref === null || payment_ref === null || currency === null || amount_minor === null) return null;
  const metadata = isObject(refund['metadata']) ? refund['metadata'] : {};
  const status = refundStatusOf(refund['status']);
  return {
    kind: 'refund',
    ref,
    payment_ref,
    refund_id: textOf(metadata['refund_id']),
    amount_minor,
    currency: currency.toUpperCase(),
    status,
    failure_code: status === 'failed' ? (textOf(refund['failure_reason']) ?? 'failed_at_rail') : null,
  };
}

/** @throws RailError when the rail's own object lacks what a booking needs. */
function factOf(refund: Stripe.Refund): RefundFact {
  const fact = refundOf(refund as unknown as JsonObject);
  if (fact === null)
    throw new RailError('The payment rail returned a refund that says too little.', { declined: false });
  return fact;
}

/** The calls about refunds. */
export function railBRefunds(ask: Ask): Pick<Rail, 'createRefund' | 'findRefund' | 'readRefund'> {
  return {
    async createRefund({ refund_id, topup_id, org_id, payment_ref, total_minor }) {
      const metadata = { refund_id, topup_id, org_id };
      const params = { payment_intent: payment_ref, amount: total_minor, metadata };
      return factOf(await ask((client) => client.refunds.create(params, { idempotencyKey: refund_id })));
    },
    async findRefund({ refund_id, payment_ref }) {
      const found = await ask(async (client) => {
        for await (const refund of client.refunds.list({ payment_intent: payment_ref, limit: 100 })) {
          if (refund.metadata?.['refund_id'] === refund_id) return refund;
        }
        return null;
      });
      return found === null ? null : factOf(found);
    },
    readRefund: async (ref) => factOf(await ask((client) => client.refunds.retrieve(ref))),
  };
}
