// Disputes at rail-b.
import type Stripe from 'stripe';
import { isObject, type JsonObject } from '../../kernel/index.ts';
import type { DisputeFact, DisputeStatus } from '../disputes/types.ts';
import { type Rail, RailError } from './types.ts';

type Ask = <T>(call: (client: Stripe) => Promise<T>) => Promise<T>;

const WORD_MAX = 64;
/** The rail's words for its states. A warning is a question of the bank that may become a dispute. */
const STATUSES: Readonly<Record<string, DisputeStatus>> = {
  warning_needs_response: 'open',
  warning_under_review: 'open',
  warning_closed: 'won',
  needs_response: 'open',
  under_review: 'open',
  appeal_needs_response: 'open',
  appeal_under_review: 'open',
  won: 'won',
  lost: 'lost',
};

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** An id, given as such or inside the expanded object. */
function idOf(value: unknown): string | null {
  return isObject(value) ? textOf(value['id']) : textOf(value);
}

function respondBy(dispute: JsonObject): Date | null {
  const details = isObject(dispute['evidence_details']) ? dispute['evidence_details'] : {};
  const due_by = details['due_by'];
  return Number.isSafeInteger(due_by) && (due_by as number) > 0 ? new Date((due_by as number) * 1_000) : null;
}

/** A dispute as the rail shows it; null when it lacks what a booking needs. */
export function disputeOf(dispute: JsonObject): DisputeFact | null {
  const ref = textOf(dispute['id']);
  const payment_ref = idOf(dispute['payment_intent']);
  const currency = textOf(dispute['currency']);
  const word = textOf(dispute['status']) ?? '';
  const status = STATUSES[word];
  const { amount } = dispute;
  if (ref === null || payment_ref === null || currency === null || status === undefined) return null;
  if (!Number.isSafeInteger(amount) || (amount as number) < 1) return null;
  return {
    kind: 'dispute',
    ref,
    payment_ref,
    amount_minor: amount as number,
    currency: currency.toUpperCase(),
    status,
    phase: word.startsWith('warning') ? 'inquiry' : 'chargeback',
    reason: (textOf(dispute['reason']) ?? 'unknown').slice(0, WORD_MAX),
    respond_by: respondBy(dispute),
  };
}

/** The calls about disputes. @throws RailError when the rail's own object lacks what a booking needs. */
export function railBDisputes(ask: Ask): Pick<Rail, 'readDispute'> {
  return {
    async readDispute(ref) {
      const dispute = await ask((client) => client.disputes.retrieve(ref));
      const fact = disputeOf(dispute as unknown as JsonObject);
      if (fact !== null) return fact;
      throw new RailError('The payment rail returned a dispute that says too little.', { declined: false });
    },
  };
}
